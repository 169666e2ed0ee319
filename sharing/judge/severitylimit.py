"""How severe a finding of the code may be, by what is known of the threads that should meet.

Owns that limit.  Rules grade by how busy things are in their program and by which threads may come there.  Whether two
threads do come there often, at one time, is surer where each is seen to do so from its own entry
(``sharing.static.perthread``) than where one of them merely could.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from sharing.model.finding import OF_SHARING, Severity, Verdict
from sharing.model.profile import Actor, FrequentUse, Heat, Role
from sharing.rules.line.base import Context, Draft, surely_meet

NOTHING = FrequentUse()
UNKNOWN = "how often threads come here is not known: none starts in this file"
CALLERS = "how often callers of this library come here is not known: one of the two is no work of a thread of its own"
LOCAL = "one of the two is busy in a loop of its own thread alone, and not among the busiest of the program"
LIBRARY = "both belong to the standard library"
ESTIMATED = "that two threads do both often is an estimate"
GUESSED = "that two threads do both often is an estimate: neither is what a thread's own loop does each time around"


def limited(drafts: Iterable[Draft], ctx: Context) -> list[Draft]:
    """The drafts, those that say that threads meet as severe at most as is known of their meeting."""
    return [_limited(draft, ctx) for draft in drafts]


def _limited(draft: Draft, ctx: Context) -> Draft:
    if draft.verdict is Verdict.FRAGILE:
        most, why = _if_they_met(draft, ctx)
    elif draft.verdict in OF_SHARING:
        most, why = limit(draft.actors, ctx)
    else:
        return draft
    if draft.severity.rank <= most.rank:
        return draft
    return dataclasses.replace(draft, severity=most, evidence=(*draft.evidence, f"{most.value} at most: {why}"))


def _if_they_met(draft: Draft, ctx: Context) -> tuple[Severity, str]:
    """That two are safe by luck is worth a warning where threads that were seen would often meet there."""
    most, why = limit(draft.actors, ctx)
    of_any_thread = any(actor.often is None for actor in draft.actors)  # a kernel's
    seen = of_any_thread or (most.rank > Severity.LOW.rank and why != UNKNOWN)
    return (draft.severity, why) if seen else (Severity.NOTE, why)


def limit(actors: tuple[Actor, ...], ctx: Context) -> tuple[Severity, str]:
    """The limit of the pair that is surest, and why; one actor alone is met by itself on another thread.

    Above medium only the first two count, whom the finding is about: of many neighbours some are always busy.
    """
    if all(a.of_library for a in actors[:2]):
        return Severity.NOTE, LIBRARY
    if any(a.often is None for a in actors):
        return Severity.LOW, UNKNOWN
    surest = _surest(actors, ctx)
    if surest[0] is Severity.CRITICAL and len(actors) > 2:
        named = _surest(actors[:2], ctx)
        return named if named[0] is Severity.CRITICAL else (Severity.MEDIUM, ESTIMATED)
    return surest


def _surest(actors: tuple[Actor, ...], ctx: Context) -> tuple[Severity, str]:
    """What the pair says that says most, of the first actor and another one where there is one."""
    first = actors[0]
    pairs = [pair for other in actors[1:] for pair in ((first, other), (other, first))] or [(first, first)]
    return max((_of_pair(writer, user, ctx) for writer, user in pairs), key=lambda found: found[0].rank)


def _of_pair(writer: Actor, user: Actor, ctx: Context) -> tuple[Severity, str]:
    """Both sides sure on threads that run at one time: no limit.  One sure and both often: medium.

    Low is what is less by estimate, and what only the loop of its own thread makes busy, however sure that is: counts
    confirm none of it.  Atomics are made for several threads: both are medium so, and where both are far by estimate.
    """
    wrote, used = writer.often or NOTHING, user.often or NOTHING
    local = writer.raised or user.raised
    atomic = writer.role is user.role is Role.ATOMIC
    if local and not atomic:
        most: tuple[Severity, str] = (Severity.LOW, LOCAL)
    else:
        most = (Severity.MEDIUM, LOCAL if local else ESTIMATED)
    if surely_meet(writer, user, ctx):
        return most if local else (Severity.CRITICAL, "")
    seen = ~ctx.anybody
    if ctx.concurrent(wrote.sure_writes, used.uses & seen) or ctx.concurrent(wrote.writes & seen, used.sure_uses):
        return most
    if atomic and ctx.concurrent(wrote.far_writes & seen, used.far_uses & seen):
        return most
    if ctx.concurrent(wrote.writes & seen, used.uses & seen):
        return (Severity.LOW, GUESSED) if ctx.thread_mask else (Severity.MEDIUM, UNKNOWN)
    if ctx.concurrent(wrote.writes, used.uses):
        return Severity.LOW, CALLERS if ctx.thread_mask else UNKNOWN
    if Heat.COLD in (writer.write_heat, user.heat):
        return Severity.NOTE, "one of the two is hardly used"
    if ctx.concurrent(wrote.sure_writes, used.maybe_uses) or ctx.concurrent(wrote.maybe_writes, used.sure_uses):
        return Severity.LOW, "only one of the two is estimated to be used often by a thread"
    return Severity.NOTE, "no two threads are estimated to use both of them often"
