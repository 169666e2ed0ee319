"""How much faster a program would be, were the data of a line kept apart: a ratio with an interval, or why not known.

Owns the estimate.  Does not find lines (``sharing.sampled.lineuse.lines``) and does not judge them.

After Cheetah (Liu and Berger, CGO 2016): a run costs what it costs without sharing, plus what the shared lines add.
Three ways to know the former, the best first:

1. *A run on one processor* (``record --solo``).  Its user time is the no-sharing level of the same accesses.  What the
   spread run took more is shared out to lines by its samples on their accesses, as far as the same instructions took
   less time alone; function by function, because a stall is also charged to what comes after it.
2. *Latencies* of samples with data addresses: the line's accesses against accesses of the same kind to lines that
   nobody shares.  An upper bound, since accesses overlap.
3. Neither: all the time at the line's accesses is an upper bound, since what runs in the shadow of a stalled access
   is charged to it.

Keeping data apart leaves what is shared on purpose.  ``rates`` says how much that is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.model.attribution import Basis, Region, line_keys
from sharing.model.image import AccessKind
from sharing.sampled import numbers
from sharing.sampled.distinct import unique_inverse
from sharing.sampled.eventcosts import sample_costs
from sharing.sampled.lineuse.blame import Item, items_of
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.speedup.latency import floors
from sharing.sampled.speedup.rates import rates_of, remaining, with_odds
from sharing.sampled.speedup.solo import Level, Match, match_threads, read_levels, usual_ratio, work_scale
from sharing.sampled.speedup.timeline import Timeline

Column = npt.NDArray[Any]

CODE_WEIGHT_S = 1e-9  # of a function that touches a line by its code, where a sample there weighs 1e-5 and more


@dataclass(frozen=True, slots=True)
class Gain:
    """Throughput after over before: 1.0 is nothing.  ``ratio`` is None where only bounds are known."""

    ratio: float | None
    low: float
    high: float
    how: str
    ask: str = ""  # what would tell more
    given: str = ""  # what else must be done for it
    doubt: str = ""  # what makes the interval as wide as it is, mostly

    @property
    def measured(self) -> bool:
        """A level without sharing was measured: more than a bound."""
        return self.ratio is not None

    @property
    def worth_fixing(self) -> bool:
        """It may be: where it is measured and expected to be nothing, so high an end of the interval is needed."""
        return self.high >= numbers.WORTH_FIXING

    @property
    def surely_worth_fixing(self) -> bool:
        return self.measured and self.low >= numbers.WORTH_FIXING

    @property
    def uncertain(self) -> bool:
        """So wide an interval: the gain may well be another one."""
        return self.ratio is not None and max(self.high / self.ratio, self.ratio / self.low) > numbers.UNCERTAIN

    @property
    def saved(self) -> tuple[float, float, float]:
        """Share of the run's time that a fix saves: at the least, expected, at the most."""
        least, most = 1 - 1 / self.low, 1 - 1 / self.high
        return least, most if self.ratio is None else 1 - 1 / self.ratio, most

    @property
    def sentence(self) -> str:
        """What is estimated and from what, or what would tell."""
        if self.ratio is None and self.high > numbers.TELLING:
            return f"speed-up {self.text}; {self.ask}" if self.ask else f"speed-up {self.text}"
        doubt = f"uncertain, mostly because of {self.doubt}" if self.uncertain and self.doubt else ""
        return f"estimated speed-up {self.text}: {'; '.join(filter(None, (self.how, doubt, self.ask)))}"

    @property
    def text(self) -> str:
        """``1.84× (1.62–2.05×)``."""
        if self.ratio is None:
            return f"at most {self.high:.2f}×" if self.high <= numbers.TELLING else "not known from this recording"
        return f"{self.ratio:.2f}× ({self.low:.2f}–{self.high:.2f}×){' ' if self.given else ''}{self.given}"


