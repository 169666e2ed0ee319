"""Two levels of one program compared: spread over the processors, and confined to one, where no cache shares a line.

Owns the excess: the processor time that the spread run took more than the other for the same work, by thread and
function, and the question which thread of one run is which of the other.  Which lines caused it is
``gain``'s.

On one processor the same accesses hit the caches as if they had no line mates.  So its time is the *no-sharing level*
of the program, with one difference: what threads share on purpose costs nothing there either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Attribution
from sharing.model.recorded import RecordedRun
from sharing.model.samples import Field, Mode
from sharing.sampled import numbers
from sharing.sampled.attribution.sampledcode import is_software_clock
from sharing.sampled.distinct import unique_inverse
from sharing.sampled.eventcosts import sample_costs
from sharing.sampled.interval import median_within
from sharing.sampled.speedup.rates import instruction_keys

Column = npt.NDArray[Any]

MAX_COMPARED = 32  # threads
NS = 1e-9


@dataclass(frozen=True, slots=True)
class Level:
    """One level: its profile, the runs that say how long it takes, and the one that was profiled, which may be of them.

    No run where nothing is known but the profile.  ``by_time``: the program may end when a time is over rather than
    when its work is done.
    """

    attribution: Attribution
    runs: tuple[RecordedRun, ...] = ()
    profiled: RecordedRun | None = None
    by_time: bool = True
    transfers_ns: tuple[float, ...] = ()  # the shortest and longest that a line took on this machine, by any recording

    @property
    def wall_s(self) -> float:
        """Of the run that was profiled, 0 unknown."""
        return self.profiled.wall_s if self.profiled is not None else 0.0

    @property
    def stretch(self) -> float:
        """Processor time of the usual run over that of the profiled one."""
        run = self.profiled
        profiled_s = run.user_s + run.system_s if run is not None else 0.0
        usual_s = median([r.user_s + r.system_s for r in self.runs if r.status == 0] or [0.0])
        return usual_s / profiled_s if usual_s > 0 and profiled_s > 0 else 1.0

    def range_of(self, name: str) -> tuple[float, float, float]:
        """(least, median, most) of a figure of the runs that ended well."""
        values = [getattr(run, name) for run in self.runs if run.status == 0] or [0.0]
        return min(values), median(values), max(values)

    def doubt_of(self, name: str) -> tuple[float, float]:
        """The factors by which the usual run's figure may be less and more.

        By how much runs differ, and how few there are (90 %).  Where lines took longer in some of them than in others,
        any of these states may be the one that is met again.  The run that was profiled is one of them: where samples
        change how long a program takes, that is a doubt.
        """
        runs = (*self.runs, *((self.profiled,) if self.profiled is not None else ()))
        values = tuple({id(run): getattr(run, name) for run in runs if run.status == 0}.values())
        taken, usual = self.transfers, self.range_of(name)[1]
        if usual > 0 and taken and max(taken) > numbers.FARTHER * min(taken):
            return max(usual / max(min(values), 1e-9), 1.0), max(max(values) / usual, 1.0)
        within = median_within(values)
        return within, within

    @property
    def distances(self) -> tuple[float, ...]:
        """How many times as long a line takes in states of the machine that none of these runs met."""
        taken = self.transfers
        if not taken or not self.transfers_ns:
            return ()
        factors = (min(self.transfers_ns) / min(taken), max(self.transfers_ns) / max(taken))
        return tuple(one for one in factors if max(one, 1 / one) > numbers.FARTHER)

    @property
    def transfers(self) -> tuple[float, ...]:
        """How long a line took from one processor to another, before and after each run."""
        runs = (*self.runs, *((self.profiled,) if self.profiled is not None else ()))
        return tuple(one for run in runs for one in run.transfer_ns)


@dataclass(frozen=True, slots=True)
class Times:
    """Each sample's seconds, its thread, function and instruction; of both levels in the same numbers.

    ``user`` marks what counts for the excess: user mode.  Time in the kernel is waiting and waking, which differs on
    one processor for other reasons.
    """

    seconds: Column
    user: Column
    thread: Column
    function: Column
    instruction: Column
    time_ns: Column

    def by(self, key: Column, size: int) -> Column:
        """User seconds by a key of each sample."""
        return np.bincount(key[self.user], self.seconds[self.user], size)[:size]


def read_levels(levels: Sequence[Level]) -> list[Times]:
    """Times of each level; functions and instructions that are the same have the same number in all."""
    functions: dict[tuple[str, str], int] = {}
    modules: dict[str, int] = {}
    parts = [_read(level, functions, modules) for level in levels]
    every = np.concatenate([ips for _, ips in parts]) if parts else np.zeros(0, np.uint64)
    _, numbered = unique_inverse(every)
    cuts = np.cumsum([len(ips) for _, ips in parts])[:-1]
    return [
        Times(t.seconds, t.user, t.thread, t.function, own, t.time_ns)
        for (t, _), own in zip(parts, np.split(numbered, cuts), strict=True)
    ]


def _read(level: Level, functions: dict[tuple[str, str], int], modules: dict[str, int]) -> tuple[Times, Column]:
    attribution = level.attribution
    rows, table = attribution.rows, attribution.samples.samples
    cost = sample_costs(attribution.samples).cost
    user = (table["mode"] != Mode.KERNEL) & (table["mode"] != Mode.HYPERVISOR)
    seconds = cost * _usual_seconds(level, cost)
    for mask, name in ((user, "user_s"), (~user, "system_s")):
        total, known = float(seconds[mask].sum()), level.range_of(name)[1]
        if total > 0 and known > 0:
            seconds[mask] *= known / total
    module, row = rows["module"].astype(np.int64) + 1, rows["function"]
    paths = ["", *(m.path for m in attribution.modules)]
    key = module * (len(attribution.functions) + 1) + row + 1
    found, number = unique_inverse(key)
    number_of = []
    for one in found.tolist():
        of_module, of_function = divmod(one, len(attribution.functions) + 1)
        name = attribution.functions[of_function - 1] if of_function else ""
        number_of.append(functions.setdefault((paths[of_module], name), len(functions)))
    ips = instruction_keys(attribution, rows, modules)
    function = np.array(number_of or [0], np.int64)[number]
    # Samples of unknown threads go into a row behind the known ones.
    thread = np.where(rows["thread"] >= 0, rows["thread"], len(attribution.threads)).astype(np.int64)
    times = Times(seconds, user & (cost > 0), thread, function, ips, table["time"])
    return times, ips


def _usual_seconds(level: Level, cost: Column) -> float:
    """Seconds of one usual sample, where no run says how long it took.

    Clocks count nanoseconds.  What other events count is no time: there a sample stands for the time up to the next one
    of its thread.
    """
    samples, thread = level.attribution.samples, level.attribution.rows["thread"]
    table, here = samples.samples, np.flatnonzero(cost > 0)
    if not len(here):
        return 0.0
    counting = [event for event in samples.events if event.fields & Field.PERIOD]
    if counting and all(is_software_clock(event) for event in counting):
        return float(np.median(table["period"][here])) * NS
    here = here[np.lexsort((table["time"][here], thread[here]))]
    gaps = np.diff(table["time"][here].astype(np.int64))[thread[here][1:] == thread[here][:-1]]
    return float(np.median(gaps)) * NS if len(gaps) else 0.0


@dataclass(frozen=True, slots=True)
class Match:
    """For each thread of the spread run its thread of the other one, -1 unmatched; empty: only totals compare."""

    pairs: dict[int, int]

    @property
    def by_thread(self) -> bool:
        return bool(self.pairs)


def match_threads(spread: Times, solo: Times, spread_tids: Column, solo_tids: Column, scale: float) -> Match:
    """Threads in order of their creation, where this gives pairs that plainly do the same work.

    A pool that hands out work as threads come free gives it to others on one processor: then only totals compare.
    """
    n_functions = int(max(spread.function.max(initial=0), solo.function.max(initial=0))) + 1
    ours, theirs = _busy_threads(spread, spread_tids), _busy_threads(solo, solo_tids)
    if not ours or len(ours) != len(theirs):
        return Match({})
    pairs = dict(zip(ours, theirs, strict=True))
    for one, other in pairs.items():
        before = _of_thread(spread, one, n_functions)
        after = _of_thread(solo, other, n_functions) * scale
        if after.sum() > numbers.FASTER * before.sum() or before[after > 0].sum() < numbers.ALIKE_TIME * before.sum():
            return Match({})
    return Match({} if _handed_out(spread, solo, pairs) else pairs)


def _handed_out(spread: Times, solo: Times, pairs: dict[int, int]) -> bool:
    """Do threads that run the same instructions for equally long take unequal parts of the work alone?"""
    size = int(max(spread.instruction.max(initial=0), solo.instruction.max(initial=0))) + 1
    seen: list[tuple[float, float, Column]] = []
    for one, other in list(pairs.items())[:MAX_COMPARED]:
        own = solo.user & (solo.thread == other)
        where: Column = np.bincount(solo.instruction[own], solo.seconds[own], size)
        before, alone = float(spread.seconds[spread.user & (spread.thread == one)].sum()), float(where.sum())
        where = where / max(alone, 1e-12)
        for before_2, alone_2, where_2 in seen:
            same = float(np.minimum(where, where_2).sum()) > numbers.ALIKE_TIME
            even = max(before, before_2) < numbers.EVEN * min(before, before_2)
            if same and even and max(alone, alone_2) > numbers.UNEVEN * min(alone, alone_2):
                return True
        seen.append((before, alone, where))
    return False


def _of_thread(times: Times, thread: int, size: int) -> Column:
    own = times.user & (times.thread == thread)
    return np.bincount(times.function[own], times.seconds[own], size)


def _busy_threads(times: Times, tids: Column) -> list[int]:
    """Threads by id, first the ones that started the processes; those with hardly any time left out."""
    known = times.user & (times.thread < len(tids))
    total = np.bincount(times.thread[known], times.seconds[known], len(tids))
    busy = np.flatnonzero(total > numbers.FEW_TIME * total.sum())
    return sorted(busy.tolist(), key=lambda t: (tids["tid"][t] != tids["pid"][t], int(tids["tid"][t])))


@dataclass(frozen=True, slots=True)
class Scale:
    """How many times the work of the confined run the spread run did; ``how`` says how that is known, "" not at all."""

    value: float
    how: str
    doubt: float = 0.0  # share by which it may be off


def usual_ratio(spread: Times, solo: Times) -> float:
    """Time of the spread run over that of the other at the instruction where USUAL_PART of the latter has less."""
    size = int(max(spread.instruction.max(initial=0), solo.instruction.max(initial=0))) + 1
    before, alone = spread.by(spread.instruction, size), solo.by(solo.instruction, size)
    used = np.flatnonzero(alone > 0)
    if not len(used):
        return 0.0
    ratio, weight = before[used] / alone[used], alone[used]
    order = np.argsort(ratio, kind="stable")
    return float(ratio[order][np.searchsorted(np.cumsum(weight[order]), weight.sum() * numbers.USUAL_PART)])


def work_scale(spread: Level, solo: Level, anchors: tuple[float, float], usual: float, *, timed: bool = True) -> Scale:
    """``anchors`` are user seconds of both levels in functions that touch no shared line, ``usual`` their usual ratio.

    A program that runs for a fixed time takes the same wall time at both levels.  So does one whose work takes twice as
    long on two processors by chance; then instructions that do not wait take the same time.
    """
    rates = [(run.metric or 0.0) * run.wall_s for run in spread.runs if run.status == 0]
    others = [(run.metric or 0.0) * run.wall_s for run in solo.runs if run.status == 0]
    if rates and others and min(*rates, *others) > 0:
        value = median(rates) / median(others)
        doubt = max(max(v) / min(v) - 1 for v in (rates, others))
        return Scale(value, "work by the metric", min(doubt, numbers.METRIC_DOUBT))
    if not spread.runs or not solo.runs:
        return Scale(1.0, "taken to do the same work", numbers.ONE_RUN_DOUBT)
    (least, wall, most), (solo_least, solo_wall, solo_most) = spread.range_of("wall_s"), solo.range_of("wall_s")
    used, solo_used = (level.range_of("user_s")[1] + level.range_of("system_s")[1] for level in (spread, solo))
    same = numbers.SAME_WALL * wall + numbers.SAME_WALL_S
    near = abs(wall - solo_wall) < same and max(most - least, solo_most - solo_least) < numbers.RUNS_APART * same
    fixed_time = near and solo_used > numbers.BUSY * solo_wall and used > numbers.SPREADS * wall
    if not (fixed_time and spread.by_time) or numbers.LEAST_USUAL < usual < numbers.MOST_USUAL:
        return Scale(1.0, "the same work")
    if min(anchors) >= numbers.MIN_ANCHOR_S:
        return Scale(
            anchors[0] / anchors[1], "work by the time in functions without shared lines", numbers.ANCHOR_DOUBT
        )
    return Scale(1.0, "")
