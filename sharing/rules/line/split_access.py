"""Atomic or lock straddles a line boundary.

What it does: finds an atomically accessed object, or the hot word group of a lock, with bytes on two lines.

Why is this bad?  An atomic instruction whose operand crosses a line boundary locks the whole bus on x86 (a split
lock, hundreds of times slower, a fault where the kernel enforces it), and is not atomic at all on most other
architectures.  A lock whose hot bytes span two lines costs two line transfers for each operation, where another thread
has taken it in between: where no two are estimated to take it often, it is a note.

Example:

    struct __attribute__((packed)) rec { char tag[7]; long refs; };   // refs at offset 7

Use instead: natural alignment for what is accessed atomically.

    struct rec { alignas(8) long refs; char tag[7]; };
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.basics import numbers as shared
from sharing.model.finding import Severity, Verdict
from sharing.model.profile import COMPANIONS, Access, Actor, Heat, LineProfile
from sharing.rules import numbers
from sharing.rules.line.base import Context, Draft, LineRule, describe, heat_evidence, who
from sharing.rules.meeting import said_at_most


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. objects whose hot range starts on this line and ends on the next; 2. atomics first, locks as a lesser case."""
    for actor in line.actors:
        crossing = [(a, b) for a, b in actor.hot if a < line.end < b and a >= line.address]
        if not crossing:
            continue
        start, end = crossing[0]
        at = "" if line.place else f" at {line.end:#x}"
        where = f"{line.end - start} bytes before and {end - line.end} after the boundary{at}"
        atomic = tuple(a for a in actor.accesses if a.atomic and _may_cross(a, start, end, line.end))
        if not actor.is_lock and atomic and end - start <= shared.SCALAR_BYTES:
            severity = Severity.CRITICAL if actor.heat is Heat.HOT else Severity.HIGH
            text = (
                f"{describe(actor)}, accessed atomically by {who(atomic)}, "
                f"straddles a line: {where}; each such access is a split lock"
            )
        elif (
            actor.is_lock
            and actor.write_heat is not Heat.COLD
            and _words_split(actor, start, end, line.end, line.end - line.address)
        ):
            severity = Severity.LOW if actor.write_heat is Heat.HOT else Severity.NOTE
            if actor.kind in COMPANIONS:
                severity = Severity.NOTE  # whoever waits there sleeps, which takes far longer than two misses
            if actor.count > 1:
                severity = severity.lowered(numbers.LESS)
            if said_at_most(severity, actor, actor, ctx) < severity.rank:
                severity = Severity.NOTE  # two lines cost something where another thread had both before
            text = (
                f"{describe(actor)}, taken by {who(actor.lockers or actor.writers)}, has {end - start} written bytes "
                f"on two lines: {where}; each operation moves two lines"
            )
        else:
            continue
        yield Draft(
            rule=RULE.id,
            severity=severity,
            verdict=Verdict.SPLIT_ACCESS,
            line=line,
            actors=(actor,),
            separate=(actor,),
            message=text,
            evidence=(heat_evidence(actor),),
            score=actor.weight,
        )


def _may_cross(access: Access, start: int, end: int, boundary: int) -> bool:
    """Whether an atomic operand is on both sides: a word of what was recovered as one object may end before.

    What is known of elements is the first one: another one crosses if it is as large as what does.
    """
    if not access.operands:
        return True
    if access.stride:
        return any(last - first == end - start for first, last in access.operands)
    return any(first < boundary < last for first, last in access.operands)


def _words_split(actor: Actor, start: int, end: int, boundary: int, line_size: int) -> bool:
    """Locks of one word are aligned to it; only the word group of a bigger lock can span two lines.

    One that is longer than a line does so wherever it stands: nothing mends that.
    """
    word = numbers.WORD_BYTES
    return line_size >= end - start > word and boundary - start >= word and end - boundary >= word


RULE = LineRule(
    id="split-access",
    name="Atomic or lock straddles a line boundary",
    summary="An atomic object or the hot bytes of a lock lie on two cache lines.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
    starts_line=True,
)
