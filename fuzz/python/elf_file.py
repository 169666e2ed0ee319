"""Whole ELF files without the native helpers (``elfscan.image``, ``elfscan.traits``).

Owns the inputs that the target starts with, and what is done with an image.
"""

from __future__ import annotations

from collections.abc import Iterable

from elfscan.__main__ import describe
from elfscan.image import read_images
from elfscan.traits import read_traits
from fuzz.python.engine.target import Target, input_file
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder, small_program

WORDS = (
    b"\x7fELF", b".eh_frame\0", b".eh_frame_hdr\0", b".got\0", b".plt\0", b".bss\0", b".tbss\0", b".init_array\0",
    b".data..percpu\0", b"__start_", b"_GLOBAL_OFFSET_TABLE_\0", b"@@V1\0", b"\xf1\xff", b"\xf2\xff", b"\xff\xff",
)  # fmt: skip


def object_file() -> ElfBuilder:
    elf = ElfBuilder(type=b.ET_REL)
    text = elf.section(".text", b"\x90" * 32, flags=b.ALLOC | b.EXEC, align=16)
    data = elf.section(".data", bytes(32), flags=b.ALLOC | b.WRITE, align=8)
    elf.section(".bss", type=b.NOBITS, flags=b.ALLOC | b.WRITE, size=64, align=64)
    elf.section(".tbss", type=b.NOBITS, flags=b.ALLOC | b.WRITE | b.TLS, size=8, align=8)
    elf.symbol("main", text, 0, 16, b.FUNC)
    elf.symbol("table", data, 0, 16)
    elf.symbol("shared", b.COMMON, 8, 8)
    elf.symbol("outside", b.UNDEF, 0, 0, b.NOTYPE)
    elf.symbol("own", 4, 0, 8, b.TLS_SYMBOL)
    elf.relocations(".rela.text", text, [(4, 2, 2, -4), (8, 4, 4, -4)])
    elf.relocations(".rela.data", data, [(0, 1, 1, 0), (8, 2, 1, 8)])
    return elf


def seeds() -> Iterable[bytes]:
    yield small_program().bytes()
    yield object_file().bytes()
    for bits, order, machine in ((64, ">", b.PPC64), (32, "<", b.I386), (64, "<", b.AARCH64)):
        elf = ElfBuilder(bits, order, machine)
        data = elf.section(".data", bytes(16), flags=b.ALLOC | b.WRITE, address=0x2000, align=8)
        note = b"".join(n.to_bytes(4, "little" if order == "<" else "big") for n in (4, 8, 3)) + b"GNU\0" + bytes(8)
        elf.section(".note.gnu.build-id", note, type=b.NOTE, flags=b.ALLOC, address=0x1000)
        elf.section(".comment", b"GCC: (x) 1\0clang\0")
        elf.segment(1, 6, data)
        elf.symbol("x", data, 0x2000, 8)
        yield elf.bytes()


def one(data: bytes) -> None:
    path = str(input_file(data))
    for image in read_images(path, types=False, access=False):
        for _ in describe(image):
            pass
    read_traits(path)


TARGET = Target("ELF files, whole", one, seeds, WORDS)
