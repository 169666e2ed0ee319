"""Written data beside read-mostly data.

What it does: finds data that is written often on the line of data that is read often and hardly ever written: a
flag, a function pointer, a configuration value, the base of a table.

Why is this bad?  Read-mostly data costs nothing while every core keeps its own copy of the line.  One counter
beside it invalidates all those copies at each update, and every reader pays a cache miss for a value that did
not change.

Example:

    static int verbose;               // read on every request
    static unsigned long requests;    // incremented on every request

Use instead: keep the written data on a line of its own, or gather the read-mostly data in one place (in the Linux
kernel: __read_mostly).

Data that a function reads where it also writes the neighbour is a note: the line is fetched once for both.  Of an
atomic that the own loops of several threads change it is low, since another one takes the line between two rounds. So
it is where the atomic is changed by a function that this one calls, as a count of references is, and the data is read
again and again in a loop behind that.

Of several writers the one of which most can be said comes first; named with it are those that would disturb readers as
much once it is gone.

A counter that all threads write is true sharing in itself: moving it frees its line mates, and only per-thread
counters remove its own cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Actor, Heat, LineProfile, Role
from sharing.rules import numbers
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    by_several,
    can_collide,
    describe,
    doubt,
    evidence_of,
    grade,
    heat_evidence,
    maybe_one_object,
    meets,
    others_likewise,
    pair_score,
    races,
    span_text,
    surely_meet,
    together,
    used_again,
    used_late,
    who,
)
from sharing.rules.meeting import said_at_most

READ_ROLES = frozenset({Role.READ_MOSTLY, Role.CONSTANT})
_SHARED_ITSELF = "{} is written by several threads: true sharing, which stays; moved, it spares the readers"
MOST_WRITERS = 8  # of a line, looked at: bounds the work on lines that many objects are on


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. the written data of the line; 2. the readers-only neighbours of each; 3. grade by both; 4. say the worst."""
    locks = {a.name for a in line.actors if a.is_lock}
    writers = [
        a
        for a in line.actors
        if not a.is_lock
        and not a.guards & locks  # the lock is written twice as often: hot-lock-shares-line speaks of it
        and a.role not in READ_ROLES
        and a.write_heat is not Heat.COLD
        and a.hot_on(line.address, line.end)
    ]
    writers.sort(key=lambda a: (not _surely_disturbs(a, line, ctx), -a.write_weight, a.name))
    found = [(writer, victims) for writer in writers[:1] if (victims := _disturbed(writer, line, ctx))]
    # Of several writers the one of which most can be said: the busiest may disturb nobody who does not write it, too.
    for writer in writers[1:MOST_WRITERS]:
        if not any(v.role in READ_ROLES and _used_alone(writer, v, line, ctx) for v in line.actors):
            continue  # then none of its victims is, whichever is the worst: that takes far longer to find
        victims = _disturbed(writer, line, ctx)
        if victims and _used_alone(writer, victims[0][2], line, ctx):
            found.append((writer, victims))
    found.sort(key=lambda pair: _most(pair[0], pair[1], ctx))
    for writer, victims in found[:1]:
        severity, score, worst = victims[0]
        chosen = tuple(v for _, _, v in victims)
        others = _left_disturbing(writer, victims, writers[:MOST_WRITERS], line, ctx)
        yield Draft(
            rule=RULE.id,
            severity=severity,
            verdict=Verdict.READ_MOSTLY_DISTURBED,
            line=line,
            actors=(writer, worst, *others, *chosen[1:]),
            separate=(writer, *others),
            message=(
                f"{describe(writer, worst)}, {span_text(writer, line)}, written by {who(writer.writers)}, shares "
                f"{line.label} with {describe(worst, writer)}, {span_text(worst, line)}, read by {who(worst.readers)}"
                f"{others_likewise(len(chosen) - 1)}: each write makes every reader fetch the line again"
                + "".join(
                    f"; {describe(o)}, {span_text(o, line)}, written by {who(o.writers)}, would too" for o in others
                )
            ),
            evidence=(
                *evidence_of(writer, chosen, ctx),
                *(heat_evidence(other) for other in others),
                *((_SHARED_ITSELF.format(writer.name),) if _is_shared_itself(writer, ctx) else ()),
            ),
            score=score,
        )


def _disturbed(writer: Actor, line: LineProfile, ctx: Context) -> list[tuple[Severity, float, Actor]]:
    """The read-mostly data that one writer of the line disturbs, the worst first."""
    victims = [
        (grade_pair(writer, v, line, ctx), pair_score(writer, v), v)
        for v in line.actors
        if Heat.HOT in (writer.write_heat, v.read_heat)
        and v.role in READ_ROLES
        and v.read_heat is not Heat.COLD
        and meets(writer, v, line)
        and can_collide(writer, v, ctx)
    ]
    return sorted(victims, key=partial(_order, writer, ctx))


