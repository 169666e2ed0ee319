"""Listings of nm (``elfscan.listing``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from elfscan.listing import read_listing
from fuzz.python.engine.target import Target, input_file

_SEEDS = (
    b"0000000000404040 0000000000000028 B lock\n0000000000404068 0000000000000008 b counter\n"
    b"0000000000401000 0000000000000020 T main\n                 U printf\n0000000000403000 D table\t/src/a.c:12\n",
    b"ffffffff82000000 D _edata\nffffffff81000000 T _text\nffffffff82000040 d jiffies\nffffffff82000080 B _end\n",
    b"a.o:\n\n00000010 00000004 C common\n00000000 R k\n00000000 r k2\n00000004 V weak\n",
)


def one(data: bytes) -> None:
    read_listing(str(input_file(data)))


TARGET = Target(
    "listings of nm and System.map",
    one,
    lambda: _SEEDS,
    (b"ffffffffffffffff ", b"0000000000000000 ", b" B ", b" T ", b" d ", b"_end", b"\t/a.c:1", b" U "),
)
