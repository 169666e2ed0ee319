"""The locks that accesses are under: held there by the source, else by the order of calls in the function and above.

Owns the choice of the locks that guard an object.  What the source says of each access is ``origins``'s.  Without
source a lock is held behind a call that takes it, on a way on which no call that releases it lies between; what a
function is entered with is what each of its callers holds where it calls it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.image import Image, Table
from sharing.model.profile import COMPANIONS
from sharing.static import numbers
from sharing.static.accesscolumns import AccessColumns
from sharing.static.callgraph import CallGraph
from sharing.static.flow import INIT, LOCK
from sharing.static.origins import AccessOrigins
from sharing.static.phases import order_and_ip
from sharing.static.ways import Mirrors

NONE: frozenset[str] = frozenset()
MAX_USES = 256  # of locks in one function, which are compared with each other; in one of more, any is held all through


class Point(NamedTuple):
    """A place in a function."""

    order: int
    mirror: int
    ip: int

    def leads_to(self, other: Point) -> bool:
        if self.order == other.order:
            return self.ip < other.ip
        return self.order < other.order and self.mirror < other.mirror


class LockUse(NamedTuple):
    """A call that takes (``locks``) or releases a lock."""

    lock: str
    locks: bool
    at: Point


class Guards:
    """Answers for the accesses of one image."""

    def __init__(
        self,
        image: Image,
        columns: AccessColumns,
        origins: AccessOrigins,
        graph: CallGraph,
        uses: dict[int, list[LockUse]],
    ) -> None:
        """``uses``: by function the locks that it takes and releases itself (``lock_uses``)."""
        self._image = image
        self._columns = columns
        self._origins = origins
        self._graph = graph
        self._uses = uses
        self._mirrors = Mirrors(image)
        self._entry: dict[int, frozenset[str]] = {}

    def of(self, rows: list[int]) -> frozenset[str]:
        """Locks that most of the weight of these accesses is under."""
        if self._origins.known:
            return self._origins.guards(rows, self._columns.weight)
        under: dict[str, float] = defaultdict(float)
        columns, total = self._columns, 0.0
        for at in rows:
            weight = columns.weight[at]
            total += weight
            if weight:
                function = columns.function[at]
                here = Point(columns.order[at], columns.mirror[at], columns.ip[at])
                for lock in self._held_at(function, here) | self._on_entry(function):
                    under[lock] += weight
        return frozenset(lock for lock, value in under.items() if total and value >= numbers.GUARD_SHARE * total)

    def _held_at(self, function: int, here: Point) -> frozenset[str]:
        """By the function's own doing."""
        of_function = self._uses.get(function)
        if of_function is None:
            return NONE
        if len(of_function) > MAX_USES:
            return frozenset(use.lock for use in of_function if use.locks)
        uses = [use for use in of_function if use.at.leads_to(here)]
        released = [use for use in uses if not use.locks]
        return frozenset(
            taken.lock
            for taken in uses
            if taken.locks and not any(use.lock == taken.lock and taken.at.leads_to(use.at) for use in released)
        )

    def _on_entry(self, function: int, depth: int = 0) -> frozenset[str]:
        """What all its callers hold: helpers run under their callers' locks."""
        known = self._entry.get(function)
        if known is not None:
            return known
        held = self._entry[function] = NONE  # a cycle adds nothing
        if depth < numbers.MAX_CALLERS_UP and not self._graph.entered[function]:
            callers, where = self._graph.calls_of(function)
            keep = (callers != function) & ~self._graph.phases.sequential(callers, where)
            if len(np.unique(callers)) <= numbers.MAX_CALLERS:
                above = [
                    self._held_at(caller, at) | self._on_entry(caller, depth + 1)
                    for caller, at in zip(callers[keep].tolist(), self._points(callers[keep], where[keep]), strict=True)
                ]
                if above:
                    held = self._entry[function] = frozenset.intersection(*above)
        return held

    def _points(self, callers: Table, where: Table) -> list[Point]:
        order, ip = order_and_ip(self._image, callers, where)
        mirror = self._mirrors.of(callers, order)
        return list(map(Point, order.tolist(), mirror.tolist(), ip.tolist()))


def lock_uses(
    image: Image, events: Table, knowledge: Knowledge, name_of: Callable[[int], str]
) -> dict[int, list[LockUse]]:
    """By function the calls that take and release locks; waiting and waking hold nothing."""
    uses: dict[int, list[LockUse]] = defaultdict(list)
    names: dict[int, str] = {}
    held = np.array([row.kind not in COMPANIONS for row in knowledge.locks], bool)
    chosen = events[(events["effect"] != INIT) & held[events["row"]]]
    mirrors = Mirrors(image).of(chosen["function"], chosen["order"])
    for event, mirror in zip(chosen, mirrors.tolist(), strict=True):
        address, point = int(event["address"]), Point(int(event["order"]), mirror, int(event["ip"]))
        if address not in names:
            names[address] = name_of(address)
        uses[int(event["function"])].append(LockUse(names[address], bool(event["effect"] == LOCK), point))
    return uses
