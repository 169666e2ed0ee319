"""Probes on functions of a running program: what they were called with, what they gave back, and the stack then.

Owns the kernel's probes in user code: opening and closing them by perf_event_open alone, so that nothing stays behind
when this process ends, their rings, and how much of the program's time they may take.  Which functions are probed, and
what a call means, are for the caller to say.

A probe is a breakpoint.  It takes about a microsecond each time, and one on the return of a function changes the
return address while the function runs: an exception that leaves it would not find its way.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import struct
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pmu.perfevent import Record, Sample
from pmu.perfopen import perf_event_open
from pmu.perfring import ends, open_ring, piece, release, share_ring
from sharing.model.arch import machine_of_uname
from sharing.model.arch.row import PerfRegisters
from sharing.model.errors import LinemateError

SOURCE = Path("/sys/bus/event_source/devices/uprobe")
STACK_BYTES = 1024  # copied at each return: as of `record --stacks`
MAX_PROBES = 4096  # open at a time, of all threads; each takes the kernel about a millisecond
MAX_RAW_BYTES = 256 << 20
_ALL_RINGS_BYTES, _MOST_RING_BYTES, _LEAST_RING_BYTES = 64 << 20, 8 << 20, 64 << 10
_LOOK_S = 0.01
_GET_ID = 0x80082407
_USE_CLOCK = 1 << 25
# struct perf_event_attr of the fifth version, which has the registers and the stack of user mode.
_ATTR = struct.Struct("=IIQQQQQIIQQQQIiQIHH")
_WHAT = Sample.IDENTIFIER | Sample.IP | Sample.TID | Sample.TIME | Sample.REGS_USER
# A probe that is met takes 0.8 to 1.7 µs, a call and its return 1.5 to 2.8 (a virtual machine with two processors that
# others kept busy, Linux 6.18, 200,000 calls of malloc with and without).  Waking somebody for each takes ten more.
PROBE_S = 1.5e-6
SHARE = 0.02  # of one processor's time: the most that probes take, but for the first burst
BURST_S = 0.02


@dataclass(frozen=True, slots=True)
class Probe:
    """The instruction at ``offset`` of a file; ``returns``: where the function that begins there ends instead."""

    path: str  # as this process opens it
    offset: int
    function: str
    returns: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What the kernel wrote, ring by ring, with the probe of each of its numbers and when it was looked at."""

    chunks: tuple[bytes, ...]
    probes: dict[int, Probe]
    windows: tuple[tuple[int, int], ...]  # nanoseconds of the monotonic clock
    lost: int = 0


def refusal() -> str:
    """Why this machine has no such probes; "" where it has."""
    if not (SOURCE / "type").is_file():
        return "the kernel has no probes in user code (CONFIG_UPROBES), or does not show them here"
    return "" if registers_of_calls() is not None else f"probes on allocators are not known of {os.uname().machine}"


def registers_of_calls() -> PerfRegisters | None:
    """This machine's registers, where it is known which of them a function gives its result in."""
    machine = machine_of_uname(os.uname().machine)
    known = machine.perf if machine is not None else None
    return known if known is not None and known.result else None


@dataclass(frozen=True, slots=True)
class _Opened:
    """A probe in one thread or on one processor; ``ring``: the first of these has one for all."""

    descriptor: int
    probe: Probe
    ring: mmap.mmap | None


