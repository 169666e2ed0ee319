"""Code that reads a file of settings: what it finds there by name it sets as seldom as somebody asks for that.

Owns which places these are: a function opens a file and reads its lines, and it, or what only it calls, compares texts,
makes numbers of others and stores them.  What adds numbers up works on a file; what stores them by name is told by it.
So are functions in a table of names, ``{"limit", set_limit}``, which that code alone calls (``settingtables``).
Optimised code has such a function within a thread's loop, or within main: a part of that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.ways import Mirrors, block_of
from sharing.model.arrays import among, picked
from sharing.model.image import AccessKind, FunctionFlag, Image, ImageKind, SiteFlag, Table
from sharing.static.callees import functions_called
from sharing.static.heaprecords import holders, offsets
from sharing.static.rarefunctions import calls_made
from sharing.static.settingtables import Asking, called_by_name

Bools = npt.NDArray[np.bool_]
Addresses = npt.NDArray[np.uint64]

MAX_PARTS = 64  # of other functions, in one image
ROUNDS = 12  # of calls one in the other, from what reads a file to what sets something


class _Part(msgspec.Struct, frozen=True):
    """The loop of a function (a row) that reads lines, ``depth`` loops deep, between the last place before it that is
    less deep and the first one behind it.  ``again``: the function opens the file each time around another loop.
    """

    function: int
    loop: int
    depth: int
    after: int
    before: int
    again: bool

    def of(self, rows: Table, loops: npt.NDArray[np.int64]) -> Bools:
        """Which of these are in it; ``loops`` are the outermost ones around them."""
        inside = (rows["function"] == self.function) & (loops == self.loop) & (rows["loop_depth"] >= self.depth)
        result: Bools = inside & (rows["order"] > self.after) & (rows["order"] < self.before)
        return result


class SettingNames(msgspec.Struct, frozen=True):
    """Functions: ``opens`` open the file that their first argument names, ``lines`` read a line, ``compares`` compare
    texts, ``conversions`` make numbers or copies of them, ``frees`` give memory back."""

    opens: Addresses
    lines: Addresses
    compares: Addresses
    conversions: Addresses
    frees: Addresses


class _Within(msgspec.Struct, frozen=True):
    """A part of a function, and which of the image's calls and of the accesses are in it."""

    part: _Part
    calls: Bools
    sites: Bools


def setting_code(image: Image, sites: Table, names: SettingNames) -> tuple[Bools, Bools]:
    """Which of these accesses set what a line says, or ask for that; and which of the image's calls ask.

    Who asks does so behind a branch, as where a signal or a command came: a thread may be there to do nothing else.
    """
    calls, callee = image.calls, image.calls["callee"]
    nothing = np.zeros(len(sites), bool), np.zeros(len(calls), bool)
    opens, lines = among(callee, names.opens), among(callee, names.lines)
    readers = (calls_made(image, opens) > 0) & (calls_made(image, lines) > 0)
    if not readers.any():
        return nothing
    whole = readers & _only_called(image)
    compare, convert = among(callee, names.compares), among(callee, names.conversions)
    within = _within(image, sites, list(itertools.islice(_parts(image, readers & ~whole, opens, lines), MAX_PARTS)))
    inside = _with_own_callees(image, whole, within)
    sets = inside & (calls_made(image, compare) > 0)
    by_name = called_by_name(image, Asking(inside, sets, [(a.part.function, a.calls, a.part.again) for a in within]))
    sets |= by_name
    sets &= calls_made(image, convert) > 0
    told = np.append(sets, np.False_)[sites["function"]]
    for one in within:
        if one.part.again and (compare & one.calls).any() and (convert & one.calls).any():
            told |= one.sites
    result, adds = _set(sites, told, _given_back(image, names.frees))
    if adds:
        return result, nothing[1]
    setters = by_name.copy()
    setters[sites["function"][result]] = True
    asks = np.append(whole & _that_lead_to(image, setters, by_name, inside), np.False_)[functions_called(image)]
    through = by_name.any() & (callee == 0)
    for one in within:
        if one.part.again and ((through & one.calls).any() or (result & one.sites).any()):
            asks |= opens & (calls["function"] == one.part.function) & (calls["loop_depth"] < one.part.depth)
    asks &= calls["rarity"] > 0
    result |= among(block_of(sites), block_of(calls[asks]))
    return result, asks


