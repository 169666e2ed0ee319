"""The locks that accesses are under: held there by the source, else by the order of calls in the function and above.

Owns the choice of the locks that guard an object.  What the source says of each access is ``origins``'s.  Without
source a lock is held behind a call that takes it, on a way on which no call that releases it lies between, nor one that
may; what a function is entered with is what each of its callers holds where it calls it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.ways import Mirrors
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, stacked
from sharing.model.image import Image, Table
from sharing.model.profile import COMPANIONS
from sharing.model.ways import Point
from sharing.static import numbers
from sharing.static.accesscolumns import AccessColumns
from sharing.static.callgraph import CallGraph
from sharing.static.flow import INIT, LOCK, UNLOCK, LockCalls
from sharing.static.origins import AccessOrigins
from sharing.static.phases import order_and_ip
from sharing.static.pointercallers import PointerCallers

NONE: frozenset[str] = frozenset()
MAX_USES = 256  # of locks in one function, which are compared with each other; in one of more, any is held all through


class LockUse(NamedTuple):
    """A call that takes (``locks``) or releases a lock of some kind, a row of the vocabulary; "" is an unknown lock.

    ``deeper``: neither the function nor the one that it calls holds the lock there, but one further down.  ``waits``:
    it was held before, and is again.
    """

    lock: str
    locks: bool
    at: Point
    kind: int
    deeper: bool = False
    waits: bool = False


class HeldThere(NamedTuple):
    """Instructions that run only while a lock is held, which no call takes."""

    begin: int
    end: int
    lock: str


class _Span(NamedTuple):
    """From where a lock is taken to each place behind where it is released."""

    lock: str
    begin: Point
    ends: list[Point]


class _Holding:
    """What one function holds by its own doing, where."""

    def __init__(self, uses: list[LockUse], ranges: list[HeldThere]) -> None:
        self._ranges = ranges
        self._given = [use for use in uses if ranges and not use.locks]
        known, unknown = [use for use in uses if use.lock], [use for use in uses if not use.lock]
        self._always = frozenset(use.lock for use in known if use.locks) if len(known) > MAX_USES else None
        if self._always is not None:
            return
        releases = [use for use in known if not use.locks] + _unpaired(unknown)
        self._spans = [_Span(use.lock, use.at, _released_behind(use, releases)) for use in known if use.locks]
        self._given_back = given_back(known)
        self._blocks: dict[int, frozenset[str]] = {}  # by order
        self._changing = {use.at.order for use in uses}  # blocks that hold more or less at their end

    def at(self, here: Point) -> frozenset[str]:
        by_itself = [one.lock for one in self._ranges if one.begin <= here.ip < one.end and not self._ends(one, here)]
        return self._by_calls(here) | frozenset(by_itself) if by_itself else self._by_calls(here)

    def kept_until(self, here: Point, entry: frozenset[str]) -> frozenset[str]:
        """Which of the locks that the function is entered with it has not given back before this place."""
        if not entry or self._always is not None:
            return entry
        gone = {use.lock for use in self._given_back if use.at.leads_to(here)}
        return entry - gone if gone else entry

    def _ends(self, held: HeldThere, here: Point) -> bool:
        """Whether a call before this place, where the lock is held too, gives it back."""
        return any(
            use.lock == held.lock and use.at.leads_to(here) and any(r.begin <= use.at.ip < r.end for r in self._ranges)
            for use in self._given
        )

    def _by_calls(self, here: Point) -> frozenset[str]:
        if self._always is not None:
            return self._always
        held = self._blocks.get(here.order)
        if held is None:
            held = self._held_at(here)
            if here.order not in self._changing:
                self._blocks[here.order] = held
        return held

    def _held_at(self, here: Point) -> frozenset[str]:
        held: set[str] = set()
        for span in self._spans:
            if span.lock not in held and span.begin.leads_to(here):
                for end in span.ends:
                    if end.leads_to(here):
                        break
                else:
                    held.add(span.lock)
        return frozenset(held) if held else NONE


def _released_behind(taken: LockUse, releases: list[LockUse]) -> list[Point]:
    """Where the lock is released that is taken there, or may be: one of its kind is, and nothing says which."""
    ends = [use for use in releases if use.lock == taken.lock or (not use.lock and use.kind == taken.kind)]
    return [use.at for use in ends if taken.at.leads_to(use.at)]


def given_back(known: list[LockUse]) -> list[LockUse]:
    """The releases of a function's known locks that it does not take itself before: it is called with these."""
    return [use for use in known if not use.locks and not _was_taken(use, known)]


def _was_taken(released: LockUse, known: list[LockUse]) -> bool:
    """Whether the function takes the lock itself before it releases it there."""
    taken = (use.at for use in known if use.locks and not use.waits and use.lock == released.lock)
    return any(at.leads_to(released.at) for at in taken)


