"""What waits for plain stores may cost that shows elsewhere: at later stores of the same thread.

Owns how often a thread stores to a line and which of its time may be that wait.  Whose fault it is says ``blame``.

A plain store retires at once and waits in the store buffer until its line comes.  Once the buffer is full, every
later store waits for a place in it, and a sample falls there: on a store to the thread's own stack as often as not, in
another block of the loop, or in a caller.  Code without optimization stores at every step, so that next to nothing of
the wait falls on the line itself.

How often a thread comes to a store follows from samples: a run of code that has so many for each of its instructions
runs that often, of all that the thread was sampled.  What may have waited is left out on both sides: of the run the
instruction with the most samples, of the thread its time at stores.  Where a thread runs fewer instructions from one
such store to the next than run while a line travels, and another thread comes to the line as often, stores come faster
than lines do and the buffer must fill.  Then the thread's time at plain stores to memory of its own, where nothing else
makes them wait, may be that wait.  It is no proof: such stores take some time anyway.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.model.arrays import among, distinct, positions
from sharing.model.attribution import Attribution, Basis, TouchFlag
from sharing.model.image import AccessKind
from sharing.sampled import numbers
from sharing.sampled.lineuse.use import LineUse

Column = npt.NDArray[Any]
Table = npt.NDArray[Any]
_OF_ACCESS = ("thread", "module", "ip", "kind", "flags")
_NOT_PLAIN = int(TouchFlag.ATOMIC | TouchFlag.LOCK_CALL | TouchFlag.WAITS | TouchFlag.SPIN_WAITS)


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line with what it was made of: rows of its own samples, and its witnesses."""

    line: LineUse
    own: Column
    witnesses: Table


@dataclass(frozen=True, slots=True)
class _Rate:
    """How often a thread comes to a line: ``every`` so many instructions, from ``first`` to ``last`` in time."""

    every: float
    first: int
    last: int


def with_store_waits(
    attribution: Attribution, cost: Column, keys: Column, placed: Column, seen: Sequence[SeenLine]
) -> list[LineUse]:
    """The lines with ``late`` where stores to them come faster than they travel.

    ``cost``, ``keys`` (the line) and ``placed`` are of each sample.
    """
    chosen = {i: _Accesses(attribution, one) for i, one in enumerate(seen) if _is_stored_to(one.line)}
    if not chosen:
        return [one.line for one in seen]
    profile = _Profile(attribution, _own_stores(attribution, keys, placed), list(chosen.values()))
    found = {i: _stored_often(profile, seen[i].line, accesses) for i, accesses in chosen.items()}
    total: dict[int, float] = defaultdict(float)  # of each thread, its stores to all such lines
    for rates in found.values():
        for thread, rate in rates.items():
            total[thread] += 1 / rate.every
    out = [one.line for one in seen]
    for i, rates in found.items():
        late: dict[tuple[int, str], float] = defaultdict(float)
        for thread, rate in rates.items():
            for function, waited in profile.waited(cost, thread, rate).items():
                late[(_index(out[i], attribution, thread), function)] += waited / rate.every / total[thread]
        if late:
            out[i] = replace(out[i], late=dict(late))
    return out


def _meeting(line: LineUse) -> set[int]:
    """Threads that are at the line beside another one."""
    return {i for pair, overlap in line.overlaps.items() if not overlap.concurrency.apart for i in pair}


def _is_stored_to(line: LineUse) -> bool:
    """By plain stores of a thread that others meet there, where any was seen often enough to tell."""
    often = {t.thread for t in line.touches if t.samples and t.kind is AccessKind.STORE and not t.atomic}
    return line.samples >= numbers.MIN_TESTED and bool(often & _meeting(line))


