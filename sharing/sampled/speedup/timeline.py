"""How long a run would have taken, had some of its samples stood for less time.

Owns the step from processor time saved on threads to wall time saved.  What is saved is ``gain``'s.

A thread that becomes quicker shortens the run only while the run waits for it.  Who waits for whom is not in a profile
of samples, so the run is cut into *phases*: from one to the next no thread goes on.  In a phase the thread with the
most time decides (or all of them together, where there are more threads than processors), and time in which no thread
ran stays what it was: such a program waits for something else.  The other end of what is possible is that the threads
keep step: then the slowest decides in every single moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.sampled import numbers
from sharing.sampled.distinct import unique_inverse

Column = npt.NDArray[Any]

MAX_STEPS = 20_000  # moments that a run is cut into


@dataclass(frozen=True, slots=True)
class Walls:
    """Seconds, with phases whose threads are independent, or in step."""

    phased: float
    in_step: float


class Timeline:
    """A run: ``cost_s`` is the processor time that a sample stands for, ``group`` what it belongs to.

    ``stretch`` is how many times as long its threads run in a run without samples, whose costs these are.
    """

    def __init__(
        self, time_ns: Column, thread: Column, group: Column, cost_s: Column, processors: int, stretch: float = 1.0
    ) -> None:
        self._processors = max(processors, 1)
        self._stretch = stretch
        self._cost: Column = np.zeros(0)
        self.span_s = 0.0  # from the first sample to the last
        if not len(time_ns):
            return
        start, usual_s = int(time_ns.min()), float(np.median(cost_s)) / stretch
        self.span_s = span_s = (int(time_ns.max()) - start) * 1e-9 + usual_s
        self._step_s = max(numbers.STEP_SAMPLES * usual_s, span_s / MAX_STEPS, 1e-9)
        step = ((time_ns.astype(np.int64) - start) * 1e-9 / self._step_s).astype(np.int64)
        names, who = unique_inverse(thread)
        # One row for each moment and thread that ran in it, in order of time.
        keys, row = unique_inverse(step * len(names) + who)
        groups, which = unique_inverse(group)
        cells, cell = unique_inverse(row * len(groups) + which)
        self._cost = np.bincount(cell, cost_s)
        self._row, self._group = cells // len(groups), groups[cells % len(groups)]
        moments, self._first = np.unique(keys // len(names), return_index=True)
        runner = keys % len(names)
        self._idle_s = max(span_s - len(moments) * self._step_s, 0.0)
        bounds = _phases(runner, self._first, np.append(self._first[1:], len(keys)))
        self._lengths = np.diff(bounds)
        phase = np.repeat(np.arange(len(self._lengths)), self._lengths)
        of_row = phase[np.searchsorted(moments, keys // len(names))]
        self._by_phase, self._threads = of_row * len(names) + runner, len(names)
        self._moment_before = self._of_moments(self._cost)
        self._phase_before = self._of_phases(self._cost)

    def walls(self, kept: Column) -> Walls:
        """How long the run takes when that share of each group remains; as it was where all of it does."""
        if not len(self._cost):
            return Walls(0.0, 0.0)
        rest = self._cost * kept[self._group]
        phased = float((self._lengths * self._of_phases(rest) / self._phase_before).sum())
        in_step = float((self._of_moments(rest) / self._moment_before).sum())
        busy_s = self._step_s * self._stretch
        return Walls(self._idle_s + phased * busy_s, self._idle_s + in_step * busy_s)

    # What decides how long threads take that start together: the longest, or all of them on the processors.

    def _of_moments(self, cost: Column) -> Column:
        rows = np.bincount(self._row, cost)
        longest, every = np.maximum.reduceat(rows, self._first), np.add.reduceat(rows, self._first)
        return np.maximum(np.maximum(longest, every / self._processors), 1e-12)

    def _of_phases(self, cost: Column) -> Column:
        rows = np.bincount(self._by_phase, np.bincount(self._row, cost), len(self._lengths) * self._threads)
        table = rows.reshape(-1, self._threads)
        out: Column = np.maximum(np.maximum(table.max(axis=1), table.sum(axis=1) / self._processors), 1e-12)
        return out


def _phases(runner: Column, first: Column, ends: Column) -> Column:
    """First moments of the phases and the end: cut where none of the threads before goes on after."""
    sets = [frozenset(runner[a:b].tolist()) for a, b in zip(first.tolist(), ends.tolist(), strict=True)]
    runs: list[list[int]] = []  # [first moment, end) of equal sets
    for i, one in enumerate(sets):
        if runs and sets[runs[-1][0]] == one:
            runs[-1][1] = i + 1
        else:
            runs.append([i, i + 1])
    # What runs shortly is the border of two phases, or a thread that lacks a sample.
    runs = [run for run in runs if run[1] - run[0] >= numbers.SHORT_PHASE] or [[0, len(sets)]]
    cuts = [0]
    for before, after in pairwise(runs):
        if not sets[before[0]] & sets[after[0]]:
            cuts.append(after[0])
    return np.array([*cuts, len(sets)], np.int64)
