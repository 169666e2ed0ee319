"""From placed samples to lines: the costliest ones with who touched which bytes, when and how.

Owns the grouping.  Does not place samples (``sharing.sampled.attribution.attribute``) and does not judge.

Time falls on instructions that wait: loads and atomics.  A plain store goes into the store buffer and hardly shows.
So each line collects three kinds of knowledge: samples of its own, witnesses (accesses in the same straight run as a
sampled instruction) and what the code of functions that were sampled on a thread contains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import (
    UNKNOWN_THREAD,
    Attribution,
    Basis,
    Region,
    SpaceKind,
    Table,
    TouchFlag,
    line_keys,
)
from sharing.model.image import AccessKind
from sharing.model.samples import Samples
from sharing.sampled import numbers
from sharing.sampled.attribution.sampledcode import is_software_clock
from sharing.sampled.attribution.unplaced import is_unplaced
from sharing.sampled.eventcosts import Costs, sample_costs
from sharing.sampled.lineuse.overlap import MAX_SAMPLES as MAX_TESTED
from sharing.sampled.lineuse.overlap import in_turn, may_be_step, overlap
from sharing.sampled.lineuse.storewaits import SeenLine, with_store_waits
from sharing.sampled.lineuse.touches import footprints, group_touches, sites_of, splits, walked
from sharing.sampled.lineuse.use import Concurrency, LineUse, Overlap, Provenance, SampledRun, ThreadName, Totals, Touch

MAX_COUNTED = 1 << 15  # lines whose cost is summed
MAX_CODE_THREADS = 64  # that only code says touch a line
MAX_WALKED = 256  # lines whose instructions are followed to other lines
Rows = npt.NDArray[np.int64]
Column = npt.NDArray[Any]


class CodeSites(Protocol):
    """What the code of the judged binary touches at static addresses."""

    def touches(self, link: int, size: int) -> list[tuple[int, int, int, AccessKind, bool, frozenset[int]]]:
        """(function, start, end, kind, atomic, elsewhere) of accesses to the bytes [link, link + size).

        ``function`` is a row of Attribution.functions, start and end are offsets from ``link``.  ``elsewhere`` are rows
        of Attribution.threads that were sampled in the function, where no way leads from this access.
        """


@dataclass(frozen=True, slots=True)
class _Profile:
    """One profile's columns, and what is looked up in them again and again."""

    attribution: Attribution
    cost: npt.NDArray[np.float64]
    time: npt.NDArray[Any]
    cpu: npt.NDArray[Any]
    names: tuple[ThreadName, ...]
    line_size: int
    runs: _Runs
    code: CodeSites | None
    period_ns: float  # from one sample of a thread to its next, as long as it runs; 0 unknown
    crowded: bool


def profile_lines(
    attribution: Attribution,
    line_size: int,
    code: CodeSites | None = None,
    *,
    limit: int | None = None,
    crowded: bool = False,
) -> SampledRun:
    """1. cost of each sample; 2. the costliest lines; 3. witnesses; 4. touches and overlaps of each; 5. footprints.

    ``line_size`` in bytes, a power of two: a line, or a pair of lines that are fetched together.  ``crowded``: other
    programs left the threads less than a processor each, so that turns may be the scheduler's.
    """
    rows = attribution.rows
    costs = sample_costs(attribution.samples)
    placed = (rows["basis"] >= Basis.AWAITED) & (rows["space"] >= 0)
    for region in (Region.KERNEL, Region.CODE):
        placed &= rows["region"] != region
    keys = line_keys(rows["space"], rows["place"], line_size)
    most = numbers.MAX_LINES if limit is None else limit
    chosen = _costliest(keys, placed, costs.cost, rows["thread"], most)
    totals = _totals(attribution, costs)
    if not len(chosen):
        return SampledRun((), totals)
    here, bounds = _by_line(keys, chosen, placed)
    witnesses = attribution.witnesses(chosen, line_size)
    beside, witness_bounds = _by_line(line_keys(witnesses["space"], witnesses["place"], line_size), chosen)
    names, runs = _thread_names(attribution), _Runs(attribution)
    table = attribution.samples.samples
    time, cpu = np.ascontiguousarray(table["time"]), np.ascontiguousarray(table["cpu"])
    period_ns = _period_ns(attribution)
    profile = _Profile(attribution, costs.cost, time, cpu, names, line_size, runs, code, period_ns, crowded)
    seen = []
    for i in range(len(chosen)):
        own = here[bounds[i] : bounds[i + 1]]
        near = witnesses[beside[witness_bounds[i] : witness_bounds[i + 1]]]
        seen.append(SeenLine(_line(profile, own, near), own, near))
    waiting = with_store_waits(attribution, costs.cost, keys, placed, seen)
    lines = [(line, one.own) for line, one in zip(waiting, seen, strict=True)]
    lines.sort(key=lambda item: (-item[0].cost, -item[0].samples, item[0].address))
    shared = [i for i, (line, _) in enumerate(lines) if any(not o.concurrency.apart for o in line.overlaps.values())]
    walked = footprints(rows, placed, keys, [lines[i][1] for i in shared[:MAX_WALKED]])
    for i, count in zip(shared, walked, strict=False):
        lines[i] = (replace(lines[i][0], footprint=count), lines[i][1])
    return SampledRun(tuple(line for line, _ in lines), totals)


