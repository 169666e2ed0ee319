"""Starts of one thread in several arms: a container that has no room makes the closure elsewhere than one that has.

Owns which of several places that start the same entry are the same start: one run comes to no more than one of them.
Which places these are is ``starts``'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharing.basics.ways import Mirrors
from sharing.model.image import Image
from sharing.model.ways import Point
from sharing.static import numbers

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
