"""Allocations from what probes on an allocator's functions saw: calls and returns in pairs, and which are noted.

Owns the functions that are known to allocate, and the choice of notes; ``elfscan/native/heap`` makes the same choice in
the program itself.  Probes are ``pmu.uprobes``'s, callers beyond the first whoever has the files' unwind rows.

The release of memory is not watched: an allocation ends where its address is given out again.  Between two times of
watching nobody knows.  Then a place of whose allocations some ended while they were watched is taken for one that
allocates for a short while, and those that it has left end with the time of watching; others last.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pmu.perfevent import Record
from pmu.uprobes import Probe, Seen
from sharing.model.arch.row import PerfRegisters
from sharing.model.heap import BEGINS, ENDS, NOTE_DTYPE

Table = npt.NDArray[Any]

MAX_NOTES = 1 << 18  # as a process has in elfscan/native/heap, whose choice this is as well:
FIRST, EVERY = 64, 1024  # of each place the first ones, then one in so many
LARGE_BYTES = 32 << 10  # from here on all
MAP_ANONYMOUS = 0x20
_LONGEST_CALL_NS = 10**9  # a call whose return was lost is given up
_HEAD = struct.Struct("=QQIIQQ")  # behind the header: number, ip, process, thread, time, kind of registers


@dataclass(frozen=True, slots=True)
class Call:
    """``size``: arguments whose product it is; ``into``: the one that says where the address goes, -1: returned."""

    size: tuple[int, ...]
    into: int = -1
    flags: int = -1  # of mmap: the argument that says whether the memory is anonymous


CALLS: Mapping[str, Call] = {
    "malloc": Call((0,)),
    "calloc": Call((0, 1)),
    "realloc": Call((1,)),
    "aligned_alloc": Call((1,)),
    "memalign": Call((1,)),
    "posix_memalign": Call((2,), into=0),
    "mmap": Call((1,), flags=3),
}
# What libraries put in front of these names where they leave the C library its own.
PREFIXES = ("", "je_", "_rjem_", "mi_", "tc_")


@dataclass(frozen=True, slots=True)
class Returned:
    """An allocation: registers by perf's numbers as its caller found them, and what was on the stack from there on."""

    time: int
    pid: int
    address: int
    size: int
    caller: int  # where the function returned to
    registers: Mapping[int, int]
    stack: memoryview


@dataclass(frozen=True, slots=True)
class Noted:
    """Chosen allocations, and the ends that are known, by row and time; ``left_out`` had no room or no answer."""

    begins: tuple[Returned, ...]
    ends: tuple[tuple[int, int], ...]
    left_out: int


def noted(seen: Seen, calls: Mapping[int, Call], registers: PerfRegisters, masks: tuple[int, int]) -> Noted:
    """What is worth a note.  ``calls`` by the number of each probe in ``seen``."""
    made, unanswered = _paired(seen, calls, registers, masks)
    windows = np.array(seen.windows, np.int64).reshape(-1, 2)
    window = np.searchsorted(windows[:, 0], [one.time for one in made], "right") - 1 if made else np.zeros(0, np.int64)
    renewed = _renewed(made)
    churning = {
        _place(one)
        for one, at, later in zip(made, window.tolist(), renewed, strict=True)
        if later is not None and at >= 0 and made[later].time <= int(windows[at, 1])
    }
    begins: list[Returned] = []
    ends: list[tuple[int, int]] = []
    counts: Counter[tuple[int, int]] = Counter()
    left_out = seen.lost + unanswered
    for one, at, later in zip(made, window.tolist(), renewed, strict=True):
        place = _place(one)
        number, counts[place] = counts[place], counts[place] + 1
        if later is not None and number >= FIRST and number % EVERY and one.size < LARGE_BYTES:
            continue
        if len(begins) >= MAX_NOTES:
            left_out += 1
            continue
        end = made[later].time if later is not None else None
        if place in churning and 0 <= at < len(windows) - 1:
            closed = int(windows[at, 1])
            end = closed if end is None else min(end, max(closed, one.time))
        if end is not None:
            ends.append((len(begins), end))
        begins.append(one)
    return Noted(tuple(begins), tuple(ends), left_out)


def rows_of(notes: Noted, stacks: Sequence[Sequence[int]]) -> Table:
    """The notes as a table; ``stacks`` are the return addresses of each, its caller first."""
    rows = np.zeros(len(notes.begins) + len(notes.ends), NOTE_DTYPE)
    for row, one, stack in zip(rows, notes.begins, stacks, strict=False):
        few = stack[: rows["stack"].shape[1]]
        row["time"], row["address"], row["size"], row["pid"] = one.time, one.address, one.size, one.pid
        row["kind"], row["frames"] = BEGINS, len(few)
        row["stack"][: len(few)] = few
    for row, (number, time) in zip(rows[len(notes.begins) :], notes.ends, strict=True):
        one = notes.begins[number]
        row["time"], row["address"], row["pid"], row["kind"] = time, one.address, one.pid, ENDS
    # An address that is given out again ends first.
    return rows[np.lexsort((rows["kind"] == BEGINS, rows["time"]))]


