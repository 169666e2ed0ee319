"""What a thing is for, by what code does to it: a statistics counter, a setting, an end of a queue.

Owns the words by which findings call what they name.  They are told of what was found, and decide nothing: what an
access does to a line, and by which thread, is what rules judge (``Role`` says how it is used, this what for).
"""

from __future__ import annotations

from sharing.knowledge.endwords import name_ends
from sharing.knowledge.purposewords import counts_events, counts_references, counts_statistics
from sharing.model.profile import Access, Actor, Role
from sharing.rules.ends import movers

SETTING_BYTES = 8  # of the longest scalar: what is longer is a table


def purpose(actor: Actor, *mates: Actor) -> str:
    """In words: of a lock its kind, of data the most that is known; ``mates`` are the others that a finding names."""
    if actor.kind or actor.is_lock or actor.role is Role.LIST_HEAD:
        return actor.kind or actor.role.value
    if _is_slot(actor):
        return "per-thread slot"
    if any(_are_ends(actor, mate) for mate in mates):
        return "end of a queue"
    if actor.role is Role.READ_MOSTLY and _is_setting(actor):
        return "read-mostly setting"
    counter = _counter(actor) if actor.role in (Role.ATOMIC, Role.COUNTER) else ""
    return counter or actor.role.value


def _is_slot(actor: Actor) -> bool:
    """Does each thread change an element of its own, as the index or the pointer to it says?"""
    changing = _changes(actor)
    return bool(changing) and all(a.own and a.stride for a in changing)


def _are_ends(one: Actor, other: Actor) -> bool:
    """Of one record, by their names, and moved by different functions: one puts in what the other takes out."""
    moving, taking = movers(one), movers(other)
    return bool(one.owner == other.owner and moving and taking and moving != taking and name_ends(one.name, other.name))


def _is_setting(actor: Actor) -> bool:
    start, end = actor.span
    return end - start <= SETTING_BYTES and "*" not in actor.type_name and not any(a.stride for a in actor.accesses)


def _counter(actor: Actor) -> str:
    """Changed by what is there, as a counter is, and named like one; "" of what is stored to as well.

    A state of a generator of numbers, and a word that is exchanged, are changed so too, so that the name has to say it.
    """
    changing = _changes(actor)
    if not changing or not all(a.writes and a.reads for a in changing):
        return ""
    if counts_references(actor.name):
        return "reference count"
    if counts_events(actor.name):
        return "sequence counter"
    return "statistics counter" if counts_statistics(actor.name) and _only_reported(actor) else ""


def _changes(actor: Actor) -> list[Access]:
    """Its writes, but for those that hardly run."""
    return [a for a in actor.writers if not a.cold]


def _only_reported(actor: Actor) -> bool:
    """Is it read by itself in no function that changes it, and no more often than it is changed?

    What a counter's value decides is read where it is decided.
    """
    if any(a.bits for a in actor.writers):
        return False
    reading = [a for a in actor.readers if not a.writes and not a.cold]
    changing = movers(actor)
    return not any(a.function in changing for a in reading) and sum(a.weight for a in reading) <= actor.write_weight
