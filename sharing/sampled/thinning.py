"""Fewer samples of a profile that has more than a verdict needs.

Owns the choice of the rows that are kept.  Reads nothing and judges nothing.

What is said of a line rests on shares of all samples and on the order of samples in time.  With a hundred
thousand of them, a share of 0.5 % is known to 0.05 % (Wilson), far finer than any limit that a verdict has, while the
passes over lines grow with the number of samples.  Keeping one of each few is what a lower sampling frequency would
have recorded.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sharing.model.samples import Registers, Samples
from sharing.model.sampletable import SampleRows

MAX_JUDGED = 100_000
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)  # 2**64 over the golden ratio: scatters consecutive numbers (Knuth, 6.4)


def thinned(samples: Samples, limit: int = MAX_JUDGED) -> Samples:
    """One of each run of ``k`` consecutive samples, which then stands for ``k``; the same where ``limit`` is kept.

    Which of a run it is varies, so that nothing periodic in the program falls in step with the choice, and is the
    same in every call.
    """
    total = len(samples.samples)
    factor = -(-total // limit)
    if factor <= 1:
        return samples
    runs = np.arange(-(-total // factor), dtype=np.uint64)
    with np.errstate(over="ignore"):
        place = (runs * _MIX >> np.uint64(32)) % np.uint64(factor)
    rows = np.minimum(runs * np.uint64(factor) + place, np.uint64(total - 1)).astype(np.int64)
    table = samples.samples[rows]
    table["period"] = table["period"] * np.uint64(factor)
    return dataclasses.replace(samples, samples=table, registers=_registers(samples, table))


def _registers(samples: Samples, table: SampleRows) -> Registers:
    """Those of the kept samples; ``table`` then says where they are."""
    parts: list[npt.NDArray[np.uint64]] = []
    for name in ("regs_intr", "regs_user"):
        masks = [e.regs_intr_mask if name == "regs_intr" else e.regs_user_mask for e in samples.events]
        counts = np.array([mask.bit_count() for mask in masks] or [0], np.int64)
        before = sum(map(len, parts))
        at, words = samples.registers.gathered(table[name].astype(np.int64), counts[table["event"]])
        table[name] = np.where(at >= 0, at + before, -1)
        parts.append(words)
    return Registers(np.zeros(0, np.uint64), np.concatenate(parts))
