"""Hot lock shares a line with data.

What it does: finds a lock that is taken often, from code that several threads can run, on the same cache line
as other data that is touched often.

Why is this bad?  Each attempt to take the lock writes its line.  Threads that wait for the lock pull the line
away from the thread that holds it or that only wants the neighbouring data, so the critical section gets longer
exactly when the lock is contended.  Data guarded by the very lock beside it is good company while the lock is
idle and bad company once it is contended.

Example: a mutex whose hot bytes 0-15 share a line with the head of a list.

    static pthread_mutex_t lock;      // 40 bytes, hot in the first 16
    static struct item *unused;       // next on the same line

Use instead: a type of its own for the lock, aligned to the line and rounded up to it, so that neither the front
nor the tail of the line can be given to another object.

    struct alignas(64) LockLine { pthread_mutex_t value; };   // sizeof is 64
    static LockLine lock;

Data of which the functions that take the lock are the main users is the lock's own (note), unless threads that never
take it use the data in their own loops, or those that do change it where they do not come to take the lock.  Data that
a lock guards is a note where no thread is seen, as in kernels and libraries: without waiters it is in good company.

Evidence: the bytes that lock and unlock write are known by ABI; bytes of the lock that are only initialised (the
robust-list links of a pthread mutex) do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sharing.model.finding import AT_MOST, Severity, Verdict
from sharing.model.profile import COMPANIONS, Actor, Heat, LineProfile, Role
from sharing.rules import numbers
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    can_collide,
    changed_without,
    describe,
    doubt,
    evidence_of,
    grade,
    in_common,
    maybe_one_object,
    meets,
    others_likewise,
    pair_score,
    span_text,
    who,
)
from sharing.rules.meeting import said_at_most

# Why it is no more than that.
_BESIDE = (
    f"{Severity.NOTE.value} {AT_MOST}one object holds both, and the functions that use {{}} mostly take {{}} as well, "
    "which brings them the line"
)


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. each lock written on this line; 2. its victims: other touched data, not locks; 3. grade the worst pair."""
    for lock in line.actors:
        if not lock.is_lock or lock.write_heat is Heat.COLD or not lock.hot_on(line.address, line.end):
            continue
        victims = [
            (grade_pair(lock, v, ctx), pair_score(lock, v), v)
            for v in line.actors
            if not v.is_lock
            and v.heat is not Heat.COLD
            and Heat.HOT in (lock.write_heat, v.heat)
            and meets(lock, v, line)
            and can_collide(lock, v, ctx)
        ]
        if not victims:
            continue
        victims.sort(key=partial(_order, lock, ctx))
        severity, score, worst = victims[0]
        chosen = tuple(v for _, _, v in victims)
        guarded = lock.name in worst.guards | worst.write_guards
        yield Draft(
            rule=RULE.id,
            severity=severity,
            verdict=Verdict.FALSE_SHARING,
            line=line,
            actors=(lock, *chosen),
            separate=(lock,),
            message=_message(lock, chosen, line, guarded),
            evidence=(
                *evidence_of(lock, chosen, ctx),
                *(
                    (f"{worst.name} is mostly used by functions that take {lock.name}: waiters disturb the holder",)
                    if guarded
                    else ()
                ),
                *((_BESIDE.format(worst.name, lock.name),) if _in_one_object(lock, worst, ctx) else ()),
            ),
            score=score,
        )


def _order(lock: Actor, ctx: Context, victim: tuple[Severity, float, Actor]) -> tuple[int, int, bool, float, str]:
    """The one that is named comes first: that of which most can be said with this lock, then the worst.

    Of equally bad ones the program's own: what a library keeps there is seldom what it waits for.
    """
    severity, score, other = victim
    said = said_at_most(severity, lock, other, ctx)
    return -said, -severity.rank, other.of_library, -score, other.name


def grade_pair(lock: Actor, victim: Actor, ctx: Context) -> Severity:
    """Discounts: guarded data of a lock that is not among the busiest; members meant to be together."""
    severity = grade(lock.write_heat, victim.heat)
    severity = severity.lowered(doubt(lock, victim, ctx, reading=victim.write_heat is Heat.COLD))
    if lock.kind in COMPANIONS:
        severity = severity.lowered(numbers.TO_NOTE)  # whoever waits sleeps, which takes far longer than a miss
    own = _is_own(lock, victim, ctx)
    if own and lock.write_heat is not Heat.HOT:
        severity = severity.lowered(numbers.MUCH_LESS)
    if own and not (lock.mask(writers=True) | victim.mask()) & ~ctx.anybody:
        # It costs something only while others wait for the lock, and of callers nobody knows whether any ever does.
        severity = severity.lowered(numbers.TO_NOTE)
    if _in_one_object(lock, victim, ctx):
        severity = severity.lowered(numbers.TO_NOTE)  # put together on purpose, used together
    return severity


def _is_own(lock: Actor, victim: Actor, ctx: Context) -> bool:
    """Is it guarded by the lock, or mostly used by functions that take it, or of what is only read, by such that call
    what takes it?"""
    # Counted on the way out: whoever does not take the lock still takes its line from whoever holds it.  What is set up
    # without the lock and read from then on takes it from nobody.
    counted = victim.role is not Role.READ_MOSTLY and victim.write_heat is not Heat.COLD
    shared = in_common(lock, victim, by_helpers=not counted)
    if lock.name not in victim.guards and shared < numbers.BESIDE_ITS_LOCK:
        return False
    if _used_by_others(lock, victim, ctx):
        return False
    return not (counted and changed_without(lock, victim) > numbers.CHANGED_WITHOUT)


def _used_by_others(lock: Actor, victim: Actor, ctx: Context) -> bool:
    """Do threads that never take the lock use it in their own loops, while those of others take the lock?

    They lose the line to the lock, and where they write they take it from its holder, whatever these do to it.
    """
    if lock.often is None or victim.often is None:
        return False
    return ctx.concurrent(lock.often.sure_writes, victim.often.sure_uses & ctx.thread_mask & ~lock.mask())


def _in_one_object(lock: Actor, victim: Actor, ctx: Context) -> bool:
    return maybe_one_object(lock, victim) or (lock.owner == victim.owner and _is_own(lock, victim, ctx))


def _message(lock: Actor, victims: tuple[Actor, ...], line: LineProfile, guarded: bool) -> str:
    worst = victims[0]
    more = others_likewise(len(victims) - 1)
    end = (
        "under contention every waiting thread takes the line from the one that holds the lock"
        if guarded
        else "every lock operation takes the line from the threads that use the data"
    )
    return (
        f"{describe(lock)}, {span_text(lock, line)}, taken by {who(lock.lockers or lock.writers)}, shares "
        f"{line.label} with {describe(worst)}, {span_text(worst, line)}, {_used_by(worst)}{more}: {end}"
    )


def _used_by(worst: Actor) -> str:
    """Who waits for the line: readers first where they use it more than those do who write it."""
    if worst.write_heat is Heat.COLD or worst.role is Role.READ_MOSTLY:
        return f"read by {who(worst.readers)}"
    writing = {a.function for a in worst.writers}
    reading = tuple(a for a in worst.readers if a.function not in writing)
    if sum(a.weight for a in reading) > worst.write_weight:
        return f"read by {who(reading)} and written by {who(worst.writers)}"
    return f"written by {who(worst.writers)}"


RULE = LineRule(
    id="hot-lock-shares-line",
    name="Hot lock shares a line with data",
    summary="A lock that several threads take often lies on the same cache line as other busy data.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
    exclusive=True,
)
