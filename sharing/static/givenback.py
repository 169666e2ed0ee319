"""Where a function has given back a lock that it is called with.

Owns these places, by addresses of locks.  A task that a scheduler calls under its lock releases that for what takes
long.
"""

from __future__ import annotations

from sharing.basics.ways import Mirrors
from sharing.knowledge import Knowledge
from sharing.model.image import Image, Table
from sharing.model.ways import Point
from sharing.static.flow import LockCalls
from sharing.static.guards import MAX_USES, given_back, lock_uses

NOTHING: frozenset[int] = frozenset()


class GivenBack:
    """Answers for accesses and calls of one image."""

    def __init__(self, image: Image, locks: LockCalls, knowledge: Knowledge) -> None:
        self._mirrors = Mirrors(image)
        self._ends: dict[int, list[tuple[int, Point]]] = {}
        for function, uses in lock_uses(image, locks, knowledge, hex).items():
            known = [use for use in uses if use.lock] if len(uses) <= MAX_USES else []
            ends = [(int(use.lock, 16), use.at) for use in given_back(known)]
            if ends:
                self._ends[function] = ends

    def before(self, rows: Table) -> list[frozenset[int]]:
        """Locks that the function of each of these rows (``function``, ``order``, ``ip``) has given back there."""
        found = [NOTHING] * len(rows)
        functions = rows["function"].tolist()
        asked = [at for at, function in enumerate(functions) if function in self._ends]
        if asked:
            chosen = rows[asked]
            mirrors = self._mirrors.of(chosen["function"], chosen["order"]).tolist()
            places = map(Point, chosen["order"].tolist(), mirrors, chosen["ip"].tolist())
            for at, here in zip(asked, places, strict=True):
                found[at] = frozenset(lock for lock, end in self._ends[functions[at]] if end.leads_to(here))
        return found
