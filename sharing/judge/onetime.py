"""Whether anything tells that one object is with two threads at one time, rather than going from thread to thread.

Owns what the uses of two members say of that.  Which objects are judged is ``sharing.judge.heap``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from sharing.judge import positions
from sharing.model.profile import Actor, Heat


class AtOneTime:
    """What tells that an object is with two threads at one time: else it may go from thread to thread.

    ``concurrent`` is that of threads of different kinds alone.  What a thread does seldom, as to an object that it made
    or reports on, tells nothing.  ``shared``: names of objects of which something else tells it.
    """

    def __init__(self, concurrent: Callable[[int, int], bool], shared: Set[str] = frozenset()) -> None:
        self._concurrent = concurrent
        self._shared = shared

    def of_two_kinds(self, first: Actor, second: Actor) -> bool:
        """One of the two is made for several threads, or nobody hands the object on."""
        if first.owner in self._shared or positions.is_synchronised(first) or positions.is_synchronised(second):
            return True
        if Heat.COLD in (first.write_heat, second.write_heat):
            return self._kept_from(first, second) or self._kept_from(second, first)
        apart = not _writing(first) & _using(second) and not _writing(second) & _using(first)
        return (apart or _are_ends(first, second)) and _is_kept(first) and _is_kept(second)

    def of_any(self, first: Actor, second: Actor) -> bool:
        """The same where threads of one kind are looked at as well, each of which may have an object of its own."""
        if first.owner in self._shared or positions.object_shared_by_intent((first, second)):
            return True
        lock, other = (first, second) if first.is_lock else (second, first)
        if not lock.is_lock:
            return False
        # What it guards stands beside what somebody keeps without it.
        return lock.name in other.guards | other.write_guards or self._kept_from(other, lock)

    def _kept_from(self, kept: Actor, other: Actor) -> bool:
        """Do those who keep something in the one never leave it to some who use the other?"""
        return _is_kept(kept) and self._concurrent(_writing(kept), _using(other) & ~_using(kept))


def _are_ends(first: Actor, second: Actor) -> bool:
    """Whether each is one kind of threads' own, under no lock, and nobody but these looks at them, each also at the
    other's: the ends of a queue, which compilers move as plain words."""
    mine, other = _writing(first), _writing(second)
    both = mine & _using(second) and other & _using(first)
    locked = first.guards | first.write_guards | second.guards | second.write_guards
    return bool(both) and not mine & other and not (_using(first) | _using(second)) & ~(mine | other) and not locked


def _is_kept(actor: Actor) -> bool:
    """Do threads often go on there from what they left in it themselves?

    Who is handed an object reads what the one before has left in it, and leaves something for the next.
    """
    reading = 0
    for access in actor.readers:
        reading |= access.mask if access.weight > 0 else 0
    return actor.write_heat is Heat.HOT and bool(_writing(actor)) and not _writing(actor) & ~reading


def _writing(actor: Actor) -> int:
    mask = actor.mask(writers=True)
    return mask if actor.often is None else mask & actor.often.maybe_writes


def _using(actor: Actor) -> int:
    return actor.mask() if actor.often is None else actor.mask() & actor.often.maybe_uses
