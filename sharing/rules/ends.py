"""Are two things of one record the ends of a queue, which threads move that hand over to each other?

Owns how ends are told from other neighbours.  What is put in at the one is taken out at the other: of two ends an
estimate of how often one is moved is an estimate of both.
"""

from __future__ import annotations

from sharing.knowledge.endwords import name_ends, put_and_take
from sharing.model.profile import Actor, Role


def one_takes(a: Actor, b: Actor) -> bool:
    """Is one end an atomic that any thread moves, and the other plain data of the single thread that takes out?

    Whoever moves the plain one looks at the atomic, to see whether anything is there, and whoever moves the atomic
    leaves the plain one alone: it is not theirs.  That is as true of a state beside a number of references, so that
    names have to say it as well.
    """
    return _taken_by_one(a, b) or _taken_by_one(b, a)


def _taken_by_one(shared: Actor, own: Actor) -> bool:
    if shared.role is not Role.ATOMIC or own.role is not Role.WRITTEN or own.synchronised or shared.owner != own.owner:
        return False
    if any(x.stride for x in (*shared.writers, *own.writers)):
        return False
    moving, taking = movers(shared), movers(own)
    if not moving or not taking or moving & own.functions or not taking & shared.functions:
        return False
    return name_ends(shared.name, own.name) or put_and_take(moving, taking)


def movers(actor: Actor) -> frozenset[str]:
    """Functions that change it, but for those that hardly run."""
    return frozenset(x.function for x in actor.writers if not x.cold)
