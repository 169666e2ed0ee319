"""The locks that accesses are under: held there by the source, else taken by the function or by all its callers.

Owns the choice of the locks that guard an object.  What the source says of each access is ``origins``'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from sharing.knowledge import Knowledge
from sharing.model.image import Table
from sharing.model.profile import COMPANIONS
from sharing.static import numbers
from sharing.static.accesscolumns import AccessColumns
from sharing.static.callgraph import CallGraph
from sharing.static.flow import LOCK
from sharing.static.origins import AccessOrigins


class Guards:
    """Answers for the accesses of one image."""

    def __init__(
        self,
        columns: AccessColumns,
        origins: AccessOrigins,
        graph: CallGraph,
        taken: dict[int, set[str]],
    ) -> None:
        """``taken``: by function the locks that it takes itself (``locks_taken``)."""
        self._columns = columns
        self._origins = origins
        self._graph = graph
        self._taken = taken
        self._held: dict[int, frozenset[str]] = {}

    def of(self, rows: list[int]) -> frozenset[str]:
        """Locks that most of the weight of these accesses is under."""
        if self._origins.known:
            return self._origins.guards(rows, self._columns.weight)
        weight: dict[str, float] = defaultdict(float)
        by_function: dict[int, float] = defaultdict(float)
        for at in rows:
            by_function[self._columns.function[at]] += self._columns.weight[at]
        total = sum(by_function.values())
        for function, value in by_function.items():
            if value:
                for lock in self._held_in(function):
                    weight[lock] += value
        return frozenset(lock for lock, value in weight.items() if total and value >= numbers.GUARD_SHARE * total)

    def _held_in(self, function: int, depth: int = 0) -> frozenset[str]:
        """Locks that a function takes, or that all its callers take: helpers run under their callers' lock."""
        known = self._held.get(function)
        if known is not None:
            return known
        held = self._held[function] = frozenset(self._taken.get(function, ()))  # a cycle adds nothing
        if depth < numbers.MAX_CALLERS_UP and not self._graph.entered[function]:
            callers = self._graph.callers(function)
            alone = self._graph.phases.alone
            if len(callers) <= numbers.MAX_CALLERS:
                above = [self._held_in(c, depth + 1) for c in callers if c != function and not alone[c]]
                if above:
                    held = self._held[function] = held | frozenset.intersection(*above)
        return held


def locks_taken(events: Table, knowledge: Knowledge, name_of: Callable[[int], str]) -> dict[int, set[str]]:
    """By function the names of the locks that it takes; waiting and waking hold nothing."""
    taken: dict[int, set[str]] = defaultdict(set)
    names: dict[int, str] = {}
    for event in events[events["effect"] == LOCK].tolist():
        address, function, row = event[1], event[2], event[3]
        if knowledge.locks[row].kind in COMPANIONS:
            continue
        if address not in names:
            names[address] = name_of(address)
        taken[function].add(names[address])
    return taken
