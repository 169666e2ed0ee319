"""The table of functions that Go's linker writes, in each of its layouts, and a program around it."""

from __future__ import annotations

import struct

from tests.builders.elf import ALLOC, EXEC, PROGBITS, WRITE, ElfBuilder

TEXT = 0x401000
FUNCTIONS = [("runtime.text", 0, 0x40), ("main.main", 0x40, 0x90), ("main.main.func1", 0xD0, 0x30)]
VERSIONS = {"1.2": 0xFFFFFFFB, "1.16": 0xFFFFFFFA, "1.18": 0xFFFFFFF0, "1.20": 0xFFFFFFF1}


def table(version: str, *, text: int = TEXT, count: int = 3, name_by: int = 0, moved: int = 0, word: int = 8) -> bytes:
    """The table of ``FUNCTIONS``.  Wrong by: their ``count``, the last one's name and address."""
    names, offsets = b"", []
    for name, _, _ in FUNCTIONS:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    offsets[-1] += name_by
    starts = [at for _, at, _ in FUNCTIONS]
    starts[-1] -= moved
    end = FUNCTIONS[-1][1] + FUNCTIONS[-1][2]
    head = struct.pack("<IBBBB", VERSIONS[version], 0, 0, 1, word)
    pointer = "Q" if word == 8 else "I"
    relative = version in ("1.18", "1.20")
    entry, base = ("I", 0) if relative else (pointer, TEXT)
    fields = 8 if relative else 7 if version == "1.16" else 1
    size = struct.calcsize(entry)
    names_at = len(head) + fields * word
    table_at = names_at + len(names) if version != "1.2" else names_at
    origin = table_at if version != "1.2" else 0
    rows = (2 * len(FUNCTIONS) + 1) * size
    records_at = table_at + rows
    names_in = 0 if version != "1.2" else records_at + len(FUNCTIONS) * (size + 4)
    records, pairs = b"", b""
    for start, offset in zip(starts, offsets, strict=True):
        pairs += struct.pack("<" + entry * 2, base + start, records_at + len(records) - origin)
        records += struct.pack(f"<{entry}i", base + start, names_in + offset)
    pairs += struct.pack("<" + entry, base + end)
    if version == "1.2":
        return head + struct.pack("<" + pointer, count) + pairs + records + names
    numbers = [count, 0, names_at, table_at, 0, 0, table_at]
    if relative:
        numbers.insert(2, text)
    return head + struct.pack(f"<{len(numbers)}{pointer}", *numbers) + names + pairs + records


def program(data: bytes, *, section: str = ".gopclntab", init: bool = False, bits: int = 64) -> ElfBuilder:
    elf = ElfBuilder(bits=bits, machine=62 if bits == 64 else 3)
    elf.with_symbols = False
    elf.section(".text", b"\xc3" * 0x100, flags=ALLOC | EXEC, address=TEXT)
    if init:
        elf.section(".init", b"\xc3" * 16, flags=ALLOC | EXEC, address=0x400800)
    elf.section(".go.buildinfo", b"\0" * 32, flags=ALLOC | WRITE, address=0x500000)
    elf.section(section, data, flags=ALLOC, address=0x480000, type=PROGBITS)
    return elf
