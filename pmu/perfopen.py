"""perf_event_open without perf: counters on a task that its children inherit, and what the kernel says of them.

Owns the system call, the order in which counters are opened, and what the kernel's records say.  What is counted is
``pmu.counters``'s choice.

The order matters.  When a processor goes from one thread of a family to another the kernel swaps their sets of
counters, and puts the counts right by walking both sets side by side (perf_event_sync_stat).  A child's set is in the
order of the kernel's tree, which is pinned groups before others, then by processor, then as opened: so they are opened
in that order, and all that are not pinned are of one source.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pmu.perfevent import READ_ID, READ_TIME_ENABLED, READ_TIME_RUNNING, Record
from pmu.perfring import ends, open_ring, piece, release, share_ring
from sharing.model.arch import MACHINES, machine_of_uname
from sharing.model.errors import LinemateError

# kernel.perf_event_mlock_kb allows 516 KiB a processor without privileges: one page and 512 KiB.
_RING_BYTES = 512 << 10
_FLAG_CLOEXEC = 8
# Bits of perf_event_attr's flags.
_DISABLED, _INHERIT, _PINNED, _EXCLUDE_KERNEL, _EXCLUDE_HV = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 6
_COMM, _INHERIT_STAT, _ENABLE_ON_EXEC, _TASK = 1 << 9, 1 << 11, 1 << 12, 1 << 13
_READ_FORMAT = READ_TIME_ENABLED | READ_TIME_RUNNING | READ_ID
# struct perf_event_attr of the first version.
_ATTR = struct.Struct("=IIQQQQQIIQ")
_NOT_HERE = {errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.EINVAL}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM}


@dataclass(frozen=True, slots=True)
class CounterSpec:
    """An event by perf_event_attr's type and config.  ``pinned`` ones form one group that always counts."""

    type: int
    config: int
    pinned: bool


@dataclass(frozen=True, slots=True)
class CounterReading:
    """Counts of one thread that has ended, on one processor: nanoseconds enabled and running."""

    pid: int
    tid: int
    event: int
    value: int
    enabled: int
    running: int


@dataclass(frozen=True, slots=True)
class ThreadNamed:
    pid: int
    tid: int
    name: str


@dataclass(frozen=True, slots=True)
class ThreadStarted:
    pid: int
    tid: int


CounterRecord = CounterReading | ThreadNamed | ThreadStarted


