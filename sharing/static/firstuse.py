"""What a program does once: code behind a variable that is zero until that code has set it, or not until it clears it.

Owns which variables are so.  ``if (!ready) { prepare(); ready = 1; }`` and ``if (first) { first = 0; prepare(); }`` are
the usual forms, with a lock and a second look inside where several threads can come there, or with a compare-and-swap
in place of the store.  Of one that is set in the end, ``if (!stopping) serve();``, only the code that sets it is meant.
A word that an exchange finds zero and that nothing sets back needs no test: ``if (!begun.exchange(1)) begin();``.
Flags that know more states have a number for the last one, ``if (state != DONE) { ... }``: that code sets others
before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sharing.basics.ways import mirrors
from sharing.model.arrays import among, distinct, picked, union
from sharing.model.image import HELD, AccessKind, FunctionFlag, Image, SiteFlag, Table, ZeroRange
from sharing.static import numbers
from sharing.static.callees import calls_by_callee

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Addresses = npt.NDArray[np.uint64]

_CHANGES = (AccessKind.STORE, AccessKind.RMW, AccessKind.ADDRESS)
_ASIDE = FunctionFlag.INIT | FunctionFlag.COLD
_FROM_OUTSIDE = FunctionFlag.EXPORTED | FunctionFlag.ADDRESS_TAKEN
MAX_NUMBERS = 4  # with which one variable is compared, and to which it is set: of more it is a state that goes on
SET_BY_CALLS = 3  # from a test to what sets the variable: a look without a lock, what takes it, what sets
MAX_PIECES = 64  # of code of one function behind a variable; in more nothing is compared
MAX_COMPARED = 1 << 21  # pairs of such a piece and a place that sets the variable, far more than any program has
MAX_PAIRS = 1 << 24  # of a write or a call and a variable: no program has so many


def first_uses(image: Image, functions: Table) -> Addresses:
    """[begin, end) of code that runs once, shape (n, 2): it alone changes the variable that it is behind, and for good.

    ``functions`` are the image's with all flags known: what is written before the work begins, or at its end, does not
    count.  A variable whose address is taken elsewhere may be written anywhere.
    """
    ranges = image.zero_ranges
    once = np.zeros(len(ranges), bool)
    flags = np.append(functions["flags"], np.uint32(0))
    for what in (ZeroRange.IS_ZERO, ZeroRange.DIFFERS):
        rows = np.flatnonzero((ranges["what"] == what) & (ranges["value"] == 0))
        if len(rows) and len(image.sites):
            once[rows] = _changed_there(image, flags, ranges[rows], clears=what is ZeroRange.DIFFERS)
    for rows, sets in _numbered(ranges):
        once[rows] = _finished_there(image, flags, ranges[rows], sets)
    rows = np.flatnonzero((ranges["what"] == ZeroRange.HELD) & (ranges["value"] == 0))
    rows = rows[ranges["variable"][rows] & np.uint64(HELD) == 0]  # at an address
    if len(rows) and len(image.sites):
        once[rows] = _taken_for_good(image, flags, ranges[rows])
    return np.column_stack([ranges["begin"][once], ranges["end"][once]])


def _taken_for_good(image: Image, flags: npt.NDArray[np.uint32], ranges: Table) -> Bools:
    """Ranges behind the taking of a word that nothing changes but what takes it: one thread comes there, once."""
    variables, of_range, pairs = _changes(image, flags, ranges)
    if pairs is None:
        return np.zeros(len(ranges), bool)
    site, variable = pairs
    takes = picked(image.zero_ranges, image.zero_ranges["what"] == ZeroRange.TAKES)
    takes = takes[np.argsort(takes["begin"], kind="stable")]
    begin, ip = takes["begin"], image.sites["ip"][site]
    at = np.minimum(np.searchsorted(begin, ip), max(len(takes) - 1, 0))
    own = np.zeros(len(site), bool)
    if len(takes):
        same = takes["variable"][at] == variables[variable]
        own = same & (begin[at] == ip)
    given_back = np.zeros(len(variables), bool)
    given_back[variable[~own]] = True
    result: Bools = ~given_back[of_range]
    return result


def _numbered(ranges: Table) -> Iterator[tuple[Rows, Addresses]]:
    """Ranges behind variables that differ from a number to which something sets them, and the instructions that do.

    Of each variable one number at a time.
    """
    sets = picked(ranges, ranges["what"] == ZeroRange.SETS)
    rows = np.flatnonzero((ranges["what"] == ZeroRange.DIFFERS) & (ranges["value"] > 0))
    rows = rows[among(_with_value(ranges[rows]), _with_value(sets))]
    for _ in range(MAX_NUMBERS):
        if not len(rows):
            return
        variable, value = ranges["variable"][rows], ranges["value"][rows]
        _, first, of_range = np.unique(variable, return_index=True, return_inverse=True)
        now = value == value[first][of_range]
        yield rows[now], sets["begin"][among(_with_value(sets), _with_value(ranges[rows[now]]))]
        rows = rows[~now]


def _with_value(ranges: Table) -> Addresses:
    return ranges["variable"] << np.uint64(8) | ranges["value"].astype(np.uint64)


def _finished_there(image: Image, flags: npt.NDArray[np.uint32], ranges: Table, sets: Addresses) -> Bools:
    """Ranges whose variable is changed behind the test alone, and at last, as a rule, to the number of the test.

    ``sets``: the instructions that set it so.
    """
    sites = image.sites
    variables, of_range, pairs = _changes(image, flags, ranges)
    if pairs is None:
        return np.zeros(len(ranges), bool)
    site, variable = pairs
    guarded = _Guarded(ranges, of_range)
    there = guarded.hold(sites["ip"][site], variable)
    away = np.flatnonzero(~there)
    there[away] = _called_from(image, flags, guarded, sites["function"][site[away]].astype(np.int64), variable[away])
    stored = sites["kind"][site] != AccessKind.ADDRESS
    finishes = stored & among(sites["ip"][site], sets)
    decides = there & finishes & (sites["rarity"][site] <= numbers.EACH_TIME)
    rows = np.flatnonzero(decides)
    decides[rows[_in_passing(sites, ranges, of_range, site[rows], variable[rows])]] = False
    before = stored & ~finishes & there
    undoes = ~there | (before & ~_while_zero(image, sites[site], variable, decides, before))
    once = np.bincount(variable[decides], minlength=len(variables)) > 0
    once[variable[undoes]] = False
    result: Bools = once[of_range] & _set_there(image, guarded, ranges, of_range, (site[decides], variable[decides]))
    return result


def _changes(
    image: Image, flags: npt.NDArray[np.uint32], ranges: Table
) -> tuple[Addresses, Rows, tuple[Rows, Rows] | None]:
    """The variables of these ranges, the one of each range, and pairs of a row of the sites and one that it changes."""
    sites = image.sites
    variable = ranges["variable"]
    variables, of_range = np.unique(variable, return_inverse=True)
    sizes = np.ones(len(variables), np.uint64)
    np.maximum.at(sizes, of_range, ranges["size"].astype(np.uint64))
    counted = among(sites["kind"], _CHANGES) & (flags[sites["function"]] & _ASIDE == 0)
    return variables, of_range, _reached(sites, np.flatnonzero(counted), variables, sizes)


def _changed_there(image: Image, flags: npt.NDArray[np.uint32], ranges: Table, *, clears: bool) -> Bools:
    """Ranges whose variable is changed in ranges of its own alone, by stores that all clear it or all do not."""
    sites = image.sites
    variables, of_range, pairs = _changes(image, flags, ranges)
    if pairs is None:
        return np.zeros(len(ranges), bool)
    site, variable = pairs
    guarded = _Guarded(ranges, of_range)
    stored = sites["kind"][site] != AccessKind.ADDRESS
    fits = stored & ((sites["flags"][site] & SiteFlag.CLEARS != 0) == clears)
    there = guarded.hold(sites["ip"][site], variable)
    away = np.flatnonzero(fits & ~there)
    there[away] = _called_from(image, flags, guarded, sites["function"][site[away]].astype(np.int64), variable[away])
    decides = there & fits if clears else there.copy()  # whoever is handed an address there sets the variable up
    # What is set in passing, as the mark of a lock whose holder failed, says nothing of the code that does not set it.
    rows = np.flatnonzero(decides)
    decides[rows[_in_passing(sites, ranges, of_range, site[rows], variable[rows])]] = False
    once = np.bincount(variable[decides], minlength=len(variables)) > 0
    undoes = ~there | (stored & ~fits)
    if not clears and (undoes & there).any():
        undoes[_while_zero(image, sites[site], variable, decides & ~undoes, undoes & there)] = False
    once[variable[undoes]] = False
    # Where nothing stores it, whoever is handed its address does; else an address may be no more than a base of others.
    by_store = np.bincount(variable[decides & stored], minlength=len(variables)) > 0
    decides &= stored | ~by_store[variable]
    result: Bools = once[of_range] & _set_there(image, guarded, ranges, of_range, (site[decides], variable[decides]))
    return result


def _reached(sites: Table, rows: Rows, variables: Addresses, sizes: Addresses) -> tuple[Rows, Rows] | None:
    """Pairs of a row of ``sites`` and a variable that shares bytes with it; None where there are too many."""
    target, size = sites["target"][rows], sites["size"][rows]
    size = np.maximum(size, 1).astype(np.uint64)
    first = np.searchsorted(variables, target, "right").astype(np.int64) - 1
    first += (first < 0) | (variables[first] + sizes[first] <= target)
    count = np.maximum(np.searchsorted(variables, target + size, "left") - first, 0)
    if int(count.sum()) > MAX_PAIRS:
        return None
    begins = np.cumsum(count) - count
    return np.repeat(rows, count), np.repeat(first - begins, count) + np.arange(int(count.sum()))


def _in_passing(sites: Table, ranges: Table, of_range: Rows, site: Rows, variable: Rows) -> Bools:
    """Which of these pairs of a row of ``sites`` and a variable are run far more seldom than what else is behind it.

    Of ranges that hold the site the innermost counts: a second look is a range within another.
    """
    ips, range_begin, range_end = sites["ip"], ranges["begin"], ranges["end"]
    first, last = np.searchsorted(ips, range_begin), np.searchsorted(ips, range_end)
    rarity = np.append(sites["rarity"].astype(np.int64), 0)
    least = np.minimum.reduceat(rarity, np.column_stack([first, last]).ravel())[::2]
    pieces = np.flatnonzero(first < last)  # something is accessed there
    keys = _variable_and_function(of_range[pieces], ranges["function"][pieces])
    order = np.lexsort((least[pieces], range_end[pieces], range_begin[pieces], keys))
    pieces, keys = pieces[order], keys[order]
    wanted = _variable_and_function(variable, sites["function"][site])
    start, stop = (np.searchsorted(keys, wanted, side) for side in ("left", "right"))
    count = np.where(stop - start <= MAX_PIECES, stop - start, 0)
    result = np.zeros(len(site), bool)
    rows = np.flatnonzero(count)
    if not len(rows) or int(count.sum()) > MAX_COMPARED:
        return result
    count, begins = count[rows], np.cumsum(count[rows]) - count[rows]
    at = np.repeat(start[rows] - begins, count) + np.arange(int(count.sum()))
    ip = np.repeat(ips[site[rows]], count)
    around = (range_begin[pieces[at]] <= ip) & (ip < range_end[pieces[at]])
    innermost = np.maximum.reduceat(np.where(around, at, -1), begins)
    others = np.minimum.reduceat(np.where(around, np.iinfo(np.int64).max, least[pieces[at]]), begins)
    compared = np.minimum(others, least[pieces[innermost]])
    result[rows] = (innermost >= 0) & (rarity[site[rows]] - compared > numbers.EACH_TIME)
    return result


def _while_zero(image: Image, sites: Table, variable: Rows, sets: Bools, zeroes: Bools) -> Bools:
    """Which of ``zeroes`` change nothing: on no way they come after what sets the variable in the same function.

    A compiler makes them of an attempt that failed: ``if (!p) p = malloc(n); if (!p) complain();``
    """
    keys, of_site = np.unique(_variable_and_function(variable, sites["function"]), return_inverse=True)
    result = zeroes & (np.bincount(of_site[sets], minlength=len(keys)) > 0)[of_site]
    later = zeroes.copy()
    for number in (sites["order"].astype(np.int64), mirrors(image, sites).astype(np.int64)):
        first = np.full(len(keys), np.iinfo(np.int64).max)
        np.minimum.at(first, of_site[sets], number[sets])
        later &= number >= first[of_site]
    return result & ~later


def _variable_and_function(variable: Rows, function: npt.NDArray[np.integer]) -> Rows:
    return (variable.astype(np.int64) << 32) | (function.astype(np.int64) + 1)


class _Guarded:
    """Which addresses are behind which variable."""

    def __init__(self, ranges: Table, variable: Rows) -> None:
        self._edges = distinct(np.append(ranges["begin"], ranges["end"]))
        self._begins = np.sort(self._keys(ranges["begin"], variable))
        self._ends = np.sort(self._keys(ranges["end"], variable))

    def _keys(self, ips: Addresses, variable: Rows) -> Rows:
        return (variable.astype(np.int64) << 32) | np.searchsorted(self._edges, ips, "right")

    def hold(self, ips: Addresses, variable: Rows) -> Bools:
        """For each address whether it is in a range of the variable beside it."""
        keys = self._keys(ips, variable)
        inside: Bools = np.searchsorted(self._begins, keys, "right") > np.searchsorted(self._ends, keys, "right")
        return inside


def _calls_made(image: Image, function: Rows, chosen: Bools) -> tuple[Rows, Rows]:
    """Pairs of a place in ``function``, of the ``chosen``, and a row of the calls of it; none if these are too many."""
    order, callees = calls_by_callee(image)
    address = np.append(image.functions["address"], np.uint64(0))[function]  # -1, of none, is the last
    first, last = (np.searchsorted(callees, address, side) for side in ("left", "right"))
    count = np.where(chosen, last - first, 0)
    if int(count.sum()) > MAX_PAIRS:
        count[:] = 0
    at = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    return np.repeat(np.arange(len(function)), count), order[at]


def _set_there(image: Image, guarded: _Guarded, ranges: Table, of_range: Rows, sets: tuple[Rows, Rows]) -> Bools:
    """Ranges of functions that change the variable themselves, or as a rule call there what does.

    ``sets``: pairs of a row of the sites and the variable that it changes.  What other functions do until then,
    ``if (!stopping) serve();``, they may do any number of times.
    """
    calls = image.calls
    own = _variable_and_function(of_range, ranges["function"])
    found = distinct(_variable_and_function(sets[1], image.sites["function"][sets[0]]))
    fresh = found
    for _ in range(SET_BY_CALLS):
        function, variable = (fresh & 0xFFFFFFFF) - 1, fresh >> 32
        pair, call = _calls_made(image, function, function >= 0)
        if not len(call):
            break
        of_call = variable[pair]
        behind = guarded.hold(calls["ip"][call], of_call)
        call, of_call = call[behind], of_call[behind]
        keys = _variable_and_function(of_call, calls["function"][call])
        rarity = calls["rarity"][call].astype(np.int64)
        as_a_rule = rarity - _least_behind(image, ranges, own, keys) <= numbers.EACH_TIME
        fresh = distinct(keys[as_a_rule])
        fresh = fresh[~among(fresh, found)]
        found = union(found, fresh)
    result: Bools = among(own, found)
    return result


def _least_behind(image: Image, ranges: Table, own: Rows, keys: Rows) -> Rows:
    """The rarity of what a function does most often behind a variable; ``own`` and ``keys`` say which are meant."""
    pieces = np.flatnonzero(among(own, keys))
    wanted, least = np.unique(own[pieces], return_inverse=True)
    result = np.full(len(wanted), np.iinfo(np.uint8).max, np.int64)
    begin, end = ranges["begin"][pieces], ranges["end"][pieces]
    for rows in (image.sites, image.calls):
        ips = rows["ip"]
        first, last = (np.searchsorted(ips, side) for side in (begin, end))
        some = first < last
        rarity = np.append(rows["rarity"].astype(np.int64), 0)
        edges = np.column_stack([first[some], last[some]]).ravel()
        np.minimum.at(result, least[some], np.minimum.reduceat(rarity, edges)[::2] if len(edges) else edges)
    found: Rows = result[np.searchsorted(wanted, keys)]
    return found


def _called_from(
    image: Image, flags: npt.NDArray[np.uint32], guarded: _Guarded, function: Rows, variable: Rows
) -> Bools:
    """Functions that are called behind the variable, and nowhere else."""
    calls = image.calls
    pair, call = _calls_made(image, function, (function >= 0) & (flags[function] & _FROM_OUTSIDE == 0))
    aside = flags[calls["function"][call]] & _ASIDE != 0
    elsewhere = ~aside & ~guarded.hold(calls["ip"][call], variable[pair])
    called, left = (np.bincount(rows, minlength=len(function)) for rows in (pair, pair[elsewhere]))
    result: Bools = (called > 0) & (left == 0)
    return result
