"""The allocations behind the memory of a profile: the notes that lie beside it, with code and source of their stacks.

Owns finding the notes by the sidecar, and what a return address is: a function of a mapped file, and its place in
source.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from elfscan.debug.locals import read_locals
from linemate.sampled.sources import places_of
from pmu.heaplog import heap_of, read_notes
from pmu.profilefile import digest
from pmu.sidecar import read_sidecar, sidecar_of
from sharing.model.attribution import Attribution, Region
from sharing.model.errors import LinemateError, Unrecognized
from sharing.model.image import Image
from sharing.model.locals import Around
from sharing.model.operands import MappedFiles
from sharing.sampled.heap import Allocation, Allocations, Frame
from sharing.sampled.lineuse.use import LineUse

_ALLOCATED = (Region.HEAP, Region.ANONYMOUS)
Readable = Callable[[Sequence[str]], dict[str, str]]


class Heaps:
    """Allocations by line: of the first recording that noted one there."""

    def __init__(self, readable: Readable) -> None:
        self.notes: list[str] = []
        self._readable = readable
        self._known: list[tuple[Attribution, Allocations]] = []
        self._moments: dict[tuple[int, int, int], int] = {}

    def add(self, path: str, placed: Attribution, files: MappedFiles, image: Image) -> None:
        """The notes beside a profile, where there are any.  Raises Malformed where they cannot be."""
        sidecar, file = sidecar_of(Path(path)), heap_of(Path(path))
        if not sidecar.is_file() or not file.is_file():
            return
        try:
            recorded = read_sidecar(sidecar).heap
        except Unrecognized:
            return
        if recorded is None or recorded.file != file.name:
            return
        if digest(file) != recorded.sha256:
            self.notes.append(f"{path}: {file.name} is of another recording: memory has no allocation")
            return
        notes = read_notes(file)
        frames = _Frames(placed, files, image, self._readable)
        self._known.append((placed, Allocations(notes, frames)))
        if recorded.by == "probes":
            self.notes.append(f"{path}: what was allocated before the recording has no allocation site")
        if not len(notes.rows):
            self.notes.append(f"{path}: no allocation was noted: the program may be linked statically")
        elif notes.left_out:
            self.notes.append(f"{path}: {notes.left_out:,} allocations had no room in the notes of {len(notes.rows):,}")

    def __call__(self, use: LineUse, at: int) -> Allocation | None:
        """What the byte ``at`` of a line belonged to, at the middle one of its samples."""
        if use.region not in _ALLOCATED or not use.threads:
            return None
        pid = use.threads[0].pid
        for number, (placed, allocations) in enumerate(self._known):
            time = self._moment(number, placed, use, pid)
            if time >= 0 and (found := allocations.at(pid, use.address + at, time)) is not None:
                return found
        return None

    def _moment(self, number: int, placed: Attribution, use: LineUse, pid: int) -> int:
        key = number, pid, use.address
        if key not in self._moments:
            rows = placed.rows
            here = (rows["place"] & np.uint64(~(use.size - 1) & (2**64 - 1))) == use.address
            here &= np.isin(rows["region"], [int(region) for region in _ALLOCATED])
            here &= placed.samples.samples["pid"] == pid
            times = np.sort(placed.samples.samples["time"][here])
            self._moments[key] = int(times[len(times) // 2]) if len(times) else -1
        return self._moments[key]


class _Frames:
    """Return addresses of one profile as frames."""

    def __init__(self, placed: Attribution, files: MappedFiles, image: Image, readable: Readable) -> None:
        self._samples, self._files, self._image, self._readable = placed.samples, files, image, readable

    def __call__(self, pid: int, stack: Sequence[int], time: int) -> list[Frame]:
        calls = np.array([max(address - 1, 0) for address in stack], np.uint64)  # the call, not what follows it
        count = len(calls)
        mappings = self._samples.spaces.resolve(np.full(count, pid), calls, np.full(count, time, np.uint64))
        placed: list[tuple[str, int, bool]] = []
        for address, mapping in zip(calls.tolist(), mappings.tolist(), strict=True):
            number = int(self._files.of_mapping[mapping]) if mapping >= 0 else -1
            if number < 0 or not self._files.bias_known[mapping]:
                continue
            module = self._files.files[number].module
            placed.append((module.path, (address - int(self._files.bias[mapping])) % 2**64, module.target))
        sources = places_of([(path, link) for path, link, _ in placed])
        inlined = around_calls([(path, link) for path, link, target in placed if target])
        frames: list[Frame] = []
        for path, link, target in placed:
            line = sources.get((path, link), "")
            *inner, last = inlined.get((path, link), (Around(""),))
            outer = dataclasses.replace(last, name=self._function(path, link, target))
            frames += [
                Frame(one.name, one.call if i else line, target, one.gives_memory)
                for i, one in enumerate([*inner, outer])
            ]
        return frames

    def _function(self, path: str, link: int, target: bool) -> str:
        table = self._image.functions
        row = int(np.searchsorted(table["address"], np.uint64(link), "right")) - 1
        if target and row >= 0 and link < int(table["address"][row]) + int(table["size"][row]):
            name = int(table["name"][row])
            if name >= 0:
                name_of = self._image.names[name]
                return self._readable([name_of])[name_of]
        return f"{os.path.basename(path)}+{link:#x}"


def around_calls(code: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[Around, ...]]:
    """The functions around instructions of one file by its debug information, inlined ones first."""
    if not code:
        return {}
    path = code[0][0]
    try:
        functions = read_locals(path, np.array(sorted({link for _, link in code}), np.uint64)).functions
    except (LinemateError, OSError):
        return {}
    return {(path, link): around for link, around in functions.items() if around}
