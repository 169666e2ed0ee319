"""Samples by line that AutoFDO wrote as text (``pmu.counts.autofdo``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu.counts import combined
from pmu.counts.autofdo import read

_SEEDS = (
    b"main:184019:0\n 4: 534\n 4.2: 534\n 7: 534 foo:5 bar:3\n 10: inline1:1000\n  1: 1000\n !CFGChecksum: 7\n",
    b"[main:3 @ f]:9:1\n 1: 9\n",
)


def one(data: bytes) -> None:
    found = read(input_file(data))
    combined([found])


TARGET = Target(
    "counts of AutoFDO",
    one,
    lambda: _SEEDS,
    (
        b" 1: f:1\n",
        b" 1.1: 1\n",
        b"f:1:1\n",
        b" !Attributes: 1\n",
    ),
)
