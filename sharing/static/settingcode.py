"""Code that reads a file of settings: what it finds there by name it sets as seldom as somebody asks for that.

Owns which places these are: a function opens a file and reads its lines, and it, or what only it calls, compares texts,
makes numbers of others and stores them.  What adds numbers up works on a file; what stores them by name is told by it.
So are functions in a table of names, ``{"limit", set_limit}``, which that code alone calls: who else calls what stands
in such a table, as for what a client sent, runs commands.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among
from sharing.model.image import AccessKind, FunctionFlag, Image, ImageKind, SiteFlag, Table
from sharing.static.callees import function_at, functions_called
from sharing.static.rarefunctions import calls_made

Bools = npt.NDArray[np.bool_]
Addresses = npt.NDArray[np.uint64]


def setting_code(
    image: Image, sites: Table, opens: Addresses, lines: Addresses, compares: Addresses, conversions: Addresses
) -> Bools:
    """Which of these accesses set what a line says.

    ``opens`` open the file that their first argument names, ``lines`` read a line, ``compares`` compare texts,
    ``conversions`` make numbers of them.
    """
    callee = image.calls["callee"]
    readers = (calls_made(image, among(callee, opens)) > 0) & (calls_made(image, among(callee, lines)) > 0)
    if not readers.any():
        return np.zeros(len(sites), bool)
    inside = _with_own_callees(image, readers)
    sets = inside & (calls_made(image, among(callee, compares)) > 0)
    sets |= _called_by_name(image, sets)
    sets &= calls_made(image, among(callee, conversions)) > 0
    # A store in sequentially consistent order is an exchange.
    stores = (sites["kind"] == AccessKind.STORE) | (
        (sites["kind"] == AccessKind.RMW) & (sites["flags"] & SiteFlag.ATOMIC != 0)
    )
    told = np.append(sets, np.False_)[sites["function"]]
    loads = told & (sites["kind"] == AccessKind.LOAD)
    read = set(sites[["function", "target"]][loads].tolist())
    added = np.array([key in read for key in sites[["function", "target"]][told].tolist()], bool)
    result: Bools = told & stores
    result[told] &= ~added
    return result


def _called_by_name(image: Image, asking: Bools) -> Bools:
    """Functions that are kept in one place, through which none but these, which compare texts, calls anything."""
    result, calls, kept = np.zeros(len(asking), bool), image.calls, image.kept
    through = calls[calls["slot"] != 0]
    ours = np.append(asking, np.False_)[through["function"]]
    places = _place(through[ours])
    places = places[~among(places, _place(through[~ours]))]
    there = among(_place(kept), places)
    # Where what is kept there is little, calls through it are calls of these functions as well.
    directly = calls["callee"][~among(calls["ip"], through["ip"][among(_place(through), places)])]
    handed = image.args["value"].astype(np.uint64)
    elsewhere = [kept["value"][~there], directly, handed, image.code_words["value"]]
    alone = kept["value"][there & ~among(kept["value"], np.concatenate(elsewhere))]
    rows = function_at(image, alone)
    result[rows[rows >= 0]] = True
    return result


def _place(rows: Table) -> Addresses:
    return rows["slot"].astype(np.uint64) << np.uint64(32) | rows["where"].astype(np.uint64)


def _with_own_callees(image: Image, readers: Bools) -> Bools:
    """These functions, where others call them, and what nothing but they call."""
    calls, row = image.calls, functions_called(image)
    known = (row >= 0) & (calls["function"] >= 0)
    caller, callee = calls["function"][known].astype(np.int64), row[known]
    elsewhere = 0 if image.kind in (ImageKind.EXECUTABLE, ImageKind.PIE) else FunctionFlag.EXPORTED
    entered = (image.functions["flags"] & (FunctionFlag.ADDRESS_TAKEN | elsewhere)) != 0
    called = (np.bincount(callee, minlength=len(readers)) > 0) & ~entered
    found = readers & called
    while True:
        others = np.bincount(callee[~found[caller] & (caller != callee)], minlength=len(readers)) > 0
        fresh = found | (called & ~others)
        if np.array_equal(fresh, found):
            break
        found = fresh
    result: Bools = found
    return result
