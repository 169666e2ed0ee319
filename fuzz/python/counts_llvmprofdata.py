"""Counts by function that llvm-profdata wrote (``pmu.counts.llvmprofdata``).  Owns the inputs that it starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu.counts import combined
from pmu.counts.llvmprofdata import read

_SEEDS = (
    b"Counters:\n  f:\n    Hash: 0x1\n    Counters: 2\n    Function count: 3\n    Block counts: [2]\n"
    b"  a.c;g:\n    Block counts: [7, 8]\nFunctions shown: 2\nTotal functions: 2\n",
)


def one(data: bytes) -> None:
    found = read(input_file(data))
    combined([found])


TARGET = Target(
    "counts of llvm-profdata",
    one,
    lambda: _SEEDS,
    (
        b"    Function count: ",
        b"    Block counts: [",
        b"Total functions:",
        b"  f:\n",
    ),
)