def _by_line(
    keys: npt.NDArray[np.uint64], chosen: npt.NDArray[np.uint64], mask: npt.NDArray[np.bool_] | None = None
) -> tuple[Rows, npt.NDArray[Any]]:
    """Rows on the chosen lines, line by line in their own order, and where each line's begin."""
    at = np.minimum(np.searchsorted(chosen, keys), len(chosen) - 1)
    hit = chosen[at] == keys
    rows = np.flatnonzero(hit if mask is None else hit & mask)
    # Sixteen bits are sorted by counting.
    rows = rows[np.argsort(at[rows].astype(np.uint16), kind="stable")]
    return rows, np.searchsorted(at[rows], np.arange(len(chosen) + 1))


def _costliest(
    keys: npt.NDArray[np.uint64],
    placed: npt.NDArray[np.bool_],
    cost: npt.NDArray[np.float64],
    thread: Column,
    limit: int,
) -> npt.NDArray[np.uint64]:
    """Keys of the lines with the most cost, ascending.  Sorting whole keys is quicker than sorting indexes."""
    ordered = np.sort(keys[placed])
    if not len(ordered):
        return ordered
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(ordered)))
    several = lengths > 1
    lines, lengths = ordered[starts][several], lengths[several]
    if len(lines) > MAX_COUNTED:
        most = np.sort(np.argpartition(lengths, -MAX_COUNTED)[-MAX_COUNTED:])
        lines, lengths = lines[most], lengths[most]
    if not len(lines):
        return lines
    at = np.minimum(np.searchsorted(lines, keys), len(lines) - 1)
    here = np.flatnonzero(placed & (lines[at] == keys))
    at, own = at[here], cost[here]
    weight = np.bincount(at, own, len(lines)) / max(float(cost.sum()), 1.0)
    # Events without a cost (breakpoints, faults) name lines too.
    free = np.bincount(at, own == 0, len(lines)) / max(int(np.count_nonzero(cost == 0)), 1)
    weight = np.maximum(weight, free)
    often = (lengths >= numbers.MIN_ON_LINE) & (weight >= numbers.MIN_SHARE)
    kept = np.flatnonzero(often | _thin(at, thread[here], often))
    if len(kept) > limit:
        kept = kept[np.argpartition(weight[kept], -limit)[-limit:]]
    return np.sort(lines[kept])


