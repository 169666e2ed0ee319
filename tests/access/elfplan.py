"""Builds an ``AccessPlan`` from an ELF file with pyelftools: the ELF reader that these tests need and no more.

Kept apart from elfscan's own reader, so that the scanner is tested without it.
"""

from __future__ import annotations

import bisect
import struct
from dataclasses import dataclass, field

import capstone
import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from elfscan.code.accessplan import SLOT_DTYPE, AccessPlan
from sharing.model import FUNCTION_DTYPE, FunctionFlag

_ARCHITECTURES = {"EM_X86_64": "x86-64", "EM_AARCH64": "aarch64", "EM_RISCV": "riscv64"}
_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400
_NOT_DATA = (".got", ".dynamic", ".data.rel.ro", ".init_array", ".fini_array", ".eh_frame", ".rodata", ".vvar")
_PERCPU = ".data..percpu"
_PLACEHOLDERS = 0x7000_0000_0000
_STUB_BYTES = 16  # of one PLT entry, on both architectures
_U64 = (1 << 64) - 1


@dataclass
class Elf:
    """A file's plan with the names that tests speak of."""

    plan: AccessPlan
    objects: dict[str, tuple[int, int]] = field(default_factory=dict)  # name: (address, size)
    functions: dict[str, int] = field(default_factory=dict)  # name: address
    names: dict[int, str] = field(default_factory=dict)  # address of a function or import: name
    relocations: list[Relocation] = field(default_factory=list)
    globals: int = 0  # what RISC-V's gp holds


def read_elf(path: str, *, relocations: bool = False) -> Elf:
    with open(path, "rb") as file:
        elf = ELFFile(file)
        arch = _ARCHITECTURES[elf["e_machine"]]
        code: list[tuple[int, int, int]] = []
        data: list[tuple[int, int]] = []
        constants: list[tuple[int, int, int]] = []
        stubs: list[tuple[int, int]] = []
        for section in elf.iter_sections():
            flags, size = section["sh_flags"], section["sh_size"]
            if not flags & _ALLOC or size == 0 or flags & _TLS:
                continue
            row = (section["sh_addr"], section["sh_offset"], size)
            if flags & _EXEC:
                code.append(row)
                if section.name.startswith(".plt"):
                    stubs.append((row[0], row[0] + size))
            elif flags & _WRITE and not section.name.startswith((*_NOT_DATA, _PERCPU)):
                data.append((row[0], size))
            elif section["sh_type"] != "SHT_NOBITS" and section.name.startswith(".rodata"):
                constants.append(row)
        result = Elf(AccessPlan(arch, path, code, data, constants, np.empty(0), np.empty(0)))
        symbols = _symbols(elf, result)
        extents = {(address, size) for address, size, kind in symbols if kind == "STT_FUNC" and size}
        if not any(section.name == ".symtab" for section in elf.iter_sections()):
            known = {address for address, _ in extents}
            extents |= {row for row in _unwind_extents(elf) if row[0] not in known}
        rows = [(address, size, 0) for address, size in extents if not _inside(address, stubs)]
        slots = _slots(elf, result)
        rows += [(value, 0, int(FunctionFlag.STUB)) for value in result.names if value >= _PLACEHOLDERS]
        rows += [
            (at, _STUB_BYTES, int(FunctionFlag.STUB)) for begin, end in stubs for at in range(begin, end, _STUB_BYTES)
        ]
        functions = np.zeros(len(rows), dtype=FUNCTION_DTYPE)
        for index, (address, size, flag) in enumerate(sorted(rows)):
            functions[index] = (address, size, -1, -1, flag, 0)
        table = np.array(sorted(slots.items()), dtype=SLOT_DTYPE)
        result.plan = AccessPlan(arch, path, code, data, constants, functions, table)
        if relocations:
            result.relocations = _code_relocations(elf, result)
        return result


def _inside(address: int, ranges: list[tuple[int, int]]) -> bool:
    return any(begin <= address < end for begin, end in ranges)


