"""``record --heap`` by probes: of a running process, and of a command that nothing can be loaded into.

Owns which of the two ways a recording takes, the probes' life during it, and the notes that come of them.  What is
probed say ``allocators``, what is noted ``pmu.probednotes``, how functions are left ``elfscan.debug.frames``.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elfscan.debug.frames import Step, unwind_steps
from elfscan.fileformat.elf import ElfFile, map_file
from linemate.recording.allocators import Found, in_process, in_program, is_static
from linemate.recording.options import Say
from pmu.heaplog import write_notes
from pmu.probednotes import Returned, noted, rows_of
from pmu.uprobes import Watcher, refusal, registers_of_calls
from pmu.workload import find_command
from sharing.model.arch.row import PerfRegisters
from sharing.model.errors import LinemateError
from sharing.model.heap import NOTE_DTYPE
from sharing.model.process.table import descendants
from sharing.model.samples import Samples

_FRAMES = NOTE_DTYPE["stack"].shape[0]


def needs_probes(command: Sequence[str]) -> str:
    """Why nothing can be loaded into a command; "" where it can."""
    path = find_command(command)
    if os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "it runs as another user"
    return "it is linked statically" if is_static(path) else ""


def _registers() -> PerfRegisters:
    known = registers_of_calls()
    if known is None:
        raise LinemateError(refusal())
    return known


@dataclass(slots=True)
class ProbedHeap:
    """The allocations of one recording."""

    say: Say
    _found: Found | None = None
    _watcher: Watcher | None = None
    _registers: PerfRegisters = field(default_factory=_registers)

    @contextlib.contextmanager
    def watching(self, pid: int, program: str = "") -> Iterator[None]:
        """Meanwhile the process is watched, and what it starts; it is to become ``program`` where one is named."""
        pids = [pid, *descendants(pid)]
        try:
            self._found = in_program(program) if program else in_process(pids)
            own = program or f"/proc/{pid}/exe"
            everywhere = all(os.path.samefile(path, own) for path in self._found.files)
            self._watcher = Watcher(pids, self._found.probes, self._masks, everywhere=everywhere)
        except (LinemateError, OSError) as error:
            if not program:
                raise LinemateError(f"--heap --pid {pid}: {error}") from None
            self.say(f"no allocation will be noted: {error}")  # the command is recorded all the same
            yield
            return
        functions, files = len(self._found.probes) // 2, ", ".join(os.path.basename(one) for one in self._found.files)
        self.say(f"allocations: probes on {functions} functions of {files}")
        with self._watcher:
            yield

    def write(self, samples: Samples, out: Path) -> tuple[int, int]:
        """The notes as a file; how many they are, and how many had no room."""
        if self._watcher is None or self._found is None:
            write_notes(np.zeros(0, NOTE_DTYPE), 0, out)
            return 0, 0
        seen = self._watcher.seen
        of_probe = dict(zip(self._found.probes, self._found.calls, strict=True))
        calls = {number: of_probe[probe] for number, probe in seen.probes.items()}
        notes = noted(seen, calls, self._registers, self._masks)
        rows = rows_of(notes, _stacks(notes.begins, samples, self._registers))
        write_notes(rows, notes.left_out, out)
        watched_s = sum(end - begin for begin, end in seen.windows) / 1e9
        if len(seen.windows) > 1:
            self.say(
                f"the program allocates so often that probes would have slowed it down: they were there in "
                f"{len(seen.windows)} times of {watched_s:.2g} s together"
            )
        return len(rows), notes.left_out

    @property
    def _masks(self) -> tuple[int, int]:
        """Registers that are wanted where a function begins, and for its caller where it returns."""
        known = self._registers
        begins = (known.stack, *known.arguments)
        returns = (known.stack, known.ip, known.result, *(name for name in known.dwarf if name))
        return _mask(known, begins), _mask(known, returns)


def _mask(registers: PerfRegisters, names: Sequence[str]) -> int:
    mask = 0
    for name in names:
        mask |= 1 << registers.number(name)
    return mask


@dataclass(slots=True)
class _Walk:
    """One stack on the way out: the caller's registers by DWARF's numbers, as far as they are known."""

    one: Returned
    values: dict[int, int]
    stack_at: int
    ip: int
    found: list[int]


def _stacks(begins: Sequence[Returned], samples: Samples, registers: PerfRegisters) -> list[list[int]]:
    """The return addresses of each allocation, its caller first.  One frame of all at a time, a file at a time."""
    numbers = registers.dwarf_numbers()
    pointer = registers.number(registers.stack)
    of_stack = next(dwarf for dwarf, perf in numbers.items() if perf == pointer)
    walks = [
        _Walk(
            one,
            {dwarf: one.registers[perf] for dwarf, perf in numbers.items() if perf in one.registers},
            one.registers[pointer],
            one.caller,
            [one.caller],
        )
        for one in begins
    ]
    code = _Code(samples)
    going = walks
    for _ in range(_FRAMES - 1):
        steps = code.steps(going)
        going = [walk for walk, step in zip(going, steps, strict=True) if step and _leave(walk, step, of_stack)]
        if not going:
            break
    return [walk.found for walk in walks]


def _leave(walk: _Walk, step: Step, of_stack: int) -> bool:
    """To the caller's frame; whether what is needed for it was copied."""
    base = walk.values.get(step.register)
    at = step.return_at
    if base is None or at is None:
        return False
    frame = (base + step.offset) % 2**64
    back = _word(walk, frame + at)
    if not back:
        return False
    for register, offset in step.saved:
        value = _word(walk, frame + offset)
        if value is None:
            walk.values.pop(register, None)
        else:
            walk.values[register] = value
    walk.values[of_stack] = frame
    walk.ip = back
    walk.found.append(back)
    return True


