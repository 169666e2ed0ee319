"""Builds ELF files byte by byte, well-formed or broken on purpose: five lines make a malformed file.

Owns the encoding.  Any header or section field can be overridden after the layout is done, which is how a
file lies about itself.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

X86_64, AARCH64, I386, PPC64, RISCV = 62, 183, 3, 21, 243
ET_REL, ET_EXEC, ET_DYN = 1, 2, 3
PROGBITS, SYMTAB, STRTAB, RELA, DYNAMIC, NOTE, NOBITS, DYNSYM = 1, 2, 3, 4, 6, 7, 8, 11
WRITE, ALLOC, EXEC, TLS = 1, 2, 4, 0x400
NOTYPE, OBJECT, FUNC, SECTION_SYMBOL, COMMON_SYMBOL, TLS_SYMBOL = 0, 1, 2, 3, 5, 6
LOCAL, GLOBAL, WEAK, UNIQUE = 0, 1, 2, 10
UNDEF, ABS, COMMON = 0, 0xFFF1, 0xFFF2


@dataclass
class BuiltSection:
    """One section; ``override`` replaces header fields (name, type, flags, address, offset, size, …) at the end."""

    name: str
    type: int
    flags: int
    data: bytes
    address: int = 0
    size: int | None = None
    link: int = 0
    info: int = 0
    align: int = 1
    entry_size: int = 0
    override: dict[str, int] = field(default_factory=dict)


class ElfBuilder:
    """Collects sections, segments and symbols; ``bytes()`` lays them out.  ``header`` overrides header fields."""

    def __init__(self, bits: int = 64, order: str = "<", machine: int = X86_64, type: int = ET_EXEC) -> None:
        self.bits, self.order = bits, order
        self.header: dict[str, int] = {"machine": machine, "type": type, "entry": 0}
        self.sections: list[BuiltSection] = [BuiltSection("", 0, 0, b"")]
        self.segments: list[tuple[int, int, int, int, int]] = []  # type, flags, section index, extra memory, align
        self.symbols: list[tuple[str, int, int, int, int, int]] = []
        self.symbol_table: int | None = None
        self.with_symbols = True

    def section(self, name: str, data: bytes = b"", *, type: int = PROGBITS, flags: int = 0, **fields: int) -> int:
        """Add a section and return its index; fields that a BuiltSection lacks become overrides."""
        own = {k: v for k, v in fields.items() if k in ("address", "size", "link", "info", "align", "entry_size")}
        over = {k: v for k, v in fields.items() if k not in own}
        self.sections.append(BuiltSection(name, type, flags, data, **own, override=over))
        return len(self.sections) - 1

    def symbol(
        self, name: str, section: int, value: int = 0, size: int = 0, type: int = OBJECT, bind: int = GLOBAL
    ) -> int:
        """Add a symbol and return its index in the table."""
        self.symbols.append((name, section, value, size, type, bind))
        return len(self.symbols)

    def segment(self, type: int, flags: int, section: int, extra: int = 0, align: int = 0x1000) -> None:
        """Add a segment that covers one section and ``extra`` bytes of memory behind it."""
        self.segments.append((type, flags, section, extra, align))

    def relocations(self, name: str, target: int, entries: list[tuple[int, int, int, int]]) -> int:
        """Add RELA entries (offset, symbol, type, addend) that apply to section ``target``."""
        pack = struct.Struct(self.order + ("QQq" if self.bits == 64 else "IIi"))
        shift = 32 if self.bits == 64 else 8
        data = b"".join(pack.pack(at, symbol << shift | kind, addend) for at, symbol, kind, addend in entries)
        return self.section(name, data, type=RELA, link=-1, info=target, entry_size=pack.size)

    def pack_symbol(self, name: int, section: int, value: int, size: int, type: int, bind: int) -> bytes:
        """One symbol record."""
        info = bind << 4 | type
        if self.bits == 64:
            return struct.pack(self.order + "IBBHQQ", name, info, 0, section, value, size)
        return struct.pack(self.order + "IIIBBH", name, value, size, info, 0, section)

    def _with_symbol_table(self) -> list[BuiltSection]:
        """The sections, behind them .symtab and .strtab where there are symbols."""
        sections = list(self.sections)
        if not (self.symbols and self.with_symbols):
            return sections
        strings, records = b"\0", self.pack_symbol(0, 0, 0, 0, 0, 0)
        for name, section, value, size, kind, bind in self.symbols:
            records += self.pack_symbol(len(strings), section, value, size, kind, bind)
            strings += name.encode("utf-8", "surrogateescape") + b"\0"
        index = len(sections)
        sections.append(
            BuiltSection(".symtab", SYMTAB, 0, records, link=index + 1, entry_size=24 if self.bits == 64 else 16)
        )
        sections.append(BuiltSection(".strtab", STRTAB, 0, strings))
        for entry in sections:
            entry.link = index if entry.link == -1 else entry.link
        return sections

    def _segment_table(self, sections: list[BuiltSection], offsets: list[int]) -> bytes:
        table = b""
        for kind, flags, index, extra, align in self.segments:
            entry = sections[index]
            size = len(entry.data)
            if self.bits == 64:
                fields = (kind, flags, offsets[index], entry.address, entry.address, size, size + extra, align)
                table += struct.pack(self.order + "IIQQQQQQ", *fields)
            else:
                fields = (kind, offsets[index], entry.address, entry.address, size, size + extra, flags, align)
                table += struct.pack(self.order + "IIIIIIII", *fields)
        return table

    def bytes(self) -> bytes:
        """The file."""
        sections = self._with_symbol_table()
        names = bytearray(b"\0")
        name_at = {}
        sections.append(BuiltSection(".shstrtab", STRTAB, 0, b""))
        for row, entry in enumerate(sections):
            name_at[row] = len(names) if entry.name else 0
            names += entry.name.encode("utf-8", "surrogateescape") + b"\0" if entry.name else b""
        sections[-1].data = bytes(names)

        word = "Q" if self.bits == 64 else "I"
        header_size, segment_size, section_size = (64, 56, 64) if self.bits == 64 else (52, 32, 40)
        at = header_size + segment_size * len(self.segments)
        body, offsets = bytearray(), []
        for entry in sections:
            pad = -(at + len(body)) % max(1, min(entry.align, 4096))
            body += bytes(pad)
            offsets.append(at + len(body) if entry.type else 0)
            body += entry.data if entry.type != NOBITS else b""
        section_table = at + len(body)

        segments = self._segment_table(sections, offsets)
        table = bytearray()
        for row, entry in enumerate(sections):
            values = {
                "name": name_at[row],
                "type": entry.type,
                "flags": entry.flags,
                "address": entry.address,
                "offset": offsets[row],
                "size": len(entry.data) if entry.size is None else entry.size,
                "link": entry.link,
                "info": entry.info,
                "align": entry.align,
                "entry_size": entry.entry_size,
            } | entry.override
            table += struct.pack(f"{self.order}II{word}{word}{word}{word}II{word}{word}", *values.values())

        head = {
            "type": ET_EXEC,
            "machine": X86_64,
            "version": 1,
            "entry": 0,
            "phoff": header_size if self.segments else 0,
            "shoff": section_table,
            "flags": 0,
            "ehsize": header_size,
            "phentsize": segment_size,
            "phnum": len(self.segments),
            "shentsize": section_size,
            "shnum": len(sections),
            "shstrndx": len(sections) - 1,
        } | self.header
        ident = b"\x7fELF" + bytes([self.bits // 32, 1 if self.order == "<" else 2, 1]) + bytes(9)
        header = struct.pack(f"{self.order}HHI{word}{word}{word}IHHHHHH", *head.values())
        return ident + header + segments + body + table


def header_fields(elf: ElfBuilder) -> list[tuple[int, int]]:
    """(offset, size) of every field of the built file's header, program headers and section headers."""
    word = 8 if elf.bits == 64 else 4
    whole = elf.bytes()
    spans = [(0, [1] * 16 + [2, 2, 4, word, word, word, 4, 2, 2, 2, 2, 2, 2])]
    segment = [4, 4] + [word] * 6 if elf.bits == 64 else [4] * 8
    spans += [(sum(spans[0][1]) + row * sum(segment), segment) for row in range(len(elf.segments))]
    section = [4, 4, word, word, word, word, 4, 4, word, word]
    spans += [(len(whole) - at, section) for at in range(sum(section), len(whole) // 2, sum(section))]
    return [(start + sum(sizes[:n]), size) for start, sizes in spans for n, size in enumerate(sizes)]


def small_program(**header: int) -> ElfBuilder:
    """An executable with code, data, bss and a symbol in each: what most malformed files start from."""
    elf = ElfBuilder()
    elf.header |= header
    text = elf.section(".text", b"\x90" * 64, flags=ALLOC | EXEC, address=0x401000, align=16)
    data = elf.section(".data", bytes(64), flags=ALLOC | WRITE, address=0x402000, align=64)
    bss = elf.section(".bss", type=NOBITS, flags=ALLOC | WRITE, address=0x403000, size=256, align=64)
    elf.segment(1, 5, text)
    elf.segment(1, 6, data)
    elf.symbol("main", text, 0x401000, 32, FUNC)
    elf.symbol("lock", data, 0x402000, 40)
    elf.symbol("counter", bss, 0x403000, 8)
    return elf