def _set(sites: Table, told: Bools, given_back: set[tuple[int, int]]) -> tuple[Bools, bool]:
    """What of these accesses sets something anew, with the loads of what is given back before; is anything added up?"""
    # A store in sequentially consistent order is an exchange.
    stores = (sites["kind"] == AccessKind.STORE) | (
        (sites["kind"] == AccessKind.RMW) & (sites["flags"] & SiteFlag.ATOMIC != 0)
    )
    loads = told & (sites["kind"] == AccessKind.LOAD)
    read = set(sites[["function", "target"]][loads].tolist()) - given_back
    added = np.array([key in read for key in sites[["function", "target"]][told].tolist()], bool)
    result: Bools = told & stores
    result[told] &= ~added
    keys = set(sites[["function", "target"]][result].tolist())
    result[loads] = [key in keys for key in sites[["function", "target"]][loads].tolist()]
    return result, bool((added & stores[told]).any() or (sites["kind"][told] == AccessKind.RMW).any())


def _that_lead_to(image: Image, setters: Bools, by_name: Bools, inside: Bools) -> Bools:
    """Functions of those ``inside`` from which calls lead to what sets something, through a pointer ``by_name``."""
    calls, row = image.calls, functions_called(image)
    mine = np.append(inside, np.False_)[calls["function"]]
    found = setters.copy()
    if by_name.any():
        found[calls["function"][mine & (calls["callee"] == 0)]] = True
    for _ in range(ROUNDS):
        fresh = found.copy()
        fresh[calls["function"][mine & np.append(found, np.False_)[row]]] = True
        if np.array_equal(fresh, found):
            break
        found = fresh
    return found


def _given_back(image: Image, frees: Addresses) -> set[tuple[int, int]]:
    """(function, static pointer) of what is given back, as before another text is kept there: it is not added to."""
    args = image.behind.args
    args = picked(args, (args["arg"] == 0) & among(args["callee"], frees))
    held = args["value"].astype(np.uint64)
    whole = offsets(held) == 0
    return set(zip(args["function"][whole].tolist(), holders(held[whole]).tolist(), strict=True))


def _parts(image: Image, functions: Bools, opens: Bools, lines: Bools) -> Iterator[_Part]:
    """Of each of these functions the loops that read lines of a file which it opens outside of them."""
    calls, mirrors = image.calls, Mirrors(image)
    for function in np.flatnonzero(functions)[:MAX_PARTS].tolist():
        mine = calls["function"] == function
        depths, orders = (calls[name][mine].astype(np.int64) for name in ("loop_depth", "order"))
        reading = lines[mine] & (depths > 0)
        loops = mirrors.loops(calls[mine][reading]).tolist()
        for depth, order, loop in zip(depths[reading].tolist(), orders[reading].tolist(), loops, strict=True):
            around = depths[opens[mine] & (depths < depth)]
            if len(around):
                outside = orders[depths < depth]
                after = int(outside[outside < order].max(initial=-1))
                before = int(outside[outside > order].min(initial=np.iinfo(np.uint16).max + 1))
                yield _Part(function, loop, depth, after, before, bool(around.max() > 0))


def _within(image: Image, sites: Table, parts: list[_Part]) -> list[_Within]:
    if not parts:
        return []
    mirrors = Mirrors(image)
    of_calls, of_sites = mirrors.loops(image.calls), mirrors.loops(sites)
    return [_Within(part, part.of(image.calls, of_calls), part.of(sites, of_sites)) for part in parts]


def _only_called(image: Image) -> Bools:
    """Functions that others of the image call, and that nothing else enters."""
    row = functions_called(image)
    elsewhere = 0 if image.kind in (ImageKind.EXECUTABLE, ImageKind.PIE) else FunctionFlag.EXPORTED
    entered = (image.functions["flags"] & (FunctionFlag.ADDRESS_TAKEN | elsewhere)) != 0
    known = (row >= 0) & (image.calls["function"] >= 0)
    called: Bools = (np.bincount(row[known], minlength=len(entered)) > 0) & ~entered
    return called


def _with_own_callees(image: Image, readers: Bools, within: list[_Within]) -> Bools:
    """These functions, and what nothing but they and these parts of others call.

    By parts alone it has to be called again and again.
    """
    calls, row = image.calls, functions_called(image)
    again, every = np.zeros((2, len(calls)), bool)
    for one in within:
        every |= one.calls
        again |= one.calls & one.part.again
    known = (row >= 0) & (calls["function"] >= 0)
    caller, callee = calls["function"][known].astype(np.int64), row[known]
    again, every = again[known], every[known]
    possible, found = _only_called(image), readers
    while True:
        mine = found[caller]
        others = np.bincount(callee[~mine & ~every & (caller != callee)], minlength=len(readers)) > 0
        made = np.bincount(callee[mine | again], minlength=len(readers)) > 0
        fresh: Bools = found | (possible & ~others & made)
        if np.array_equal(fresh, found):
            return fresh
        found = fresh
