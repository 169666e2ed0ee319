"""Whether objects of a type, and members within them, have lines of their own in a linked binary.

Owns the judgement of objects that no symbol names, as those on the heap: size, alignment and offsets of their type say
it, which debug information has.  Where an object really starts is its allocator's, which the plan of an edit looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sharing.basics.geometry import lines_of
from sharing.fix.edits import Planned
from sharing.model.finding import Finding
from sharing.model.image import Image
from sharing.model.types import RECORD_KINDS, Member, TypeTable

_INDEX = re.compile(r"\[\d*\]")


@dataclass(frozen=True, slots=True)
class RecordLines:
    """A type in one binary.  ``size``, ``align`` and ``stride`` (of the array in it that is moved, 0 none) in bytes.

    ``together`` are what may be on one line, in words, () nothing.
    """

    size: int
    align: int
    stride: int
    together: tuple[str, ...]


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
    moved = _leaf(leaves, who.member)
    if planned.remedy.kind == "pad-element" and "[" in who.member:
        stride = moved.stride if moved is not None else 0
        fits = moved is not None and apart.holds((moved.offset, stride), (moved.offset + stride, stride))
        return RecordLines(size, align, stride, () if fits else (f"elements of {_plain(who.member)}",))
    if planned.plan is not None and planned.plan.rounds:
        together = () if apart.holds((0, size), (size, size)) else (f"objects of {planned.record}",)
        return RecordLines(size, align, 0, together)
    if moved is None:
        return RecordLines(size, align, 0, (who.member or planned.record,))
    own = (moved.offset, moved.size)
    others = [o.member for o in finding.participants if o.identity == who.identity and o.member != who.member]
    wanted = [leaf for leaf in leaves if any(_plain(o) == leaf.path for o in others)] or [
        leaf for leaf in leaves if leaf is not moved
    ]
    met = [leaf.path for leaf in wanted if not apart.holds(own, (leaf.offset, leaf.size))]
    return RecordLines(size, align, 0, tuple(met))


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


def _row(types: TypeTable, name: str) -> int:
    """The record of that name, -1 where there is none or several differ in size or members."""
    rows = [
        row
        for row in range(len(types))
        if types[row].name == name and types[row].kind in RECORD_KINDS and types[row].members
    ]
    shapes = {(types.size(row), types.alignment(row), types.flatten(row)) for row in rows}
    return rows[0] if len(shapes) == 1 else -1


def _leaf(leaves: Sequence[Member], member: str) -> Member | None:
    path = _plain(member)
    return next((leaf for leaf in leaves if leaf.path == path or leaf.path.startswith((f"{path}.", f"{path}["))), None)


def _plain(member: str) -> str:
    return _INDEX.sub("[]", member).lstrip(".")
