"""Fragile: safe by luck.

What it does: finds a busy lock or other written object and a busy neighbour whose hot bytes are on different lines
today, but would meet on one line after some of the moves that a harmless edit elsewhere can cause.

Why is this bad?  A new global in another file moves everything behind it by a multiple of the section
contribution's alignment.  A build in which lock and list head happen to be on two lines then becomes, without any
change to either, the build in which they share one, and the regression is looked for in the wrong commit.

Example: a 48-byte lock at offset 32 of a line and a list head right behind it.  Moves are multiples of 32 bytes:
one of the two possible positions puts both on one line (share 50%).

Use instead: a type for the lock that is aligned and rounded up to the line; the share is then 0, whatever moves.

The share counts positions, not their likelihood; how far an edit moves things is decided by its size.  Where no two
threads are estimated to use both often, it is a note; so are two atomics that would be less than medium on one line.
Of members of one variable, which moves as a whole, only those are looked at that would be medium or above on one line.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import COMPANIONS, Actor, Heat, LineProfile, Range, Role
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    Span,
    can_collide,
    describe,
    heat_evidence,
    maybe_one_object,
    offsets,
    pair_score,
    who,
)
from sharing.rules.line.hot_lock import grade_pair as grade_beside_lock
from sharing.rules.line.independent_writers import grade_if_met
from sharing.rules.meeting import limit_of_pair

WRITTEN = frozenset({Role.LOCK, Role.ATOMIC})


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. busy locks and atomics of the middle line; 2. busy neighbours that share no line now; 3. count positions."""
    middle = line.address + ctx.line_size
    best: tuple[float, Actor, Actor, int, int] | None = None
    for a in line.actors:
        if a.write_heat is not Heat.HOT or a.role not in WRITTEN or not a.hot:
            continue
        if not middle <= a.hot[0][0] < middle + ctx.line_size:
            continue
        for b in line.actors:
            if b.heat is not Heat.HOT or not can_collide(a, b, ctx):
                continue
            if a.owner == b.owner and not _members_apart(a, b, ctx):
                continue
            step = ctx.shift_step(a, b)
            met, positions = share(a.hot, b.hot + b.read_hot, ctx.line_size, step)
            if not met or meet_at(a.hot, b.hot + b.read_hot, ctx.line_size, 0):
                continue
            value = pair_score(a, b) * met / positions
            if best is None or value > best[0]:
                best = (value, a, b, met, positions)
    if best is None:
        return
    value, a, b, met, positions = best
    step = ctx.shift_step(a, b)
    yield Draft(
        rule=RULE.id,
        severity=_severity(a, b, ctx),
        verdict=Verdict.FRAGILE,
        line=line,
        actors=(a, b),
        separate=(a,),
        message=(
            f"{describe(a, b)} and {describe(b, a)} are on different lines by luck: at {met} of the {positions} "
            f"positions ({100 * met / positions:.0f}%) to which an edit elsewhere can move them, {_range_text(a)} and "
            f"{_range_text(b)} share a line; {a.name} is {'taken' if a.is_lock else 'written'} by {who(a.writers)}, "
            f"{b.name} used by {who(b.accesses)}"
        ),
        evidence=(
            f"moves are multiples of {step} bytes, the alignment of what surrounds them",
            heat_evidence(a),
            heat_evidence(b),
        ),
        score=value,
    )


def _members_apart(a: Actor, b: Actor, ctx: Context) -> bool:
    """Members of one variable, which moves as a whole: two that would be at least medium on one line.

    A lock and what it guards are put together on purpose, and of elements at an index no two are known to be met.
    """
    if a is b or a.section == ALLOCATED or any(x.stride for x in a.accesses + b.accesses):
        return False
    if not (a.is_lock or b.is_lock):
        return grade_if_met(a, b, ctx).rank >= Severity.MEDIUM.rank
    if a.is_lock and b.is_lock:
        return False
    lock, other = (a, b) if a.is_lock else (b, a)
    most, _ = limit_of_pair(lock, other, ctx)
    return min(grade_beside_lock(lock, other, ctx).rank, most.rank) >= Severity.MEDIUM.rank


def _severity(a: Actor, b: Actor, ctx: Context) -> Severity:
    """A warning where a lock is one of the two, or two writers would be at least medium, and nothing says otherwise."""
    if a.kind in COMPANIONS or b.kind in COMPANIONS or maybe_one_object(a, b):
        return Severity.NOTE
    warned = a.is_lock or b.is_lock or grade_if_met(a, b, ctx).rank >= Severity.MEDIUM.rank
    return Severity.LOW if warned else Severity.NOTE


def share(a: tuple[Range, ...], b: tuple[Range, ...], line_size: int, step: int) -> tuple[int, int]:
    """(positions at which a hot byte of ``a`` and one of ``b`` are on one line, positions in all)."""
    step = max(1, min(step, line_size))
    shifts = range(0, line_size, step)
    return sum(meet_at(a, b, line_size, s) for s in shifts), len(shifts)


def meet_at(a: tuple[Range, ...], b: tuple[Range, ...], line_size: int, shift: int) -> bool:
    lines = {x for r in a for x in range((r[0] + shift) // line_size, (r[1] - 1 + shift) // line_size + 1)}
    return any(x in lines for r in b for x in range((r[0] + shift) // line_size, (r[1] - 1 + shift) // line_size + 1))


def _range_text(actor: Actor) -> str:
    """Of a lock the bytes that its operations write, as offsets in it."""
    if not actor.is_lock:
        return actor.name
    size = sum(b - a for a, b in actor.hot)
    return f"the {size} written bytes of {actor.name} ({', '.join(offsets(actor.hot, actor.span[0]))} of it)"


RULE = LineRule(
    id="safe-by-luck",
    name="Fragile: safe by luck",
    summary="A busy lock or atomic and a busy neighbour are apart today and meet on one line after a harmless edit.",
    severity=Severity.LOW,
    span=Span.WINDOW,
    page=__doc__,
    check=check,
    at_most=5,  # the busiest; more of a warning that nothing is wrong yet is noise
    once_a_pair=True,
)
