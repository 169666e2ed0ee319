"""Collects what a reader finds into ``Samples``: growing tables, names once, order of time.

Owns the parts of building a profile that all formats share.  Knows no format.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.addressspaces import KERNEL_PID, SPACE_EVENT_DTYPE, AddressSpaces, SpaceEvent
from sharing.model.samples import (
    MAPPING_DTYPE,
    SAMPLE_DTYPE,
    THREAD_DTYPE,
    Counts,
    Event,
    Field,
    MappingFlag,
    Mode,
    Recording,
    Registers,
    Samples,
    Symbol,
)
from sharing.model.sampletable import SampleTable

Table = npt.NDArray[Any]

SORT_ROWS = 1 << 15
PLACE_ROWS = 1 << 16
MAX_ROOM = 1 << 27  # rows
LAST_TIME = np.uint64((1 << 64) - 1)
NOBODY = -2  # no process has this id
COLUMNS = {name: SAMPLE_DTYPE[name] for name in SAMPLE_DTYPE.names or () if name != "reserved"}
UNKNOWN_COLUMNS = ("regs_intr", "regs_user", "pid", "tid", "mapping", "symbol", "cpu")


class Names:
    """Distinct strings (or other values), each with its row."""

    def __init__(self) -> None:
        self._rows: dict[Any, int] = {}

    def row(self, value: Any) -> int:
        return self._rows.setdefault(value, len(self._rows))

    def all(self) -> tuple[Any, ...]:
        return tuple(self._rows)


class SampleStore:
    """Columns of samples that grow in place: a second copy of five million samples would be half a gigabyte.

    ``capacity``: rows that there is room for at first.  Memory is taken only for those that are used, and only for
    columns that anyone asked for; the others hold one value.
    """

    def __init__(self, capacity: int = 1 << 12) -> None:
        self._capacity = min(capacity, MAX_ROOM)
        self._columns: dict[str, Table] = {}
        self._assumed = dict.fromkeys(COLUMNS, 0) | dict.fromkeys(UNKNOWN_COLUMNS, -1)
        self.size = 0  # rows in use, those left out included
        self._left_out: list[tuple[int, int]] = []

    @property
    def stored(self) -> int:
        """Samples in the table."""
        return self.size - sum(stop - start for start, stop in self._left_out)

    def assume(self, name: str, value: int) -> None:
        """What a column holds that nobody asks for, and held before it was first asked for."""
        if name not in self._columns and self.size and value != self._assumed[name]:
            self._add(name)
        self._assumed[name] = value

    def append(self, rows: Table) -> None:
        """SAMPLE_DTYPE rows."""
        for name, column in self.reserve(len(rows), frozenset(COLUMNS)).items():
            column[:] = rows[name]
        self.size += len(rows)

    def is_full(self, count: int) -> bool:
        """So many more rows move the table: what ``reserve`` gave until now must not be written any more."""
        return self.size + count > self._capacity

    def reserve(self, count: int, names: frozenset[str]) -> dict[str, Table]:
        """Room for so many rows with anything in it, which is kept by ``keep``: the columns that must be filled."""
        need = self.size + count
        if need > self._capacity:
            self._capacity = max(need, 2 * self._capacity)
            for name, column in self._columns.items():
                larger = np.empty(self._capacity, column.dtype)
                larger[: self.size] = column[: self.size]
                self._columns[name] = larger
        for name in names - self._columns.keys():
            self._add(name)
        return {name: column[self.size : need] for name, column in self._columns.items()}

    def keep(self, count: int) -> None:
        """The first ``count`` of the rows that were reserved belong to the table now."""
        self.size += count

    def leave(self, start: int, stop: int) -> None:
        """These rows, which were kept, hold nothing."""
        self._left_out.append((start, stop))

    def retain(self, rows: npt.NDArray[np.bool_]) -> None:
        """Only these rows stay; none of those that were left out may be among them."""
        for column in self._columns.values():
            some = column[: self.size][rows]
            column[: len(some)] = some
        self.size, self._left_out = int(np.count_nonzero(rows)), []

    def take(self, *, by_time: bool) -> SampleTable:
        """The rows, which the store gives away; stably sorted by time if so wished."""
        count, columns = self.stored, self._columns
        for column in columns.values():
            _close(column, sorted(self._left_out), self.size)
        self._columns, self.size, self._left_out = {}, 0, []
        columns = {name: column[:count] for name, column in columns.items()}
        if by_time and "time" in columns:
            _sort_in_place(columns)
        for name, dtype in COLUMNS.items():
            if name not in columns:
                columns[name] = np.broadcast_to(np.array(self._assumed[name]).astype(dtype), count)
        return SampleTable(columns, count)

    def _add(self, name: str) -> None:
        # numpy asks the system for huge pages, which take a tenth of the time to get.
        self._columns[name] = np.empty(self._capacity, COLUMNS[name])
        self._columns[name][: self.size] = self._assumed[name]


def _close(column: Table, gaps: list[tuple[int, int]], size: int) -> None:
    """Moves values down into gaps."""
    to = gaps[0][0] if gaps else size
    for (_, start), (stop, _) in itertools.pairwise([*gaps, (size, size)]):
        for at in range(start, stop, SORT_ROWS):
            count = min(SORT_ROWS, stop - at)
            column[to : to + count] = column[at : at + count]
            to += count


def _sort_in_place(columns: dict[str, Table]) -> None:
    """Stable, by time, a window at a time: samples of several CPUs are out of order only within short stretches.

    What a window holds up to the earliest time behind it is in its place; the rest is sorted again with what follows.
    """
    time = columns["time"]
    if len(time) < 2 or np.all(time[:-1] <= time[1:]):
        return
    earliest = np.minimum.reduceat(time, np.arange(0, len(time), SORT_ROWS))
    earliest = np.append(np.minimum.accumulate(earliest[::-1])[::-1], LAST_TIME)
    start, parts = 0, 1
    while start < len(time):
        part = min(start // SORT_ROWS + parts, len(earliest) - 1)
        stop = min(part * SORT_ROWS, len(time))
        order = np.argsort(time[start:stop], kind="stable")
        if not np.all(order[:-1] < order[1:]):
            for column in columns.values():
                column[start:stop] = column[start:stop].take(order)
        final = start + int(np.searchsorted(time[start:stop], earliest[part], "right"))
        if 2 * (final - start) < stop - start:
            parts *= 2
        start = len(time) if stop == len(time) else final


def new_samples(count: int) -> Table:
    """Rows in which everything is unknown."""
    rows = np.zeros(count, SAMPLE_DTYPE)
    for name in UNKNOWN_COLUMNS:
        rows[name] = -1
    return rows


def _place(samples: SampleTable, spaces: AddressSpaces) -> Table:
    """The mappings of the samples' instructions."""
    out = np.empty(len(samples), COLUMNS["mapping"])
    for start in range(0, len(samples), PLACE_ROWS):
        part = slice(start, start + PLACE_ROWS)
        mode, pid = samples["mode"][part], samples["pid"][part]
        pid = np.where(mode == Mode.KERNEL, np.int32(KERNEL_PID), pid)
        # Guests and hypervisors have address spaces of their own, of which a recording of the host says nothing.
        pid[mode > Mode.USER] = NOBODY
        out[part] = spaces.resolve(pid, samples["ip"][part], samples["time"][part])
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingDetails:
    """What a profile may say of a mapping besides its path and place.  ``kernel``: it is in every process."""

    device: tuple[int, int] = (0, 0)
    inode: tuple[int, int] = (0, 0)  # number, generation
    protection: int = 0
    build_id: str = ""
    data: bool = False
    kernel: bool = False
    shared: bool = False

    @property
    def flags(self) -> MappingFlag:
        found = MappingFlag.DATA if self.data else MappingFlag(0)
        found |= MappingFlag.KERNEL if self.kernel else MappingFlag(0)
        return found | (MappingFlag.SHARED if self.shared else MappingFlag(0))


