"""Findings of a planted program held against its counted pairs.

Owns when a finding is true, plausible or neither, and which pairs a build can have.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from pathlib import Path

from bench.planted.build import SOURCE, STRIPPED, Symbols, build, symbols
from bench.planted.truth import Pair, Program, Side
from linemate import api
from sharing.model.finding import Finding, Severity

LINE_SIZE = 64
_OFFSET = re.compile(r"(?<![*\w])([\w.]+)\+(0x[0-9a-f]+)")


class Rating(enum.StrEnum):
    """What a finding is worth: a counted pair, one that a reader may accept, or neither."""

    TRUE = "true"
    PLAUSIBLE = "plausible"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Rated:
    """``pairs`` are the names of those that the finding tells of."""

    finding: Finding
    rating: Rating
    pairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A program in one kind of build: the pairs that share a line there, and what linemate says from low on."""

    name: str
    kind: str
    wanted: tuple[str, ...]
    rated: tuple[Rated, ...]

    @property
    def found(self) -> frozenset[str]:
        return frozenset(pair for one in self.rated for pair in one.pairs) & set(self.wanted)

    def count(self, rating: Rating, *severities: Severity) -> int:
        return sum(one.rating is rating and one.finding.severity in severities for one in self.rated)


def judge(name: str, program: Program, kind: str, folder: Path) -> Judged:
    """Build a program and judge it; the layout that says which pairs count in source is that of gcc -O2."""
    built = build(name, program, kind, folder)
    where = symbols(build(name, program, "gcc -O2", folder) if kind == SOURCE else built.with_name(name))
    counted = "gcc -O2" if kind == SOURCE else kind
    wanted = tuple(pair.name for pair in program.pairs if counted not in pair.not_in and shares(pair, where))
    names = where if kind == STRIPPED else None
    return Judged(name, kind, wanted, tuple(rate(finding, program, names) for finding in findings(built, kind)))


def findings(built: Path, kind: str) -> tuple[Finding, ...]:
    """What linemate says of a built file or of the sources of a compile database, from low on."""
    if kind == SOURCE:
        return api.check(database=built, min_severity=Severity.LOW, config=False).findings
    return api.audit(built, min_severity=Severity.LOW, config=False).findings


def shares(pair: Pair, where: Symbols) -> bool:
    """Do both sides have bytes on one line of this build?  Of what is not in static storage the counts say so."""
    sides = (pair.a.bytes, pair.b.bytes)
    if not all(sides):
        return True
    a, b = ({line for bytes_ in side for line in where.lines(*bytes_, LINE_SIZE)} for side in sides)
    return bool(a & b)


def rate(finding: Finding, program: Program, where: Symbols | None) -> Rated:
    """A finding is true where it names both sides of a pair, or an array whose elements are both."""
    names = [part.full_name for part in finding.participants]
    if where is not None:
        names = [where.named(name) for name in names]
    pairs = tuple(pair.name for pair in program.pairs if _tells(names, pair))
    if pairs:
        return Rated(finding, Rating.TRUE, pairs)
    accepted = any(_may_be(names, a, b) for a, b in program.plausible)
    return Rated(finding, Rating.PLAUSIBLE if accepted else Rating.OTHER, ())


def _tells(names: list[str], pair: Pair) -> bool:
    a, b = ([_is(side, name) for name in names] for side in (pair.a, pair.b))
    if pair.one:
        return sum(a) >= min(2, len(names))
    return _two(a, b)


def _two(a: list[bool], b: list[bool]) -> bool:
    """Is one name the one side and another name the other?"""
    return any(x and y for i, x in enumerate(a) for j, y in enumerate(b) if i != j)


def _is(side: Side, name: str) -> bool:
    """By a pattern, or by its bytes, as a stripped file's report says them once symbols are put in."""
    if any(re.search(pattern, name) for pattern in side.names):
        return True
    places = [(found[1], int(found[2], 16)) for found in _OFFSET.finditer(name)]
    return any(symbol == of and first <= at < first + size for symbol, at in places for of, first, size in side.bytes)


def _may_be(names: list[str], a: str, b: str) -> bool:
    """By the patterns of two sides; a name that stands alone is the first."""
    first, second = ([bool(re.search(side, name)) for name in names] for side in (a, b))
    return first[0] if len(names) == 1 else _two(first, second)
