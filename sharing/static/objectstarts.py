"""Where threads are started whose work is a method of an object: a closure that ``std::thread`` is handed.

Owns the way from the code that gives a new object its table of virtual functions to the call that starts its thread.
The library makes such an object for one start, as the last thing in front of that: the next start in the same function
is the object's, or the next one behind the call of a constructor that only makes it.  Which functions are entries is
``starts``'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having
from sharing.basics.ways import points
from sharing.knowledge import Knowledge
from sharing.knowledge.threadclasses import thread_classes
from sharing.model.arrays import among, picked
from sharing.model.image import Image, Table
from sharing.static import numbers
from sharing.static.callees import calls_of
from sharing.static.oncemade import made_once, tables_of, takings


def object_starts(image: Image, rows: Iterable[int], starting: npt.NDArray[np.bool_]) -> dict[int, list[int]]:
    """By method (a row) the addresses of all calls that start a thread with an object of its class, where these are
    known.  ``starting``: calls that start a thread with an object."""
    classes = {(one.typeinfo, one.slot) for one in thread_classes() if one.made_to_start}
    starts = picked(image.calls, starting & (image.calls["function"] >= 0))
    found = {row: _starts_of(image, row, tables_of(image, row, classes), starts) for row in rows}
    # Objects of two classes are not started by one call.
    used = Counter(ip for ips in found.values() for ip in set(ips))
    return {row: ips for row, ips in found.items() if ips and all(used[ip] == 1 for ip in ips)}


def starting_objects(image: Image, knowledge: Knowledge) -> npt.NDArray[np.bool_]:
    """Calls that start a thread with an object."""
    starters = [at for at, name in image.callee_names.items() if takes_objects(knowledge, name)]
    return among(image.calls["callee"], starters)


def takes_objects(knowledge: Knowledge, name: str) -> bool:
    """Does a function of this name start a thread with an object, wherever that stands?"""
    row = knowledge.thread_start(name) if name.startswith("_Z") else None
    return row is not None and row.entry_argument is None


def _starts_of(image: Image, row: int, tables: npt.NDArray[np.uint64], starts: Table) -> list[int]:
    """None where one of the objects may be started elsewhere."""
    made = takings(image, tables, besides=row)
    stored = image.behind.stored[among(image.behind.stored["what"], tables)]
    found: list[int] = []
    for function in sorted(set(made["function"].tolist())):
        # Compilers take an address long before they store it: the store stands where the object is made.
        there = picked(stored, stored["function"] == function)
        found += _behind(image, function, there if len(there) else picked(made, made["function"] == function), starts)
    return found if all(found) else []


def _behind(image: Image, function: int, places: Table, starts: Table) -> list[int]:
    """Addresses of the calls that start what is made at these places of a function (a row); 0 of one not known."""
    for _ in range(numbers.ENTRY_WRAPPERS):
        here = picked(starts, starts["function"] == function)
        if len(here):
            return [_next(image, places[at : at + 1], here) for at in range(len(places))]
        # A constructor only makes it.
        callers = image.calls[calls_of(image, int(image.functions["address"][function]))]
        of = set(callers["function"].tolist())
        if len(of) != 1 or min(of) < 0:
            break
        function, places = of.pop(), callers
    return [0]


def _next(image: Image, place: Table, starts: Table) -> int:
    """The address of the first of these starts behind a place; 0 where that depends on the way."""
    later = starts[points(image, starts).behind(points(image, place))[:, 0]]
    at = points(image, later)
    first = later[~at.behind(at).any(axis=1)]
    return int(first["ip"][0]) if len(first) == 1 else 0


def started_once(
    image: Image, knowledge: Knowledge, entries: Iterable[int], often: npt.NDArray[np.bool_]
) -> dict[int, bool]:
    """Of virtual functions that threads run, whether one alone does.  ``often``: functions (rows) that run often."""
    starting = starting_objects(image, knowledge)
    own = object_starts(image, entries, starting)
    found: dict[int, bool] = {}
    for row in entries:
        mine = starting & having(image.calls, "ip", own[row]) if len(own.get(row, ())) == 1 else starting
        found[row] = made_once(image, row, often, mine)
    return found