_NOTHING_ELSE = MappingDetails()


@dataclass(slots=True)
class Builder:
    """Everything of a profile but its counts, in the order in which a reader comes across it."""

    store: SampleStore = field(default_factory=SampleStore)
    paths: Names = field(default_factory=Names)
    build_ids: Names = field(default_factory=Names)
    comms: Names = field(default_factory=Names)
    symbols: Names = field(default_factory=Names)
    mappings: list[tuple[Any, ...]] = field(default_factory=list)
    spaces: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    named: list[tuple[int, int, int, int, bool]] = field(default_factory=list)  # time, pid, tid, comm, exec
    started: list[tuple[int, int, int, int]] = field(default_factory=list)  # time, pid, tid, parent's tid

    def map(
        self,
        time: int,
        pid: int,
        start: int,
        size: int,
        pgoff: int,
        path: str,
        details: MappingDetails = _NOTHING_ELSE,
    ) -> bool:
        """A file, or memory, appeared in a process.  False (and no effect) where it lies outside the address space."""
        if size <= 0 or start + size > 1 << 64:
            return False
        pid = KERNEL_PID if details.kernel else pid
        row = len(self.mappings)
        self.mappings.append(
            (
                start,
                min(start + size, (1 << 64) - 1),
                pgoff,
                time,
                *details.inode,
                *details.device,
                pid,
                self.paths.row(path),
                self.build_ids.row(details.build_id) if details.build_id else -1,
                details.protection,
                int(details.flags),
                0,
            )
        )
        self.spaces.append((time, pid, 0, row, int(SpaceEvent.MAP)))
        return True

    def fork(self, time: int, pid: int, parent: int, tid: int, parent_tid: int, *, inherits: bool = True) -> None:
        """A process or thread began; a process has its parent's mappings unless it was merely found running."""
        if pid != parent:
            kind = SpaceEvent.FORK if inherits else SpaceEvent.EXEC
            self.spaces.append((time, pid, parent, -1, int(kind)))
        self.started.append((time, pid, tid, parent_tid))

    def comm(self, time: int, pid: int, tid: int, name: str, *, executed: bool) -> None:
        """A thread got a name; if by executing a program, its mappings are gone."""
        if executed:
            self.spaces.append((time, pid, 0, -1, int(SpaceEvent.EXEC)))
        self.named.append((time, pid, tid, self.comms.row(name), executed))

    def finish(
        self,
        events: tuple[Event, ...],
        recording: Recording,
        counts: Counts,
        *,
        registers: Registers | None = None,
        build_ids: dict[str, str] | None = None,
    ) -> Samples:
        """The profile.  ``build_ids`` (by path) fill in what mappings do not say themselves."""
        mappings = np.array(self.mappings, MAPPING_DTYPE)
        if build_ids:
            by_path = np.full(len(self.paths.all()), -1, np.int32)
            for row, path in enumerate(self.paths.all()):
                found = build_ids.get(path) or build_ids.get(_without_symbol(path))
                if found:
                    by_path[row] = self.build_ids.row(found)
            build_id, path_of = mappings["build_id"], mappings["path"]
            unknown = build_id < 0
            build_id[unknown] = by_path[path_of[unknown]]
        spaces = AddressSpaces.replay(mappings, np.array(self.spaces, SPACE_EVENT_DTYPE))
        samples = self.store.take(by_time=bool(events) and all(e.fields & Field.TIME for e in events))
        if len(mappings):
            samples["mapping"] = _place(samples, spaces)
        threads = self._threads()
        return Samples(
            samples=samples,
            events=events,
            mappings=mappings,
            paths=self.paths.all(),
            build_ids=self.build_ids.all(),
            threads=threads,
            comms=self.comms.all(),
            symbols=tuple(Symbol(*pair) for pair in self.symbols.all()),
            registers=registers or Registers(np.zeros(0, np.uint64), np.zeros(0, np.uint64)),
            spaces=spaces,
            counts=counts,
            recording=recording,
        )

    def _threads(self) -> Table:
        """Names by thread and time; a new thread has its parent's name until it gets one."""
        happened = sorted(
            [(time, 0, at) for at, (time, *_) in enumerate(self.started)]
            + [(time, 1, at) for at, (time, *_) in enumerate(self.named)]
        )
        now: dict[int, int] = {}
        rows = []
        for time, named, at in happened:
            if named:
                _, pid, tid, comm, executed = self.named[at]
            else:
                _, pid, tid, parent = self.started[at]
                if parent not in now:
                    continue
                comm, executed = now[parent], False
            now[tid] = comm
            rows.append((time, pid, tid, comm, executed, (0, 0, 0)))
        table = np.array(rows, THREAD_DTYPE)
        return table[np.lexsort((np.arange(len(table)), table["time"], table["tid"]))]


def _without_symbol(path: str) -> str:
    """``[kernel.kallsyms]`` of ``[kernel.kallsyms]_text``: a kernel's mapping names a symbol, its build-id does not."""
    return path[: path.find("]") + 1] if path.startswith("[") else path
