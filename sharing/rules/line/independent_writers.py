"""Independently written data on one line.

What it does: finds two data items on one line, each written often, by code that different threads run, where the
one is mostly used without the other.

Why is this bad?  This is false sharing in its plainest form: two threads that have nothing to do with each other
write different bytes, and the line travels between their cores at every write.

Example: one counter for the producer, one for the consumer.

    struct { long produced; long consumed; } stats;

Use instead: one line for each writer.

    struct { alignas(64) long produced; alignas(64) long consumed; } stats;

Data that the same functions write together is not reported, and neither is data that one thread alone writes.  Of an
array with an element for each thread, a member that threads change in any element is reported beside members that each
changes in its own element, whichever functions do so.  Members of elements that lines part are taken for one thread's
where threads of the same kinds change both plainly, under no lock.  So is plain data that whoever may call changes
under no lock, but for the end of a queue at which one thread takes out what any thread puts in at the other, an atomic:
by what code does to both, and by the names of the two or of the functions that move them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import Access, Actor, Heat, LineProfile, Role
from sharing.rules import numbers
from sharing.rules.ends import movers, one_takes
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    can_collide,
    describe,
    doubt,
    elements_apart,
    evidence_of,
    grade,
    meets,
    overlapping,
    pair_score,
    races,
    span_text,
    surely_meet,
    together,
    who,
    written_together,
)
from sharing.rules.meeting import limit_of_pair, said_at_most

DATA = frozenset({Role.ATOMIC, Role.COUNTER, Role.LIST_HEAD, Role.WRITTEN})


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. written data with hot bytes here; 2. pairs of different functions that can run at once; 3. the worst pair."""
    data = [
        a for a in line.actors if a.role in DATA and a.write_heat is not Heat.COLD and a.hot_on(line.address, line.end)
    ]
    pairs = [
        (grade_pair(a, b, ctx), pair_score(a, b), a, b)
        for i, a in enumerate(data)
        for b in data[i + 1 :]
        if Heat.HOT in (a.write_heat, b.write_heat)
        and meets(a, b, line)
        and can_collide(a, b, ctx)
        and not elements_apart(a, b, a.writers + b.writers)
        and (_apart(a, b) or _ends(a, b))
    ]
    if not pairs:
        yield from _beside_owners(line, ctx)
        return
    # What nobody can move, as the data of a standard library that is linked in, is at fault only where nothing else is.
    pairs.sort(
        key=lambda p: (
            -said_at_most(p[0], p[2], p[3], ctx),
            -p[0].rank,
            p[2].of_library or p[3].of_library,
            not (surely_meet(p[2], p[3], ctx) or surely_meet(p[3], p[2], ctx)),
            -p[1],
            p[2].name,
            p[3].name,
        )
    )
    severity, score, a, b = pairs[0]
    rest = tuple(x for x in data if x not in (a, b) and any(x in p[2:] for p in pairs))
    yield Draft(
        rule=RULE.id,
        severity=severity,
        verdict=Verdict.FALSE_SHARING,
        line=line,
        actors=(a, b, *rest),
        separate=(a, b, *rest),
        message=(
            f"{describe(a, b)}, {span_text(a, line)}, written by {who(a.writers)}, and {describe(b, a)}, "
            f"{span_text(b, line)}, written by {who(b.writers)}, are on {line.label}: writers of different "
            f"bytes take the line from each other"
        ),
        evidence=evidence_of(a, (b,), ctx),
        score=score,
    )