def _word(walk: _Walk, address: int) -> int | None:
    at = address - walk.stack_at
    return int.from_bytes(walk.one.stack[at : at + 8], "little") if 0 <= at <= len(walk.one.stack) - 8 else None


class _Code:
    """Unwind rows of the files that a profile maps."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._files: dict[str, ElfFile | None] = {}
        self._known: dict[tuple[str, int], Step | None] = {}

    def steps(self, walks: Sequence[_Walk]) -> list[Step | None]:
        """How each is left.  A return address is asked for as the call before it."""
        places = self._places(walks)
        asked: dict[str, set[int]] = {}
        for place in places:
            if place is not None and place not in self._known:
                asked.setdefault(place[0], set()).add(place[1])
        for path, ips in asked.items():
            try:
                found = unwind_steps(path, ips)
            except (LinemateError, OSError):
                found = {}
            self._known.update({(path, ip): found.get(ip) for ip in ips})
        return [self._known[place] if place is not None else None for place in places]

    def _places(self, walks: Sequence[_Walk]) -> list[tuple[str, int] | None]:
        """The file of each and the address in it."""
        calls = np.array([walk.ip - 1 for walk in walks], np.uint64)
        times = np.array([walk.one.time for walk in walks], np.uint64)
        rows = self._samples.spaces.resolve(np.array([walk.one.pid for walk in walks]), calls, times)
        out: list[tuple[str, int] | None] = []
        for address, row in zip(calls.tolist(), rows.tolist(), strict=True):
            place = None
            if row >= 0:
                mapping = self._samples.mappings[row]
                path = self._samples.paths[int(mapping["path"])]
                link = self._linked(path, address - int(mapping["start"]) + int(mapping["pgoff"]))
                place = None if link is None else (path, link)
            out.append(place)
        return out

    def _linked(self, path: str, offset: int) -> int | None:
        if path not in self._files:
            try:
                self._files[path] = ElfFile(path, map_file(path)) if path.startswith("/") else None
            except (LinemateError, OSError):
                self._files[path] = None
        elf = self._files[path]
        return None if elf is None else elf.address_of(offset)