def _stored_often(profile: _Profile, line: LineUse, accesses: _Accesses) -> dict[int, _Rate]:
    """Threads (rows of Attribution.threads) whose stores to the line come faster than it, beside another such user."""
    meeting = _meeting(line)
    often: dict[int, int] = {}  # threads that come there often at all, by their place in the line
    stores: dict[int, _Rate] = {}
    for number in accesses.threads:
        index = _index(line, profile.attribution, number)
        if index not in meeting or not _often(profile.rate(accesses, number)):
            continue
        often[index] = number
        rate = profile.rate(accesses, number, plain_stores=True)
        if rate is not None and _often(rate):
            stores[index] = rate
    return {
        often[i]: rate
        for i, rate in stores.items()
        if any(j != i and not line.overlap(i, j).concurrency.apart for j in often)
    }


class _Accesses:
    """Accesses to a line that were seen: instruction (``code``, module and address), thread, and the sample of each."""

    def __init__(self, attribution: Attribution, one: SeenLine) -> None:
        rows = attribution.rows[one.own]
        parts = {name: np.concatenate([rows[name], one.witnesses[name]]) for name in _OF_ACCESS}
        known = (parts["thread"] >= 0) & (parts["module"] >= 0)
        parts = {name: column[known] for name, column in parts.items()}
        self.code = np.stack([parts["module"].astype(np.uint64), parts["ip"]], axis=1)
        self.sample = np.concatenate([one.own, one.witnesses["sample"]])[known]
        self.thread = parts["thread"]
        self.plain = (parts["kind"] == AccessKind.STORE) & (parts["flags"] & _NOT_PLAIN == 0)
        self.own = one.own
        self.row = np.zeros(0, np.int64)  # of each instruction among those of all lines

    @property
    def threads(self) -> list[int]:
        return [int(thread) for thread in np.unique(self.thread)]


class _Profile:
    """What is asked of all samples, for all lines: how often a thread was at an instruction, or near it, or ran."""

    def __init__(self, attribution: Attribution, able: Column, lines: Sequence[_Accesses]) -> None:
        self.attribution, self._able = attribution, able
        rows = attribution.rows
        self._thread = np.ascontiguousarray(rows["thread"])
        self._time = np.ascontiguousarray(attribution.samples.samples["time"])
        code, row = np.unique(np.concatenate([one.code for one in lines]), axis=0, return_inverse=True)
        for one, part in zip(
            lines, np.split(row.ravel(), np.cumsum([len(one.code) for one in lines])[:-1]), strict=True
        ):
            one.row = part
        self._threads = len(attribution.threads) + 1
        sample, which = attribution.near(code[:, 0].astype(np.int64), code[:, 1])
        ip = attribution.samples.samples["ip"][sample]
        self._densities = _densities(which.astype(np.int64) * self._threads + self._thread[sample] + 1, ip)
        placed, number = _at(code, rows)
        self._there = np.bincount(
            number * self._threads + self._thread[placed] + 1, minlength=len(code) * self._threads
        )
        self._ran: dict[int, Column] = {}

    def rate(self, accesses: _Accesses, thread: int, *, plain_stores: bool = False) -> _Rate | None:
        """How often a thread comes to a line, or stores to it; None where too few samples tell."""
        chosen = (accesses.thread == thread) & (accesses.plain | (not plain_stores))
        samples = np.unique(accesses.sample[chosen])
        if len(samples) < numbers.MIN_TESTED:
            return None
        density = 0.0
        for row in np.unique(accesses.row[chosen]).tolist():
            here = len(np.unique(accesses.sample[chosen & (accesses.row == row)]))
            there = int(self._there[row * self._threads + thread + 1])
            density += self._densities.get(row * self._threads + thread + 1, 0.0) * here / max(here, there)
        if density <= 0:
            return None
        first, last = int(self._time[samples].min()), int(self._time[samples].max())
        # What is at the line itself may have waited as well.
        at_line = int(((self._thread[accesses.own] == thread) & ~self._able[accesses.own]).sum())
        ran = self._running(thread)
        ran_samples = int(np.searchsorted(ran, last, "right") - np.searchsorted(ran, first, "left"))
        return _Rate(max(ran_samples - at_line, 1) / density, first, last)

    def waited(self, cost: Column, thread: int, rate: _Rate) -> Mapping[str, float]:
        """Time of a thread at stores to memory of its own while it stored to a line, by function."""
        own = self._able & (self._thread == thread) & (self._time >= rate.first) & (self._time <= rate.last)
        sums = np.bincount(self.attribution.rows["function"][own] + 1, cost[own])
        functions = ("?", *self.attribution.functions)
        return {functions[row]: float(sums[row]) for row in np.flatnonzero(sums).tolist()}

    def _running(self, thread: int) -> Column:
        """When a thread was sampled, in order, but at stores that may have waited."""
        if thread not in self._ran:
            self._ran[thread] = np.sort(self._time[(self._thread == thread) & ~self._able])
        return self._ran[thread]


