"""What a thing is for, by what code does to it: a statistics counter, a setting, an end of a queue.

Owns the words by which findings call what they name.  They are told of what was found, and decide nothing: what an
access does to a line, and by which thread, is what rules judge (``Role`` says how it is used, this what for).
"""

from __future__ import annotations

import re

from sharing.knowledge.endwords import name_ends
from sharing.knowledge.purposewords import counts_events, counts_references, counts_statistics, tells_to_stop
from sharing.model.profile import Access, Actor, Role
from sharing.rules.ends import movers

SETTING_BYTES = 8  # of the longest scalar: what is longer is a table
_FLAG = re.compile(r"\b(_?bool|atomic_bool|sig_atomic_t|atomic_flag)\b", re.IGNORECASE)


def purpose(actor: Actor, *mates: Actor) -> str:
    """In words: of a lock its kind, of data the most that is known; ``mates`` are the others that a finding names."""
    if actor.kind or actor.is_lock or actor.role is Role.LIST_HEAD:
        return actor.kind or actor.role.value
    if _is_slot(actor):
        return "per-thread slot"
    if any(_are_ends(actor, mate) for mate in mates):
        return "end of a queue"
    if actor.role is Role.READ_MOSTLY and _is_setting(actor):
        return _setting(actor)
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


def _setting(actor: Actor) -> str:
    """A word for a scalar that is hardly written: what loops ask for again and again is no setting.

    Its type says that it may change meanwhile (atomic, volatile), or its name that it ends or begins something: of
    another one compilers may read the value once.
    """
    polled = any(a.reads and not a.writes and a.loop_depth and not a.cold for a in actor.accesses)
    stops = tells_to_stop(actor.name)
    if not polled or not (stops or actor.is_volatile or "atomic" in actor.type_name.lower() or _is_atomic(actor)):
        return "read-mostly setting"
    return f"{'flag' if stops or _FLAG.search(actor.type_name) else 'value'} that threads poll"


def _is_atomic(actor: Actor) -> bool:
    return any(a.atomic for a in actor.accesses)


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
