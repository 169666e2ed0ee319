"""Maps of GNU ld and lld (``elfscan.listing``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from elfscan.listing import read_listing
from fuzz.python.engine.target import Target, input_file

_SEEDS = (
    b"Archive member included\n\nLinker script and memory map\n\n"
    b".text           0x0000000000401000      0x100\n *(.text)\n .text          0x0000000000401000       0x80 a.o\n"
    b"                0x0000000000401000                main\n                0x0000000000401040                f\n"
    b".bss            0x0000000000404000       0x80\n .bss.lock      0x0000000000404000       0x28 a.o\n"
    b" .bss.a_very_long_name_of_a_section\n                0x0000000000404040        0x8 b.o\n"
    b"                0x0000000000404040                counter\n *fill*         0x0000000000404048        0x8 \n"
    b" COMMON         0x0000000000404050        0x8 c.o\n"
    b".debug_info     0x0000000000000000       0x10\n .debug_info    0x0000000000000000       0x10 a.o\n",
    b"             VMA              LMA     Size Align Out     In      Symbol\n"
    b"          401000           401000      100    16 .text\n"
    b"          401000           401000       80    16         a.o:(.text)\n"
    b"          401000           401000       20     1                 main\n"
    b"          404000           404000       40    64 .bss\n"
    b"          404000           404000       40    64         a.o:(.bss)\n"
    b"          404000           404000       28     1                 lock\n",
)


def one(data: bytes) -> None:
    read_listing(str(input_file(data)))


TARGET = Target(
    "linker maps of GNU ld and lld",
    one,
    lambda: _SEEDS,
    (
        b"Linker script and memory map",
        b"0x0000000000404000 ",
        b"0xffffffffffffffff ",
        b"0x40 ",
        b".bss ",
        b" .bss.x ",
        b"*fill* ",
    ),
)
