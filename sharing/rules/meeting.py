"""How severe it may be that one thread writes a thing and another one uses its neighbour, by what is known of both.

Owns that limit of a pair.  Rules grade by how busy things are in their program and by which threads may come there.
Whether two threads do come there often, at one time, is surer where each is seen to do so from its own entry
(``sharing.static.perthread``) than where one of them merely could.  Of several pairs on a line a rule names the one of
which most can be said; ``sharing.judge.severitylimit`` applies the limit of the pair that is named.
"""

from __future__ import annotations

from sharing.model.finding import Severity
from sharing.model.profile import Actor, FrequentUse, Heat, Role
from sharing.rules.ends import one_takes
from sharing.rules.line.base import Context, meet_unpaced, surely_meet, surely_meet_others

NOTHING = FrequentUse()
UNKNOWN = "how often threads come here is not known: none starts in this file"
CALLED = f"{UNKNOWN}, and one of the two is not among the busiest of it"
CALLERS = "how often callers of this library come here is not known: one of the two is no work of a thread of its own"
STARTED = "this thread meets only another one like it, and callers of this library know whether one is started"
SELDOM_CALLED = "callers of this library would not do both often enough to matter if one were ten times less"
LOCAL = "one of the two is busy in a loop of its own thread alone, and not among the busiest of the program"
LOCAL_GUESS = f"{LOCAL}, and that two threads do both often is an estimate"
PACED = "one of the two is used once in a round in which its thread waits for another thread"
LOCAL_PACED = f"{LOCAL}, and {PACED}"
CHOSEN = "the lock is taken only on a way of which nothing says that a round takes it more often than another"
PACED_GUESS = f"{PACED}, and that the other one is used often is an estimate"
LIBRARY = "both belong to the standard library"
OF_LIBRARY = "one of the two is the standard library's own, and that threads use it often is an estimate"
ESTIMATED = "that two threads do both often is an estimate"
GUESSED = "that two threads do both often is an estimate: neither is what a thread's own loop does each time around"
BARELY = f"{GUESSED}, and one would not matter if it were ten times less"
# Of elements that are each a thread's own there is one estimate, not two that would both have to be right.
OF_EACH = "that threads do this often is an estimate, and it would not matter if it were ten times less"
SPLIT = "how often callers of this library come here is not known, but each thread has one of its own"
ENDS = "that callers move both ends often is an estimate, and that one thread alone takes out is read from the code"
PERHAPS = "only one of the two is estimated to be used often by a thread"


def limit_of_pair(a: Actor, b: Actor, ctx: Context) -> tuple[Severity, str]:
    """How severe it may be that these two meet, and why no more; either of them may be the one that is written."""
    if a.of_library and b.of_library:
        return Severity.NOTE, LIBRARY
    if a.often is None or b.often is None:
        # A kernel's code is all called somehow, and what is called at all is warm: that says nothing.
        busy = Heat.HOT is a.heat is b.heat
        return (Severity.LOW, UNKNOWN) if busy else (Severity.NOTE, CALLED)
    if a is b and _by_callers(a, ctx) and _split_by_threads(a):
        return Severity.MEDIUM, SPLIT
    return max((_written(a, b, ctx), _written(b, a, ctx)), key=lambda found: found[0].rank)


def said_at_most(severity: Severity, a: Actor, b: Actor, ctx: Context) -> int:
    """Rank of what a finding of this grade that names the two can say."""
    return min(severity.rank, limit_of_pair(a, b, ctx)[0].rank)