def _symbols(elf: ELFFile, result: Elf) -> list[tuple[int, int, str]]:
    out = []
    for section in elf.iter_sections():
        if not isinstance(section, SymbolTableSection):
            continue
        for symbol in section.iter_symbols():
            kind, address, size = symbol["st_info"]["type"], symbol["st_value"], symbol["st_size"]
            if symbol["st_shndx"] == "SHN_UNDEF":
                continue
            out.append((address, size, kind))
            if symbol.name == "__global_pointer$":
                result.globals = address
            if kind == "STT_OBJECT":
                result.objects[symbol.name] = (address, size)
            elif kind == "STT_FUNC":
                result.functions[symbol.name] = address
                result.names.setdefault(address, symbol.name)
    return out


def _unwind_extents(elf: ELFFile) -> set[tuple[int, int]]:
    header = elf.get_section_by_name(".eh_frame_hdr")
    if header is None:
        return set()
    raw, base = header.data(), header["sh_addr"]
    (count,) = struct.unpack_from("<I", raw, 8)
    table = np.frombuffer(raw, dtype="<i4", count=count * 2, offset=12).reshape(-1, 2).astype(np.int64)
    out = set()
    frame = elf.get_section_by_name(".eh_frame")
    assert frame is not None
    frames, frame_base = frame.data(), frame["sh_addr"]
    for begin, record in table.tolist():
        (size,) = struct.unpack_from("<i", frames, base + record - frame_base + 12)
        if size > 0:
            out.add((base + begin, size))
    return out


