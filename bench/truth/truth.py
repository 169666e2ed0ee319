"""What a run did to the static storage of one file: uses of bytes by thread, and the lines that threads shared.

Owns what is true.  It rests on decoded instructions and counted executions alone, so that no estimate that is held
against it can change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from bench.truth.accessfile import Accesses
from bench.truth.apart import Pair, Places
from sharing.basics.costs import PER_MILLION, busy_rate
from sharing.basics.ways import mirrors
from sharing.counted import numbers
from sharing.counted.shareduse import NamedSpan, SharedUse, busy, shared_use
from sharing.counted.weigh import Counted, Floats, on_the_line
from sharing.judge.passes import Passes
from sharing.model.executions import Executions
from sharing.model.finding import Finding
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.model.profile import Range
from sharing.model.ways import Points

# What is done less often does not make one thing of the bytes that it touches: a structure that is copied at times.
JOINING_RATE = busy_rate() / 10
Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Truth:
    """Rows are the accesses that name static storage, by address; ``executions`` have a column for each thread."""

    passes: Passes  # of the file whose instructions were counted
    counted: Counted
    start: Addresses
    end: Addresses
    writes: npt.NDArray[np.bool_]
    executions: Floats
    before: tuple[Floats, Floats]  # sums of the rows above: of those that write, of all
    places: Places  # the same rows
    accesses: Accesses | None = None  # of a build that saw all addresses, where there is one

    @property
    def image(self) -> Image:
        return self.passes.image

    def uses(self, span: Range) -> tuple[Floats, Floats]:
        """How often each thread wrote, and used at all, the bytes of a range by instructions that name them."""
        first, last = np.searchsorted(self.start, np.array(span, np.uint64))
        return self.before[0][last] - self.before[0][first], self.before[1][last] - self.before[1][first]

    def shared(self, spans: Sequence[NamedSpan]) -> SharedUse | None:
        """The pair of spans and threads that separate lines would spare most; one span alone is paired with itself."""
        if len(spans) < 2:
            return shared_use(self, spans)
        pairs = (shared_use(self._apart(a, b), (a, b)) for a, b in combinations(spans, 2) if a.span != b.span)
        return max((met for met in pairs if met is not None), key=lambda met: met.rate, default=None)

    def _apart(self, a: NamedSpan, b: NamedSpan) -> Pair:
        """What is written with the other thing moves with it, and so does what is used with it in any way."""
        rows = [np.arange(*np.searchsorted(self.start, np.array(one.span, np.uint64))) for one in (a, b)]
        writes = [at[self.writes[at]] for at in rows]
        return Pair(
            self.counted,
            {
                one.span: (self.places.apart(writes[at], writes[1 - at]), self.places.apart(rows[at], rows[1 - at]))
                for at, one in enumerate((a, b))
            },
        )

    def lines(self, size: int) -> dict[int, SharedUse]:
        """Lines on which two threads use different bytes, one of them writing, often enough to matter."""
        found = {}
        for line, first, last in self._crossed(size):
            places = self._places(line, size, first, last)
            best = self.shared(places) if len(places) > 1 else None
            if true(best):
                found[line] = best
        return found

    def _crossed(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Address and rows of the lines that two threads use, one of them writing."""
        if not len(self.start):
            return
        line = self.start // np.uint64(size)
        first = np.flatnonzero(np.r_[True, line[1:] != line[:-1]])
        last = np.r_[first[1:], len(line)]
        rate = PER_MILLION / np.maximum(self.counted.instructions, 1.0)
        wrote, used = ((sums[last] - sums[first]) * rate >= busy_rate() for sums in self.before)
        for at in np.flatnonzero(wrote.any(axis=1) & (used.sum(axis=1) > 1)).tolist():
            yield int(line[first[at]]) * size, int(first[at]), int(last[at])

    def _places(self, line: int, size: int, first: int, last: int) -> list[NamedSpan]:
        """The bytes of a line as they are used: ranges that overlap are one thing."""
        rate = PER_MILLION / np.maximum(self.counted.instructions, 1.0)
        often = (self.executions[first:last] * rate).max(axis=1) >= JOINING_RATE
        spans: list[Range] = []
        starts, ends = (at[first:last][often].tolist() for at in (self.start, self.end))
        for start, end in zip(starts, ends, strict=True):
            if spans and start < spans[-1][1]:
                spans[-1] = spans[-1][0], max(spans[-1][1], end)
            else:
                spans.append((start, end))
        return [NamedSpan(f"{a:#x}", (a, min(b, line + size))) for a, b in spans]


def truth_of(passes: Passes, executions: Executions, accesses: Accesses | None = None) -> Truth:
    """What was counted of a file, by its decoded accesses."""
    counted = Counted(executions.table, executions.threads)
    sites = passes.accesses.sites
    made = counted.at(sites["ip"]) * on_the_line(passes)[:, None]
    writes = (sites["kind"] == AccessKind.STORE) | (sites["kind"] == AccessKind.RMW)
    none = np.zeros((1, len(counted.threads)))
    points = Points(*(at.astype(np.int64) for at in (sites["order"], mirrors(passes.image, sites), sites["ip"])))
    before = tuple(np.concatenate([none, np.cumsum(rows, axis=0)]) for rows in (made * writes[:, None], made))
    return Truth(
        passes,
        counted,
        sites["target"].astype(np.uint64),
        _ends(passes),
        writes,
        made,
        (before[0], before[1]),
        Places(sites["function"], points, made),
        accesses,
    )


def _ends(passes: Passes) -> Addresses:
    """Where each access ends; one of an element that is not known, where its variable does."""
    sites, variable, table = passes.accesses.sites, passes.accesses.variable, passes.image.variables
    end = (sites["target"] + np.maximum(sites["size"], 1)).astype(np.uint64)
    rows = np.flatnonzero((variable >= 0) & ((sites["flags"] & SiteFlag.INDEXED) != 0))
    owner = table[variable[rows]]
    result: Addresses = end
    start, size = owner["address"], owner["size"]
    result[rows] = np.maximum(end[rows], start + size)
    return result


def true(found: SharedUse | None) -> TypeGuard[SharedUse]:
    """Does it matter that these threads meet?"""
    return busy(found) and found.share >= numbers.NEGLIGIBLE


def spans(finding: Finding) -> list[Range]:
    """The bytes on the line of a finding that each of its participants has."""
    line = int(finding.line.address, 16)
    out = []
    for p in finding.participants:
        parts = [(line + a, line + b) for a, b in (p.hot or p.bytes) if b > a]
        start = int(p.address, 16)
        out.append((min(a for a, _ in parts), max(b for _, b in parts)) if parts else (start, start + max(p.size, 1)))
    return out
