"""Where elements of an array end and begin in a line, and how likely an end is on the line of the next one's beginning.

Owns the arithmetic; who uses the two is asked by the rule (``thread_elements``).
"""

from __future__ import annotations

import dataclasses
from math import gcd
from typing import NamedTuple

from sharing.basics.positions import steps_lost
from sharing.model.facts import RecordBits, RecordFacts
from sharing.model.image import HEAP_ALIGNMENT
from sharing.rules import numbers
from sharing.rules.declaration.base import SourceDraft
from sharing.rules.declaration.own_elements import Elements
from sharing.source.alignment import alignment
from sharing.source.program import Program
from sharing.source.uses import Use


class Place(NamedTuple):
    """Where in an element a use is, and what decides whether it may meet another one."""

    offset: int
    size: int
    writes: bool
    under: frozenset[str]


def place_of(use: Use) -> Place:
    return Place(use.offset, use.size, use.writes, frozenset(use.under))


class Begins(NamedTuple):
    """Where in a line an element may begin, and whether it is a linker that decides which of them it is."""

    offsets: tuple[int, ...]
    linked: bool = False


def begins_of(
    program: Program, found: Elements, off_lines: set[str], places: list[tuple[str, int]], line_size: int
) -> Begins:
    """Where elements begin; nowhere where each is known to have whole lines.

    Wherever the array begins, elements begin at all multiples of what their size and a line have in common.  Where that
    is a line, they begin at any multiple of what allocators promise, or of what the type asks for; those of a variable
    where the compiler allows that it begins.
    """
    facts = found.record.facts
    if facts.size % line_size:
        return Begins(tuple(range(0, line_size, gcd(facts.size, line_size))))
    if found.identity not in program.variables and facts.key in off_lines:
        return Begins(tuple(range(0, line_size, max(HEAP_ALIGNMENT, facts.align))))
    if facts.bits & RecordBits.SYSTEM:
        return Begins(())
    offsets: set[int] = set()
    for identity, at in places:
        if found.identity in (identity, facts.key):
            step = min(_alignment(program, identity), line_size)
            offsets |= {(at + start) % line_size for start in range(0, line_size, step)}
    # One that stands off a line by its place in a record is its layout's, whichever the linker's choice.
    return Begins(tuple(sorted(offsets)), linked=True) if offsets != {0} else Begins(())


def _alignment(program: Program, identity: str) -> int:
    """Bytes of alignment that the compiler gives a variable."""
    defined = program.variables[identity]
    unit = program.units[defined.unit]

    def record(index: int) -> RecordFacts | None:
        known = program.record(defined.unit, index)
        return known.facts if known is not None else None

    return max(alignment(defined.facts, unit.options, unit.triple, record), 1)


def share_of(size: int, end: Use | Place, begin: Use | Place, begins: Begins, line_size: int) -> float:
    """The share of places at which the variable may begin where the two meet."""
    last, first = end.offset + max(end.size, 1) - 1, begin.offset + size
    meets = [at for at in begins.offsets if (at + last) // line_size == (at + first) // line_size]
    return len(meets) / len(begins.offsets)


def by_share(draft: SourceDraft, share: float, begins: Begins) -> SourceDraft:
    """The draft by how likely the linker puts the variable where the two meet, as pairs of one unit are judged.

    Of an array whose elements end at all of these offsets in turn, some do meet, and it is few threads that pay.
    """
    lost = steps_lost(share)
    if share >= 1 or (not begins.linked and lost < numbers.MUCH_LESS):
        return draft
    count = len(begins.offsets)
    where = "the array can begin" if begins.linked else "one may end"
    text = f"; they do so at {round(share * count)} of the {count} offsets in a line at which {where}"
    return dataclasses.replace(
        draft,
        severity=draft.severity.lowered(lost if begins.linked else numbers.LESS),
        message=f"{draft.message}{text}",
        score=draft.score * share,
    )
