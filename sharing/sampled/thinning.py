"""Fewer samples of a profile that has more than a verdict needs.

Owns how many are enough.  Which ones are kept is ``sharing.model.thinning``'s, and a reader that can do so keeps no
others in the first place.  Reads nothing and judges nothing.

What is said of a line rests on shares of all samples and on the order of samples in time.  With fifty thousand of them,
a share of 0.5 % is known to 0.06 % (Wilson), far finer than any limit that a verdict has, while the passes over lines
grow with the number of samples.  Keeping one of each few is what a lower sampling frequency would have recorded.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sharing.model.samples import Field, Registers, Samples
from sharing.model.sampletable import SampleRows
from sharing.model.thinning import chosen, level_of

MAX_JUDGED = 100_000


def thinned(samples: Samples, limit: int = MAX_JUDGED) -> Samples:
    """One of each run of 2**n consecutive samples, which then stands for all; the same where ``limit`` is kept."""
    total = len(samples.samples)
    level = level_of(total, limit)
    if not level:
        return samples
    table = samples.samples[chosen(0, total, level)]
    table["period"] = table["period"] << np.uint64(level)
    registers = _registers(samples, table)
    # Stacks are not copied: a reader that keeps only some samples has them.
    events = tuple(dataclasses.replace(event, fields=event.fields & ~Field.STACK_USER) for event in samples.events)
    return dataclasses.replace(samples, samples=table, registers=registers, events=events)


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
