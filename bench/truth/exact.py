"""Findings about records held against counted accesses: which of their members took a line from whom.

Owns that truth.  A line that came because another thread had written one member, and was left without any use of what
had been written, is one that separate lines would have spared; what a finding can claim is the number of those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bench.truth.accessfile import Accesses, Moved
from bench.truth.apart import Pair
from bench.truth.named import Bytes, Named, member_at
from sharing.basics.costs import share_of_time
from sharing.counted import numbers
from sharing.counted.shareduse import NamedSpan, SharedUse, shared_use
from sharing.counted.weigh import Counted, Floats
from sharing.model.image import AccessKind
from sharing.model.profile import Range
from sharing.source.program import Program


@dataclass(frozen=True, slots=True)
class SharedMembers:
    """Two places of one object of which the one was used by a thread that had lost the line for the other, in vain."""

    owner: str  # the record's key, or the variable's identity
    offsets: Range  # of what was used, of what had been written
    used: str
    wrote: str
    vain: int
    needed: int
    share: float  # of the time of the run
    elements: bool = False  # of an array: each is of another one


class Met(NamedTuple):
    """Two places of an object, or of two elements of an array."""

    owner: str  # the record's key, or the variable's identity
    offsets: Range  # of what was used, of what had been written
    elements: bool = False


class Exact:
    """What was counted of one program, by the members that its source names."""

    def __init__(self, program: Program, accesses: Accesses, counted: Counted) -> None:
        self._program, self._accesses, self._counted = program, accesses, counted
        self._column = {thread.number: at for at, thread in enumerate(counted.threads)}
        named = Named(program, ((s.file, s.line) for s in accesses.sites))
        self._bytes = [named(s.file, s.line, s.size) for s in accesses.sites]
        self._by_owner: dict[str, list[int]] = defaultdict(list)
        for at, found in enumerate(self._bytes):
            for owner in {one.owner for one in found}:
                self._by_owner[owner].append(at)
        self._moved: dict[str, list[tuple[Moved, Met]]] = defaultdict(list)
        self.unnamed: list[Moved] = []
        for moved in accesses.moved:
            every = self._met(moved)
            for met in every:
                self._moved[met.owner].append((moved, met))
            if not every:
                self.unnamed.append(moved)

    def _met(self, moved: Moved) -> set[Met]:
        """The places of one object that are so far apart, or of two elements of one array.

        Compilers join accesses to neighbours: then the line names one of them, and the distance tells the other.
        """
        if moved.wrote < 0 or not moved.same:
            return set()
        used, wrote = self._bytes[moved.use], self._bytes[moved.wrote]
        pairs = [(a, b, b.offset - a.offset - moved.distance) for a in used for b in wrote if a.owner == b.owner]
        found = {Met(a.owner, (a.offset, b.offset)) for a, b, off in pairs if not off}
        found = found or {Met(a.owner, o) for a, b, _ in pairs for o in self._where_joined(moved, a, b)}
        return found or {Met(a.owner, (a.offset, b.offset), True) for a, b, off in pairs if self._elements(a, b, off)}

    def _where_joined(self, moved: Moved, a: Bytes, b: Bytes) -> Iterator[Range]:
        size = self._size(a.owner)
        if self._joined(moved.wrote) and 0 <= a.offset + moved.distance < size:
            yield a.offset, a.offset + moved.distance
        if self._joined(moved.use) and 0 <= b.offset - moved.distance < size:
            yield b.offset - moved.distance, b.offset

    def _elements(self, a: Bytes, b: Bytes, off: int) -> bool:
        """Whether that is the distance of two elements of one array; objects of a record may be those of one."""
        stride = a.stride or b.stride or (self._size(a.owner) if self.in_record(a.owner) else 0)
        return stride > 0 and not off % stride

    def _joined(self, site: int) -> bool:
        """Whether nothing that the line names is as large as the access."""
        return all(one.size not in (0, self._accesses.sites[site].size) for one in self._bytes[site])

    def _size(self, owner: str) -> int:
        record, variable = self._program.records.get(owner), self._program.variables.get(owner)
        return record.facts.size if record is not None else variable.facts.size if variable is not None else 0

    def shared(self, owner: str, spans: Sequence[Range]) -> SharedUse | None:
        """Of some places of a record those two, and the threads, for which a line moved most often in vain."""
        named = [NamedSpan(member_at(self._program, owner, span[0]), span) for span in dict.fromkeys(spans)]
        counts = Pair(self._counted, {one.span: self._made(owner, one.span) for one in named})
        best: SharedUse | None = None
        for a in named:
            for b in named if len(named) == 1 else [one for one in named if one is not a]:
                found = shared_use(counts, [a, b] if a is not b else [a])
                vain = self._vain(owner, a.span, b.span, elements=a is b)
                if found is not None and (best is None or vain > best.transfers):
                    best = replace(found, transfers=float(vain), share=self._share(vain))
        return best

    def _vain(self, owner: str, used: Range, wrote: Range, *, elements: bool) -> int:
        """Of two places those of one object count, of one place its elements, and other bytes of it."""
        every = [(m.vain, met) for m, met in self._moved.get(owner, ()) if elements or not met.elements]
        return sum(vain for vain, met in every if _within(met.offsets[0], used) and _within(met.offsets[1], wrote))

    def _share(self, transfers: float) -> float:
        return share_of_time(transfers, float(max(self._counted.instructions.max(initial=1.0), 1.0)))

    def _made(self, owner: str, span: Range) -> tuple[Floats, Floats]:
        """Writes, and all uses, of these bytes by thread."""
        wrote, used = (np.zeros(len(self._counted.threads)) for _ in range(2))
        for at in self._by_owner.get(owner, ()):
            if not any(one.owner == owner and _touches(one, span) for one in self._bytes[at]):
                continue
            site = self._accesses.sites[at]
            for thread, count in site.made.items():
                if thread in self._column:
                    used[self._column[thread]] += count
                    wrote[self._column[thread]] += count if site.kind != AccessKind.LOAD else 0
        return wrote, used

    def members(self) -> list[SharedMembers]:
        """Those places for which a line moved in vain so often that it matters, worst first."""
        total: dict[Met, list[int]] = defaultdict(lambda: [0, 0])
        for every in self._moved.values():
            for moved, met in every:
                total[met][0] += moved.vain
                total[met][1] += moved.needed
        found = [
            SharedMembers(met.owner, met.offsets, *self._names(met), vain, needed, self._share(vain), met.elements)
            for met, (vain, needed) in total.items()
            if vain >= numbers.MIN_TRANSFERS and self._share(vain) >= numbers.NEGLIGIBLE
        ]
        return sorted(found, key=lambda one: -one.vain)

    def _names(self, met: Met) -> tuple[str, str]:
        return member_at(self._program, met.owner, met.offsets[0]), member_at(self._program, met.owner, met.offsets[1])

    def in_record(self, owner: str) -> bool:
        """Whether it is a record, of which there may be many objects, and no variable."""
        return owner in self._program.records


def _touches(one: Bytes, span: Range) -> bool:
    return one.offset < span[1] and span[0] < one.offset + max(one.size, 1)


def _within(offset: int, span: Range) -> bool:
    return span[0] <= offset < span[1]
