"""Pairs that threads were seen to take from each other in a profile of one build, and that the other build keeps apart.

Owns the join of verdicts on sampled lines with the pairs that met or parted: what was seen decides which of them it is,
and how bad it is.  The verdicts are those of ``audit --samples``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import msgspec

from sharing.explain import mates
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds
from sharing.explain.identity import Objects
from sharing.explain.linepairs import LinePair, LinePairs, Relaid, SampledSharing, partners
from sharing.explain.members import Members
from sharing.judge.sampled.findings import confidence_of
from sharing.judge.sampled.verdict import Verdicts
from sharing.model.comparison import LineMates
from sharing.model.finding import Severity, Verdict
from sharing.rules.sampled.base import SampledDraft, SampledLine, functions_of

_OF_LAYOUT = (Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED)


@dataclasses.dataclass(frozen=True, slots=True)
class SampledPair:
    """Two things on one line, of which threads were seen to wait for each other: a draft and its line."""

    line: SampledLine
    draft: SampledDraft

    @property
    def names(self) -> tuple[str, str]:
        one, two = (self.line.actors[i].name for i in self.draft.items[:2])
        return one, two

    @property
    def bytes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        one, two = ((self.line.items[i].start, self.line.items[i].end) for i in self.draft.items[:2])
        return one, two

    @property
    def named(self) -> bool:
        """Whether types say what both are."""
        objects = self.line.objects
        return bool(objects) and all(objects[i] is not None for i in self.draft.items[:2])

    @property
    def sight(self) -> SampledSharing:
        return SampledSharing(confidence_of(self.line), self.draft.message, self.draft.cost)

    @property
    def functions(self) -> tuple[str, ...]:
        touches = tuple(t for i in self.draft.items[:2] for t in self.line.items[i].touches)
        return functions_of(touches, 6)


def seen_in(verdicts: Verdicts) -> Iterator[SampledPair]:
    """What of a profile another layout would cure, costliest first."""
    for judged in verdicts.judged:
        for draft in judged.drafts:
            if draft.verdict in _OF_LAYOUT and len(draft.items) > 1 and draft.severity is not Severity.NOTE:
                yield SampledPair(judged.line, draft)


def decided(builds: Builds, old: Verdicts, new: Verdicts) -> Builds:
    """The builds with the pairs of variables first that were seen to disturb each other in one of them only.

    Where there is such a pair, others of that build are no more than notes: this load did not come to them.
    """
    gained = _decided(builds, builds.gained, new, new_side=True)
    lost = _decided(builds, builds.lost, old, new_side=False)
    return dataclasses.replace(builds, gained=gained, lost=lost)


def _decided(builds: Builds, met: LinePairs, verdicts: Verdicts, *, new_side: bool) -> LinePairs:
    side = _Side(builds, new_side=new_side)
    seen = [pair for one in seen_in(verdicts) if (pair := side.pair(one, met)) is not None]
    if not seen:
        return met
    known = {_key(pair) for pair in seen}
    others = [dataclasses.replace(pair, severity=None if pair.severity is None else Severity.NOTE,
                                  mates=msgspec.structs.replace(pair.mates, severity="", finding=""))
              for pair in met.pairs if _key(pair) not in known]  # fmt: skip
    return dataclasses.replace(met, pairs=(*seen, *others), total=max(met.total, len(seen)))


def _key(pair: LinePair) -> tuple[str, frozenset[str]]:
    return pair.mates.line, frozenset((pair.mates.first, pair.mates.second))


class _Side:
    """One build, seen from which pairs met: places in it and in the other one."""

    def __init__(self, builds: Builds, *, new_side: bool) -> None:
        matching = builds.variables
        self.activity: Activity = builds.new if new_side else builds.old
        self.here: Objects = matching.new if new_side else matching.old
        self.there: Objects = matching.old if new_side else matching.new
        self._partner = partners(matching, new_side=new_side)
        self._members = Members(self.here.image, self.there.image)
        self._line_size = builds.line_size

    def pair(self, seen: SampledPair, met: LinePairs) -> LinePair | None:
        """The pair that was seen, None where it is none of static variables, or on one line in the other build, too."""
        use, draft = seen.line.use, seen.draft
        if not use.target or use.link < 0:
            return None
        places = [use.link + start for start, _ in seen.bytes]
        rows = [self.here.image.variable_at(place) for place in places]
        if min(rows) < 0:
            return None
        there = [self._there(row, place) for row, place in zip(rows, places, strict=True)]
        matched = min(there) != mates.MISSING
        if matched and len({place // self._line_size for place in there}) == 1:
            return None
        names, spans = seen.names, seen.bytes
        known = next((p for p in met.pairs if p.mates.line == f"{use.link:#x}" and
                      {p.mates.first, p.mates.second} == set(names)), None)  # fmt: skip
        if known is not None:
            severity = max(known.severity or Severity.NOTE, draft.severity, key=lambda severity: severity.rank)
            told = msgspec.structs.replace(known.mates, finding=draft.rule, severity=severity.value)
            return dataclasses.replace(known, mates=told, severity=severity, seen=seen.sight)
        told = LineMates(
            *names,
            f"{use.link:#x}",
            self._line_size,
            *spans,
            hot=True,
            first_role=seen.line.actors[draft.items[0]].role.value,
            second_role=seen.line.actors[draft.items[1]].role.value,
            functions=seen.functions,
            finding=draft.rule,
            severity=draft.severity.value,
        )
        relaid = tuple(
            one for row, place, other, name in zip(rows, places, there, names, strict=True)
            if matched and (one := self._relaid(row, place, other, name)) is not None
        )  # fmt: skip
        return LinePair(
            told, (rows[0], rows[1]), draft.severity, matched, together=False, relaid=relaid, seen=seen.sight
        )

    def _relaid(self, row: int, place: int, there: int, name: str) -> Relaid | None:
        here = place - int(self.here.image.variables["address"][row])
        other = there - int(self.there.image.variables["address"][int(self._partner[row])])
        return Relaid(name, self.here.label(row), here, other) if here != other else None

    def _there(self, row: int, place: int) -> int:
        """Where the byte at an address is in the other build, MISSING where it is not there."""
        other = int(self._partner[row])
        offset = place - int(self.here.image.variables["address"][row])
        offset = self._members.offset(row, other, offset) if other >= 0 else mates.MISSING
        return mates.MISSING if offset == mates.MISSING else int(self.there.image.variables["address"][other]) + offset