class Counters:
    """Counters for ``pid`` and all it starts, from its next exec on.  Use as a context.

    ``supported`` and ``user_only`` are in the order of ``events``; ``lost`` counts what the rings had no room for.
    """

    def __init__(self, events: Sequence[CounterSpec], pid: int, cpus: Sequence[int]) -> None:
        self.supported = [False] * len(events)
        self.user_only = [False] * len(events)
        self.lost = 0
        self._events, self._pid = events, pid
        self._opened: dict[int, int] = {}  # descriptor → event
        self._ids: dict[int, int] = {}  # the kernel's number → event
        self._first: dict[int, int] = {}  # processor → descriptor whose ring takes everything
        self._rings: list[mmap.mmap] = []
        try:
            for pinned in (True, False):
                for cpu in cpus:
                    self._open_all(pinned, cpu)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Counters:
        return self

    def __exit__(self, *_: object) -> None:
        for ring in self._rings:
            ring.close()
        for descriptor in self._opened:
            os.close(descriptor)
        self._rings, self._opened = [], {}

    def totals(self) -> Iterator[CounterReading]:
        """Counts of the whole family, the ended and the living, by event and processor; thread -1."""
        for descriptor, event in self._opened.items():
            value, enabled, running, _ = struct.unpack("=4Q", os.read(descriptor, 32))
            yield CounterReading(-1, -1, event, value, enabled, running)

    def drain(self) -> Iterator[CounterRecord]:
        """What the kernel has said since the last call."""
        for ring in self._rings:
            yield from self._drain(ring)

    def _open_all(self, pinned: bool, cpu: int) -> None:
        leader = -1
        for number, event in enumerate(self._events):
            if event.pinned is not pinned:
                continue
            descriptor = self._open(number, cpu, leader)
            if descriptor < 0:
                continue
            self.supported[number] = True
            self._opened[descriptor] = number
            self._ids[struct.unpack("=4Q", os.read(descriptor, 32))[3]] = number
            if pinned and leader < 0:
                leader = descriptor
            if cpu in self._first:
                share_ring(descriptor, self._first[cpu])
            else:
                self._first[cpu] = descriptor
                self._rings.append(open_ring(descriptor, _RING_BYTES))

    def _open(self, number: int, cpu: int, leader: int) -> int:
        """A descriptor, -1 where the machine does not have the event."""
        event = self._events[number]
        flags = _INHERIT | _INHERIT_STAT | _EXCLUDE_HV
        # Siblings follow their leader.
        flags |= 0 if leader >= 0 else _DISABLED | _ENABLE_ON_EXEC | (_PINNED if event.pinned else 0)
        flags |= 0 if cpu in self._first else _COMM | _TASK
        for mode in (0, _EXCLUDE_KERNEL):
            if mode == 0 and self.user_only[number]:
                continue
            attr = _ATTR.pack(event.type, _ATTR.size, event.config, 0, 0, _READ_FORMAT, flags | mode, 0, 0, 0)
            descriptor, error = perf_event_open(attr, self._pid, cpu, leader)
            if descriptor >= 0:
                self.user_only[number] = mode != 0
                return descriptor
            if error in _NOT_HERE:
                return -1
            if error not in _NOT_ALLOWED:
                raise LinemateError(f"perf_event_open: {os.strerror(error)}")
        raise LinemateError(
            "perf_event_open is not allowed: sysctl -w kernel.perf_event_paranoid=1; "
            "in a container its runtime may forbid it"
        )

    def _drain(self, ring: mmap.mmap) -> Iterator[CounterRecord]:
        tail, head = ends(ring)
        while tail < head:
            kind, _misc, size = struct.unpack("=IHH", piece(ring, tail, 8))
            if size < 8:
                raise LinemateError("the kernel's counter buffer is inconsistent")
            body = piece(ring, tail + 8, size - 8)
            tail += size
            if kind == Record.READ and len(body) >= 40:
                pid, tid, value, enabled, running, event = struct.unpack_from("=IIQQQQ", body)
                if event in self._ids:
                    yield CounterReading(pid, tid, self._ids[event], value, enabled, running)
            elif kind == Record.COMM and len(body) >= 8:
                pid, tid = struct.unpack_from("=II", body)
                yield ThreadNamed(pid, tid, body[8:].split(b"\0")[0].decode("utf-8", "replace"))
            elif kind == Record.FORK and len(body) >= 16:
                pid, _ppid, tid, _ptid = struct.unpack_from("=IIII", body)
                yield ThreadStarted(pid, tid)
            elif kind == Record.LOST and len(body) >= 16:
                self.lost += struct.unpack_from("=QQ", body)[1]
        release(ring, tail)


def perf_event_open(attr: bytes, pid: int, cpu: int, group: int) -> tuple[int, int]:
    """The descriptor, or -1 and the error."""
    row = machine_of_uname(os.uname().machine)
    if row is None or row.calls is None:
        known = ", ".join(row.unames[0] for row in MACHINES if row.calls is not None)
        raise LinemateError(f"counters are known of {known}, not of {os.uname().machine}")
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    data = ctypes.create_string_buffer(attr, len(attr))
    arguments = (ctypes.c_long(value) for value in (pid, cpu, group, _FLAG_CLOEXEC))
    result = library.syscall(ctypes.c_long(row.calls.perf_event_open), data, *arguments)
    return int(result), ctypes.get_errno()
