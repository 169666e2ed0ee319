"""Locks that a program makes by hand, known by what threads do on a line and not by a name or a type.

Owns the pattern.  What follows from a lock is ``sharing.rules``'.

Threads that take a lock wait for a word that they write themselves when they let go: those that wait and those that
make others wait are the same.  Before they wait they draw a ticket, announce themselves, or try to take the word: each
makes an atomic update on the line in the function that waits.  A flag that one thread sets for another is neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharing.model.image import AccessKind
from sharing.model.profile import Actor, Role
from sharing.sampled.lineuse.blame import Blame, Item

KIND = "hand-made lock"


def hand_made(items: Sequence[Item]) -> frozenset[int]:
    """Which items are words of a lock that several threads wait for."""
    updating = {(t.thread, t.function) for item in items for t in item.touches if t.atomic and t.kind is AccessKind.RMW}
    out = set()
    for number, item in enumerate(items):
        spinning = {(t.thread, t.function) for t in item.touches if t.spin_waits and t.reads}
        threads = {thread for thread, _ in spinning}
        if len(threads) > 1 and threads <= _releasing(item) and threads == {t for t, _ in spinning & updating}:
            out.add(number)
    return frozenset(out)


def as_locks(actors: Sequence[Actor], blame: Blame) -> tuple[Actor, ...]:
    """The actors with hand-made locks called so."""
    found = hand_made(blame.items) | blame.picked
    return tuple(
        replace(actor, role=Role.LOCK, kind=KIND) if i in found and not actor.is_lock else actor
        for i, actor in enumerate(actors)
    )


def _releasing(item: Item) -> set[int]:
    """Threads that write the word other than by trying to take it."""
    return {t.thread for t in item.touches if t.writes and not t.spin_waits}
