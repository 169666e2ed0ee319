"""Collects what a reader finds into ``Samples``: growing tables, names once, order of time.

Owns the parts of building a profile that all formats share.  Knows no format.
"""

from __future__ import annotations

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

Table = npt.NDArray[Any]

SORT_ROWS = 1 << 18
NOBODY = -2  # no process has this id


class Names:
    """Distinct strings (or other values), each with its row."""

    def __init__(self) -> None:
        self._rows: dict[Any, int] = {}

    def row(self, value: Any) -> int:
        return self._rows.setdefault(value, len(self._rows))

    def all(self) -> tuple[Any, ...]:
        return tuple(self._rows)


class SampleStore:
    """A table of samples that grows in place: a second copy of five million rows would be half a gigabyte."""

    def __init__(self, capacity: int = 1 << 12) -> None:
        self._rows = np.zeros(capacity, SAMPLE_DTYPE)
        self.size = 0

    def append(self, rows: Table) -> None:
        self.reserve(len(rows))[:] = rows
        self.size += len(rows)

    def reserve(self, count: int) -> Table:
        """Room for so many rows, all zero unless used before; valid until the next call, and kept by ``keep``."""
        need = self.size + count
        if need > len(self._rows):
            self._rows.resize(max(need, len(self._rows) + len(self._rows) // 2), refcheck=False)
        return self._rows[self.size : need]

    def keep(self, count: int) -> None:
        """The first ``count`` of the rows that were reserved belong to the table now."""
        self.size += count

    def take(self, *, by_time: bool) -> Table:
        """The rows, which the store gives away; stably sorted by time if so wished."""
        rows, self._rows = self._rows, np.zeros(0, SAMPLE_DTYPE)
        rows.resize(self.size, refcheck=False)
        if by_time:
            _sort_in_place(rows)
        return rows


def _sort_in_place(rows: Table) -> None:
    """Stable, by time, a stretch at a time: samples of several CPUs are out of order only within short stretches."""
    time = rows["time"]
    if len(rows) < 2 or np.all(time[:-1] <= time[1:]):
        return
    order = np.argsort(time, kind="stable")
    del time
    # Before position i all rows come from before i: the two sides can be sorted on their own.
    closed = np.flatnonzero(np.maximum.accumulate(order) == np.arange(len(order))) + 1
    # numpy moves rows of plain words several times faster than structures.
    words = rows.view(np.uint64).reshape(len(rows), -1)
    start = 0
    while start < len(rows):
        at = int(np.searchsorted(closed, min(start + SORT_ROWS, len(rows))))
        stop = int(closed[min(at, len(closed) - 1)])
        part = order[start:stop]
        if not np.all(part[:-1] < part[1:]):
            words[start:stop] = words.take(part, axis=0)
        start = stop


def new_samples(count: int) -> Table:
    """Rows in which everything is unknown."""
    rows = np.zeros(count, SAMPLE_DTYPE)
    for name in ("regs_intr", "regs_user", "pid", "tid", "mapping", "symbol", "cpu"):
        rows[name] = -1
    return rows


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
        *,
        device: tuple[int, int] = (0, 0),
        inode: tuple[int, int] = (0, 0),
        protection: int = 0,
        build_id: str = "",
        data: bool = False,
        kernel: bool = False,
    ) -> bool:
        """A file, or memory, appeared in a process.  False (and no effect) where it lies outside the address space."""
        if size <= 0 or start + size > 1 << 64:
            return False
        pid = KERNEL_PID if kernel else pid
        flags = (MappingFlag.DATA if data else MappingFlag(0)) | (MappingFlag.KERNEL if kernel else MappingFlag(0))
        row = len(self.mappings)
        self.mappings.append(
            (
                start,
                min(start + size, (1 << 64) - 1),
                pgoff,
                time,
                inode[0],
                inode[1],
                device[0],
                device[1],
                pid,
                self.paths.row(path),
                self.build_ids.row(build_id) if build_id else -1,
                protection,
                int(flags),
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
                if path in build_ids:
                    by_path[row] = self.build_ids.row(build_ids[path])
            unknown = mappings["build_id"] < 0
            mappings["build_id"][unknown] = by_path[mappings["path"][unknown]]
        spaces = AddressSpaces.replay(mappings, np.array(self.spaces, SPACE_EVENT_DTYPE))
        samples = self.store.take(by_time=bool(events) and all(e.fields & Field.TIME for e in events))
        if len(mappings):
            # Guests and hypervisors have address spaces of their own, of which a recording of the host says nothing.
            mode = samples["mode"]
            pid = np.where(mode == Mode.KERNEL, np.int32(KERNEL_PID), samples["pid"])
            pid[mode > Mode.USER] = NOBODY
            samples["mapping"] = spaces.resolve(pid, samples["ip"], samples["time"])
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
