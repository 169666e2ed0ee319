"""How long a run would have taken, had some of its samples stood for less time.

Owns the step from processor time saved on threads to wall time saved.  What is saved is ``sharing.sampled.gain``'s.

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

Column = npt.NDArray[Any]

MAX_STEPS = 20_000  # moments that a run is cut into
STEP_SAMPLES = 2.0  # usual distances of samples in a moment
SHORT = 3  # moments that a set of threads must run to be a phase of its own


@dataclass(frozen=True, slots=True)
class Walls:
    """Seconds: as it was, and as it would be with phases that are independent inside, or in step."""

    before: float
    phased: float
    in_step: float


def predict(time_ns: Column, thread: Column, cost_s: Column, kept: Column, processors: int) -> Walls:
    """``cost_s`` is the processor time that a sample stands for, ``kept`` the share of it that remains."""
    if not len(time_ns):
        return Walls(0.0, 0.0, 0.0)
    start, usual_s = int(time_ns.min()), float(np.median(cost_s))
    span_s = (int(time_ns.max()) - start) * 1e-9 + usual_s
    step_s = max(STEP_SAMPLES * usual_s, span_s / MAX_STEPS, 1e-9)
    step = ((time_ns.astype(np.int64) - start) * 1e-9 / step_s).astype(np.int64)
    names, who = np.unique(thread, return_inverse=True)
    # One row for each moment and thread that ran in it, in order of time.
    keys, row = np.unique(step * len(names) + who, return_inverse=True)
    cost, rest = np.bincount(row, cost_s), np.bincount(row, cost_s * kept)
    moment, runner = keys // len(names), keys % len(names)
    moments, first = np.unique(moment, return_index=True)
    ends = np.append(first[1:], len(keys))
    busy_s = float(len(moments)) * step_s
    idle_s = max(span_s - busy_s, 0.0)

    in_step = 0.0
    for a, b in zip(first.tolist(), ends.tolist(), strict=True):
        in_step += _limit(rest[a:b], processors) / _limit(cost[a:b], processors)
    bounds = _phases(runner, first, ends)
    phased = 0.0
    for a, b in bounds:
        rows = slice(int(first[a]), int(ends[b - 1]))
        before = np.bincount(runner[rows], cost[rows], len(names))
        after = np.bincount(runner[rows], rest[rows], len(names))
        phased += (b - a) * _limit(after, processors) / _limit(before, processors)
    return Walls(span_s, idle_s + phased * step_s, idle_s + in_step * step_s)


def _limit(cost: Column, processors: int) -> float:
    """What decides how long threads take that start together: the longest, or all of them on the processors."""
    return max(float(cost.max()), float(cost.sum()) / max(processors, 1), 1e-12)


def _phases(runner: Column, first: Column, ends: Column) -> list[tuple[int, int]]:
    """Runs of moments [a, b), cut where none of the threads before goes on after."""
    sets = [frozenset(runner[a:b].tolist()) for a, b in zip(first.tolist(), ends.tolist(), strict=True)]
    runs: list[list[int]] = []  # [first moment, end) of equal sets
    for i, one in enumerate(sets):
        if runs and sets[runs[-1][0]] == one:
            runs[-1][1] = i + 1
        else:
            runs.append([i, i + 1])
    # What runs shortly is the border of two phases, or a thread that lacks a sample.
    runs = [run for run in runs if run[1] - run[0] >= SHORT] or [[0, len(sets)]]
    cuts = [0]
    for before, after in pairwise(runs):
        if not sets[before[0]] & sets[after[0]]:
            cuts.append(after[0])
    return list(zip(cuts, [*cuts[1:], len(sets)], strict=True))
