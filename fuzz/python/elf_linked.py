"""The tables of a linked ELF file, each a part of the input: symbols, relocations, stubs, frames, hashes.

Owns the file around them, which is always sound, so that every mutation reaches the reader of a table.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from elfscan.__main__ import describe
from elfscan.image import read_images
from elfscan.traits import read_traits
from fuzz.python.engine.target import Target, input_file
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder

_HEADER = struct.Struct("<BB")
_AARCH64, _NARROW, _BIG, _BARE, _EXECUTABLE, _REL, _RISCV = 1, 2, 4, 8, 16, 32, 64
_ADDRESS, _STEP = 0x401000, 0x1000
_RELR, _HASH, _GNU_HASH, _VERNEED = 19, 5, 0x6FFF_FFF6, 0x6FFF_FFFE
# Name, type, flags, which section it links to, size of an entry; in the order of the parts of the input.
_PARTS: tuple[tuple[str, int, int, int, int], ...] = (
    (".text", b.PROGBITS, b.ALLOC | b.EXEC, 0, 0),
    (".plt", b.PROGBITS, b.ALLOC | b.EXEC, 0, 16),
    (".got", b.PROGBITS, b.ALLOC | b.WRITE, 0, 8),
    (".data", b.PROGBITS, b.ALLOC | b.WRITE, 0, 0),
    (".dynstr", b.STRTAB, b.ALLOC, 0, 0),
    (".dynsym", b.DYNSYM, b.ALLOC, 5, 24),
    (".rela.dyn", b.RELA, b.ALLOC, 6, 24),
    (".relr.dyn", _RELR, b.ALLOC, 0, 8),
    (".eh_frame", b.PROGBITS, b.ALLOC, 0, 0),
    (".eh_frame_hdr", b.PROGBITS, b.ALLOC, 0, 0),
    (".gnu.hash", _GNU_HASH, b.ALLOC, 6, 0),
    (".dynamic", b.DYNAMIC, b.ALLOC | b.WRITE, 5, 16),
    (".gnu.version_r", _VERNEED, b.ALLOC, 5, 0),
    (".init_array", 14, b.ALLOC | b.WRITE, 0, 8),
)


def _joined(choice: int, parts: Iterable[bytes]) -> bytes:
    return _HEADER.pack(choice, 0) + b"".join(struct.pack("<H", len(part)) + part for part in parts)


def _address(number: int) -> int:
    return _ADDRESS + _STEP * number


def _seeds() -> Iterable[bytes]:
    names = b"\0printf\0lock\0main\0libc.so.6\0V1\0"
    plt = b"\xff\x25" + struct.pack("<i", _address(2) - _address(1) - 6) + b"\x68\0\0\0\0\xe9\0\0\0\0"
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", name, info, 0, section, value, size)
        for name, info, section, value, size in (
            (1, 0x12, 0, 0, 0),
            (8, 0x11, 4, _address(3), 16),
            (13, 0x12, 1, _address(0), 8),
        )
    )
    relocations = b"".join(
        struct.pack("<QQq", where, symbol << 32 | kind, addend)
        for where, symbol, kind, addend in (
            (_address(2), 1, 7, 0),
            (_address(2) + 8, 2, 6, 0),
            (_address(3), 0, 8, _address(0)),
        )
    )
    cie = struct.pack("<II", 20, 0) + b"\1zR\0\1\x78\x10\1\x1b" + bytes(7)
    fde = struct.pack("<IIiI", 16, 28, _address(0) - (_address(8) + 32), 8) + bytes(4)
    header = b"\1\x1b\3\x3b" + struct.pack("<iIii", _address(8) - _address(9) - 4, 1, 0, _address(8) + 24 - _address(9))
    gnu_hash = struct.pack("<IIIIQII", 1, 1, 1, 0, 0, 1, 3)
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in ((1, 18), (5, _address(4)), (10, len(names)), (6, _address(5)), (7, _address(6)), (8, 72),
                           (0x6FFF_FEF5, _address(10)), (36, _address(7)), (35, 16), (0, 0))
    )  # fmt: skip
    needed = struct.pack("<HHIII", 1, 1, 18, 16, 0) + struct.pack("<IHHII", 0, 0, 2, 28, 0)
    relr = struct.pack("<QQ", _address(3), 3)
    parts = (
        b"\x90" * 16, plt, bytes(16), bytes(24), names, symbols, relocations, relr, cie + fde + bytes(4), header,
        gnu_hash, dynamic, needed, struct.pack("<Q", _address(0)),
    )  # fmt: skip
    for choice in (0, _BARE, _EXECUTABLE, _AARCH64, _AARCH64 | _BARE, _RISCV, _NARROW, _BIG, _REL | _EXECUTABLE):
        yield _joined(choice, parts)
    yield _joined(0, (*parts[:9], b"", *parts[10:]))


def file_of(data: bytes) -> bytes:
    """The ELF file that an input stands for."""
    choice, _ = _HEADER.unpack_from(data.ljust(_HEADER.size, b"\0"))
    at = _HEADER.size
    bits = 32 if choice & _NARROW else 64
    machine = b.RISCV if choice & _RISCV else b.AARCH64 if choice & _AARCH64 else b.I386 if bits == 32 else b.X86_64
    elf = ElfBuilder(bits, ">" if choice & _BIG else "<", machine, b.ET_EXEC if choice & _EXECUTABLE else b.ET_DYN)
    for number, (name, kind, flags, link, entry) in enumerate(_PARTS):
        size = int.from_bytes(data[at : at + 2], "little") & 0xFFF
        part = data[at + 2 : at + 2 + size]
        at += 2 + size
        if choice & _REL and kind == b.RELA:
            kind = 9
        row = elf.section(
            name, part, type=kind, flags=flags, address=_address(number), align=8, link=link, entry_size=entry
        )
        segment = {".dynamic": 2, ".eh_frame_hdr": 0x6474_E550}.get(name)
        if part:
            elf.segment(1, 4 | bool(flags & b.EXEC) | 2 * bool(flags & b.WRITE), row)
        if segment:
            elf.segment(segment, 4, row)
    if choice & _BARE:
        elf.header |= {"shoff": 0, "shnum": 0, "shstrndx": 0}
    return elf.bytes()


def one(data: bytes) -> None:
    path = str(input_file(file_of(data)))
    for image in read_images(path, types=False, access=False):
        for _ in describe(image):
            pass
    read_traits(path)


TARGET = Target("ELF tables: symbols, relocations, stubs, frames", one, _seeds)
