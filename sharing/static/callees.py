"""Who is called with which function: names of call targets, and functions that are handed on.

Owns the way of a function's address through wrappers that pass their own argument on, to the call that somebody asks
about.  Knows no threads and no frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, in_order, numbered
from sharing.basics.kept import Kept
from sharing.model.arrays import picked, positions
from sharing.model.image import ArgKind, Image, Table
from sharing.static import numbers

UNCALLED = -1  # in the place of the index of a wrapper that nobody calls by its name

Argument = tuple[int, int]  # index of a called function, number of its argument

_Objects = npt.NDArray[np.object_]

_names: Kept[tuple[_Objects, npt.NDArray[np.uint64], _Objects]] = Kept()
_called: Kept[npt.NDArray[np.int64]] = Kept()
_given: Kept[npt.NDArray[np.int64]] = Kept()
_starts: Kept[npt.NDArray[np.uint64]] = Kept()
_places: Kept[npt.NDArray[np.uint64]] = Kept()


def function_at(image: Image, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Row of the function that starts exactly at each address, -1 where none does."""
    # A field of a table is copied whole where values are looked for in it.
    starts = _starts.of(image.functions, (), lambda: np.ascontiguousarray(image.functions["address"]))
    if not len(starts):
        return np.full(len(addresses), -1, np.int64)
    row = np.searchsorted(starts, addresses)
    row = np.minimum(row, len(starts) - 1)
    return np.where(starts[row] == addresses, row, -1)


def functions_called(image: Image) -> npt.NDArray[np.int64]:
    """Row of the function that each of ``image.calls`` leads to, -1 for none of this image."""

    return _called.of(image.calls, (image.functions,), lambda: _rows_of_callees(image, image.calls))


def functions_given(image: Image) -> npt.NDArray[np.int64]:
    """The same of what each of ``image.args`` is for."""
    return _given.of(image.args, (image.functions,), lambda: _rows_of_callees(image, image.args))


def _rows_of_callees(image: Image, table: Table) -> npt.NDArray[np.int64]:
    callees, number = numbered(table, "callee")
    rows = function_at(image, callees)[number]
    rows.flags.writeable = False
    return rows


def calls_by_callee(image: Image) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Rows of ``image.calls`` in the order of what they call, and what that is (addresses).  Nobody changes them."""
    return in_order(image.calls, "callee")


def calls_of(image: Image, address: int) -> npt.NDArray[np.int64]:
    """Rows of the calls of what begins at an address, in their order."""
    order, callees = calls_by_callee(image)
    first, last = (int(callees.searchsorted(np.uint64(address), side)) for side in ("left", "right"))
    return order[first:last]


def function_name(image: Image, row: int) -> str:
    """Display name of a function: its symbol, or its address."""
    if row < 0:
        return "?"
    f = image.functions[row]
    return image.names[f["name"]] if f["name"] >= 0 else f"fn_{int(f['address']):x}"


def names_of_callees(image: Image, addresses: npt.NDArray[np.uint64]) -> list[str]:
    """Symbol of each call target: a function of this image, an import, or "" where nothing names it."""
    own, others, imported = _names.of(image.functions, (image.names, image.callee_names), lambda: _name_tables(image))
    names = own[function_at(image, addresses)]
    at = positions(others, addresses)
    names[at >= 0] = imported[at[at >= 0]]
    result: list[str] = names.tolist()
    return result


def _name_tables(image: Image) -> tuple[_Objects, npt.NDArray[np.uint64], _Objects]:
    """By row of functions their names, "" of the last for -1; addresses of other call targets in order, and theirs."""
    every = np.array([*image.names, ""], object)  # "" for -1
    named = sorted((address, name) for address, name in image.callee_names.items() if name)
    addresses = np.array([address for address, _ in named], np.uint64)
    return (
        np.append(every[image.functions["name"]], ""),
        addresses,
        np.array([name for _, name in named], object),
    )


def of_call(image: Image, ips: npt.NDArray[Any], field: str, unknown: int = 0) -> npt.NDArray[Any]:
    """One field of the calls at these addresses, ``unknown`` where no call is recorded."""
    calls = image.calls
    if not len(calls):
        return np.full(len(ips), unknown, np.uint16)
    places = _places.of(calls, (), lambda: np.ascontiguousarray(calls["ip"]))
    row = np.minimum(np.searchsorted(places, ips), len(calls) - 1)
    return np.where(places[row] == ips, calls[field][row], unknown)


def passed_on(
    image: Image,
    callees: npt.NDArray[Any],
    inverse: npt.NDArray[Any],
    wanted: set[Argument],
    without: npt.NDArray[np.bool_] | None = None,
) -> Iterator[tuple[int, Argument, Argument | None]]:
    """Rows of arguments that reach one of the ``wanted`` ones: with an address, or with a wrapper's own argument.

    Yields the row, the argument that it is and, of a wrapper, the argument that is from now on wanted as well.
    ``callees`` are the functions that arguments are for, ``inverse`` their indexes by row; rows ``without`` are left
    out.  Whoever takes the rows may
    add to ``wanted`` on the way.
    """
    args = image.args
    index = {int(a): i for i, a in enumerate(callees.tolist())}
    fresh = set(wanted)
    seen: set[Argument] = set()
    for _ in range(numbers.ENTRY_WRAPPERS):
        if not fresh:
            return
        seen |= fresh
        found: set[Argument] = set()
        asked = np.zeros(len(callees), bool)
        asked[[callee for callee, _ in fresh]] = True
        rows = asked[inverse] if without is None else asked[inverse] & ~without
        for at in np.flatnonzero(rows).tolist():
            arg = args[at]
            key = (int(inverse[at]), int(arg["arg"]))
            if key not in fresh:
                continue
            if arg["kind"] == ArgKind.ADDRESS:
                yield at, key, None
            elif arg["kind"] == ArgKind.PARAM and arg["function"] >= 0:
                wrapper = index.get(int(image.functions[arg["function"]]["address"]), UNCALLED)
                if wrapper != UNCALLED:
                    found.add((wrapper, int(arg["source"])))
                yield at, key, (wrapper, int(arg["source"]))
        fresh = (found | wanted) - seen


def handed_over(image: Image) -> npt.NDArray[np.bool_]:
    """Functions that this image hands to one of its own: what a pool or a loop is to run.

    As an argument, or in a word of a record on the stack whose address is handed over, as a ``std::function`` is.
    """
    args, passed, calls = image.args, image.behind.passed, image.calls
    own = calls["ip"][functions_called(image) >= 0]
    found = np.zeros(len(image.functions), bool)
    rows = picked(args, (args["kind"] == ArgKind.ADDRESS) & (functions_given(image) >= 0))
    words = passed["what"][having(passed, "ip", own)]
    given = function_at(image, np.append(rows["value"].astype(np.uint64), words))
    found[given[given >= 0]] = True
    return found
