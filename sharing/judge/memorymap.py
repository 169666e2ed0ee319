"""The map of an image's writable memory, made of the passes that judged it.

Owns which accesses are told and how they are summed.  What is drawn of it is a reporter's.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.naming import readable_names
from sharing.judge.passes import Passes, Profiled
from sharing.model.image import AccessKind, Image, Section, SectionKind, SiteFlag
from sharing.model.memorymap import (
    MapAccesses,
    MapHeat,
    MapMember,
    MapSection,
    MapType,
    MapVariables,
    MemoryMap,
    Verb,
)
from sharing.model.profile import Heat
from sharing.model.types import MAX_LEAVES
from sharing.static.callees import function_name
from sharing.static.correlate import Accesses
from sharing.static.shapes import Shapes, lock_at

MAX_ACCESSES = 500_000  # summed rows: beyond, the page would not open
MAX_MEMBERS = 400  # of one type
MAX_ALL_MEMBERS = 200_000

Numbers = npt.NDArray[np.int64]


def memory_map(passes: Passes, line_size: int, target: str = "") -> MemoryMap:
    """All writable sections of the image.  ``target`` is its name where a report is of several."""
    image = passes.image
    profiled = passes.profiled()
    summed = _Summed(passes.accesses)
    functions, function_row = np.unique(summed.function, return_inverse=True)
    masks, reached = np.unique(passes.calls.mask[functions], return_inverse=True)
    types = _Types(image, Shapes(image, passes.knowledge))
    heat = _heat(profiled)
    sections = [
        _section(image, section, summed, function_row, heat, types)
        for section in image.sections
        if section.kind is SectionKind.WRITABLE and section.size
    ]
    names = [function_name(image, row) for row in functions.tolist()]
    shown = readable_names(names, passes.demangle)
    reaching = [passes.calls.root_names(mask) for mask in masks.tolist()]
    threads = list(dict.fromkeys(root.name for root in passes.calls.roots))
    return MemoryMap(
        target,
        line_size,
        _readable(sections, passes),
        types.told,
        [shown[name] for name in names],
        threads,
        [[threads.index(name) for name in names] for names in reaching],
        reached.tolist(),
        summed.omitted,
    )


def _readable(sections: list[MapSection], passes: Passes) -> list[MapSection]:
    """Variables named as people write them."""
    shown = readable_names([name for section in sections for name in section.variables.names], passes.demangle)
    for section in sections:
        section.variables.names[:] = [shown[name] for name in section.variables.names]
    return sections


class _Summed:
    """Accesses by address, those of one function to the same bytes as one row."""

    def __init__(self, accesses: Accesses) -> None:
        sites = accesses.sites
        weight = np.where(accesses.mask != 0, accesses.weight, 0.0)
        order = np.lexsort((sites["function"], sites["size"], sites["target"]))
        sites, weight = sites[order], weight[order]
        verbs = _verbs(sites, accesses.lock[order] >= 0)
        target, size, function = sites["target"], sites["size"], sites["function"]
        key = np.stack([target.astype(np.uint64), size, function.astype(np.uint64)])
        first = np.flatnonzero(np.r_[True, (key[:, 1:] != key[:, :-1]).any(axis=0)] if len(sites) else [])
        summed = np.add.reduceat(weight, first) if len(first) else weight
        keep = np.arange(len(first))
        if len(first) > MAX_ACCESSES:
            keep = np.sort(np.argsort(-summed, kind="stable")[:MAX_ACCESSES])
        self.omitted = len(first) - len(keep)
        rows = first[keep]
        self.target, self.size = sites["target"][rows].astype(np.uint64), sites["size"][rows].astype(np.int64)
        self.function: Numbers = sites["function"][rows].astype(np.int64)
        self.verbs = (np.bitwise_or.reduceat(verbs, first) if len(first) else verbs)[keep]
        self.weight = np.round(8 * np.log2(1.0 + summed[keep])).astype(np.int64)


def _verbs(sites: npt.NDArray[Any], locks: npt.NDArray[np.bool_]) -> Numbers:
    kind, flags = sites["kind"], sites["flags"]
    reads = (kind == AccessKind.LOAD) | (kind == AccessKind.RMW)
    writes = (kind == AccessKind.STORE) | (kind == AccessKind.RMW)
    verbs = reads * int(Verb.READS) | writes * int(Verb.WRITES)
    verbs = verbs | ((flags & SiteFlag.ATOMIC) != 0) * int(Verb.ATOMIC)
    verbs = np.where(locks, int(Verb.LOCKS), verbs)
    series: Numbers = verbs | ((flags & SiteFlag.INDEXED) != 0) * int(Verb.SERIES)
    return series


def _heat(profiled: Profiled) -> tuple[npt.NDArray[np.uint64], Numbers, Numbers]:
    """Address and rank of what is written and read in more than passing."""
    table, limits = profiled.table, profiled.limits
    functions, of_writes = table.functions.tolist(), limits.of_writes(table).tolist()
    writes = [limits.heat(*slot) for slot in zip(table.write.tolist(), functions, of_writes, strict=True)]
    reads = [limits.heat(w, n, limits.read) for w, n in zip(table.read.tolist(), functions, strict=True)]
    written, read = np.array(writes, np.int64), np.array(reads, np.int64)
    _raise_what_threads_do(profiled, written, read)
    busy = (written > 0) | (read > 0)
    return table.address[busy].astype(np.uint64), written[busy], read[busy]


def _raise_what_threads_do(profiled: Profiled, written: Numbers, read: Numbers) -> None:
    """As heat is told of actors: what a thread's own loop surely does is hot, and what several threads do often."""
    end = np.searchsorted(profiled.passes.accesses.sites["target"], profiled.table.address, side="right").tolist()
    for at, (start, stop) in enumerate(pairwise([0, *end])):
        often = profiled.profiler.often(list(range(start, stop)))
        if often is None:
            return
        if often.surely_written or (often.by_several and often.maybe_writes):
            written[at] = Heat.HOT
        if often.surely_read or (often.by_several and often.maybe_uses & ~often.maybe_writes):
            read[at] = Heat.HOT