def _unpaired(unknown: list[LockUse]) -> list[LockUse]:
    """The releases of unknown locks that do not end what a call before them has taken of an unknown lock."""
    releases = [use for use in unknown if not use.locks]
    if len(unknown) > MAX_USES:
        return releases
    taken = [use for use in unknown if use.locks]
    return [use for use in releases if not any(_is_pair(begin, use, unknown) for begin in taken)]


def _is_pair(begin: LockUse, end: LockUse, unknown: list[LockUse]) -> bool:
    """Whether one takes what the other releases: between them as many locks are taken as are released."""
    if begin.kind != end.kind or not begin.at.leads_to(end.at):
        return False
    open_locks = 0
    for use in unknown:
        if use.kind == end.kind and begin.at.leads_to(use.at) and use.at.leads_to(end.at):
            open_locks += 1 if use.locks else -1
    return open_locks >= 0


class Guards:
    """Answers for the accesses of one image."""

    def __init__(
        self,
        image: Image,
        columns: AccessColumns,
        origins: AccessOrigins,
        graph: CallGraph,
        uses: dict[int, list[LockUse]],
        held: dict[int, list[HeldThere]],
    ) -> None:
        """``uses``: by function the locks that it takes and releases by calls (``lock_uses``); ``held``: by itself."""
        self._image = image
        self._columns = columns
        self._origins = origins
        self._graph = graph
        self._uses, self._held = uses, held
        # Of the functions that were asked for, and for what they do or what they call; None: holds nothing.
        self._holding: dict[tuple[int, bool], _Holding | None] = {}
        self._mirrors = Mirrors(image)
        self._entry: dict[int, frozenset[str]] = {}
        self._under: dict[int, frozenset[str]] = {}  # by row of an access
        none = np.zeros(len(image.functions), bool)
        self._by_pointers = graph.by_pointers if graph.by_pointers is not None else none
        self._callers: PointerCallers | None = None
        self._of_anything: list[frozenset[str]] | None = None  # held at calls of which nothing says whom they call
        # Calls that no second thread can overlap, by row of the graph's callers.
        self._parallel = ~graph.phases.sequential(graph.caller_list, graph.caller_where)

    def of(self, rows: list[int]) -> frozenset[str]:
        """Locks that most of the weight of these accesses is under."""
        if self._origins.known:
            return self._origins.guards(rows, self._columns.weight)
        under: dict[str, float] = defaultdict(float)
        weights, total, known = self._columns.weight, 0.0, self._under
        for at in rows:
            weight = weights[at]
            total += weight
            if weight:
                for lock in known[at] if at in known else self._locks(at):
                    under[lock] += weight
        return frozenset(lock for lock, value in under.items() if total and value >= numbers.GUARD_SHARE * total)

    def _locks(self, at: int) -> frozenset[str]:
        """That an access is under, which nobody has asked yet."""
        function = self._columns.function[at]
        locks = self._on_entry(function)
        if (own := self._held_by(function)) is not None:
            here = self._columns.spot(at).at
            locks = own.at(here) | own.kept_until(here, locks)
        self._under[at] = locks
        return locks

    def _held_by(self, function: int, *, calling: bool = False) -> _Holding | None:
        """What the function holds by its own doing, or what it calls is entered with (``calling``); None: nothing."""
        if (function, calling) not in self._holding:
            uses, held = self._uses.get(function, []), self._held.get(function, [])
            if calling:
                uses = [use for use in uses if not use.deeper]
            self._holding[function, calling] = _Holding(uses, held) if uses or held else None
        return self._holding[function, calling]

    def _on_entry(self, function: int, depth: int = 0) -> frozenset[str]:
        """What all its callers hold: helpers run under their callers' locks."""
        known = self._entry.get(function)
        if known is not None:
            return known
        held = self._entry[function] = NONE  # a cycle adds nothing
        pointed = bool(self._by_pointers[function])
        if depth < numbers.MAX_CALLERS_UP and (pointed or not self._graph.entered[function]):
            callers, where = self._graph.calls_of(function)
            if len(callers) <= numbers.MAX_CALLERS or len(distinct(callers)) <= numbers.MAX_CALLERS:
                keep = (callers != function) & self._parallel[self._graph.rows_of_calls(function)]
                above = self._above(callers[keep], where[keep], depth + 1)
                if pointed:
                    above += self._through_pointers(function, depth + 1)
                if above:
                    held = self._entry[function] = frozenset.intersection(*above)
        return held

    def _through_pointers(self, function: int, depth: int) -> list[frozenset[str]]:
        """What all calls through pointers hold that may be of this function; none where there are no such calls."""
        callers = self._callers = self._callers or PointerCallers(self._image, self._graph)
        if self._of_anything is None:
            self._of_anything = [NONE]  # a cycle adds nothing
            self._of_anything = self._at_calls(callers.of_anything, depth)
        if self._of_anything and not self._of_anything[0]:
            return [NONE]
        calls = callers.of(function)
        return self._of_anything + self._at_calls(calls, depth) if calls is not None else [NONE]

    def _at_calls(self, calls: Table, depth: int) -> list[frozenset[str]]:
        """What is held at all of these calls; none where there are none."""
        held: frozenset[str] | None = None
        functions, orders, ips = (calls[name].tolist() for name in ("function", "order", "ip"))
        mirrors = self._mirrors.of(calls["function"].astype(np.int64), calls["order"]).tolist()
        for caller, *place in zip(functions, orders, mirrors, ips, strict=True):
            here = self._on_entry(caller, depth)
            if (own := self._held_by(caller, calling=True)) is not None:
                at = Point(*place)
                here = own.at(at) | own.kept_until(at, here)
            held = here if held is None else held & here
            if not held:
                break
        return [held] if held is not None else []

    def _above(self, callers: Table, where: Table, depth: int) -> list[frozenset[str]]:
        """What is held at each of these calls."""
        above = []
        points: list[Point] | None = None
        for at, caller in enumerate(callers.tolist()):
            held = self._on_entry(caller, depth)
            if (own := self._held_by(caller, calling=True)) is not None:  # few functions lock
                points = points if points is not None else self._points(callers, where)
                held = own.at(points[at]) | own.kept_until(points[at], held)
            above.append(held)
        return above

    def _points(self, callers: Table, where: Table) -> list[Point]:
        order, ip = order_and_ip(self._image, callers, where)
        mirror = self._mirrors.of(callers, order)
        return list(map(Point, order.tolist(), mirror.tolist(), ip.tolist()))


