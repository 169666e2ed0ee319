"""Which samples stand for the others of a profile that has more than anyone needs.

Owns the choice by number.  Reads nothing; ``pmu`` chooses with it while it reads a file, ``sharing.sampled.thinning``
among samples that were read.

Of each run of 2**level consecutive samples one is kept.  Which one it is comes from a hash, so that nothing periodic in
the program falls in step with the choice, and is the same in every call.  A sample that is kept at a level is kept at
all lower ones: a reader that does not know yet how many samples there are starts with all and thins out as it goes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

# 2**64 over the golden ratio (Knuth, 6.4), and a multiplier of splitmix64 (Steele, Lea and Flood, 2014).
_STEP, _MIX = np.uint64(0x9E37_79B9_7F4A_7C15), np.uint64(0xBF58_476D_1CE4_E5B9)


def level_of(total: int, limit: int) -> int:
    """The lowest level that keeps no more than ``limit`` (1 or more) of so many samples."""
    level = 0
    while -(-total >> level) > limit:
        level += 1
    return level


def chosen(first: int, stop: int, level: int) -> Numbers:
    """The numbers from ``first`` up to ``stop`` that are kept, ascending.  A run that is cut may have none."""
    if stop <= first:
        return np.zeros(0, np.int64)
    numbers = np.arange(first >> level, (stop - 1 >> level) + 1)
    for below in range(level, 0, -1):
        numbers = 2 * numbers + _half(numbers, below)
    return numbers[(numbers >= first) & (numbers < stop)]


def kept(numbers: Numbers, level: int) -> npt.NDArray[np.bool_]:
    """Whether ``chosen`` has each number."""
    out = np.ones(len(numbers), np.bool_)
    for below in range(1, level + 1):
        out &= numbers >> (below - 1) & 1 == _half(numbers >> below, below)
    return out


def _half(runs: Numbers, level: int) -> Numbers:
    """Which half of each run of 2**level samples the one that is kept lies in: 0 or 1."""
    mixed = runs.astype(np.uint64) * _STEP + np.uint64(level)
    mixed = (mixed ^ mixed >> np.uint64(32)) * _MIX
    out: Numbers = (mixed >> np.uint64(63)).astype(np.int64)
    return out
