"""One atomic variable that several threads change all the time.

What it does: finds an atomic variable that the loops of several threads each change, every time around; in source also
one that is alone on its line.

Why is this bad?  This is true sharing.  The line moves from one processor to the next with each change, and all that
the line holds moves with it, however much room there is around the variable.  Padding does not help; it is said so that
nobody tries, and because another design does help.

Example: one counter for all workers.

    static atomic_long requests;      // atomic_fetch_add(&requests, 1) for each request of each worker

Use instead: a counter for each thread, each on a line of its own, added up where the sum is read.

    struct alignas(64) Count { atomic_long value; } requests[MAX_THREADS];

It is a note: no layout cures it.  Locks are left out: how long threads wait for one is no question of its line.  So is
a variable that perhaps only one thread changes often, and one whose line has worse.

Of a member of records on the heap nothing may say that threads change it in one object: it is true sharing where they
do, and false sharing where each has another object and two of these are on one line.  Then the note is inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import ADVICE, Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import Actor, Heat, LineProfile, Role
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    describe,
    heat_evidence,
    roots_text,
    span_text,
    who,
)

HELP = (
    "give each thread a copy of its own on a line of its own, and add them up where the sum is read; where each thread "
    "needs the value, change it less often: take several at a time"
)
_IN_ONE = "each change takes the line from the thread that made the last one; padding does not help"
_IN_ANY = (
    f"where these change it in one object, {_IN_ONE}; where each has an object of its own, two of these on one line "
    "disturb each other, and aligning the type helps"
)


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """The busiest atomic variable here that the loops of two threads that run at one time surely change."""
    changed = [a for a in line.actors if _is_one_atomic(a) and a.hot_on(line.address, line.end) and _by_loops(a, ctx)]
    if not changed:
        return
    actor = min(changed, key=lambda a: (-a.write_weight, a.name))
    of_any = ctx.of_any is not None and actor.section == ALLOCATED
    yield Draft(
        rule=RULE.id,
        severity=Severity.NOTE,
        verdict=Verdict.INCONCLUSIVE if of_any else Verdict.TRUE_SHARING,
        line=line,
        actors=(actor,),
        separate=(),
        message=(
            f"{describe(actor)}, {span_text(actor, line)} of {line.label}, is changed by {who(actor.writers)}, every "
            f"time around the loops of several threads: {_IN_ANY if of_any else _IN_ONE}"
        ),
        evidence=(heat_evidence(actor), f"threads: {roots_text(actor, actor, ctx)}", f"{ADVICE}{HELP}"),
        score=actor.write_weight,
    )


def _is_one_atomic(actor: Actor) -> bool:
    """Not an element that each thread may have to itself, and nothing of a library that nobody can change."""
    updates = [a for a in actor.writers if a.atomic and a.reads and not a.cold]
    alone = actor.count == 1 and not any(a.stride or a.bits or a.own for a in updates)
    hot = actor.role is Role.ATOMIC and actor.write_heat is Heat.HOT
    return hot and bool(updates) and alone and not actor.of_library


def _by_loops(actor: Actor, ctx: Context) -> bool:
    """Do the own loops of two threads that run at one time change it?"""
    surely = 0 if actor.often is None else actor.often.sure_writes & ~ctx.anybody
    return ctx.concurrent(surely, surely)


RULE = LineRule(
    id="shared-counter",
    name="One atomic variable that several threads change all the time",
    summary="Several threads change the same atomic variable all the time; padding does not help.",
    severity=Severity.NOTE,
    page=__doc__,
    check=check,
    exclusive=True,
    of_one=True,
)