class _Types:
    """Types in the order in which they are met; ``told`` is what the map says of them."""

    def __init__(self, image: Image, shapes: Shapes) -> None:
        self._image, self._shapes = image, shapes
        self._number: dict[int, int] = {}
        self._members = 0
        self.told: list[MapType] = []

    def number(self, row: int) -> int:
        if row < 0:
            return -1
        if row not in self._number:
            self._number[row] = len(self.told)
            self.told.append(MapType(self._image.types.name(row), *self._members_of(row)))
        return self._number[row]

    def _members_of(self, row: int) -> tuple[list[MapMember], int]:
        """The members, and of how many bytes they are all."""
        members = self._image.types.flatten(row)
        scalar = len(members) == 1 and not members[0].path and not members[0].stride
        if scalar or self._members > MAX_ALL_MEMBERS:
            return [], 0
        locks = list(self._shapes.locks(row))
        told = [MapMember(p.path, p.offset, p.size, p.type_name, p.stride, p.count) for p in locks if p.path]
        told += [
            MapMember(m.path, m.offset, m.size, m.type_name, m.stride, m.count)
            for m in members
            if not lock_at(locks, m.offset)  # what is inside a lock is its library's own
        ]
        told.sort(key=lambda member: member.offset)
        whole = max(self._image.types.size(row), 0) if len(members) < MAX_LEAVES else 0
        if len(told) > MAX_MEMBERS:
            whole = min(whole, told[MAX_MEMBERS].offset)
        told = told[:MAX_MEMBERS]
        self._members += len(told)
        return told, whole


def _section(
    image: Image,
    section: Section,
    summed: _Summed,
    function: npt.NDArray[Any],
    heat: tuple[npt.NDArray[np.uint64], Numbers, Numbers],
    types: _Types,
) -> MapSection:
    rows = np.flatnonzero(image.variables["section"] == section.index)
    rows = rows[np.argsort(image.variables["address"][rows], kind="stable")]
    table = image.variables[rows]
    first, last = _within(summed.target, section)
    hot_first, hot_last = _within(heat[0], section)
    return MapSection(
        section.name,
        f"{section.address:#x}",
        section.size,
        MapVariables(
            [image.variable_name(row) for row in rows.tolist()],
            _distances(table["address"], section.address),
            table["size"].tolist(),
            [types.number(row) for row in table["type"].tolist()],
            [
                f"{image.files[file]}:{line}" if file >= 0 else ""
                for file, line in zip(table["file"].tolist(), table["line"].tolist(), strict=True)
            ],
        ),
        MapAccesses(
            _distances(summed.target[first:last], section.address),
            summed.size[first:last].tolist(),
            function[first:last].tolist(),
            summed.verbs[first:last].tolist(),
            summed.weight[first:last].tolist(),
        ),
        MapHeat(
            _distances(heat[0][hot_first:hot_last], section.address),
            heat[1][hot_first:hot_last].tolist(),
            heat[2][hot_first:hot_last].tolist(),
        ),
    )


def _within(addresses: npt.NDArray[np.uint64], section: Section) -> tuple[int, int]:
    first, last = np.searchsorted(addresses, np.array([section.address, section.end], np.uint64))
    return int(first), int(last)


def _distances(addresses: npt.NDArray[Any], start: int) -> list[int]:
    """Each address less the one before, the first less ``start``."""
    offsets = (addresses.astype(np.uint64) - np.uint64(start)).astype(np.int64)
    distances: list[int] = np.diff(offsets, prepend=0).tolist()
    return distances
