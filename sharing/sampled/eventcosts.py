"""What a sample costs: which events stand for time, and how much of it each sample is.

Owns the choice.  Clock and cycle events count time directly.  Without one, events with a latency (memory loads) stand
for it, and without these every sample counts alike.  Breakpoints and page faults know addresses and cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.model.samples import Event, Field, Samples
from sharing.model.sampletable import SampleRows

_HARDWARE, _SOFTWARE, _TRACEPOINT, _BREAKPOINT = 0, 1, 2, 5  # perf_event_open(2), attr.type
_CYCLES, _REF_CYCLES = 0, 9  # attr.config of hardware events
_CPU_CLOCK, _TASK_CLOCK = 0, 1  # of software events
_CLOCK_WORDS = ("cycles", "cpu-clock", "task-clock", "cpu_clk", "clk_unhalted")


@dataclass(frozen=True, slots=True)
class Costs:
    """``cost`` of each sample in usual samples of the events that stand for time, which is what ``measure`` names."""

    cost: npt.NDArray[np.float64]
    timed: float  # how many samples stand for time
    measure: str


def sample_costs(samples: Samples) -> Costs:
    """One number a sample; they add up to ``timed``."""
    table = samples.samples
    clocks = [i for i, event in enumerate(samples.events) if _is_clock(event)]
    latencies = [i for i, event in enumerate(samples.events) if event.fields & Field.WEIGHT]
    others = [i for i, event in enumerate(samples.events) if event.type not in (_SOFTWARE, _TRACEPOINT, _BREAKPOINT)]
    present = set(np.flatnonzero(np.bincount(table["event"], minlength=1)).tolist())
    for events, column, measure in (
        (clocks, "period", "CPU time"),
        (latencies, "weight", "sampled latency"),
        (others, "period", "sampled events"),
        (list(range(len(samples.events))), "", "samples"),
    ):
        chosen = [i for i in events if i in present]
        if chosen:
            listed = not any(samples.events[i].fields & (Field.IP | Field.TIME) for i in chosen)
            return _of(table, chosen, column, len(samples.events), measure, listed)
    return Costs(np.zeros(len(table)), 0.0, "samples")


def _of(table: SampleRows, events: list[int], column: str, known: int, measure: str, listed: bool) -> Costs:
    wanted = np.zeros(max(known, int(table["event"].max(initial=0)) + 1), np.bool_)
    wanted[events] = True
    if column and not listed and len(events) == 1 and wanted[: known or 1].all():
        cost = table[column].astype(np.float64)
        total = float(cost.sum())
        cost = np.multiply(cost, len(cost) / total, out=cost) if total > 0 else np.ones(len(cost))
        return Costs(cost, float(len(cost)), measure)
    here = wanted[table["event"]]
    cost = here.astype(np.float64)
    count = float(cost.sum())
    if listed:
        # Lines of a listing: each stands for as many samples as it counts.
        cost *= table["period"]
        return Costs(cost, float(cost.sum()), measure)
    if column:
        amounts = table[column].astype(np.float64) * cost
        # Two clocks at once count different things: each is brought to its own number of samples.
        for event in events:
            own = table["event"] == event if len(events) > 1 else here
            total = float(amounts[own].sum())
            if total > 0:
                cost[own] = amounts[own] * (float(own.sum()) / total)
    return Costs(cost, count, measure)


def _is_clock(event: Event) -> bool:
    if event.type == _SOFTWARE:
        return event.config in (_CPU_CLOCK, _TASK_CLOCK)
    if event.type == _HARDWARE:
        return event.config & 0xFFFFFFFF in (_CYCLES, _REF_CYCLES)  # the upper half says which kind of core
    name = event.name.lower()
    return event.type not in (_TRACEPOINT, _BREAKPOINT) and any(word in name for word in _CLOCK_WORDS)