@dataclass(frozen=True, slots=True)
class _Variation:
    """One combination of what is uncertain: factors on both levels, ends of intervals, and the model."""

    spread: float = 1.0
    solo: float = 1.0
    odds: int = 0  # of what remains: 1 and -1 are the ends
    count: int = 0  # of samples: likewise
    unexplained: bool = False  # excess that no sample explains counts
    seen_only: bool = False  # what only code says does not
    in_step: bool = False
    by_stores: bool = False  # what waits are stores, though it shows on what comes after them
    waits_stay: bool = False  # time in the kernel
    distance: float = 1.0  # how many times as long a line takes from one processor to another


_RUNS_DIFFER = "how much runs differ"
_FARTHER = "how far the processors are from each other, which changes"
# What is uncertain of every estimate, in words, and both ends of it or the one.
_DOUBTS = (
    ("how much of the sharing is meant", _Variation(odds=1)),
    ("how much of the sharing is meant", _Variation(odds=-1)),
    ("how few samples there are", _Variation(count=-1)),
    ("how few samples there are", _Variation(count=1)),
    ("how threads wait for each other", _Variation(in_step=True)),
    ("accesses that only the code tells of", _Variation(seen_only=True)),
    ("time at no shared line", _Variation(unexplained=True)),
    ("stores, whose waits show elsewhere", _Variation(by_stores=True)),
    ("waits in the kernel", _Variation(waits_stay=True)),
)