def _place(one: Returned) -> tuple[int, int]:
    return one.caller, one.size


def _renewed(made: Sequence[Returned]) -> list[int | None]:
    """For each allocation the next one at its address."""
    out: list[int | None] = [None] * len(made)
    held: dict[tuple[int, int], int] = {}
    for number, one in enumerate(made):
        before = held.get((one.pid, one.address))
        if before is not None:
            out[before] = number
        held[one.pid, one.address] = number
    return out


@dataclass(frozen=True, slots=True)
class _Met:
    """A probe that was met."""

    time: int
    probe: int
    pid: int
    tid: int
    ip: int
    registers: Mapping[int, int]
    stack: memoryview


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that has not returned."""

    met: _Met
    probe: Probe


def _paired(
    seen: Seen, calls: Mapping[int, Call], registers: PerfRegisters, masks: tuple[int, int]
) -> tuple[list[Returned], int]:
    """Allocations in order of time, and how many have no address.  Of calls inside of others the outermost counts."""
    met = [one for chunk in seen.chunks for one in _records(chunk, seen.probes, masks)]
    met.sort(key=lambda one: one.time)
    stack_pointer = registers.number(registers.stack)
    waiting: dict[int, list[_Open]] = {}
    made: list[Returned] = []
    unanswered = 0
    for one in met:
        probe, calling = seen.probes[one.probe], waiting.setdefault(one.tid, [])
        if not probe.returns:
            # The stack grows down: what began at or below this call has returned unseen.
            here = one.registers[stack_pointer]
            while calling and (
                calling[-1].met.registers[stack_pointer] <= here or one.time - calling[-1].met.time > _LONGEST_CALL_NS
            ):
                calling.pop()
            calling.append(_Open(one, probe))
            continue
        # A return leaves the stack one word above where the call began.
        begun = one.registers[stack_pointer] - 8
        while calling and calling[-1].met.registers[stack_pointer] < begun:
            calling.pop()
        if not calling or calling[-1].met.registers[stack_pointer] != begun:
            continue
        opened = calling.pop()
        if (opened.probe.path, opened.probe.offset) != (probe.path, probe.offset) or calling:
            continue
        allocated = _allocated(opened.met, one, calls[opened.met.probe], registers)
        if allocated is not None:
            made.append(allocated)
        elif calls[opened.met.probe].into >= 0:
            unanswered += 1
    return made, unanswered


def _allocated(begun: _Met, ended: _Met, call: Call, registers: PerfRegisters) -> Returned | None:
    """None where there is no memory, it is a file's, or nobody knows where."""
    argument = [begun.registers[registers.number(name)] for name in registers.arguments]
    if call.flags >= 0 and not argument[call.flags] & MAP_ANONYMOUS:
        return None
    address = ended.registers[registers.number(registers.result)]
    if call.into >= 0:
        at = argument[call.into] - ended.registers[registers.number(registers.stack)]
        if address & 0xFFFFFFFF or not 0 <= at <= len(ended.stack) - 8:
            return None
        address = int.from_bytes(ended.stack[at : at + 8], "little")
    if not 0 < address < 1 << 63:  # mmap fails with a negative number
        return None
    size = 1
    for number in call.size:
        size *= argument[number]
    return Returned(ended.time, ended.pid, address, size & (1 << 64) - 1, ended.ip, ended.registers, ended.stack)


def _records(chunk: bytes, probes: Mapping[int, Probe], masks: tuple[int, int]) -> Iterator[_Met]:
    """The samples of one piece of a ring, which holds whole records."""
    view, at = memoryview(chunk), 0
    bits = [[bit for bit in range(64) if mask >> bit & 1] for mask in masks]
    words = [struct.Struct(f"={len(some)}Q") for some in bits]
    while at + 8 <= len(chunk):
        kind, _, size = struct.unpack_from("=IHH", chunk, at)
        if size < 8:
            return
        body, at = at + 8, at + size
        if kind != Record.SAMPLE or at > len(chunk) or at - body < _HEAD.size:
            continue
        number, ip, pid, tid, time, abi = _HEAD.unpack_from(chunk, body)
        probe = probes.get(number)
        if probe is None or not abi or at - body < _HEAD.size + words[probe.returns].size:
            continue  # a thread that is ending has no registers
        body += _HEAD.size
        registers = dict(zip(bits[probe.returns], words[probe.returns].unpack_from(chunk, body), strict=True))
        stack = _stack(view[body + words[probe.returns].size : at]) if probe.returns else view[:0]
        yield _Met(time, number, pid, tid, ip, registers, stack)


def _stack(part: memoryview) -> memoryview:
    """The copied stack in a part of a record: its room, the bytes, and how many of them were copied."""
    if len(part) < 16:
        return part[:0]
    room = int.from_bytes(part[:8], "little")
    if room == 0 or room > len(part) - 16:
        return part[:0]
    copied = int.from_bytes(part[8 + room : 16 + room], "little")
    return part[8 : 8 + min(copied, room)]