def lock_uses(
    image: Image, calls: LockCalls, knowledge: Knowledge, name_of: Callable[[int], str]
) -> dict[int, list[LockUse]]:
    """By function the calls that take and release locks; waiting and waking hold nothing.

    What takes a lock and releases it holds it at what else it does: between right before and right behind the call.
    What only calls such a function does the rest without it (``deeper``).
    """
    uses: dict[int, list[LockUse]] = defaultdict(list)
    held = np.array([row.kind not in COMPANIONS for row in knowledge.locks], bool)
    events = stacked([calls.events, calls.unknown, calls.wrapped])
    effect, kind = events["effect"], events["row"]
    chosen = events[(effect != INIT) & held[kind]]
    mirrors = Mirrors(image).of(chosen["function"], chosen["order"])
    pair = _taken_and_released(chosen)
    locks = chosen["effect"] == LOCK
    beside = np.where(pair, np.where(locks, -1, 1), 0).astype(np.uint64)  # addresses of a kernel have the top bit
    ips = (chosen["ip"] + beside).tolist()
    places = map(Point, chosen["order"].tolist(), mirrors.tolist(), ips)
    names = {0: "", **{address: name_of(address) for address in distinct(chosen["address"]).tolist() if address}}
    every = map(
        LockUse,
        map(names.__getitem__, chosen["address"].tolist()),
        locks.tolist(),
        places,
        chosen["row"].tolist(),
        (chosen["deeper"] != 0).tolist(),
        among(chosen["ip"], calls.waiting).tolist(),
    )
    for function, use in zip(chosen["function"].tolist(), every, strict=True):
        uses[function].append(use)
    return uses


def held_in_calls(calls: LockCalls, knowledge: Knowledge) -> dict[int, frozenset[int]]:
    """By address of a call the addresses of the locks that it takes and releases: held at what else it does."""
    held = np.array([row.kind not in COMPANIONS for row in knowledge.locks], bool)
    effect, kind = calls.events["effect"], calls.events["row"]
    chosen = calls.events[(effect != INIT) & held[kind]]
    chosen = chosen[_taken_and_released(chosen)]
    by_call: dict[int, frozenset[int]] = {}
    for ip, address in zip(chosen["ip"].tolist(), chosen["address"].tolist(), strict=True):
        by_call[ip] = by_call.get(ip, frozenset()) | {address}
    return by_call


def _taken_and_released(events: Table) -> npt.NDArray[np.bool_]:
    """Which of these are of calls that both take and release the lock: as they are ordered, one behind the other."""
    pair = (events["effect"][:-1] == LOCK) & (events["effect"][1:] == UNLOCK) & (events["address"][1:] != 0)
    for name in ("ip", "address", "row"):
        column = events[name]
        pair &= column[1:] == column[:-1]
    both = np.zeros(len(events), bool)
    both[:-1] |= pair
    both[1:] |= pair
    return both
