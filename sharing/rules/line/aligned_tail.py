"""Alignment without padding.

What it does: finds a busy object that is declared with the alignment of a line, is smaller than a line, and whose
tail holds another object's data.  It speaks in the place of rules that only see that the two meet; what is aligned may
be written, or only read and disturbed by its tail.  A tail that the same functions use is fetched with it and not
named.  What one lock guards is used in turns, by users who wait for the lock: that is two steps less.

Why is this bad?  Alignment decides where an object starts and says nothing about what follows.  A 40-byte lock
aligned to 64 leaves 24 bytes that the linker hands to the next variable: the edit looks like a fix, and the line
is still shared.  This is the commonest wrong fix of false sharing.

Example:

    static pthread_mutex_t lock __attribute__((aligned(64)));
    static int waiting;                  // lands 40 bytes into the lock's line

Use instead: alignment on a type, which rounds its size up to the line as well.

    struct alignas(64) LockLine { pthread_mutex_t value; };   // sizeof is 64
    static LockLine lock;
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Heat, LineProfile
from sharing.rules import numbers
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    can_collide,
    describe,
    doubt,
    grade,
    heat_evidence,
    meets,
    pair_score,
    span_text,
    together,
    who,
)


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. an owner that starts the line by declaration and ends inside it; 2. other owners' touched data behind it.

    What is always used with it is fetched with it; behind a lock that is worse, since those who wait take the line.
    """
    for actor in line.actors:
        start, end = actor.owner_span
        if actor.alignment < ctx.line_size or start != line.address or not start < end < line.end:
            continue
        if actor.heat is Heat.COLD or not actor.sized:
            continue
        tail = [
            v
            for v in line.actors
            if v.owner != actor.owner
            and v.span[0] >= end
            and v.heat is not Heat.COLD
            and (meets(actor, v, line) or meets(v, actor, line))
            and (can_collide(actor, v, ctx) or can_collide(v, actor, ctx))
            and (actor.is_lock or min(together(actor, v), together(v, actor)) < numbers.WRITERS_TOGETHER)
        ]
        if not tail:
            continue
        writes = actor.write_heat is not Heat.COLD
        tail.sort(key=lambda v: (-(pair_score(actor, v) if writes else pair_score(v, actor)), v.name))
        worst = tail[0]
        if writes:
            severity = grade(actor.write_heat, worst.heat)
            done = f"touched by {who(worst.accesses)}, on {line.label}, which is written by {who(actor.writers)}"
        else:
            severity = grade(worst.write_heat, actor.heat).lowered(doubt(worst, actor, ctx, reading=True))
            done = f"written by {who(worst.writers)}, on {line.label}, which is read by {who(actor.readers)}"
        if actor.guards & worst.guards:
            severity = severity.lowered(numbers.MUCH_LESS)  # their users take turns
        yield Draft(
            rule=RULE.id,
            severity=severity,
            verdict=Verdict.FALSE_SHARING,
            line=line,
            actors=(actor, *tail),
            separate=(actor,),
            message=(
                f"{describe(actor)} is aligned to {actor.alignment} bytes but only {end - start} bytes long: its tail "
                f"holds {describe(worst)}, {span_text(worst, line)}, {done}: the alignment does not reserve the line"
            ),
            evidence=(
                f"declared alignment {actor.alignment}, size {end - start}: {line.end - end} bytes of tail are free",
                heat_evidence(actor),
                heat_evidence(worst),
            ),
            score=pair_score(actor, worst) if writes else pair_score(worst, actor),
        )


RULE = LineRule(
    id="aligned-without-padding",
    name="Alignment without padding",
    summary="A busy object is aligned to a line but not padded to it, and its tail holds someone else's data.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
    exclusive=True,
    specific=True,
)