class Watcher:
    """Probes in processes and what they start, watched by a thread of ours.  Use as a context.

    Events that threads to come inherit are no way: the kernel looks for the file's name in the memory of whoever
    starts a thread, does not find it, and the thread is not started (seen with Linux 6.18).  So each thread is watched
    alone, and one that is new as soon as it is seen.  ``everywhere``: all processes are watched at once instead, which
    misses nothing, and is meant for files that no other program maps.

    Where the program meets probes so often that they would take more than ``SHARE`` of a processor they are taken away
    for a while, and put back.
    """

    def __init__(
        self, pids: Sequence[int], probes: Sequence[Probe], registers: tuple[int, int], *, everywhere: bool
    ) -> None:
        """``registers``: masks of those that are wanted where a function begins, and where it returns."""
        self._pids, self._probes, self._masks, self._everywhere = tuple(pids), tuple(probes), registers, everywhere
        self._paths = {probe.path: ctypes.create_string_buffer(os.fsencode(probe.path)) for probe in probes}
        self._type = int((SOURCE / "type").read_text())
        self._descriptors: list[_Opened] = []
        self._often: Counter[tuple[str, int]] = Counter()  # how often each place was met
        self._rings: dict[tuple[int, int], mmap.mmap] = {}  # by thread and processor
        self._ring_bytes = _MOST_RING_BYTES
        self._chunks: list[bytes] = []
        self._of: dict[int, Probe] = {}
        self._windows: list[tuple[int, int]] = []
        self._lost = self._bytes = self._met = 0
        self._stop = threading.Event()
        self._begin()
        self._thread = threading.Thread(target=self._watch, name="linemate-probes", daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def seen(self) -> Seen:
        """All that was seen; to be asked when it is over."""
        return Seen(tuple(self._chunks), self._of, tuple(self._windows), self._lost)

    def _watch(self) -> None:
        began = time.monotonic()
        spent_s = 0.0
        try:
            while not self._stop.wait(_LOOK_S):
                self._drain()
                now = time.monotonic()
                if spent_s + self._met * PROBE_S <= BURST_S + self._share() * (now - began):
                    self._open()
                    continue
                met, watched_s = self._met, max(now - self._opened / 1e9, _LOOK_S)
                self._close()
                # Probes are met as often while they are put in and taken out as in between.
                there_s = watched_s + self._opening_s + time.monotonic() - now
                spent_s += met * PROBE_S * there_s / watched_s
                self._met = 0
                pause_s = (spent_s - BURST_S / 2) / self._share() - (time.monotonic() - began)
                if self._bytes >= MAX_RAW_BYTES or self._stop.wait(max(pause_s, _LOOK_S)):
                    return
                self._begin()
        except LinemateError:
            pass  # the process has ended
        finally:
            self._close()

    def _share(self) -> float:
        """Less and less while room is used up, so that there is always some left."""
        return max(SHARE * (1 - self._bytes / MAX_RAW_BYTES), SHARE / 100)

    def _begin(self) -> None:
        began = time.monotonic()
        self._open()
        self._opened = time.monotonic_ns()
        self._opening_s = time.monotonic() - began

    def _open(self) -> None:
        """All probes, where there are none yet.  Raises LinemateError where that is not allowed, or nobody is left."""
        if self._everywhere:
            targets = [(-1, cpu) for cpu in range(os.cpu_count() or 1)]
        else:
            targets = [(thread, -1) for pid in self._pids for thread in _threads(pid)]
        if not targets:
            raise LinemateError("the process has ended")
        if not self._rings:
            room = _ALL_RINGS_BYTES // (1 << (len(targets) - 1).bit_length())
            self._ring_bytes = min(max(room, _LEAST_RING_BYTES), _MOST_RING_BYTES)
        for target in targets:
            if target not in self._rings and len(self._descriptors) + len(self._probes) <= MAX_PROBES:
                self._open_at(*target)
        if not self._rings:
            raise LinemateError("the process has ended")

    def _open_at(self, thread: int, cpu: int) -> None:
        first = -1
        for probe in self._probes:
            descriptor = self._open_one(probe, thread, cpu)
            if descriptor < 0:
                return  # the thread has ended, or the processor is off
            self._descriptors.append(_Opened(descriptor, probe, None))
            if first >= 0:
                share_ring(descriptor, first)
                continue
            first = descriptor
            self._rings[thread, cpu] = ring = _ring(descriptor, self._ring_bytes)
            self._descriptors[-1] = _Opened(descriptor, probe, ring)

    def _open_one(self, probe: Probe, thread: int, cpu: int) -> int:
        what = _WHAT | (Sample.STACK_USER if probe.returns else 0)
        path = ctypes.addressof(self._paths[probe.path])
        mask, stack = self._masks[probe.returns], STACK_BYTES if probe.returns else 0
        rest = mask, stack, time.CLOCK_MONOTONIC, 0, 0, 0, 0
        attr = _ATTR.pack(
            self._type, _ATTR.size, probe.returns, 1, what, 0, _USE_CLOCK, 0, 0, path, probe.offset, 0, *rest
        )
        descriptor, error = perf_event_open(attr, thread, cpu, -1)
        if descriptor < 0:
            if error in (errno.ESRCH, errno.ENODEV):
                return -1
            if error in (errno.EACCES, errno.EPERM):
                raise LinemateError("probes in user code are not allowed: run as root, or with CAP_PERFMON")
            raise LinemateError(f"a probe on {probe.function} of {probe.path}: {os.strerror(error)}")
        number = bytearray(8)
        fcntl.ioctl(descriptor, _GET_ID, number)
        self._of[int.from_bytes(number, "little")] = probe
        return descriptor

    def _close(self) -> None:
        """Takes the probes out of the program; what they see while that lasts is left out."""
        if self._descriptors:
            self._windows.append((self._opened, time.monotonic_ns()))
        self._drain()
        # The kernel takes them out one by one and waits at each for all that might be in it, the longer the busier the
        # machine is.  A breakpoint stays until the last of its probes goes: that which is met most goes first.
        for opened in sorted(self._descriptors, key=lambda one: -self._often[one.probe.path, one.probe.offset]):
            os.close(opened.descriptor)
            if opened.ring is not None:
                opened.ring.close()
        self._descriptors, self._rings = [], {}

    def _drain(self) -> None:
        for ring in self._rings.values():
            tail, head = ends(ring)
            if head == tail:
                continue
            data = piece(ring, tail, head - tail)
            release(ring, head)
            met, lost = _count(data)
            for number, times in met.items():
                if (probe := self._of.get(number)) is not None:
                    self._often[probe.path, probe.offset] += times
            self._met += met.total() + lost
            self._lost += lost
            if self._bytes + len(data) <= MAX_RAW_BYTES:
                self._bytes += len(data)
                self._chunks.append(data)
            else:
                self._lost += met.total()


def _ring(descriptor: int, size: int) -> mmap.mmap:
    try:
        return open_ring(descriptor, size)
    except OSError as error:
        raise LinemateError(f"no room for what probes see: {error.strerror}; CAP_IPC_LOCK gives it") from None


def _threads(pid: int) -> list[int]:
    """Numbers of a process's threads; none of one that has ended."""
    with contextlib.suppress(OSError):
        return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
    return []


def _count(data: bytes) -> tuple[Counter[int], int]:
    """How often each probe was met, and how many records were lost, in what was written since the last look."""
    at = lost = 0
    met: Counter[int] = Counter()
    while at + 16 <= len(data):
        kind, _, size, number = struct.unpack_from("=IHHQ", data, at)
        if size < 8:
            break
        if kind == Record.SAMPLE:
            met[number] += 1
        elif kind == Record.LOST and size >= 24:
            lost += int(struct.unpack_from("=QQ", data, at + 8)[1])
        at += size
    return met, lost