def _beside_owners(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """What threads change in each other's elements of an array, beside what each changes in its own alone.

    One function does both, of different elements: neither fetches the line for the other.
    """
    here = [a for a in line.actors if a.role in DATA and a.hot_on(line.address, line.end)]
    own = [a for a in here if a.write_heat is not Heat.COLD and (made := _writes(a)) and all(x.own for x in made)]
    pairs = [
        (said_at_most(_grade_beside(other, mine), other, mine, ctx), pair_score(other, mine), other, mine)
        for other in here
        for mine in own
        if _by_others(other, mine) and meets(other, mine, line) and can_collide(other, mine, ctx)
    ]
    if not pairs:
        return
    _, score, other, mine = max(pairs, key=lambda pair: (pair[0], pair[1], pair[3].name))
    rest = tuple(x for x in own if x is not mine and any(pair[2] is other and pair[3] is x for pair in pairs))
    yield Draft(
        rule=RULE.id,
        severity=_grade_beside(other, mine),
        verdict=Verdict.FALSE_SHARING,
        line=line,
        actors=(other, mine, *rest),
        separate=(other,),
        message=(
            f"{describe(mine)}, {span_text(mine, line)}, which each thread changes in its own element alone "
            f"({who(mine.writers)}), is on {line.label} with {describe(other)}, {span_text(other, line)}, which "
            f"threads change in any element ({who(other.writers)}): they take the line from the element's owner"
        ),
        evidence=evidence_of(other, (mine,), ctx),
        score=score,
    )


def _writes(actor: Actor) -> tuple[Access, ...]:
    return tuple(x for x in actor.writers if x.weight > 0 and not x.cold)


def _by_others(other: Actor, mine: Actor) -> bool:
    """Is it a member of the same elements, synchronised and often changed at an index that is not the thread's?

    Of what is changed through a pointer nobody knows whose element that is.
    """
    made, often = _writes(other), other.often
    strides = {x.stride for x in _writes(mine)}
    busy = other.write_heat is not Heat.COLD or (often is not None and bool(often.writes))
    return (
        busy
        and other.owner == mine.owner
        and other.synchronised
        and all(x.stride in strides for x in made)
        and not all(x.own for x in made)
    )


def _grade_beside(other: Actor, mine: Actor) -> Severity:
    """What a thread is estimated to do often is warm, however rare that is beside its counters."""
    return grade(max(other.write_heat, Heat.WARM), mine.write_heat)


def grade_if_met(a: Actor, b: Actor, ctx: Context) -> Severity:
    """How severe it would be if these two were on one line: a note where this rule would say nothing of them."""
    told = (
        a.role in DATA
        and b.role in DATA
        and not elements_apart(a, b, a.writers + b.writers)
        and (_apart(a, b) or _ends(a, b))
    )
    most, _ = limit_of_pair(a, b, ctx)
    return min(grade_pair(a, b, ctx), most, key=lambda severity: severity.rank) if told else Severity.NOTE


def grade_pair(a: Actor, b: Actor, ctx: Context) -> Severity:
    """At least a step below what both bear of the ends of a queue: that one thread takes out is read from the code."""
    told = _grade_pair(a, b, ctx)
    if not one_takes(a, b):
        return told
    return max(told, grade(a.write_heat, b.write_heat).lowered(numbers.LESS), key=lambda severity: severity.rank)


def _grade_pair(a: Actor, b: Actor, ctx: Context) -> Severity:
    """Less for data under a common lock, for members of one object that any thread may run, and for what would race.

    Nothing of members of elements that are lines apart, each of which is one thread's.
    """
    severity = grade(a.write_heat, b.write_heat).lowered(doubt(a, b, ctx))
    if _of_own_lines(a, b, ctx):
        return Severity.NOTE
    if races(a, ctx) or races(b, ctx):
        severity = severity.lowered(numbers.MUCH_LESS)
    if a.guards & b.guards:
        # Unnamed: as likely members of one object.
        severity = severity.lowered(numbers.MUCH_LESS if a.sized or b.sized else numbers.TO_NOTE)
    if together(a, b) >= numbers.WRITERS_TOGETHER or together(b, a) >= numbers.WRITERS_TOGETHER:
        severity = severity.lowered(
            numbers.LESS
        )  # each side reads the other's data as well: a part of it is true sharing
    different = not overlapping(a.mask(writers=True) & b.mask(writers=True), a, b, ctx)
    if not different and not _ends(a, b):
        # At other times or on the other arm of a branch, whoever writes the one writes the other as well.
        same = movers(a) == movers(b)
        if a.owner == b.owner:
            severity = severity.lowered(numbers.TO_NOTE if same else numbers.LESS)
        elif same:
            severity = severity.lowered(numbers.LESS)  # each of them alone is taken from thread to thread, too
    return severity


def _of_own_lines(a: Actor, b: Actor, ctx: Context) -> bool:
    """Are they members of elements that are lines apart, changed by threads of the same kinds, plainly, under no lock?

    That would race if two threads had one element, be it counters that somebody gave lines of their own.
    """
    written = a.mask(writers=True)
    made = _writes(a) + _writes(b)
    return (
        a.owner == b.owner
        and written == b.mask(writers=True)
        and bool(overlapping(written, a, b, ctx))
        and all(x.stride >= ctx.line_size and not (x.atomic or x.locks or x.under) for x in made)
        and not any(x.synchronised or x.is_volatile for x in (a, b))
        and not one_takes(a, b)
    )


def _apart(a: Actor, b: Actor) -> bool:
    """Is each written mostly where the other is not?

    What one function makes and begins to fill, those that call it go on to fill: the same object, at one time.
    """
    helped = a.owner == b.owner and a.section == b.section == ALLOCATED
    return all(written_together(*pair, by_helpers=helped) < numbers.WRITERS_TOGETHER for pair in ((a, b), (b, a)))


def _ends(a: Actor, b: Actor) -> bool:
    """The ends of a queue: both atomic or volatile, and whoever moves one only looks at the other.

    Of a deque the owner moves both now and then, for the last element: then some who move one look at the other.
    """
    if not all(x.role is Role.ATOMIC or x.is_volatile for x in (a, b)):
        return False
    if movers(a).isdisjoint(movers(b)):
        return min(together(a, b), together(b, a)) > 0
    return _only_looks(a, b) and _only_looks(b, a)


def _only_looks(mover: Actor, other: Actor) -> bool:
    """Does a function move the one that reads the other and never writes it?"""
    reading = {x.function for x in other.readers if not x.cold}
    return bool((movers(mover) - movers(other)) & reading)


RULE = LineRule(
    id="independent-writers",
    name="Independently written data on one line",
    summary="Different threads write different bytes of one cache line.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
    exclusive=True,
)
