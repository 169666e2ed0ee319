"""What main does before it starts threads of a kind, which never meets these.

Owns the place in main's code from which on threads of each kind may run.  That a first thread has been started, a log's
or that of signals, says nothing of those that follow: what main sets up for these, it sets up alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.ways import points
from sharing.model.arrays import among, picked
from sharing.model.image import Image, Table
from sharing.model.ways import Points
from sharing.static.edges import Edges
from sharing.static.howfar import NO_ROUND, loops_around
from sharing.static.waysin import ways_in

BEFORE, STARTED = (0, 0), (1, 0)  # stages: of main in front of the starts, and of the threads

Bools = npt.NDArray[np.bool_]


class BeforeStarts(msgspec.Struct, frozen=True):
    """The calls of one function by which all threads of ``root`` are started, themselves or further down."""

    root: int
    ips: npt.NDArray[np.uint64]
    places: Points
    loops: npt.NDArray[np.int64]

    def passed(self, image: Image, rows: Table) -> list[tuple[int, int]]:
        """The stage of each of these places of the function: in front of all starts, or none."""
        at, around = points(image, rows), loops_around(image, rows)
        behind = at.behind(self.places) | ((around[:, None] == self.loops) & (self.loops >= 0))
        started = behind.any(axis=1) | among(rows["ip"], self.ips)
        return [NO_ROUND if one else BEFORE for one in started.tolist()]


def before_starts(
    image: Image, places: Sequence[dict[int, Table]], alone: Callable[[Table], Bools]
) -> dict[int, list[BeforeStarts]]:
    """By functions that main runs once what they start, if they do something before while others run; most first.

    ``places``: by root and such function the calls in it that start all threads of the root.
    """
    found: dict[int, list[BeforeStarts]] = defaultdict(list)
    for root, where in enumerate(places):
        for function, calls in where.items():
            one = BeforeStarts(root, calls["ip"], points(image, calls), loops_around(image, calls))
            own = [picked(rows, rows["function"] == function) for rows in (image.sites, image.calls)]
            if any(BEFORE in one.passed(image, rows[~alone(rows)]) for rows in own):
                found[function].append(one)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def lines_of_main(
    starts: Iterable[int], lines: Container[int], entries: Mapping[int, int], image: Image, edges: Edges
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """One of the functions ``starts`` and how main comes there: of a thread one function alone is looked at.

    It is one of the ``lines`` that are looked at anyway, if any of main's is.  ``entries``: roots by function.
    """
    taken = {root for row, root in entries.items() if row in lines}
    for row in starts:
        way = (row,) if row in entries else ways_in((row,), entries, image, edges).get(row, ())
        if way and (row in lines or entries[way[0]] not in taken):
            yield row, way
            return
