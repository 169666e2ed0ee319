"""Code that runs once or as good as never: behind a once flag, on ways to where nothing returns or errors are told.

Owns which places these are, by the calls that a function makes; it says so by their ``rarity``, so that all passes that
weigh accesses and calls see it.  The names stand in ``sharing/knowledge/rare.json``.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.knowledge import read_table
from sharing.model.image import ArgKind, FunctionFlag, Image, Table
from sharing.static import numbers
from sharing.static.callees import function_at
from sharing.static.executions import in_loop

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

ROUNDS = 12  # of functions that do not return because what they call does not


class RareTable(msgspec.Struct, frozen=True):
    """What does not return, what code between runs once, (function, argument) of what runs once or at the end.

    ``reports`` are functions that tell of errors, ``error_streams`` objects that such messages are written to.
    """

    never_return: frozenset[str]
    never_return_prefixes: tuple[str, ...]
    reports: frozenset[str]
    error_streams: frozenset[str]
    once_begin: frozenset[str]
    once_end: frozenset[str]
    entries: tuple[tuple[str, int], ...]


@functools.cache
def _table() -> RareTable:
    return read_table("rare.json", RareTable)


def with_rarity(image: Image) -> Image:
    """The image with the rarity of places raised that run once or never.

    1. ways into functions that do not return, and on which errors are told; 2. between the ends of a once guard;
    3. entries of once functions, signal handlers and exit handlers, which are marked as cold.
    """
    calls, sites = image.calls, image.sites
    if not len(calls) or not len(image.functions):
        return image
    table = _table()
    named = _named(image)
    never = [a for a, name in named if name in table.never_return or name.startswith(table.never_return_prefixes)]
    never += [a for a, name in named if name in table.reports]
    told = _told(image, table.error_streams)
    seldom_calls, blocks, ends = _dead_ends(image, np.array(never, np.uint64), told)
    seldom_sites = _before(sites, blocks, ends)
    begin = np.array([a for a, name in named if name in table.once_begin], np.uint64)
    end = np.array([a for a, name in named if name in table.once_end], np.uint64)
    ranges = _once_ranges(calls, begin, end)
    seldom_sites |= _between(sites["ip"], ranges)
    seldom_calls |= _between(calls["ip"], ranges)
    entries = _entries(image, named, dict(table.entries))
    functions = image.functions
    if len(entries):
        seldom_sites |= np.isin(sites["function"], entries)
        seldom_calls |= np.isin(calls["function"], entries)
        functions = functions.copy()
        functions["flags"][entries] |= np.uint32(FunctionFlag.COLD)
    return dataclasses.replace(
        image, functions=functions, sites=_raised(sites, seldom_sites), calls=_raised(calls, seldom_calls)
    )


def _raised(rows: Table, seldom: Bools) -> Table:
    if not seldom.any():
        return rows
    rows = rows.copy()
    rows["rarity"][seldom] = np.maximum(rows["rarity"][seldom], numbers.SELDOM)
    return rows


def _named(image: Image) -> list[tuple[int, str]]:
    """Address and name of every call target that has one."""
    rows = np.flatnonzero(image.functions["name"] >= 0)
    addresses = image.functions["address"][rows].tolist()
    own = zip(addresses, (image.names[i] for i in image.functions["name"][rows].tolist()), strict=True)
    return [*image.callee_names.items(), *own]


def _told(image: Image, streams: frozenset[str]) -> npt.NDArray[np.uint64]:
    """Blocks in which a stream for errors is named: what is written there is a message."""
    names = image.variables["name"]
    wanted = [i for i, name in enumerate(image.names) if name.partition("@")[0] in streams]
    at = image.variables["address"][np.isin(names, wanted)]
    sites, args = image.sites, image.args
    found = [_blocks(sites[np.isin(sites["target"], at)])]
    handed = np.isin(image.calls["ip"], args["ip"][np.isin(args["value"].astype(np.uint64), at)])
    found.append(_blocks(image.calls[handed]))
    return np.unique(np.concatenate(found))


def _dead_ends(
    image: Image, never: npt.NDArray[np.uint64], told: npt.NDArray[np.uint64]
) -> tuple[Bools, npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """Which calls lead to where nothing returns from, and (block, address of the call) of the blocks that do so.

    A function that comes to such a call whenever it runs does not return either; then its callers' ways are the rare
    ones.  What is called from one place, or works in loops before, is rather the program's work, which ends so.
    Blocks in which an error is ``told`` are alike, and all of such a block is.
    """
    calls = image.calls
    n = len(image.functions)
    row = function_at(image, calls["callee"])  # -1, the last of the masks below, for what is not of this image
    known = calls["function"] >= 0
    outside = np.flatnonzero(row < 0)
    dead = np.zeros(len(calls), bool)
    dead[outside] = np.isin(calls["callee"][outside], never)
    ends_all = np.zeros(n + 1, bool)
    ends_all[function_at(image, never)] = True
    ends_all[n] = False
    dead |= ends_all[row] | np.isin(_blocks(calls), told)
    short = np.bincount(row[row >= 0], minlength=n) > 1
    short[calls["function"][in_loop(calls["loop_depth"]) & known]] = False
    ends_all[:n] |= _end_their_callers(image, row) & short
    dead |= ends_all[row]
    first_of_all = (calls["rarity"] == 0) & known
    for _ in range(ROUNDS):
        enders = np.unique(calls["function"][dead & first_of_all])
        ends_all[enders[short[enders]]] = True
        fresh = dead | ends_all[row]
        if (fresh == dead).all():
            break
        dead = fresh
    chosen = dead & (calls["rarity"] > 0) & known
    block = _blocks(calls)
    order = np.lexsort((calls["ip"][chosen], block[chosen]))
    keys, ends = block[chosen][order], calls["ip"][chosen][order]
    last = np.append(keys[1:] != keys[:-1], True) if len(keys) else np.zeros(0, bool)
    keys, ends = keys[last], ends[last]
    ends = np.where(np.isin(keys, told), np.iinfo(np.uint64).max, ends)
    return chosen | _before(calls, keys, ends), keys, ends


def _end_their_callers(image: Image, row: Rows) -> Bools:
    """Functions behind several of whose calls nothing follows: a compiler leaves out what is never come to.

    ``row``: of the function that each call leads to, -1 for none of this image.
    """
    calls, functions = image.calls, image.functions
    known = ((functions["flags"] & FunctionFlag.FROM_CALLS) == 0) & (functions["size"] > 0)
    asked = np.flatnonzero((row >= 0) & (calls["function"] >= 0) & (calls["tail"] == 0))
    caller = calls["function"][asked]
    asked, caller = asked[known[caller]], caller[known[caller]]
    end = functions["address"][caller] + functions["size"][caller]
    last = (calls["ip"][asked] < end) & (end - calls["ip"][asked] <= numbers.CALL_BYTES)
    found: Bools = np.bincount(row[asked[last]], minlength=len(functions)) > 1
    return found


def _blocks(rows: Table) -> npt.NDArray[np.uint64]:
    """A number for each function's block; unknown functions share one that nothing is looked up by."""
    result: npt.NDArray[np.uint64] = (rows["function"].astype(np.int64) + 1).astype(np.uint64) << np.uint64(16)
    return result | rows["order"].astype(np.uint64)


