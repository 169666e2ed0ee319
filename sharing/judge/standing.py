"""Which of two equally severe findings comes first.

Owns that order.  A severity is a step, and many findings share one: in a kernel, of whose threads little is known, all
that threads may meet at are low.  The estimated executions of one lock there are those of the longest chain of loops
that leads to it, which one function is enough for.  So what is known of the threads counts before what is estimated of
the loops: how sure it is that two threads meet there, then how many use the less used side, then how busy it is.
"""

from __future__ import annotations

from sharing.judge.severitylimit import limit, named_pair
from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Access, Actor
from sharing.model.standing import Standing
from sharing.rules.line.base import Context, Draft


def standing_of(draft: Draft, ctx: Context) -> Standing:
    """By the two that the finding names; what is safe by luck meets nowhere yet."""
    first, second = named_pair(draft.actors)
    meeting = Severity.NOTE if draft.verdict is Verdict.FRAGILE else limit(draft.actors, ctx)[0]
    users = max(_users(first, second, ctx), _users(second, first, ctx))
    return Standing(meeting.rank, users, draft.score)


def _users(writer: Actor, user: Actor, ctx: Context) -> int:
    """How many write the one, or use the other: the smaller number.

    Kinds of threads that surely do; where it is not known who enters the code, functions that do outside of cold code.
    """
    if ctx.thread_mask and writer.often is not None and user.often is not None:
        seen = ~ctx.anybody
        return min((writer.often.sure_writes & seen).bit_count(), (user.often.sure_uses & seen).bit_count())
    return min(_functions(writer.writers), _functions(user.accesses))


def _functions(accesses: tuple[Access, ...]) -> int:
    return len({a.function for a in accesses if a.weight > 0 and a.mask and not a.cold})