def _left_disturbing(
    first: Actor, victims: list[tuple[Severity, float, Actor]], writers: list[Actor], line: LineProfile, ctx: Context
) -> tuple[Actor, ...]:
    """Writers that would disturb readers as badly still if the first one had a line of its own.

    While it is there they may add nothing, since its writers fetch the line each time anyway.
    """
    rest = msgspec.structs.replace(line, actors=tuple(a for a in line.actors if a is not first))
    said, *_ = _most(first, victims, ctx)
    return tuple(
        other
        for other in writers
        if other is not first
        and any(
            -said_at_most(severity, other, victim, ctx) <= said and _used_alone(other, victim, rest, ctx)
            for severity, _, victim in _disturbed(other, rest, ctx)
        )
    )


def _most(writer: Actor, victims: list[tuple[Severity, float, Actor]], ctx: Context) -> tuple[int, int, bool]:
    """Orders writers by what can be said of each and the worst of its victims, most first; of equals atomics first."""
    severity, _, worst = victims[0]
    return -said_at_most(severity, writer, worst, ctx), -severity.rank, writer.role is not Role.ATOMIC


def _order(writer: Actor, ctx: Context, victim: tuple[Severity, float, Actor]) -> tuple[int, int, bool, float, str]:
    """The one that is named comes first: that of which most can be said with this writer, then the worst."""
    severity, score, other = victim
    sure = surely_meet(writer, other, ctx)
    return -said_at_most(severity, writer, other, ctx), -severity.rank, not sure, -score, other.name


def _surely_disturbs(writer: Actor, line: LineProfile, ctx: Context) -> bool:
    """Is one of the line's read-mostly neighbours used by the own loop of a thread while another one's writes this?"""
    return any(v.role in READ_ROLES and surely_meet(writer, v, ctx) for v in line.actors)


def grade_pair(writer: Actor, victim: Actor, line: LineProfile, ctx: Context) -> Severity:
    """A reader that updates the neighbour as well gains nothing from a second line."""
    severity = grade(writer.write_heat, victim.read_heat)
    if not _read_apart(writer, victim, ctx):
        severity = severity.lowered(doubt(writer, victim, ctx, reading=True))
    told = False
    alone = _used_alone(writer, victim, line, ctx)
    if not alone and together(writer, victim, by_helpers=True) >= numbers.READERS_TOGETHER:
        others = {a.function for a in writer.writers if a.weight > 0} - victim.functions
        # Whoever changes an atomic in its own loop loses the line to the others before its next round.
        contended = writer.role is Role.ATOMIC and surely_meet(writer, victim, ctx)
        severity = severity.lowered(numbers.MUCH_LESS if others or contended else numbers.TO_NOTE)
        # What a helper changes just before, as a count of readers, has fetched the line by then; where the helper goes
        # on, as with the request that it counted, or the caller reads again and again, others have taken it.
        apart = max(together(writer, victim), used_late(writer, victim), used_again(writer, victim))
        told = contended and apart >= numbers.READERS_TOGETHER
    if races(writer, ctx):
        severity = severity.lowered(numbers.MUCH_LESS)
    if maybe_one_object(writer, victim):
        severity = severity.lowered(numbers.LESS)
    if writer.guards & victim.guards:
        severity = severity.lowered(numbers.MUCH_LESS)  # under one lock there is one user at a time
    elif any(k == n for _, k, n in victim.support):
        severity = severity.lowered(numbers.LESS)  # readers fetch the line of a lock each time anyway
    # Of members that a loop uses together that was taken off above; that they are members adds nothing.
    if writer.owner == victim.owner and writer.mask(writers=True) & victim.mask() and not told:
        severity = severity.lowered(numbers.LESS)
    return severity


def _is_shared_itself(writer: Actor, ctx: Context) -> bool:
    """Do several threads surely write the same bytes?

    Not of elements that an index chooses, of which each thread may have its own, nor of plain data, which several
    threads would race for: a thread that is started from several places is still one.
    """
    at_once = by_several((a for a in writer.writers if not a.own and not a.stride), ctx)
    return at_once and not races(writer, ctx)


def _read_apart(writer: Actor, victim: Actor, ctx: Context) -> bool:
    """Do threads that never write the neighbour read it often, while the own loop of another one writes?

    To them it makes no difference that the writer's thread reads the same data, however often.
    """
    if writer.often is None or victim.often is None:
        return False
    apart = victim.often.uses & ctx.thread_mask & ~writer.mask(writers=True)
    return ctx.concurrent(writer.often.sure_writes, apart)


def _used_alone(writer: Actor, victim: Actor, line: LineProfile, ctx: Context) -> bool:
    """Do threads that never use the neighbour use it often, while the own loop of another one writes the neighbour?

    They would keep the line, however often the writer's thread, or a third one, uses both.  Those that write something
    else of it often, under no lock that the writer holds, lose it to that: ``independent_writers`` speaks of them.
    """
    if writer.often is None or victim.often is None:
        return False
    taking = writer.mask()
    for other in line.actors:
        if other.often is not None and not other.guards & writer.guards:
            taking |= other.often.writes
    return ctx.concurrent(writer.often.sure_writes, victim.often.uses & ctx.thread_mask & ~taking)


RULE = LineRule(
    id="written-beside-read-mostly",
    name="Written data beside read-mostly data",
    summary="Data that is written often lies on the same cache line as data that many threads only read.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
    exclusive=True,
)