def _before(rows: Table, blocks: npt.NDArray[np.uint64], ends: npt.NDArray[Any]) -> Bools:
    """Rows of these blocks up to the address at which the block's way ends."""
    if not len(blocks) or not len(rows):
        return np.zeros(len(rows), bool)
    wanted = _blocks(rows)
    at = np.minimum(np.searchsorted(blocks, wanted), len(blocks) - 1)
    result: Bools = (blocks[at] == wanted) & (rows["ip"] < ends[at])
    return result


def _once_ranges(calls: Table, begin: npt.NDArray[np.uint64], end: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Of guarded code: address of the call that begins it, and of the function's next one that ends it."""
    none = np.zeros((0, 2), np.uint64)
    if not len(begin) or not len(end):
        return none
    opens, closes = np.isin(calls["callee"], begin), np.isin(calls["callee"], end)
    rows = np.flatnonzero((opens | closes) & (calls["function"] >= 0))
    rows = rows[np.lexsort((calls["ip"][rows], calls["function"][rows]))]
    found: list[tuple[int, int]] = []
    opened: tuple[int, int] | None = None
    for row in rows.tolist():
        ip, function = int(calls["ip"][row]), int(calls["function"][row])
        if opens[row]:
            opened = (ip, function)
        elif opened is not None and opened[1] == function:
            found.append((opened[0], ip))
            opened = None  # a release ends it; what aborts stands apart
    return np.array(found, np.uint64) if found else none


def _between(ips: npt.NDArray[Any], ranges: npt.NDArray[np.uint64]) -> Bools:
    """Which addresses lie within a range."""
    order = np.argsort(ips, kind="stable")
    depth = np.zeros(len(ips) + 1, np.int64)
    np.add.at(depth, np.searchsorted(ips[order], ranges[:, 0], "right"), 1)
    np.add.at(depth, np.searchsorted(ips[order], ranges[:, 1], "left"), -1)
    inside = np.zeros(len(ips), bool)
    inside[order] = np.cumsum(depth[:-1]) > 0
    return inside


def _entries(image: Image, named: list[tuple[int, str]], wanted: dict[str, int]) -> Rows:
    """Functions that are passed to run once or at the end, directly or by functions that hand an argument on."""
    args, starts = image.args, image.functions["address"]
    asked = {(a, wanted[name]) for a, name in named if name in wanted}
    found: set[int] = set()
    seen: set[tuple[int, int]] = set()
    for _ in range(1 + numbers.ONCE_WRAPPERS):
        fresh = asked - seen
        seen |= fresh
        for address, number in fresh:
            rows = np.flatnonzero((args["callee"] == address) & (args["arg"] == number) & (args["function"] >= 0))
            for row in rows.tolist():
                if args["kind"][row] == ArgKind.ADDRESS:
                    at = int(np.searchsorted(starts, args["value"][row].astype(np.uint64)))
                    if at < len(starts) and int(starts[at]) == int(args["value"][row]):
                        found.add(at)
                elif args["kind"][row] == ArgKind.PARAM and args["value"][row] == 0:
                    asked.add((int(starts[args["function"][row]]), int(args["source"][row])))
    rows = np.array(sorted(found), np.int64)
    return rows[~np.isin(starts[rows], image.calls["callee"])]  # not those that are called by others as well