def _densities(run: Column, ip: Column) -> dict[int, float]:
    """By run of code on a thread: its samples, for each of its instructions.  ``run`` and ``ip`` of each sample."""
    order = np.lexsort((ip, run))
    run, ip = run[order], ip[order]
    # Where instructions begin, and where runs do.
    changes = np.append(True, (run[1:] != run[:-1]) | (ip[1:] != ip[:-1]))[: len(run)]
    place = np.flatnonzero(changes)
    counts = np.diff(np.append(place, len(run)))
    run, ip = run[place], ip[place]
    first = np.flatnonzero(np.append(True, run[1:] != run[:-1])[: len(run)])
    last = np.append(first[1:], len(run)) - 1
    if not len(first):
        return {}
    every, most = np.add.reduceat(counts, first), np.maximum.reduceat(counts, first)
    length = np.maximum((ip[last] - ip[first]) / shared.INSTRUCTION_BYTES, last - first)
    # One instruction alone is no run.
    density = np.where(last > first, (every - most) / np.maximum(length, 1), 0.0)
    return dict(zip(run[first].tolist(), density.tolist(), strict=True))


def _at(code: Column, rows: Table) -> tuple[Column, Column]:
    """(placed samples at these instructions, the row of each in ``code``), which is sorted by module and address."""
    ips = distinct(code[:, 1])
    number = code[:, 0].astype(np.int64) * len(ips) + positions(ips, code[:, 1])
    there = np.flatnonzero(among(rows["ip"], ips) & (rows["basis"] > Basis.NONE) & (rows["module"] >= 0))
    found = rows["module"][there].astype(np.int64) * len(ips) + positions(ips, rows["ip"][there])
    row = positions(number, found)
    return there[row >= 0], row[row >= 0]


def _index(line: LineUse, attribution: Attribution, thread: int) -> int:
    """The place of a thread among those of the line, -1 none."""
    key = attribution.threads[thread]
    who = (int(key["pid"]), int(key["tid"]))
    return next((i for i, name in enumerate(line.threads) if (name.pid, name.tid) == who), -1)


def _often(rate: _Rate | None) -> bool:
    return rate is not None and rate.every * shared.INSTRUCTION_NS <= shared.TRANSFER_NS


def _own_stores(attribution: Attribution, keys: Column, placed: Column) -> Column:
    """Samples at plain stores, or updates, of memory at which no other thread was sampled."""
    rows = attribution.rows
    at = np.flatnonzero(placed)
    lines, number = np.unique(keys[at], return_inverse=True)
    low = np.full(len(lines), np.iinfo(np.int64).max)
    high = np.full(len(lines), -1)
    np.minimum.at(low, number, rows["thread"][at])
    np.maximum.at(high, number, rows["thread"][at])
    writes = (rows["kind"][at] == AccessKind.STORE) | (rows["kind"][at] == AccessKind.RMW)
    writes &= rows["flags"][at] & _NOT_PLAIN == 0
    out = np.zeros(len(rows), np.bool_)
    out[at[writes & (low == high)[number]]] = True
    return out
