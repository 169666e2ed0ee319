"""Adjacent-line pair.

What it does: finds two of the busiest objects of a program, written by code of different threads, on the two
64-byte halves of an aligned 128-byte span.

Why is this bad?  Many x86-64 processors fetch the other half of a 128-byte pair along with a missed line, and
several Arm cores move 128 bytes at once: 64 bytes apart is then not apart enough.  The effect is smaller than
sharing a line and depends on the processor and its settings, so the severity is low.

Example:

    alignas(64) static atomic_long head;
    alignas(64) static atomic_long tail;    // the next line, the same pair

Use instead: alignas(128) for the few objects where it matters; std::hardware_destructive_interference_size says
what the target is tuned for.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Actor, Heat, LineProfile, Role
from sharing.rules import numbers
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    Span,
    can_collide,
    describe,
    heat_evidence,
    pair_score,
    span_text,
    together,
    who,
)

WRITTEN = frozenset({Role.LOCK, Role.ATOMIC, Role.COUNTER, Role.LIST_HEAD, Role.WRITTEN})


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. the busiest written actors of each half; 2. the pair of different owners that can run at once."""
    if ctx.pair_size <= ctx.line_size:
        return
    middle = line.address + ctx.line_size
    hot = [a for a in line.actors if a.write_heat is Heat.HOT and a.role in WRITTEN]
    best: tuple[float, Actor, Actor] | None = None
    for a in hot:
        for b in hot:
            if not (_within(a, line.address, middle) and _within(b, middle, line.end)):
                continue
            if a.owner == b.owner or not can_collide(a, b, ctx):
                continue
            if max(together(a, b), together(b, a)) > numbers.PAIR_TOGETHER:
                continue
            value = pair_score(a, b)
            if best is None or value > best[0]:
                best = (value, a, b)
    if best is None:
        return
    value, a, b = best
    yield Draft(
        rule=RULE.id,
        severity=Severity.NOTE,
        verdict=Verdict.ADJACENT_PAIR,
        line=line,
        actors=(a, b),
        separate=(b,),
        message=(
            f"{describe(a, b)}, {span_text(a, line)}, written by {who(a.writers)}, and {describe(b, a)}, "
            f"{span_text(b, line)}, written by {who(b.writers)}, are the two halves of the {line.size}-byte pair "
            f"{line.address:#x}: a prefetch of one brings the other"
        ),
        evidence=(heat_evidence(a), heat_evidence(b)),
        score=value,
    )


def _within(actor: Actor, start: int, end: int) -> bool:
    return bool(actor.hot) and all(start <= a and b <= end for a, b in actor.hot)


RULE = LineRule(
    id="adjacent-line-pair",
    name="Adjacent-line pair",
    summary="Two of the busiest written objects are the two halves of one 128-byte pair of lines.",
    severity=Severity.NOTE,
    span=Span.PAIR,
    page=__doc__,
    check=check,
)
