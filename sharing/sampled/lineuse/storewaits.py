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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.model.attribution import Attribution, TouchFlag
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
    able = _own_stores(attribution, keys, placed)
    found = [_stored_often(attribution, one, able) for one in seen]
    total: dict[int, float] = defaultdict(float)  # of each thread, its stores to all such lines
    for rates in found:
        for thread, rate in rates.items():
            total[thread] += 1 / rate.every
    out = []
    for one, rates in zip(seen, found, strict=True):
        late: dict[tuple[int, str], float] = defaultdict(float)
        for thread, rate in rates.items():
            for function, waited in _time(attribution, cost, able, thread, rate).items():
                late[(_index(one.line, attribution, thread), function)] += waited / rate.every / total[thread]
        out.append(replace(one.line, late=dict(late)) if late else one.line)
    return out


def _stored_often(attribution: Attribution, one: SeenLine, able: Column) -> dict[int, _Rate]:
    """Threads (rows of Attribution.threads) whose stores to the line come faster than it, beside another such user."""
    line = one.line
    writers = {t.thread for t in line.touches if t.kind is AccessKind.STORE and not t.atomic}
    meeting = {i for pair, o in line.overlaps.items() if not o.concurrency.apart for i in pair}
    if not writers & meeting:
        return {}
    accesses = _Accesses(attribution, one, able)
    often: dict[int, int] = {}  # threads that come there often at all, by their place in the line
    stores: dict[int, _Rate] = {}
    for number in accesses.threads:
        index = _index(line, attribution, number)
        if index not in meeting or not _often(accesses.rate(number)):
            continue
        often[index] = number
        rate = accesses.rate(number, plain_stores=True)
        if rate is not None and _often(rate):
            stores[index] = rate
    return {
        often[i]: rate
        for i, rate in stores.items()
        if any(j != i and not line.overlap(i, j).concurrency.apart for j in often)
    }


class _Accesses:
    """The instructions that access a line, by thread, and the samples near them."""

    def __init__(self, attribution: Attribution, one: SeenLine, able: Column) -> None:
        self._attribution = attribution
        self._runs = ~able  # samples of time in which instructions ran
        self._runs[one.own] = False
        rows = attribution.rows[one.own]
        parts = {name: np.concatenate([rows[name], one.witnesses[name]]) for name in _OF_ACCESS}
        known = (parts["thread"] >= 0) & (parts["module"] >= 0)
        parts = {name: column[known] for name, column in parts.items()}
        code = np.stack([parts["module"].astype(np.uint64), parts["ip"]])
        self._code, number = np.unique(code, axis=1, return_inverse=True)
        self._here = np.concatenate([one.own, one.witnesses["sample"]])[known]
        self._access, self._thread = number.ravel(), parts["thread"]
        self._plain = (parts["kind"] == AccessKind.STORE) & (parts["flags"] & _NOT_PLAIN == 0)
        self._near = attribution.near(self._code[0].astype(np.int64), self._code[1])

    @property
    def threads(self) -> list[int]:
        return [int(thread) for thread in np.unique(self._thread)]

    def rate(self, thread: int, *, plain_stores: bool = False) -> _Rate | None:
        """How often a thread comes to the line, or stores to it; None where too few samples tell."""
        chosen = (self._thread == thread) & (self._plain | (not plain_stores))
        if len(np.unique(self._here[chosen])) < numbers.MIN_TESTED:
            return None
        every, density = self._attribution.rows, 0.0
        mine = every["thread"] == thread
        for access in np.unique(self._access[chosen]).tolist():
            here = len(np.unique(self._here[chosen & (self._access == access)]))
            module, ip = self._code[:, access]
            there = int((mine & (every["ip"] == ip) & (every["module"] == module) & (every["basis"] > 0)).sum())
            density += self._density(mine, access) * here / max(here, there)
        if density <= 0:
            return None
        time = self._attribution.samples.samples["time"]
        first, last = int(time[self._here[chosen]].min()), int(time[self._here[chosen]].max())
        ran = mine & self._runs & (time >= first) & (time <= last)
        return _Rate(float(ran.sum()) / density, first, last)

    def _density(self, mine: Column, access: int) -> float:
        """Samples of the run of code around an instruction, for each instruction of it."""
        sample = self._near[0][self._near[1] == access]
        ip = self._attribution.samples.samples["ip"][sample[mine[sample]]]
        where, count = np.unique(ip, return_counts=True)
        if len(where) < 2:
            return 0.0
        run = max(float(where[-1] - where[0]) / shared.INSTRUCTION_BYTES, len(where) - 1)
        return float(count.sum() - count.max()) / run


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


def _time(attribution: Attribution, cost: Column, able: Column, thread: int, rate: _Rate) -> Mapping[str, float]:
    """Time of a thread at stores to memory of its own while it stored to the line, by function."""
    rows, time = attribution.rows, attribution.samples.samples["time"]
    own = able & (rows["thread"] == thread) & (time >= rate.first) & (time <= rate.last)
    function = rows["function"][own]
    sums = np.bincount(function + 1, cost[own])
    names: Callable[[int], str] = lambda row: attribution.functions[row - 1] if row else "?"  # noqa: E731
    return {names(row): float(sums[row]) for row in np.flatnonzero(sums).tolist()}