def _thin(line: Column, thread: Column, often: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Lines with a few samples of more than one thread, where there are many: an array that threads work on together
    has few on each of its lines.

    ``line`` and ``thread`` of each sample; ``often``: lines that count by themselves.
    """
    first = np.full(len(often), -1, np.int64)
    first[line] = thread
    mixed = np.zeros(len(often), np.bool_)
    mixed[line[first[line] != thread]] = True
    mixed &= ~often
    return mixed if np.count_nonzero(mixed) >= numbers.MANY_THIN else np.zeros_like(mixed)


def _totals(attribution: Attribution, costs: Costs) -> Totals:
    known = attribution.rows["basis"] > Basis.NONE
    return Totals(
        samples=len(attribution.rows),
        attributed=int(known.sum()),
        timed=costs.timed,
        timed_unplaced=float(costs.cost[is_unplaced(attribution)].sum()),
        measure=costs.measure,
        profiles=1,
    )


def _period_ns(attribution: Attribution) -> float:
    """A clock's period is time; that of a counter is not, and varies."""
    events, table = attribution.samples.events, attribution.samples.samples
    present = np.flatnonzero(np.bincount(table["event"], minlength=1)).tolist()
    if len(present) != 1 or not len(table) or present[0] >= len(events) or not is_software_clock(events[present[0]]):
        return 0.0
    return float(np.median(table["period"]))


def _thread_names(attribution: Attribution) -> tuple[ThreadName, ...]:
    """Threads with what they last called themselves while they were sampled."""
    threads, samples = attribution.threads, attribution.samples
    last = np.zeros(len(threads), np.uint64)
    known = attribution.rows["thread"] >= 0
    # Samples are in order of time: the last one assigned stays.
    last[attribution.rows["thread"][known]] = samples.samples["time"][known]
    comm = samples.comm_rows(threads["tid"], last)
    return tuple(
        ThreadName(int(t["pid"]), int(t["tid"]), samples.comms[c] if c >= 0 else "")
        for t, c in zip(threads, comm.tolist(), strict=True)
    )


class _Runs:
    """Which threads were sampled in which functions, placed or not."""

    def __init__(self, attribution: Attribution) -> None:
        rows = attribution.rows
        self.numbers = {name: number for number, name in enumerate(attribution.functions)}
        self._thread: Column = rows["thread"]
        self._functions = len(attribution.functions) + 1
        function = rows["function"]
        self._code = self._thread.astype(np.int64) * self._functions + function
        self._order: Rows | None = None
        self._known: dict[int, dict[int, None]] | None = None
        self._placed = (function >= 0) & (self._thread >= 0)

    def threads(self, function: int) -> tuple[int, ...]:
        """Those that were sampled in a function."""
        if self._known is None:
            self._known = {}
            for code in np.unique(self._code[self._placed]).tolist():
                thread, number = divmod(code, self._functions)
                self._known.setdefault(number, {})[thread] = None
        return tuple(self._known.get(function, ()))

    def of(self, threads: Column) -> Rows:
        """All samples of several threads, in order of time."""
        wanted = np.zeros(int(self._thread.max(initial=-1)) + 2, np.bool_)
        wanted[threads] = True
        return np.flatnonzero(wanted[self._thread])

    def samples(self, thread: int, functions: set[int]) -> Rows:
        """All samples of a thread in any of the functions."""
        if self._order is None:
            self._order = np.argsort(self._code, kind="stable")
        found = []
        for function in functions:
            code = thread * self._functions + function
            first = np.searchsorted(self._code, code, "left", sorter=self._order)
            last = np.searchsorted(self._code, code, "right", sorter=self._order)
            found.append(self._order[first:last])
        return np.concatenate(found)


class _Paths:
    """Which accesses of a function a thread comes to: two threads may run one function and take other ways through it.

    What samples of one thread show would show in those of another as often, if it did the same.
    """

    def __init__(self, runs: _Runs, touches: Iterable[Touch], threads: list[int]) -> None:
        self._runs = runs
        self._seen: dict[tuple[int, int, int, AccessKind], dict[int, int]] = {}
        for t in touches:
            by_thread = self._seen.setdefault((runs.numbers.get(t.function, -1), t.start, t.end, t.kind), {})
            thread = threads[t.thread]
            by_thread[thread] = max(by_thread.get(thread, 0), t.samples)

    def may_take(self, thread: int, function: int, start: int, end: int, kind: AccessKind) -> bool:
        by_thread = self._seen.get((function, start, end, kind), {})
        if thread in by_thread or not by_thread:
            return True
        most = max(count / max(self._in(other, function), count) for other, count in by_thread.items())
        return most * self._in(thread, function) < numbers.WOULD_SHOW

    def _in(self, thread: int, function: int) -> int:
        return len(self._runs.samples(thread, {function}))


def _line(profile: _Profile, rows: Rows, witnesses: Table) -> LineUse:
    """One line from its samples and witnesses."""
    a, size = profile.attribution, profile.line_size
    own, cost = a.rows[rows], profile.cost[rows]
    cpu = profile.cpu[rows]
    place = int(own["place"][0])
    base = place & -size
    static = own["region"][0] == Region.STATIC and own["data_module"][0] >= 0
    link = int(own["link"][0]) - (place - base) if static else -1
    module = a.modules[int(own["data_module"][0])] if static else None
    space = a.spaces[int(own["space"][0])]
    # After a fork the same function and address are another process's own memory.
    pid = space.pid if space.kind is SpaceKind.PRIVATE else -1
    code = _code_touches(profile, link, pid) if module is not None and module.target else []
    threads = _distinct(np.concatenate([own["thread"], witnesses["thread"]]))
    order = list(dict.fromkeys([*threads, *(t for t, *_ in code)]))
    index = {thread: i for i, thread in enumerate(order)}
    touches = group_touches(a, own, cost, base, size, index, Provenance.SAMPLE)
    touches += group_touches(a, witnesses, np.zeros(len(witnesses)), base, size, index, Provenance.WITNESS)
    walks = walked(a, own, base, size, index)
    if walks:
        touches = [replace(t, walks=(t.thread, t.function, t.kind) in walks) for t in touches]
    known = {(t.thread, t.start, t.end, t.kind) for t in touches}
    if code:
        paths = _Paths(profile.runs, touches, order)
        code = [one for one in code if paths.may_take(*one[:5])]
    touches += [
        Touch(index[thread], start, end, kind, a.functions[function], Provenance.CODE, atomic=atomic)
        for thread, function, start, end, kind, atomic in code
        if (index[thread], start, end, kind) not in known
    ]
    functions: dict[int, set[int]] = {}
    for thread, function, *_ in code:
        functions.setdefault(thread, set()).add(function)
    return LineUse(
        address=base,
        size=size,
        region=Region(int(own["region"][0])),
        touches=tuple(touches),
        threads=tuple(profile.names[t] for t in order),
        link=link,
        module=module.path if module is not None else "",
        target=module is not None and module.target,
        space=space.name,
        samples=len(rows),
        cost=float(cost.sum()),
        hitm=int(np.count_nonzero(own["flags"] & TouchFlag.HITM)),
        remote=int(np.count_nonzero(own["flags"] & TouchFlag.REMOTE)),
        cpus=len(_distinct(cpu)),
        bases={Basis(b): n for b, n in enumerate(np.bincount(own["basis"]).tolist()) if n},
        overlaps=_overlaps(profile, (own["thread"], rows), witnesses, index, touches, functions),
        splits=splits(a, own, cost, base, size, index),
        sites=sites_of(a, (own, witnesses), base, size),
        owner=_stack_owner(profile, own, rows),
        moments=_moments(own["thread"], profile.time[rows], cpu, index) if len(rows) < numbers.FEW_SAMPLES else (),
        in_turn=frozenset(index[thread] for thread in _in_turn(profile, _distinct(own["thread"]))),
    )


def _stack_owner(profile: _Profile, own: Table, rows: Rows) -> ThreadName | None:
    """The thread on whose stack a line is, where it is on one."""
    a, first = profile.attribution, own[0]
    space = a.spaces[int(first["space"])]
    if first["region"] != Region.STACK or space.kind is not SpaceKind.PRIVATE:
        return None
    time = int(profile.time[rows[0]])
    tid = a.stack_owner(space.pid, int(first["place"]), time)
    if tid == UNKNOWN_THREAD:
        return None
    known = [name for name in profile.names if name.tid == tid]
    return known[0] if known else ThreadName(space.pid, tid, _comm(a.samples, tid, time))


def _comm(samples: Samples, tid: int, time: int) -> str:
    row = int(samples.comm_rows(np.array([tid]), np.array([time], np.uint64))[0])
    return samples.comms[row] if row >= 0 else ""


def _moments(
    threads: Column, times: Column, cpus: Column, index: Mapping[int, int]
) -> tuple[tuple[int, int, int], ...]:
    rows = zip(threads.tolist(), times.tolist(), cpus.tolist(), strict=True)
    return tuple((index[thread], time, cpu) for thread, time, cpu in rows if thread in index)


def _in_turn(profile: _Profile, threads: list[int]) -> list[int]:
    """The threads of a line, where each came after the one before."""
    if len(threads) < numbers.SEVERAL or profile.period_ns <= 0 or profile.crowded:
        return []
    rows = profile.runs.of(np.array(threads, np.int64))
    who = profile.attribution.rows["thread"][rows]
    return threads if in_turn(profile.time[rows], who, profile.period_ns) else []


def _distinct(threads: Column) -> list[int]:
    """The different small numbers, without -1, ascending."""
    return np.flatnonzero(np.bincount(threads.astype(np.int64) + 1)[1:]).tolist()


def _code_touches(profile: _Profile, link: int, pid: int) -> list[tuple[int, int, int, int, AccessKind, bool]]:
    """(thread, function, start, end, kind, atomic) of what code says of threads that were sampled in it.

    ``pid``: of the process whose memory it is, -1 for that of several.
    """
    if profile.code is None:
        return []
    out = [
        (thread, function, start, end, kind, atomic)
        for function, start, end, kind, atomic, elsewhere in profile.code.touches(link, profile.line_size)
        for thread in profile.runs.threads(function)
        if thread not in elsewhere and (pid < 0 or profile.names[thread].pid == pid)
    ]
    threads = list(dict.fromkeys(t for t, *_ in out))[:MAX_CODE_THREADS]
    return [touch for touch in out if touch[0] in threads]


def _overlaps(
    profile: _Profile,
    own: tuple[Column, Rows],
    witnesses: Table,
    index: Mapping[int, int],
    touches: list[Touch],
    functions: Mapping[int, set[int]],
) -> dict[tuple[int, int], Overlap]:
    """The test for pairs of the busiest threads of which one writes; ``own`` are threads and rows of samples."""
    writers = {t.thread for t in touches if t.writes}
    if len(index) < 2 or not writers:
        return {}
    weight: dict[int, int] = {}
    for touch in touches:
        weight[touch.thread] = weight.get(touch.thread, 0) + touch.samples
    thread_of = {i: number for number, i in index.items()}
    busiest = sorted(sorted(weight, key=lambda i: (-weight[i], i))[: numbers.MAX_THREADS])
    events = {i: _events(profile, own, witnesses, thread_of[i], functions.get(thread_of[i], set())) for i in busiest}
    out: dict[tuple[int, int], Overlap] = {}
    for i, j in ((i, j) for i in busiest for j in busiest if i < j and (i in writers or j in writers)):
        result = overlap(events[i][0], events[j][0], events[i][1], events[j][1])
        if may_be_step(result):
            one, other = (_in_code(profile, own, thread_of[k]) for k in (i, j))
            if overlap(one[0], other[0], one[1], other[1]).concurrency is Concurrency.CONCURRENT:
                result = replace(result, concurrency=Concurrency.UNKNOWN)
        if profile.crowded and result.concurrency is Concurrency.PHASED and result.alternations > 1:
            result = replace(result, concurrency=Concurrency.TIME_SLICED)
        out[i, j] = result
    return out


def _in_code(profile: _Profile, own: tuple[Column, Rows], thread: int) -> tuple[Column, Column]:
    """When and on which processor a thread was in the functions of its samples on the line, lock functions aside."""
    mine = profile.attribution.rows[own[1][own[0] == thread]]
    called = mine["flags"] & TouchFlag.LOCK_CALL != 0
    functions = set(_distinct(mine["function"][~called]))
    if not functions:
        return profile.time[:0], profile.cpu[:0]
    rows = np.sort(profile.runs.samples(thread, functions))
    return profile.time[rows], profile.cpu[rows]


def _events(
    profile: _Profile, own: tuple[Column, Rows], witnesses: Table, thread: int, functions: set[int]
) -> tuple[Column, Column]:
    """When and on which processor a thread used the line; in the functions that touch it, where no sample says."""
    found = [own[1][own[0] == thread], witnesses["sample"][witnesses["thread"] == thread]]
    if sum(map(len, found)) < numbers.MIN_TESTED and functions:
        found.append(profile.runs.samples(thread, functions))
    # A sample may be its own witness: each counts once.
    rows = np.unique(np.concatenate([part[:: -(-len(part) // MAX_TESTED) or 1] for part in found]))
    return profile.time[rows], profile.cpu[rows]
