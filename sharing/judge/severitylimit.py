"""How severe a finding of the code may be, by what is known of the threads that should meet.

Owns that limit.  Rules grade by how busy things are in their program and by which threads may come there.  Whether two
threads do come there often, at one time, is surer where each is seen to do so from its own entry
(``sharing.static.perthread``) than where one of them merely could.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import permutations

from sharing.model.finding import OF_SHARING, Severity
from sharing.model.profile import Actor, Heat, Often
from sharing.rules.line.base import Context, Draft

NOTHING = Often()


def limited(drafts: Iterable[Draft], ctx: Context) -> list[Draft]:
    """The drafts, those that say that threads meet as severe at most as is known of their meeting."""
    return [_limited(draft, ctx) for draft in drafts]


def _limited(draft: Draft, ctx: Context) -> Draft:
    if draft.verdict not in OF_SHARING or any(a.often is None for a in draft.actors):
        return draft
    most = limit(draft.actors, ctx)
    return draft if draft.severity.rank <= most.rank else dataclasses.replace(draft, severity=most)


def limit(actors: tuple[Actor, ...], ctx: Context) -> Severity:
    """The limit of the pair that is surest; one actor alone is met by itself on another thread.

    Both sides sure on threads that run at one time: none.  Both often: medium.  One often, the other possible: low.
    """
    pairs = list(permutations(actors, 2)) or [(actors[0], actors[0])]
    return max((_of_pair(writer, user, ctx) for writer, user in pairs), key=lambda s: s.rank)


def _of_pair(writer: Actor, user: Actor, ctx: Context) -> Severity:
    wrote, used = writer.often or NOTHING, user.often or NOTHING
    if ctx.concurrent(wrote.sure_writes, used.sure_uses):
        return Severity.CRITICAL
    if ctx.concurrent(wrote.writes, used.uses):
        return Severity.MEDIUM
    if Heat.COLD in (writer.write_heat, user.heat):
        return Severity.NOTE
    one = ctx.concurrent(wrote.writes, user.mask()) or ctx.concurrent(writer.mask(writers=True), used.uses)
    return Severity.LOW if one else Severity.NOTE
