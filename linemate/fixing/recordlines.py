"""Whether objects of a type, and members within them, have lines of their own in a linked binary.

Owns the judgement of objects that no symbol names, as those on the heap: size, alignment and offsets of their type say
it, which debug information has.  Where an object really starts is its allocator's, which the plan of an edit looked at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sharing.basics.geometry import lines_of
from sharing.fix.edits import Planned, path_in
from sharing.model.finding import Finding
from sharing.model.image import Image
from sharing.model.types import RECORD_KINDS, Member, TypeTable
from sharing.rules import RULES

_INDEX = re.compile(r"\[\d*\]")
_STARTING = frozenset(rule.id for rule in RULES if rule.starts_line)


@dataclass(frozen=True, slots=True)
class RecordLines:
    """A type in one binary.  ``size``, ``align`` and ``stride`` (of the array in it that is moved, 0 none) in bytes.

    ``together`` are what may be on one line, in words, () nothing; with ``moved`` where that is a member.
    """

    size: int
    align: int
    stride: int
    together: tuple[str, ...]
    moved: str = ""


def record_lines(image: Image, finding: Finding, planned: Planned, line_size: int) -> RecordLines | None:
    """What the binary's type says of the edit, None where no debug information describes it, or not uniquely."""
    types = image.types
    row = _row(types, planned.record)
    if row < 0:
        return None
    size, align = types.size(row), types.alignment(row)
    if size <= 0:
        return None
    starts = range(0, line_size, max(align, 1)) if align < line_size else (0,)
    apart = _Apart(starts, line_size)
    who = planned.participant
    leaves = types.flatten(row)
    moved = next(iter(_leaves(leaves, who.member)), None)
    if planned.remedy.kind == "pad-element" and "[" in who.member:
        stride = moved.stride if moved is not None else 0
        first, used = moved.offset if moved is not None else 0, stride
        if moved is not None and planned.plan is not None and planned.plan.tail:
            own = element_leaves(leaves, who.member)
            first = min(each.offset for each in own)
            used = max(each.offset + each.size for each in own) - first
        fits = moved is not None and apart.holds((first, used), (first + stride, used))
        return RecordLines(size, align, stride, () if fits else (f"elements of {_plain(who.member)}",))
    if planned.plan is not None and planned.plan.rounds:
        together = () if apart.holds((0, size), (size, size)) else (f"objects of {planned.record}",)
        return RecordLines(size, align, 0, together)
    if planned.plan is not None and planned.plan.tail:
        used = max((each.offset + each.size for each in leaves), default=size)
        together = () if apart.holds((0, used), (size, used)) else (f"objects of {planned.record}",)
        return RecordLines(size, align, 0, together)
    return RecordLines(size, align, 0, *_members(leaves, finding, planned, apart))


def element_leaves(leaves: Sequence[Member], member: str) -> list[Member]:
    """The leaves of an element of the last array on a path, or of the array that it names: of ``a.b[2].c`` of a.b."""
    path = _plain(member)
    return _leaves(leaves, f"{path.rpartition('[]')[0] or path}[]")


def has_record(image: Image, planned: Planned) -> bool:
    """Whether debug information of the binary describes the type that the edit lays out."""
    return bool(planned.record) and _row(image.types, planned.record) >= 0


@dataclass(frozen=True, slots=True)
class _Apart:
    """Where in a line an object may start, which decides what of it meets."""

    starts: Sequence[int]
    line_size: int

    def holds(self, a: tuple[int, int], b: tuple[int, int]) -> bool:
        """Whether [offset, size) of both are on no common line wherever their object starts."""
        return all(
            set(lines_of(start + a[0], max(a[1], 1), self.line_size)).isdisjoint(
                lines_of(start + b[0], max(b[1], 1), self.line_size)
            )
            for start in self.starts
        )

    def parts(self, a: Sequence[Member], b: Sequence[Member]) -> bool:
        """Whether two members, of one or several leaves, meet on no line, in elements of one array neither."""
        series = _series([*a, *b])
        one, other = (_span(each, element=bool(series)) for each in (a, b))
        if not series:
            return self.holds(one, other)
        # Each element starts where the size of those before it takes it; those next to it are the nearest.
        stride = a[0].stride
        steps = range(0, self.line_size, math.gcd(self.line_size, stride, *self.starts))
        each = _Apart(steps, self.line_size)
        near = ((other[0] + by, other[1]) for by in (-stride, 0, stride) if by or a != b)
        return stride >= self.line_size and all(each.holds(one, place) for place in near)

    def begins_line(self, offset: int) -> bool:
        """Whether what is there starts a line wherever its object starts."""
        return all((start + offset) % self.line_size == 0 for start in self.starts)


def _row(types: TypeTable, name: str) -> int:
    """The record of that name, -1 where there is none or several differ in size or members."""
    rows = [
        row
        for row in range(len(types))
        if types[row].name == name and types[row].kind in RECORD_KINDS and types[row].members
    ]
    shapes = {(types.size(row), types.alignment(row), types.flatten(row)) for row in rows}
    return rows[0] if len(shapes) == 1 else -1


def _members(
    leaves: Sequence[Member], finding: Finding, planned: Planned, apart: _Apart
) -> tuple[tuple[str, ...], str]:
    """What may be on a line with the member that moves, and that member's path."""
    who, record = planned.participant, planned.record
    path = _plain(path_in(record, who))
    own = _leaves(leaves, path)
    if not own:
        return (path or record,), ""
    beside = [o for o in finding.participants if o is not who and o.identity == who.identity]
    others = {one: _leaves(leaves, one) for one in (_plain(path_in(record, each)) for each in beside)}
    if not others or not all(others.values()):
        # Whom it has to be apart from is not known: then from all that is in the record.
        others = {leaf.path: [leaf] for leaf in leaves if leaf not in own}
    met = [one for one, found in others.items() if not apart.parts(own, found)]
    if finding.rule in _STARTING and not apart.begins_line(own[0].offset):
        met.append("what is before it")
    return tuple(met), path


def _leaves(leaves: Sequence[Member], member: str) -> list[Member]:
    """All of a member, which may be a record; of an array of scalars, which is one leaf, any element names it."""
    path = _plain(member)
    if not path:
        return []
    whole = path.removesuffix("[]")
    return [leaf for leaf in leaves if leaf.path in (path, whole) or leaf.path.startswith((f"{path}.", f"{path}["))]


def _series(members: Sequence[Member]) -> str:
    """The array of records that all of them are in the elements of, "" where there is none."""
    arrays = {member.path.rpartition("[]")[0] for member in members}
    return arrays.pop() if len(arrays) == 1 else ""


def _span(members: Sequence[Member], *, element: bool) -> tuple[int, int]:
    """Offset and size of what they take up, of all elements of an array of records or of one."""
    start = min(member.offset for member in members)
    ends = (
        member.offset + member.size + (0 if element or "[]" not in member.path else member.stride * (member.count - 1))
        for member in members
    )
    return start, max(ends) - start


def _plain(member: str) -> str:
    return _INDEX.sub("[]", member).lstrip(".")