class Gains:
    """Estimates for the lines of one profile.  ``lines`` are all that are worth a look, for the excess is theirs."""

    def __init__(self, spread: Level, lines: Sequence[LineUse], solo: Level | None = None) -> None:
        self._level, self._solo_level = spread, solo
        self._lines = [line for line in lines if _is_shared(line)]
        self._number = {_key(line): i for i, line in enumerate(self._lines)}
        self._threads = spread.attribution.threads
        self._thread_of = {(int(t["pid"]), int(t["tid"])): i for i, t in enumerate(self._threads)}
        times = read_levels([spread, solo] if solo is not None else [spread])
        self._times, self._solo = times[0], times[1] if solo is not None else None
        self._size = max(int(t.function.max(initial=0)) for t in times) + 1
        self._on = _Placed(spread, self._lines)
        self._floor: Column | None = None  # by line, once someone asks
        self._numbers: dict[str, list[int]] | None = None  # of functions by name, likewise
        alone = solo.attribution if solo is not None else None
        self._rates = rates_of(spread.attribution, self._on.touching, self._on.number, self._lines, alone)
        cpu = spread.attribution.samples.samples["cpu"]
        self._processors = max(len(np.unique(cpu[cpu >= 0])), 1)
        self._scale, self._match = self._compare()
        # One group for each thread and function.
        self._group = self._times.thread * self._size + self._times.function
        self._groups = (len(self._threads) + 1) * self._size
        self._before = self._times.by(self._group, self._groups)
        # What is in the kernel has groups of its own, behind those in user mode: one for each thread.
        t, counted = self._times, self._times.seconds > 0
        group = np.where(t.user, self._group, self._groups + t.thread)[counted]
        self._timeline = Timeline(
            t.time_ns[counted], t.thread[counted], group, t.seconds[counted], self._processors, spread.stretch
        )
        on = self._on
        weight = (t.seconds * t.user)[on.sample] * on.share
        if solo is not None and self._scale.how:
            weight = weight * self._stalls()[on.sample]
        # The weight of each line in each group, where it has any.
        by_code, stored = self._by_code()
        cells = np.concatenate([on.line * self._groups + self._group[on.sample], by_code])
        self._cell, cell = unique_inverse(cells)
        self._stored = np.bincount(cell, np.concatenate([on.stored, stored]), len(self._cell)) > 0
        # What only code says decides where no sample does.
        weight = np.concatenate([weight, np.full(len(by_code), CODE_WEIGHT_S)])
        self._weight = np.bincount(cell, weight, len(self._cell))

    def of(self, line: LineUse, items: Sequence[Item] | None = None) -> Gain | None:
        """What keeping the items of a line apart would give; None for a line that is not of these or not shared."""
        return self.of_all([(line, items or ())])

    def of_all(self, lines: Iterable[tuple[LineUse, Sequence[Item]]]) -> Gain | None:
        """The same for several lines, each with its items, that are repaired together."""
        items = {n: its for n, its in ((self._number.get(_key(one)), its) for one, its in lines) if n is not None}
        known = sorted(items)
        if not known or not self._before.sum() > 0:
            return None
        left = {}
        for n in known:
            line = self._lines[n]
            rest = remaining(line, items[n] or items_of(line), self._rates[n])
            names = [(one.pid, one.tid) for one in line.threads]
            left[n] = {self._thread_of[names[t]]: share for t, share in rest.items() if names[t] in self._thread_of}
        if self._solo is None or not self._scale.how:
            return self._bound(known)
        assert self._solo_level is not None
        less, more = _spread_of(self._level, 0.0)
        solo_less, solo_more = _spread_of(self._solo_level, self._scale.doubt)
        middle = self._ratio(left, _Variation())
        of_runs = (
            _Variation(spread=1 / less),
            _Variation(spread=more),
            _Variation(solo=solo_more),
            _Variation(solo=1 / solo_less),
        )
        # What hides behind other work while lines come quickly shows where they take longer.
        farther = (_Variation(distance=one, count=int(one > 1)) for one in self._level.distances)
        doubts = (*((_RUNS_DIFFER, one) for one in of_runs), *((_FARTHER, one) for one in farther), *_DOUBTS)
        away = {(why, one): math.log(self._ratio(left, one) / middle) for why, one in doubts}
        how = f"against the run on one processor, {self._scale.how}"
        low, high = (middle * math.exp(sign * _together(away.values(), sign)) for sign in (-1, 1))
        doubt, _ = max(away, key=lambda key: abs(away[key]))
        return Gain(middle, max(low, 1.0), high, how, doubt=doubt)

    def _by_code(self) -> tuple[Column, Column]:
        """Cells of lines and functions that touch them, on threads that were sampled there, and which by stores."""
        by_name = self._functions()
        out = {
            (i * self._groups + self._thread_of[name] * self._size + number, t.kind is AccessKind.STORE)
            for i, line in enumerate(self._lines)
            for t in line.touches
            if (name := (line.threads[t.thread].pid, line.threads[t.thread].tid)) in self._thread_of
            for number in by_name.get(t.function, ())
        }
        found = np.array(sorted(out), np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    # The comparison of both levels.

    def _compare(self) -> tuple[Any, Match]:
        if self._solo is None or self._solo_level is None:
            return None, Match({})
        size = self._size
        before, alone = self._times.by(self._times.function, size), self._solo.by(self._solo.function, size)
        sharing = np.zeros(size, np.bool_)
        sharing[self._times.function[self._on.sample]] = True
        anchors = float(before[~sharing].sum()), float(alone[~sharing].sum())
        usual = usual_ratio(self._times, self._solo)
        scale = work_scale(self._level, self._solo_level, anchors, usual)
        tids = self._solo_level.attribution.threads
        return scale, match_threads(self._times, self._solo, self._threads, tids, scale.value)

    def _excess(self, variation: _Variation) -> Column:
        """Seconds that each group took more than without sharing."""
        assert self._solo is not None
        size, solo = self._size, self._solo
        before = self._before * variation.spread
        if self._match.by_thread:
            to_ours = np.full(int(solo.thread.max(initial=0)) + 2, len(self._threads), np.int64)
            for ours, theirs in self._match.pairs.items():
                to_ours[theirs] = ours
            group = to_ours[solo.thread] * size + solo.function
            alone = solo.by(group, self._groups)
            excess = before - alone * self._scale.value * variation.solo
            # Threads without a match: nothing is known of them.
            known = np.isin(np.arange(self._groups) // size, list(self._match.pairs))
            return np.where(known, np.maximum(excess, 0.0), 0.0)
        alone = solo.by(solo.function, size) * self._scale.value * variation.solo
        total = before.reshape(-1, size).sum(axis=0)
        share = np.maximum(1 - alone / np.maximum(total, 1e-12), 0.0)
        out: Column = before * np.tile(share, self._groups // size)
        return out

    def _stalls(self) -> Column:
        """For each sample the share of its instruction's time that is not there on one processor."""
        assert self._solo is not None
        size = int(max(self._times.instruction.max(initial=0), self._solo.instruction.max(initial=0))) + 1
        before = self._times.by(self._times.instruction, size)
        alone = self._solo.by(self._solo.instruction, size) * self._scale.value
        share = np.maximum(1 - alone / np.maximum(before, 1e-12), 0.0)
        out: Column = share[self._times.instruction]
        return out

    def _ratio(self, left: dict[int, dict[int, float]], variation: _Variation) -> float:
        """Throughput after over before, with what is ``left`` of the misses of each line, by thread."""
        excess = self._excess(variation)
        line_of, group = self._cell // self._groups, self._cell % self._groups
        weight = self._weight
        if variation.by_stores:
            in_group = np.bincount(group, self._stored, self._groups)[group] > 0
            weight = np.where(in_group, np.where(self._stored, np.maximum(weight, CODE_WEIGHT_S), 0.0), weight)
        total = np.bincount(group, weight, self._groups)
        freed = np.zeros(len(self._cell))
        for line, by_thread in left.items():
            here = line_of == line
            freed[here] = 1.0
            for thread, rest in by_thread.items():
                freed[here & (group // self._size == thread)] = 1 - with_odds(rest, numbers.ODDS**variation.odds)
        if variation.seen_only:
            freed[weight < 100 * CODE_WEIGHT_S] = 0.0
        own = np.bincount(group, weight * freed, self._groups)
        before = self._before * variation.spread
        counted = variation.count * shared.Z_95 * self._deviation_s(excess, total > 0)
        excess = np.clip(excess + counted, 0.0, before)
        longer = np.where(total > 0, excess * (variation.distance - 1), 0.0)
        excess, was = excess + longer, 1 + longer / np.maximum(before, 1e-12)
        saved = excess * own / np.maximum(total, 1e-12)
        if variation.unexplained:
            saved = self._with_unexplained(excess, saved, own, total)
        kept = np.clip(was - saved / np.maximum(before, 1e-12), 0.0, was)
        # Threads that hold a lock for less time also wait for it less.
        freed_of = saved.reshape(-1, self._size).sum(axis=1) / np.maximum(
            excess.reshape(-1, self._size).sum(axis=1), 1e-12
        )
        kernel = np.clip(1 - self._kernel_excess() * freed_of * (not variation.waits_stay), 0.0, 1.0)
        was, kept = np.concatenate([was, np.ones(len(kernel))]), np.concatenate([kept, kernel])
        return self._speedup(was, kept, in_step=variation.in_step)

    def _speedup(self, was: Column, kept: Column, *, in_step: bool = False) -> float:
        """Wall time before over wall time after, each with that share of what was measured, by the same model."""
        one, other = self._timeline.walls(was), self._timeline.walls(kept)
        # Loading the program and ending it take time without a sample.
        rest_s = max(self._level.wall_s - self._timeline.span_s, 1e-9)
        if in_step:
            return (one.in_step + rest_s) / (other.in_step + rest_s)
        return (one.phased + rest_s) / (other.phased + rest_s)

    def _deviation_s(self, excess: Column, here: Column) -> Column:
        """Standard deviation of the excess, in each of some groups: both levels were counted in samples.

        Few samples may hide an excess where none was seen.
        """
        counted = self._times.user & (self._times.seconds > 0)
        sample_s = float(np.median(self._times.seconds[counted])) if counted.any() else 0.0
        total, before = float(excess[here].sum()), np.where(here, self._before, 0.0)
        both_s = max(2 * float(before.sum()) - total, 0.0)
        parts = np.where(here, excess, 0.0) / total if total > 0 else before / max(float(before.sum()), 1e-12)
        out: Column = parts * np.sqrt(both_s * sample_s)
        return out

    def _kernel_excess(self) -> float:
        """Share of the time in the kernel that the run on one processor did not take."""
        assert self._solo is not None
        before = float(self._times.seconds[~self._times.user].sum())
        alone = float(self._solo.seconds[~self._solo.user].sum()) * self._scale.value
        return max(1 - alone / before, 0.0) if before > 0 else 0.0

    def _with_unexplained(self, excess: Column, saved: Column, own: Column, total: Column) -> Column:
        """Also excess of functions without a sample on a shared line, by what the thread's others say, or all."""
        rest, mine, every = (a.reshape(-1, self._size) for a in (np.where(total > 0, 0.0, excess), own, total))
        by_thread = every.sum(axis=1)
        share = np.where(
            by_thread > 0, mine.sum(axis=1) / np.maximum(by_thread, 1e-12), own.sum() / max(total.sum(), 1e-12)
        )
        out: Column = saved + (rest * share[:, None]).ravel()
        return out

    def _late(self, known: Sequence[int]) -> Column:
        """Seconds of each group that may be waits for plain stores to some lines, spent elsewhere."""
        out = np.zeros(self._groups)
        cost = self._times.seconds.sum() / max(float(sample_costs(self._level.attribution.samples).timed), 1e-12)
        by_name = self._functions()
        for line in (self._lines[n] for n in known):
            for (thread, function), waited in line.late.items():
                name = (line.threads[thread].pid, line.threads[thread].tid)
                for number in by_name.get(function, ())[:1] if name in self._thread_of else ():
                    out[self._thread_of[name] * self._size + number] += waited * cost
        return out

    def _functions(self) -> dict[str, list[int]]:
        """Numbers of functions by their name, which several may have."""
        if self._numbers is None:
            attribution = self._level.attribution
            pairs = np.unique(attribution.rows["function"].astype(np.int64) * self._size + self._times.function)
            self._numbers = {}
            for pair in pairs[pairs >= 0].tolist():
                self._numbers.setdefault(attribution.functions[pair // self._size], []).append(pair % self._size)
        return self._numbers

    def _bound(self, known: Sequence[int]) -> Gain:
        """Without a no-sharing level: all that its accesses took beyond what unshared ones do, or nothing."""
        on = self._on
        if self._floor is None:
            self._floor = floors(self._level.attribution, on.sample, on.line, len(self._lines))
        floor = self._floor
        line = self._cell // self._groups
        here = np.isin(line, known)
        group, weight = (self._cell % self._groups)[here], (self._weight * (1 - floor[line]))[here]
        saved = np.bincount(group, weight, self._groups) + self._late(known)
        kept = np.clip(1 - saved / np.maximum(self._before, 1e-12), 1e-3, 1.0)
        kept = np.concatenate([kept, np.ones(len(self._threads) + 1)])
        most = self._speedup(np.ones(len(kept)), kept)
        if self._solo is not None:
            how, ask = "upper bound: how much work each run did is not known", "`record --metric` would tell"
        elif floor[known].any():
            how = "upper bound: latencies of its accesses against those of accesses to unshared lines"
            ask = "`record --solo` measures it"
        else:
            where = (
                "all time at its accesses, and at later stores"
                if self._late(known).any()
                else "all time at its accesses"
            )
            how, ask = f"upper bound: {where}", "`record --solo` measures it"
        return Gain(None, 1.0, most, how, ask)


def _together(away: Iterable[float], sign: int) -> float:
    """How far all deviations of one direction lead: they have different reasons, so that they add up as squares."""
    return math.sqrt(sum(one * one for one in away if one * sign > 0))


class _Placed:
    """(sample, line, share, stored) of every sample that waits for a line: at its access, or in one run with it."""

    def __init__(self, level: Level, lines: Sequence[LineUse]) -> None:
        attribution, rows = level.attribution, level.attribution.rows
        size = lines[0].size if lines else 64
        placed = (rows["basis"] >= Basis.AWAITED) & (rows["space"] >= 0)
        own = np.where(placed, _line_of(rows, lines, size), -1)
        sample = np.flatnonzero(own >= 0)
        at_access = sample[rows["basis"][sample] >= Basis.DERIVED]  # what waits for one is none itself
        touching, number = [rows[at_access]], [own[at_access]]
        keys = np.unique(line_keys(rows["space"], rows["place"], size)[sample])
        witnesses = attribution.witnesses(keys, size) if len(keys) else rows[:0]
        parts = [sample], [own[sample]], [np.ones(len(sample))], [rows["kind"][sample] == AccessKind.STORE]
        if len(witnesses):
            other = _line_of(witnesses, lines, size)
            plain = np.zeros(int((other >= 0).sum()), rows.dtype)
            for name in rows.dtype.names or ():
                plain[name] = witnesses[name][other >= 0]
            touching.append(plain)
            number.append(other[other >= 0])
            use = (other >= 0) & (own[witnesses["sample"]] < 0)
            pairs = np.unique(witnesses["sample"][use] * max(len(lines), 1) + other[use])
            beside, line = pairs // max(len(lines), 1), pairs % max(len(lines), 1)
            count = np.bincount(beside, minlength=len(rows))
            parts[0].append(beside)
            parts[1].append(line)
            parts[2].append(1 / count[beside])
            stored = witnesses["kind"] == AccessKind.STORE
            stores = (witnesses["sample"] * max(len(lines), 1) + other)[use & stored]
            parts[3].append(np.isin(pairs, stores))
        self.sample: Column = np.concatenate(parts[0]).astype(np.int64)
        self.line: Column = np.concatenate(parts[1]).astype(np.int64)
        self.share: Column = np.concatenate(parts[2])
        self.stored: Column = np.concatenate(parts[3])  # by a store, whose wait shows on what comes after it
        # Every access to a shared line that was seen, and its line.
        self.touching: Column = np.concatenate(touching)
        self.number: Column = np.concatenate(number)


def _line_of(rows: Column, lines: Sequence[LineUse], size: int) -> Column:
    """Number of the line of each row, -1 none: by link-time address where the line is static storage."""
    out = np.full(len(rows), -1, np.int64)
    static = rows["region"] == Region.STATIC
    mask = ~np.uint64(size - 1)
    for column, here, addresses in (
        ("link", static, {line.link: i for i, line in enumerate(lines) if line.link >= 0}),
        ("place", ~static, {line.address: i for i, line in enumerate(lines) if line.link < 0}),
    ):
        if addresses:
            known = np.array(sorted(addresses), np.uint64)
            base = rows[column] & mask
            at = np.minimum(np.searchsorted(known, base), len(known) - 1)
            hit = here & (known[at] == base)
            out[hit] = np.array([addresses[int(a)] for a in known], np.int64)[at[hit]]
    return out


def _spread_of(level: Level, doubt: float) -> tuple[float, float]:
    """The factors by which the user time of a level may be less, and more, in the usual run."""
    floor = numbers.LEAST_SPREAD if len(level.runs) < numbers.MORE_RUNS else numbers.LEAST_SPREAD / 2
    less, more = (max(one, 1 + floor, 1 + doubt) for one in level.doubt_of("user_s"))
    return less, more


def _key(line: LineUse) -> tuple[int, bool]:
    """What a line is known by: static storage by its link-time address, which is the same in every run."""
    return (line.link, True) if line.link >= 0 else (line.address, False)


def _is_shared(line: LineUse) -> bool:
    """Two threads meet there, and one of them writes."""
    writers = {t.thread for t in line.touches if t.writes}
    threads = {t.thread for t in line.touches}
    return any(a != b and not line.overlap(a, b).concurrency.apart for a in writers for b in threads)
