"""Branches that BOLT wrote (``pmu.counts.bolt``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu.counts import combined
from pmu.counts.bolt import read

_SEEDS = (
    b"0 [unknown] 0 1 f 0 0 1\n1 f 4a 1 g/a.c/1 0 3 20\n4 shared 0 4 other 8 2\n",
    b"no_lbr cycles:u:\n1 f 12 300\n",
)


def one(data: bytes) -> None:
    found = read(input_file(data))
    combined([found])


TARGET = Target(
    "counts of BOLT",
    one,
    lambda: _SEEDS,
    (
        b"1 f 0 1 f 0 0 1\n",
        b"no_lbr\n",
        b"boltedcollection\n",
        b"4 ",
    ),
)