def _slots(elf: ELFFile, result: Elf) -> dict[int, int]:
    """GOT slots: the symbol that the loader stores there, imports at placeholder addresses."""
    slots: dict[int, int] = {}
    got = [
        (section["sh_addr"], section["sh_addr"] + section["sh_size"])
        for section in elf.iter_sections()
        if section.name.startswith(".got")
    ]
    placeholder = _PLACEHOLDERS
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or not section.name.startswith(".rela."):
            continue
        if not section["sh_flags"] & _ALLOC:
            continue
        symbols = elf.get_section(section["sh_link"]) if section["sh_link"] else None
        symbols = symbols if isinstance(symbols, SymbolTableSection) else None
        for relocation in section.iter_relocations():
            offset = relocation["r_offset"]
            if not _inside(offset, got):
                continue
            number = relocation["r_info_sym"]
            symbol = symbols.get_symbol(number) if number and symbols is not None else None
            if symbol is None:
                slots[offset] = relocation["r_addend"]
            elif symbol["st_shndx"] != "SHN_UNDEF":
                slots[offset] = symbol["st_value"]
            else:
                slots[offset] = placeholder
                result.names[placeholder] = symbol.name
                placeholder += 16
    for section in elf.iter_sections():
        # What the linker filled in itself: an executable's own symbols.
        if section.name.startswith(".got") and section["sh_type"] != "SHT_NOBITS":
            raw = np.frombuffer(section.data()[: section["sh_size"] // 8 * 8], dtype="<u8")
            for index, value in enumerate(raw.tolist()):
                if value:
                    slots.setdefault(section["sh_addr"] + 8 * index, value)
    return slots


# Relocation types of data references, by the shape of their field.
_X86_PC = {2, 4}  # PC32, PLT32
_X86_GOT = {9, 41, 42}  # GOTPCREL, GOTPCRELX, REX_GOTPCRELX
_X86_ABSOLUTE = {1: 8, 10: 4, 11: -4}  # 64, 32, 32S: bytes of the field, negative: signed
_A64_DIRECT = {274, 277, 278, 284, 285, 286, 299}  # ADR_PREL_LO21, ADD_ABS_LO12_NC, LDST8..128_ABS_LO12_NC
_A64_GOT = {312}  # LD64_GOT_LO12_NC
_RISCV_DIRECT = {27, 28}  # LO12_I, LO12_S
_RISCV_GLOBAL = {47, 48}  # GPREL_I, GPREL_S: what the linker makes of them; the addend counts from gp
_RISCV_LOWER = {24, 25}  # PCREL_LO12_I, PCREL_LO12_S: the symbol is the label of the auipc
_RISCV_UPPER = {20, 23}  # GOT_HI20, PCREL_HI20


@dataclass(frozen=True)
class Relocation:
    """A data reference of the linker: the instruction [ip, end) that it patches, and the address it names there."""

    ip: int
    end: int
    target: int
    symbol: int  # the address of the named symbol, -1 where that is only the section


def _code_relocations(elf: ELFFile, result: Elf) -> list[Relocation]:
    """The relocations inside the plan's functions, in order."""
    out = []
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or section["sh_flags"] & _ALLOC:
            continue
        patched = elf.get_section(section["sh_info"])
        if not patched["sh_flags"] & _EXEC:
            continue
        symbols = elf.get_section(section["sh_link"])
        assert isinstance(symbols, SymbolTableSection)
        body, base = patched.data(), patched["sh_addr"]
        starts = _instructions(body, base, result.plan)
        keys = sorted(starts)
        rows = list(section.iter_relocations())
        uppers = {row["r_offset"]: row for row in rows if row["r_info_type"] in _RISCV_UPPER}
        for relocation in rows:
            kind, offset = relocation["r_info_type"], relocation["r_offset"]
            index = bisect.bisect_right(keys, offset) - 1
            if index < 0 or offset >= starts[keys[index]]:
                continue
            ip, end = keys[index], starts[keys[index]]
            named = symbols.get_symbol(relocation["r_info_sym"])
            symbol = named["st_value"]
            known = -1 if named["st_info"]["type"] == "STT_SECTION" else symbol
            if result.plan.arch == "riscv64":
                addend = relocation["r_addend"]
                if kind in _RISCV_LOWER and (upper := uppers.get(symbol)) is not None:
                    named, addend = symbols.get_symbol(upper["r_info_sym"]), upper["r_addend"]
                    symbol = named["st_value"]
                    known = -1 if named["st_info"]["type"] == "STT_SECTION" else symbol
                    out.append(Relocation(ip, end, symbol + addend, known))
                elif kind in _RISCV_GLOBAL:
                    out.append(Relocation(ip, end, symbol + addend + result.globals, known))
                elif kind in _RISCV_DIRECT:
                    out.append(Relocation(ip, end, symbol + addend, known))
            elif result.plan.arch == "aarch64":
                if kind in _A64_DIRECT | _A64_GOT:
                    out.append(Relocation(ip, end, symbol + relocation["r_addend"], known))
            elif kind in _X86_PC:
                # The addend counts from the field; the processor counts from the end of the instruction.
                (field,) = struct.unpack_from("<i", body, offset - base)
                out.append(Relocation(ip, end, end + field, known))
            elif kind in _X86_GOT:
                out.append(Relocation(ip, end, symbol, known))
            elif kind in _X86_ABSOLUTE:
                size = _X86_ABSOLUTE[kind]
                raw = body[offset - base : offset - base + abs(size)]
                out.append(Relocation(ip, end, int.from_bytes(raw, "little", signed=size < 0) & _U64, known))
    return sorted(out, key=lambda row: (row.ip, row.target))


def _instructions(body: bytes, base: int, plan: AccessPlan) -> dict[int, int]:
    """Start and end of every instruction of the plan's functions inside one section."""
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    out = {}
    for row in plan.functions:
        at, size = int(row["address"]) - base, int(row["size"])
        if not 0 <= at < len(body):
            continue
        if plan.arch == "aarch64":
            out.update({ip: ip + 4 for ip in range(base + at, base + at + size, 4)})
            continue
        if plan.arch == "riscv64":
            end = at + size
            while at < end:
                length = 4 if body[at] & 3 == 3 else 2
                out[base + at] = base + at + length
                at += length
            continue
        for ip, length, _, _ in decoder.disasm_lite(body[at : at + size], base + at):
            out[ip] = ip + length
    return out
