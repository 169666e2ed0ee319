"""Thread entries that arrive in objects made for the call: function values of Go, ``std::function`` of C++.

Owns that pattern.  A closure is made on the way to the call that is handed it: code takes the address of its function
and stores it into a new object (Go also hands over the address of a word that holds it).  The object is not followed.
What the same function took last before the call is what it hands over.  Where that calls through a pointer, it is
Go's wrapper of a closure that has arguments or keeps variables: the closure is what was taken before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, rows_having
from sharing.basics.ways import block_of, mirrors
from sharing.model.arrays import picked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, Table
from sharing.static.callees import function_at
from sharing.static.indirectentries import calls_pointers


def by_go(image: Image) -> npt.NDArray[np.bool_]:
    """Which calls are made by code of Go."""
    callers = np.append(image.functions["flags"] & FunctionFlag.GO != 0, False)
    made: npt.NDArray[np.bool_] = callers[image.calls["function"]]
    return made


def made_values(
    image: Image, callees: npt.NDArray[np.uint64], argument: int | None = None
) -> Iterator[tuple[int, int]]:
    """(row of a function, row of the call that hands it over) for calls of ``callees`` by code of Go.

    ``argument``: calls that show a function there are left out.
    """
    calls, args = image.calls, image.args
    handing = having(calls, "callee", callees) & by_go(image)
    if argument is not None:
        shown = (args["arg"] == argument) & (args["kind"] == ArgKind.ADDRESS)
        shown &= function_at(image, args["value"].astype(np.uint64)) >= 0
        handing &= ~having(calls, "ip", args["ip"][shown])
    yield from _before(image, np.flatnonzero(handing), 2, calls_pointers(image))


def function_objects(image: Image, callees: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """The same for calls that are handed a ``std::function``: what runs, and what copies it, as both are stored."""
    return _before(image, rows_having(image.calls, "callee", callees), 2)


def _before(
    image: Image, rows: npt.NDArray[np.int64], most: int, wrappers: npt.NDArray[np.bool_] | None = None
) -> Iterator[tuple[int, int]]:
    """(row of a function, row of a call) for so many functions at most that a caller took last before each call.

    ``rows`` are those of the calls.  ``wrappers``: functions before which others count; all where it is left out.
    What is taken is for one call.  Before is what comes first on a way through the
    caller: compilers put a block that leads to another one behind it, as write barriers of Go in a loop are.
    """
    calls, taken = image.calls[rows], _taken(image)
    if not len(taken) or not len(rows):
        return
    both = np.append(_place(taken), _place(calls))
    steps = np.argsort(both, kind="stable", order=("block", "ip"))
    rank = np.empty(len(both), np.int64)
    rank[steps] = np.arange(len(both))
    by_way = np.argsort(rank[: len(taken)])
    taken, taken_rank = taken[by_way], rank[: len(taken)][by_way]
    by_way = np.argsort(rank[len(taken) :])
    rows, calls = rows[by_way], calls[by_way]
    last = np.searchsorted(taken_rank, rank[len(taken) :][by_way]) - 1
    earlier = np.append(-1, last[:-1])
    mirror_of_taken, mirror = mirrors(image, taken), mirrors(image, calls)
    leads = np.ones(len(rows), bool)
    for place in (last - back for back in range(most)):
        made, place = leads & (place > earlier), np.maximum(place, 0)
        made &= taken["function"][place] == calls["function"]
        made &= mirror_of_taken[place] <= mirror
        values = function_at(image, taken["target"][place])
        if wrappers is not None:
            leads = made & wrappers[values]
        yield from zip(values[made].tolist(), rows[made].tolist(), strict=True)


def _place(rows: Table) -> npt.NDArray[np.void]:
    """Where these sites or calls are on the ways through their functions, to sort by."""
    place = np.empty(len(rows), [("block", "<u8"), ("ip", "<u8")])
    place["block"], place["ip"] = block_of(rows), rows["ip"]
    return place


def _taken(image: Image) -> Table:
    """Where code takes the address of a function, or of a word that the loader puts one into; by address."""
    words = image.code_words
    taken = picked(image.sites, image.sites["kind"] == AccessKind.ADDRESS)
    if len(words):
        slot, target = words["slot"], taken["target"]
        row = np.minimum(np.searchsorted(slot, target), len(words) - 1)
        value = words["value"][row]
        taken["target"] = np.where(slot[row] == target, value, target)
    functions: Table = picked(taken, function_at(image, taken["target"]) >= 0)
    return functions
