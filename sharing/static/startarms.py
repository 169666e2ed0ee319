"""Starts of one thread in several arms: a container that has no room makes the closure elsewhere than one that has.

Owns which of several places that start the same entry are the same start: one run comes to no more than one of them,
whatever functions and threads they are in.  Which places these are is ``starts``'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import rows_having
from sharing.basics.ways import Mirrors
from sharing.model.image import FunctionFlag, Image
from sharing.model.ways import Point
from sharing.static import numbers
from sharing.static.callees import calls_of

Places = dict[int, tuple[int, Point]]  # by row of a call the row of its function, and where it is there


def apart(image: Image, calls: Sequence[int]) -> list[int]:
    """Of these rows of calls those that may all be made, the first of each that one run makes one of.

    Arms of a branch are such, as is a call and what its function calls.
    """
    ways = {call: _ways_to(image, call) for call in calls}
    kept: list[int] = []
    for call in calls:
        if not any(_is_either(ways[call], ways[other]) for other in kept):
            kept.append(call)
    return kept


def _ways_to(image: Image, call: int) -> Places:
    """The call, and the calls by which alone its function is come to."""
    calls, found = image.calls, [call]
    for _ in range(numbers.ENTRY_WRAPPERS):
        function = int(calls["function"][found[-1]])
        before = np.flatnonzero(calls["callee"] == image.functions["address"][function]).tolist()
        if function < 0 or len(before) != 1 or before[0] in found:
            break
        found.append(before[0])
    rows = calls[found]
    mirror = Mirrors(image).of(rows["function"], rows["order"]).tolist()
    points = map(Point, rows["order"].tolist(), mirror, rows["ip"].tolist())
    return dict(zip(found, zip(rows["function"].tolist(), points, strict=True), strict=True))


def _is_either(one: Places, other: Places) -> bool:
    if next(iter(one)) in other or next(iter(other)) in one:  # a call, and what its function calls
        return True
    return any(
        function == where and not point.shares_way(place)
        for function, point in one.values()
        for where, place in other.values()
    )


def several_of(
    image: Image,
    found: Mapping[int, Sequence[bool]],
    starts: Mapping[int, Sequence[int]],
    frequent: Set[int],
    looped: npt.NDArray[np.bool_],
    mains: Set[int],
) -> set[int]:
    """Entries of which several threads are started: those with several starts, and those that a function starts which
    is called often (``frequent``), but for what one run starts once.  ``found``: of each of its starts whether that
    makes several."""
    asked = frequent | {at for at, times in found.items() if len(times) > 1}
    return {at for at in asked if any(found.get(at, ())) or not _is_one(image, starts, at, looped, mains)}


def _is_one(
    image: Image, starts: Mapping[int, Sequence[int]], entry: int, looped: npt.NDArray[np.bool_], mains: Set[int]
) -> bool:
    """Is one thread of this entry started, though from several places or in a function that several call?

    ``starts``: addresses of the calls by which each entry is started, 0 of one that nobody knows.  ``looped``: calls
    that are in a loop; nobody calls ``mains``.  Callers are followed to where the ways part, through threads too: what
    is around that is not asked for loops, as of whom one caller calls.
    """
    calls = rows_having(image.calls, "ip", np.array(starts[entry], np.uint64)).tolist()
    if len(calls) != len(set(starts[entry])):
        return False
    ways = [[call] for call in calls]
    for level in range(numbers.ENTRY_WRAPPERS):
        longer: list[list[int]] = []
        for way in ways:
            function = int(image.calls["function"][way[-1]])
            callers = [] if function in mains else _callers(image, starts, function)
            if not level and (callers is None or looped[callers].any()):
                return False
            longer += [[*way, call] for call in callers or () if call not in way] or [way]
        ways = longer
        if len(ways) > numbers.START_WAYS:
            return False
    points = _points(image, sorted({call for way in ways for call in way}))
    return all(_part(one, other, points, looped) for one, other in combinations(ways, 2))


def _callers(image: Image, starts: Mapping[int, Sequence[int]], function: int) -> list[int] | None:
    """Rows of the calls that come to a function, or start a thread with it; None where others may."""
    if function < 0:
        return None
    address = int(image.functions["address"][function])
    rows: list[int] = calls_of(image, address).tolist()
    if image.functions["flags"][function] & FunctionFlag.ADDRESS_TAKEN:
        taken = image.args["ip"][image.args["value"].view(np.uint64) == address]
        ips = starts.get(function, ())
        if not ips or not all(ips) or set(taken.tolist()) - set(ips):
            return None
        rows += rows_having(image.calls, "ip", np.array(ips, np.uint64)).tolist()
    return rows


def _points(image: Image, calls: list[int]) -> dict[int, tuple[int, Point]]:
    rows = image.calls[calls]
    mirror = Mirrors(image).of(rows["function"], rows["order"]).tolist()
    points = map(Point, rows["order"].tolist(), mirror, rows["ip"].tolist())
    return dict(zip(calls, zip(rows["function"].tolist(), points, strict=True), strict=True))


def _part(one: list[int], other: list[int], points: Places, looped: npt.NDArray[np.bool_]) -> bool:
    """Do two ways to a start, from it upwards, part in arms of a branch, which no loop runs both?"""
    for at, call in enumerate(one):
        for where, mate in enumerate(other):
            (function, point), (its, place) = points[call], points[mate]
            if function == its and not point.shares_way(place):
                return not looped[[*one[: at + 1], *other[: where + 1]]].any()
    return False
