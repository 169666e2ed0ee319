"""Listings of opreport (``pmu.oprofile``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu import oprofile
from pmu.__main__ import describe

_SEEDS = (
    b"CPU: Core 2, speed 2401 MHz (estimated)\n"
    b"Counted CPU_CLK_UNHALTED events (Clock cycles when not halted) with a unit mask of 0x00 count 100000\n"
    b"samples  %        image name   app name    symbol name\n"
    b"8194     12.5000  mysqld       mysqld      buf_page_get\n"
    b"17       0.0260   libc.so.6    mysqld      memcpy\n"
    b"3        1e-05    [vdso] (tgid:1 range:0x7fff-0x8000)  mysqld  (no symbols)\n",
    b"vma      samples  %  samples  %   linenr info   image name   symbol name\n"
    b"00401000 10 50.0 2 20.0  a.c:12  a.out  main\n"
    b"00401010 10 50.0 8 80.0  (no location information)  a.out  f\n",
    b"first\nsamples % symbol name\n1 1.0 f\n\nsecond:\nsamples % symbol name\n2 2.0 g\n",
)


def one(data: bytes) -> None:
    for _ in describe(oprofile.read(input_file(data))):
        pass


TARGET = Target(
    "symbol listings of opreport",
    one,
    lambda: _SEEDS,
    (
        b"samples % ",
        b"symbol name",
        b"image name",
        b"app name",
        b"linenr info",
        b"vma ",
        b"Counted X events (",
        b" count 1",
        b"CPU: ",
    ),
)