def _written(writer: Actor, user: Actor, ctx: Context) -> tuple[Severity, str]:
    """Both sides sure on threads that run at one time: no limit, but medium of what they do once each time that they
    wait for each other, unless both are atomics, which count what is handed over.  One sure and both often: medium,
    unless the sure one is done once each time that its thread waits, as often as it is woken.

    Low is what both do far more often than would matter, by estimate, and what only the loop of its own thread makes
    busy, where both are sure and oftener than threads wait: with a second doubt counts confirm nothing.  So is a
    library's own data, unless a thread's own loop uses it, and a lock that a round takes on one of two ways, or more
    seldom: that is no more often taken than one of which an estimate says so.  Atomics are made for several threads:
    both are medium so, and where both are far by estimate.  Callers of a library are not known: what they do is low at
    most, and only where both are far.  Estimates are off by a factor of ten as often as not: of what else matters only
    without that, or is sure on one side and perhaps so on the other, or once in a round in which its thread waits,
    counts confirm nothing.  Of two ends of a queue an estimate of one is one of both; of elements of one array a second
    doubt is none.  What a thread's own loop does to its own element the others do to theirs, whatever is busier in the
    program.
    """
    wrote, used = writer.often or NOTHING, user.often or NOTHING
    local = writer.raised or user.raised
    atomic = writer.role is user.role is Role.ATOMIC
    own = writer is user and any(access.own and access.stride for access in writer.writers)
    if local and not (atomic or own):
        most: tuple[Severity, str] = (Severity.LOW, LOCAL)
    else:
        most = (Severity.MEDIUM, LOCAL if local else ESTIMATED)
    if surely_meet(writer, user, ctx):
        if not surely_meet_others(writer, user, ctx):
            return Severity.LOW, STARTED
        if local:
            return most if atomic or meet_unpaced(writer, user, ctx) else (Severity.NOTE, LOCAL_PACED)
        if writer.is_lock and not ctx.concurrent(wrote.sure_writes & ~wrote.chosen_writes, used.sure_uses):
            return Severity.LOW, CHOSEN
        often = atomic or meet_unpaced(writer, user, ctx)
        return (Severity.CRITICAL, "") if often else (Severity.MEDIUM, PACED)
    if writer.of_library or user.of_library:
        most = (Severity.LOW, OF_LIBRARY)  # of its many functions few run in this program, some only when it panics
    seen = ~ctx.anybody
    if _one_sure(wrote, used, seen, ctx):
        if local and not (atomic and writer is user and any(access.stride for access in writer.writers)):
            return Severity.NOTE, LOCAL_GUESS
        taken, asked = (one.unchosen() if actor.is_lock else one for actor, one in ((writer, wrote), (user, used)))
        if not _one_sure(taken, asked, seen, ctx):
            most = (Severity.LOW, CHOSEN)
        return most if atomic or _one_unpaced(wrote, used, seen, ctx) else (Severity.NOTE, PACED_GUESS)
    if not ctx.thread_mask and ctx.concurrent(wrote.writes & seen, used.uses & seen):
        return Severity.MEDIUM, UNKNOWN
    if not local and ctx.concurrent(wrote.far_writes & seen, used.far_uses & seen):
        return most if atomic else (Severity.LOW, GUESSED)
    if ctx.concurrent(wrote.writes & seen, used.uses & seen) and one_takes(writer, user):
        return Severity.MEDIUM, ENDS  # as often as something is put in it is taken out: an estimate of one is of both
    far_writes, far_uses = wrote.far_writes | wrote.sure_writes, used.far_uses | used.sure_uses
    if ctx.concurrent(far_writes & ~seen, far_uses) or ctx.concurrent(far_writes, far_uses & ~seen):
        return Severity.LOW, CALLERS if ctx.thread_mask else UNKNOWN
    if ctx.concurrent(wrote.writes & ~seen, used.uses) or ctx.concurrent(wrote.writes, used.uses & ~seen):
        return Severity.NOTE, SELDOM_CALLED
    if ctx.concurrent(wrote.writes & seen, used.uses & seen):
        return (Severity.LOW, OF_EACH) if not local and _of_each(writer, user, ctx) else (Severity.NOTE, BARELY)
    if Heat.COLD in (writer.write_heat, user.heat):
        return Severity.NOTE, "one of the two is hardly used"
    if ctx.concurrent(wrote.sure_writes, used.maybe_uses) or ctx.concurrent(wrote.maybe_writes, used.sure_uses):
        return Severity.NOTE, PERHAPS
    return Severity.NOTE, "no two threads are estimated to use both of them often"


def _by_callers(actor: Actor, ctx: Context) -> bool:
    """Is it written by whoever calls a library, of whom it is not known how often they do?"""
    return actor.write_heat is not Heat.COLD and (not ctx.thread_mask or bool(actor.mask(writers=True) & ctx.anybody))


def _split_by_threads(actor: Actor) -> bool:
    """Are these atomics at the running thread's own index?  Who gives each thread its own expects many to come."""
    return any(a.own and a.stride and a.atomic and not a.cold and not a.locks for a in actor.writers)


def _of_each(writer: Actor, user: Actor, ctx: Context) -> bool:
    """Are these elements of one array that several threads update at indexes that code computes?

    Under no lock, or each under its own.  What is only stored there may as well be the next place of a queue.
    """
    if writer is not user or (writer.write_guards and not writer.striped):
        return False
    changing = [x for x in writer.writers if x.stride and not x.cold]
    reading = {x.function for x in writer.readers if x.stride}
    wrote = (writer.often or NOTHING).writes & ~ctx.anybody
    return ctx.concurrent(wrote, wrote) and any(x.atomic or x.own or x.function in reading for x in changing)


def _one_sure(wrote: FrequentUse, used: FrequentUse, seen: int, ctx: Context) -> bool:
    """Does one of the two surely do its part, and the other one often?"""
    return ctx.concurrent(wrote.sure_writes, used.uses & seen) or ctx.concurrent(wrote.writes & seen, used.sure_uses)


def _one_unpaced(wrote: FrequentUse, used: FrequentUse, seen: int, ctx: Context) -> bool:
    """Does one of the two surely do its part oftener than its thread waits for others, and the other one often?"""
    free_writes, free_uses = wrote.sure_writes & ~wrote.paced_writes, used.sure_uses & ~used.paced_uses
    return ctx.concurrent(free_writes, used.uses & seen) or ctx.concurrent(wrote.writes & seen, free_uses)
