"""How severe a finding of the code may be, by what is known of the threads that should meet.

Owns which findings are limited: not what the program declares of its threads, which is no estimate.  By how much a
pair is limited is ``sharing.rules.meeting``'s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from sharing.model.finding import AT_MOST, OF_SHARING, Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import Actor
from sharing.rules.line.base import Context, Draft, Most, disturbed_from_outside
from sharing.rules.meeting import ESTIMATED, UNKNOWN, limit_of_pair

ONE_FOR_ALL = "one object stands for all of this type: that threads use one is not certain"
ONE_BESIDE_ANOTHER = "each thread is handed one; that two of them stand side by side is not certain"
TWO_DOUBTS = f"{ESTIMATED}, and were it known, something else would speak against it"
OWN_OF_EACH = "each of these threads is handed an object of its own"
BEHIND_OWN = "each of these threads is handed an object of its own, and only these lead to such elements"
OWN_WORK = "threads make the objects of this type that they work on, and nothing says that its elements are of threads"
SEEN = "low at least: threads' own loops are seen to use the one all the time and not the other, which others use"
DATA_CHOOSES = "one object stands for all of this type, and nothing says that its elements are of threads"

# What one object that stands for all of its type bears, be it source or debug information that says which record code
# uses: neither says whose.  Of a lock there may be many, with few users each.  An index that is not seen to be a
# thread's chooses a child of a node or a field of an entry as likely.
OF_TYPE = Most(Severity.CRITICAL, Severity.MEDIUM, Severity.MEDIUM)
# The same where one place stands for all that the same instructions use: what they use is as likely of several types.
OF_PLACE = Most(Severity.MEDIUM, Severity.LOW, Severity.MEDIUM)


def limited(drafts: Iterable[Draft], ctx: Context) -> list[Draft]:
    """The drafts, those that say that threads meet as severe at most as is known of their meeting."""
    return [_limited(draft, ctx) for draft in drafts]


def _limited(draft: Draft, ctx: Context) -> Draft:
    if draft.declared:
        return draft
    if draft.verdict is Verdict.FRAGILE:
        most, why = _if_they_met(draft, ctx)
    elif draft.verdict in OF_SHARING:
        most, why = _said(draft, ctx)
    else:
        return draft
    if draft.severity is Severity.NOTE and draft.verdict in OF_SHARING and _is_seen(draft.actors, most, why, ctx):
        return dataclasses.replace(draft, severity=Severity.LOW, evidence=(*draft.evidence, SEEN))
    if draft.severity.rank <= most.rank:
        return draft
    return dataclasses.replace(draft, severity=most, evidence=(*draft.evidence, f"{most.value} {AT_MOST}{why}"))


def _said(draft: Draft, ctx: Context) -> tuple[Severity, str]:
    """The limit of whom the draft names, by how sure it is itself.

    An estimate is one doubt.  With a second one, that one of two is merely warm, that they are used together or that
    one is as likely a thread's own, counts confirm nothing; of elements of one array they do.  That of an object there
    may be one for each thread is no doubt where it has a lock.
    """
    most, why = limit(draft.actors, ctx)
    of_two = len({actor.span for actor in draft.actors[:2]}) > 1
    if why == ESTIMATED and of_two and draft.severity is Severity.LOW and not _beside_own_lock(draft.actors, ctx):
        return Severity.NOTE, TWO_DOUBTS
    return most, why


def _is_seen(actors: tuple[Actor, ...], most: Severity, why: str, ctx: Context) -> bool:
    """Do threads' own loops surely use one of two things that others use, and not the other, under no common lock?

    A rule takes off for each reason why separate lines might spare less: that most code which uses the one uses the
    other as well, or that it is one object.  For threads that use one alone it is no reason, so that it is low at
    least.  A lock is put beside what it guards on purpose.
    """
    first, second = named_pair(actors)
    if most is not Severity.CRITICAL or why or first.span == second.span or first.guards & second.guards:
        return False
    if first.is_lock or second.is_lock:
        return False
    return disturbed_from_outside(first, second, ctx) or disturbed_from_outside(second, first, ctx)


def _if_they_met(draft: Draft, ctx: Context) -> tuple[Severity, str]:
    """That two are safe by luck is worth a warning where threads that were seen would often meet there."""
    most, why = limit(draft.actors, ctx)
    if any(actor.often is None for actor in draft.actors):  # a kernel's
        return most, why
    seen = most.rank > Severity.LOW.rank and why != UNKNOWN
    return (draft.severity, why) if seen else (Severity.NOTE, why)


def named_pair(actors: tuple[Actor, ...]) -> tuple[Actor, Actor]:
    """The two whom a finding names; one actor alone meets itself on another thread."""
    return actors[0], actors[min(1, len(actors) - 1)]


def limit(actors: tuple[Actor, ...], ctx: Context) -> tuple[Severity, str]:
    """The limit of the two whom the finding names, and why; one actor alone is met by itself on another thread.

    What others of the line do, to them or to each other, is not what the finding says.
    """
    pair = named_pair(actors)
    most, why = limit_of_pair(*pair, ctx)
    if ctx.of_any is None or any(actor.section != ALLOCATED for actor in pair):
        return most, why
    if pair[0].span != pair[1].span and _of_own_objects(*pair, ctx):
        return Severity.NOTE, OWN_OF_EACH
    if pair[0].span != pair[1].span:
        of_any = ctx.of_any.beside_lock if any(actor.is_lock for actor in pair) else ctx.of_any.of_two
        return (of_any, ONE_FOR_ALL) if most.rank > of_any.rank else (most, why)
    if _chosen_by_data(pair[0]):
        if _made_by_users(pair[0], ctx):
            return Severity.NOTE, OWN_WORK
        if _behind_own(pair[0], ctx):
            return Severity.NOTE, BEHIND_OWN
        if most.rank > ctx.of_any.of_elements.rank:
            return ctx.of_any.of_elements, DATA_CHOOSES
    return most, why


def _beside_own_lock(actors: tuple[Actor, ...], ctx: Context) -> bool:
    """Are the two of one object that stands for all of its type, and is one of them a lock?"""
    pair = actors[:2]
    allocated = ctx.of_any is not None and all(actor.section == ALLOCATED for actor in pair)
    return allocated and any(actor.is_lock for actor in pair)


def _of_own_objects(a: Actor, b: Actor, ctx: Context) -> bool:
    """Do threads of one kind alone use both, of whom each is handed such an object, or threads that each own one?"""
    users = a.mask() | b.mask()
    if users and a.owner == b.owner and not users & ~ctx.owned_by.get(a.owner, 0):
        return True
    one_kind = users & ctx.thread_mask == users and users.bit_count() == 1
    return one_kind and bool(a.identity) and a.identity == b.identity and a.identity in ctx.of_threads


def _chosen_by_data(actor: Actor) -> bool:
    """Are these elements, not locks, at indexes of which none is seen to be the thread's own?"""
    elements = [access for access in actor.writers if access.stride]
    return bool(elements) and not actor.is_lock and not any(access.own for access in elements)


def _behind_own(actor: Actor, ctx: Context) -> bool:
    """Is it plain data under no lock that threads of one kind change, where an object of its own leads each?"""
    users = actor.mask(writers=True)
    one_kind = users & ctx.thread_mask == users and users.bit_count() == 1
    plain = not any(access.atomic or access.locks for access in actor.writers)
    return one_kind and plain and actor.identity in ctx.behind_own


def _made_by_users(actor: Actor, ctx: Context) -> bool:
    """Is it plain data under no lock, of a record whose objects all threads make that use them, and these alone?

    What a job is given to work in goes from thread to thread with the job; what several use at once, they find made.
    """
    makers = ctx.made_by.get(actor.identity, 0) if actor.identity else 0
    plain = not any(access.atomic or access.locks for access in actor.writers)
    return plain and bool(makers) and makers & ctx.thread_mask == makers and actor.mask() & ~makers == 0
