"""What is mapped where, in which process, at which time.

Owns the replay of mmap, fork and exec and the question "which mapping held this address".  Does not read profiles
and knows no files.  Linux does not record munmap: a mapping lasts until another one covers it or the process
executes another program (perf_event_open(2), PERF_RECORD_MMAP2).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.errors import LinemateError

KERNEL_PID = -1
FEW = 8  # up to so many addresses a list is searched; a table of numpy costs more to make
MAX_KEPT = 1 << 22  # entries of tables that are kept for reuse
# Entries that replaying may touch, about twenty seconds' worth: a real recording of 100,000 mappings needs 1 % of it.
MAX_WORK = 400_000_000


class SpaceEvent(IntEnum):
    """What changes an address space."""

    MAP = 0
    FORK = 1  # ``pid`` starts with what ``parent`` has
    EXEC = 2  # ``pid`` starts empty


SPACE_EVENT_DTYPE = np.dtype(
    [
        ("time", "<u8"),
        ("pid", "<i4"),
        ("parent", "<i4"),  # of a FORK
        ("mapping", "<i4"),  # row, of a MAP
        ("kind", "<i4"),  # SpaceEvent
    ]
)


@dataclass(slots=True)
class _Table:
    """Disjoint ranges in ascending order, and the mapping row of each."""

    starts: list[int]
    ends: list[int]
    rows: list[int]

    def copy(self) -> _Table:
        return _Table(self.starts.copy(), self.ends.copy(), self.rows.copy())

    def cover(self, start: int, end: int, row: int) -> None:
        """A new mapping replaces whatever part of older ones it covers."""
        low, high = bisect_right(self.ends, start), bisect_left(self.starts, end)
        starts, ends, rows = [start], [end], [row]
        if low < high:
            if self.starts[low] < start:
                starts.insert(0, self.starts[low])
                ends.insert(0, start)
                rows.insert(0, self.rows[low])
            if self.ends[high - 1] > end:
                starts.append(end)
                ends.append(self.ends[high - 1])
                rows.append(self.rows[high - 1])
        self.starts[low:high] = starts
        self.ends[low:high] = ends
        self.rows[low:high] = rows

    def find(self, address: int) -> int:
        at = bisect_right(self.starts, address) - 1
        return self.rows[at] if at >= 0 and address < self.ends[at] else -1


@dataclass(slots=True)
class AddressSpaces:
    """Every state that any process's address space was in, as a tree of differences.

    A node is its parent plus one mapping; node 0 is empty.  A fork is a reference to the parent's node, so that
    processes share what they inherit.
    """

    starts: npt.NDArray[np.uint64]  # of mappings
    ends: npt.NDArray[np.uint64]
    _parent: list[int] = field(default_factory=lambda: [0])
    _row: list[int] = field(default_factory=lambda: [-1])
    _times: dict[int, list[int]] = field(default_factory=dict)
    _nodes: dict[int, list[int]] = field(default_factory=dict)
    _kept: OrderedDict[int, _Table] = field(default_factory=OrderedDict)
    _entries: int = 0
    _work: int = 0

    @classmethod
    def replay(cls, mappings: npt.NDArray[Any], events: npt.NDArray[Any]) -> AddressSpaces:
        """From MAPPING_DTYPE and SPACE_EVENT_DTYPE rows; events of equal time happen in row order."""
        self = cls(np.ascontiguousarray(mappings["start"]), np.ascontiguousarray(mappings["end"]))
        order = np.argsort(events["time"], kind="stable")
        current: dict[int, int] = {}
        for time, pid, parent, row, kind in events[order].tolist():
            if kind == SpaceEvent.MAP:
                self._parent.append(current.get(pid, 0))
                self._row.append(row)
                node = len(self._row) - 1
            else:
                node = current.get(parent, 0) if kind == SpaceEvent.FORK else 0
            current[pid] = node
            self._times.setdefault(pid, []).append(time)
            self._nodes.setdefault(pid, []).append(node)
        return self

    def nodes(self, pid: npt.NDArray[Any], time: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Which state each process was in at each time; 0 where nothing of it is known."""
        out = np.zeros(len(pid), np.int32)
        for one, here in _groups(pid):
            if one in self._times:
                at = np.searchsorted(np.array(self._times[one], np.uint64), time[here], "right")
                out[here] = np.array([0, *self._nodes[one]], np.int32)[at]
        return out

    def resolve(
        self, pid: npt.NDArray[Any], address: npt.NDArray[Any], time: npt.NDArray[Any]
    ) -> npt.NDArray[np.int32]:
        """Mapping row for each (process, run-time address, time), -1 none.  Any order; fastest in order of time.

        Raises LinemateError where the address spaces change more often than any real recording's.
        """
        out = np.full(len(pid), -1, np.int32)
        for one, group in _groups(pid):
            if one not in self._times:
                continue
            here = group
            when = time[here]
            if len(when) > 1 and not np.all(when[:-1] <= when[1:]):
                sort = np.argsort(when, kind="stable")
                when = when[sort]
                here = np.arange(len(pid))[here][sort]
            where = address[here]
            found = np.full(len(where), -1, np.int32)
            cuts = np.searchsorted(when, np.array(self._times[one], np.uint64), "left")
            stops = np.append(cuts[1:], len(when))
            for at in np.flatnonzero(stops > cuts).tolist():
                part = slice(int(cuts[at]), int(stops[at]))
                found[part] = self._look_up(self._nodes[one][at], where[part])
            out[here] = found
        return out

    def latest(
        self, wanted: npt.NDArray[np.bool_], pid: npt.NDArray[Any], time: npt.NDArray[Any]
    ) -> npt.NDArray[np.int32]:
        """For each (process, time) the last of the ``wanted`` mappings that it had made or inherited, -1 none.

        This is how a data address finds the load bias of an image whose mapped data was not recorded.
        """
        parent, row = np.array(self._parent, np.int32), np.array(self._row, np.int32)
        last = np.where((row >= 0) & wanted[np.maximum(row, 0)], row, -1) if len(wanted) else np.full(len(row), -1)
        # Pointer jumping: each round doubles how far up the tree a node has looked.
        while True:
            open_nodes = np.flatnonzero((last < 0) & (parent > 0))
            if not len(open_nodes):
                break
            last[open_nodes] = last[parent[open_nodes]]
            parent[open_nodes] = parent[parent[open_nodes]]
        return np.asarray(last[self.nodes(pid, time)], np.int32)

    def _look_up(self, node: int, address: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        table = self._table(node)
        if len(address) <= FEW:
            return np.array([table.find(a) for a in address.tolist()], np.int32)
        if not table.rows:
            return np.full(len(address), -1, np.int32)
        self._spend(len(table.rows))
        starts, ends = np.array(table.starts, np.uint64), np.array(table.ends, np.uint64)
        at = np.searchsorted(starts, address, "right") - 1
        inside = (at >= 0) & (address < ends[at])
        return np.where(inside, np.array(table.rows, np.int32)[at], -1).astype(np.int32)

    def _table(self, node: int) -> _Table:
        """The ranges of a node, from the nearest state that is still at hand."""
        pending: list[int] = []
        at = node
        while at and at not in self._kept:
            pending.append(self._row[at])
            at = self._parent[at]
        if at == node and node:
            self._kept.move_to_end(node)
            return self._kept[node]
        table = self._kept[at].copy() if at else _Table([], [], [])
        self._spend(len(table.rows) + 4 * len(pending))
        for row in reversed(pending):
            self._spend(1 + len(table.rows) // 64)
            table.cover(int(self.starts[row]), int(self.ends[row]), row)
        self._kept[node] = table
        self._entries += len(table.rows)
        while self._entries > MAX_KEPT and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._entries -= len(dropped.rows)
        return table

    def _spend(self, entries: int) -> None:
        self._work += entries
        if self._work > MAX_WORK:
            raise LinemateError("the mappings of this profile change too often to be followed")


def _groups(pid: npt.NDArray[Any]) -> list[tuple[int, Any]]:
    """Each distinct process with where it is, in ascending rows; one slice when there is one process."""
    if not len(pid):
        return []
    low, high = int(pid.min()), int(pid.max())
    if low == high:
        return [(low, slice(0, len(pid)))]
    if high - low < 1 << 23:
        rank = np.zeros(high - low + 1, np.int32)
        rank[pid - low] = 1
        distinct = np.flatnonzero(rank)
        rank[distinct] = np.arange(len(distinct))
        of = rank[pid - low]
        values = distinct + low
    else:
        values, of = np.unique(pid, return_inverse=True)
    # numpy sorts 16-bit keys by radix, stably.
    order = np.argsort(of.astype(np.uint16) if len(values) < 1 << 16 else of, kind="stable")
    stops = np.cumsum(np.bincount(of, minlength=len(values)))
    return [
        (int(value), order[start:stop])
        for value, start, stop in zip(values, [0, *stops[:-1].tolist()], stops.tolist(), strict=True)
    ]
