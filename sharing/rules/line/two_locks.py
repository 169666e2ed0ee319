"""Two locks on one line.

What it does: finds two or more locks, each taken often and not always together, whose hot bytes are on one line;
also the elements of an array of locks.

Why is this bad?  Threads that take different locks do not wait for each other by design, yet each lock operation
takes the line of the other lock away.  Splitting one lock into several then gains little or nothing.

Example:

    static pthread_mutex_t shard_lock[16];    // 40 bytes each: a line holds parts of two or three

Use instead: elements rounded up to the line (the attribute on the element's type, not on the array).

    struct alignas(64) ShardLock { pthread_mutex_t value; };
    static ShardLock shard_lock[16];

Locks that are always taken one inside the other by the same functions are not reported: one fetch serves both.
Two locks that are taken often, though neither is among the busiest data of a large program, are a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.model.profile import COMPANIONS, Actor, Heat, LineProfile
from sharing.rules import numbers
from sharing.rules.declared import aligned_as_a_whole, aligned_text, grade_declared
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    can_collide,
    describe,
    elements_apart,
    evidence_of,
    grade,
    heat_evidence,
    in_common,
    meets,
    pair_score,
    roots_text,
    span_text,
    together,
    who,
)
from sharing.rules.meeting import said_at_most


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. arrays of locks; 2. locks with hot bytes here; 3. pairs not nested in the same functions, hot first."""
    yield from _arrays(line, ctx)
    locks = [a for a in line.actors if a.is_lock and a.write_heat is not Heat.COLD and a.hot_on(line.address, line.end)]
    pairs = [
        (grade_pair(a, b), pair_score(a, b), a, b)
        for i, a in enumerate(locks)
        for b in locks[i + 1 :]
        if meets(a, b, line) and can_collide(a, b, ctx) and not _used_as_one(a, b) and not _one_array(a, b)
    ]
    # What is hot is said of its own: of a large program merely warm locks add nothing to it.
    pairs = [pair for pair in pairs if Heat.HOT in (pair[2].write_heat, pair[3].write_heat)] or pairs
    if not pairs:
        return
    pairs.sort(key=lambda p: (-said_at_most(p[0], p[2], p[3], ctx), -p[0].rank, -p[1], p[2].name, p[3].name))
    severity, score, a, b = pairs[0]
    rest = [x for x in locks if x not in (a, b) and any(x in p[2:] for p in pairs)]
    actors = (a, b, *rest)
    yield Draft(
        rule=RULE.id,
        severity=severity,
        verdict=Verdict.FALSE_SHARING,
        line=line,
        actors=actors,
        separate=actors,
        message=(
            f"{describe(a)}, {span_text(a, line)}, taken by {who(a.lockers or a.writers)}, and {describe(b)}, "
            f"{span_text(b, line)}, taken by {who(b.lockers or b.writers)}, are on {line.label}: threads "
            f"that take different locks still take the line from each other"
        ),
        evidence=evidence_of(a, (b,), ctx),
        score=score,
    )


def grade_pair(a: Actor, b: Actor) -> Severity:
    severity = grade(a.write_heat, b.write_heat)
    return severity.lowered(numbers.TO_NOTE) if a.kind in COMPANIONS or b.kind in COMPANIONS else severity


def _used_as_one(a: Actor, b: Actor) -> bool:
    """A condition variable belongs to its mutex; nested locks are fetched together."""
    of_one = max(in_common(a, b), in_common(b, a))
    if (a.kind in COMPANIONS) != (b.kind in COMPANIONS) and of_one > numbers.COMPANION:
        return True
    return a.name != b.name and min(together(a, b), together(b, a)) >= numbers.LOCKS_TOGETHER


def _arrays(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """Elements of one array, taken at a computed index, that are smaller than a line."""
    for lock in line.actors:
        stride = _apart(lock)
        start, end = lock.owner_span
        if not lock.is_lock or not 0 < stride < line.size or lock.write_heat is Heat.COLD:
            continue
        if lock.span[0] < line.address or (lock.sized and end - start < 2 * stride):
            continue
        mask = lock.mask(writers=True)
        if not ctx.concurrent(mask, mask):
            continue
        waits = lock.kind in COMPANIONS
        count = f"{lock.kind if waits else 'lock'}s of {stride} bytes"
        count = f"{(end - start) // stride} {count}" if lock.sized else count
        declared = aligned_as_a_whole(lock, ctx) and not waits
        severity = grade(lock.write_heat, lock.write_heat).lowered(numbers.TO_NOTE if waits else numbers.LESS)
        yield Draft(
            rule=RULE.id,
            severity=grade_declared(lock) if declared else severity,
            verdict=Verdict.FALSE_SHARING,
            line=line,
            actors=(lock,),
            separate=(lock,),
            message=(
                f"{lock.owner} is an array of {count}, and one or another of them is "
                f"{'used' if waits else 'taken'} by {who(lock.lockers)}: a line of {line.size} bytes holds parts of "
                f"{-(-line.size // stride)} of them, so threads that {'use' if waits else 'take'} different ones "
                f"still take the line from each other"
            ),
            evidence=(
                heat_evidence(lock),
                f"threads: {roots_text(lock, lock, ctx)}",
                *((aligned_text(lock),) if declared else ()),
            ),
            score=lock.write_weight,
            declared=declared,
        )


def _apart(lock: Actor) -> int:
    """Bytes between the elements that are taken, 0 where none is taken at a computed index.

    Code states steps of which an index is made (of two dimensions, of a size that is multiplied in parts), and no two
    locks begin closer to each other than one is long: then the type says how far they are apart, and else nobody.
    """
    step = max((a.stride for a in lock.lockers), default=0)
    if not 0 < step < lock.span[1] - lock.span[0]:
        return step
    return lock.stride if lock.stride % step == 0 else 0


def _one_array(a: Actor, b: Actor) -> bool:
    """Elements of one array: reported as such, or two first elements that a computed index starts from."""
    if a.owner == b.owner and (a.count > 1 or b.count > 1):
        return True
    return a.kind == b.kind and elements_apart(a, b, a.lockers + b.lockers)


RULE = LineRule(
    id="two-locks-one-line",
    name="Two locks on one line",
    summary="Locks that different threads take independently lie on one cache line.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
)
