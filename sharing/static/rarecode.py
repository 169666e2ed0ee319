"""Code that runs once or as good as never: behind a once flag, on ways to where nothing returns or errors are told.

Owns which places these are, by the calls that a function makes; it says so by their ``rarity``, so that all passes that
weigh accesses and calls see it.  The names stand in ``sharing/knowledge/rare.json``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, those_having
from sharing.basics.ways import block_of
from sharing.knowledge import Knowledge, read_table
from sharing.model.arrays import among, copied, distinct, union
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, Table
from sharing.static import rarefunctions
from sharing.static.administration import administrators, called_by_seldom_code
from sharing.static.callees import function_at, functions_called
from sharing.static.everysite import every_site, raised, with_sites
from sharing.static.executions import in_loop
from sharing.static.firstuse import first_uses
from sharing.static.foreign import calls_that_sleep
from sharing.static.lifeonce import prepared_once
from sharing.static.optioncode import option_code
from sharing.static.sections import within
from sharing.static.settingcode import SettingNames, setting_code

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Addresses = npt.NDArray[np.uint64]

STANDARD_ERROR = 2  # the number of the file for errors (POSIX, unistd.h)
ROUNDS = 12  # of functions that do not return because what they call does not


class RareTable(msgspec.Struct, frozen=True):
    """What does not return, what code between runs once, (function, argument) of what runs once or at the end.

    ``reports`` are functions that tell of errors, ``error_streams`` objects that such messages are written to;
    ``error_numbers`` say where the number of the last error is.
    ``formats`` make a text of a list of arguments, ``logs`` write to the log of the system,
    ``descriptors`` to the file that their first argument numbers.  What ``messages`` begins, or ends in ``$``, makes a
    message and does nothing else.  ``installs`` are handed
    a record with a signal's handler, which ``prepares`` fill.  ``text_locks`` take a lock, as who keeps messages does.
    ``compares`` compare texts, ``opens`` open a
    file by its name, ``reads_lines`` read what it says and ``makes_numbers`` keep it, as numbers or texts, which
    ``gives_back`` ends, ``environment`` reads variables of the process, ``options`` tell the next option of a command
    line.  In ``read_mostly_sections`` a kernel
    keeps what it declares to be hardly ever written.  ``administration`` are types of its tables of settings, of
    parameters, of what is shown of them and told of changes; ``shown_by`` make files of a table that an administrator
    reads.
    """

    never_return: frozenset[str]
    never_return_prefixes: tuple[str, ...]
    reports: frozenset[str]
    error_streams: frozenset[str]
    error_numbers: frozenset[str]
    once_begin: frozenset[str]
    once_end: frozenset[str]
    entries: tuple[tuple[str, int], ...]
    formats: frozenset[str]
    logs: frozenset[str]
    descriptors: frozenset[str]
    messages: tuple[str, ...]
    installs: frozenset[str]
    prepares: frozenset[str]
    text_locks: frozenset[str]
    read_mostly_sections: frozenset[str]
    compares: frozenset[str]
    opens: frozenset[str]
    reads_lines: frozenset[str]
    makes_numbers: frozenset[str]
    gives_back: frozenset[str]
    environment: frozenset[str]
    options: frozenset[str]
    administration: frozenset[str]
    shown_by: frozenset[str]


@functools.cache
def _table() -> RareTable:
    return read_table("rare.json", RareTable)


def with_rarity(image: Image, knowledge: Knowledge | None = None) -> Image:
    """The image with the rarity of places raised that run once or never.

    1. ways into functions that do not return, and on which errors are told; 2. between the ends of a once guard;
    3. entries of once functions, signal handlers, exit handlers, logs and administration, which are marked as cold;
    4. what is set by options or the environment (``optioncode``), or by a file of settings (``settingcode``); 5. code
    behind a variable that it alone sets (``firstuse``), but for what a thread lives in (``lifeonce``), as far as
    ``knowledge`` tells entries; 6. writes of data that is declared to be hardly ever written.
    """
    calls, sites = image.calls, every_site(image)
    if not len(image.functions):
        return image
    table = _table()
    named = _named(image)
    by_name: dict[str, list[int]] = {}
    for address, name in named:
        by_name.setdefault(name, []).append(address)

    def of(names: frozenset[str]) -> npt.NDArray[np.uint64]:
        return np.array([a for name in sorted(names) for a in by_name.get(name, ())], np.uint64)

    told = union(_told(image, named, table.error_streams), _written_errors(image, of(table.descriptors)))
    telling = among(block_of(calls), told)
    logs = rarefunctions.log_functions(image, of(table.formats), of(table.logs), of(table.text_locks), telling)
    telling |= having(calls, "callee", of(table.reports | table.logs))
    prepares = _preparing(named)
    always, handed = _tellers(image, prepares, telling, of(table.error_numbers))
    thrown = [address for address, name in named if name.startswith(table.never_return_prefixes)]
    never = np.append(of(table.never_return), np.array(thrown, np.uint64))
    always |= logs.always | rarefunctions.that_only_end(image, having(calls, "callee", never), telling, prepares)
    telling_ones = np.append(of(table.reports), image.functions["address"][always])
    handed |= having(calls, "callee", telling_ones)
    seldom_calls, blocks, ends, endless = _dead_ends(image, np.append(never, telling_ones), told, handed)
    seldom_sites = _before(sites, blocks, ends)
    option_sites, option_calls = _set_by_users(image, sites, of, table)
    seldom_sites |= option_sites
    seldom_calls |= option_calls
    asked = np.append(logs.asked, False)
    seldom_sites |= asked[sites["function"]] & (sites["rarity"] > 0)
    seldom_calls |= asked[calls["function"]] & (calls["rarity"] > 0)
    alone = _for_the_end_alone(image, endless) | rarefunctions.speakers(image, of(table.formats), telling, told)
    entries = _entries(image, of, np.flatnonzero(always | alone))
    functions = image.functions
    if len(entries):
        seldom_sites |= having(sites, "function", entries)
        seldom_calls |= having(calls, "function", entries)
        functions = copied(functions)
        functions["flags"][entries] |= np.uint32(FunctionFlag.COLD)
    once = prepared_once(image, knowledge, first_uses(image, functions))
    once = np.concatenate([once, _once_ranges(calls, of(table.once_begin), of(table.once_end))])
    seldom_sites |= _between(sites["ip"], once)
    seldom_sites[: len(image.sites)] |= _writes_declared_rare(image, table.read_mostly_sections)
    seldom_calls |= _between(calls["ip"], once)
    seldom_calls &= ~calls_that_sleep(image)  # a loop that also tells of errors sleeps all the same
    params = image.params
    seldom_params = _before(params, blocks, ends) | _between(params["ip"], once)
    seldom_params |= (asked[params["function"]] & (params["rarity"] > 0)) | having(params, "function", entries)
    found = with_sites(image, raised(sites, seldom_sites))
    calls, params = raised(calls, seldom_calls), raised(params, seldom_params)
    found = dataclasses.replace(found, functions=functions, calls=calls, params=params)
    return _marked(found, called_by_seldom_code(found, found.calls))


def _set_by_users(
    image: Image, sites: Table, of: Callable[[frozenset[str]], Addresses], table: RareTable
) -> tuple[Bools, Bools]:
    """Which accesses and calls do what options, the environment or a file of settings say."""
    compares = of(table.compares)
    found, calls = option_code(image, sites, compares, of(table.environment), of(table.options))
    reads = of(table.opens), of(table.reads_lines), compares, of(table.makes_numbers), of(table.gives_back)
    set_so, asked = setting_code(image, sites, SettingNames(*reads))
    return found | set_so, calls | asked


def _entries(image: Image, of: Callable[[frozenset[str]], Addresses], known: Rows) -> Rows:
    """Functions that run once or seldom by what is handed to whom, besides those that are ``known`` to."""
    table = _table()
    handed = {(a, number) for wanted, number in table.entries for a in of(frozenset({wanted})).tolist()}
    entries = union(rarefunctions.handed_over_to(image, handed), known)
    records = of(table.installs), of(table.prepares)
    entries = union(entries, rarefunctions.installed(image, *records))
    entries = union(entries, rarefunctions.installed_by_callers(image, *records))
    return union(entries, administrators(image, table.administration, of(table.shown_by)))


def _marked(image: Image, rows: Rows) -> Image:
    """The image with these functions cold, and all in them seldom."""
    if not len(rows):
        return image
    functions = image.functions.copy()
    functions["flags"][rows] |= np.uint32(FunctionFlag.COLD)
    tables = every_site(image), image.calls, image.params
    sites, calls, params = (raised(table, having(table, "function", rows)) for table in tables)
    return dataclasses.replace(with_sites(image, sites), functions=functions, calls=calls, params=params)


def _writes_declared_rare(image: Image, names: frozenset[str]) -> Bools:
    """Who wrote the declaration knows how often; an estimate of functions that anybody may call does not."""
    inside = within(image.sites["target"], [section for section in image.sections if section.name in names])
    return inside & among(image.sites["kind"], (AccessKind.STORE, AccessKind.RMW))


def _named(image: Image) -> list[tuple[int, str]]:
    """Address and name of every call target that has one."""
    rows = np.flatnonzero(image.functions["name"] >= 0)
    addresses = image.functions["address"][rows].tolist()
    own = zip(addresses, (image.names[i] for i in image.functions["name"][rows].tolist()), strict=True)
    return [*image.callee_names.items(), *own]


def _told(image: Image, named: list[tuple[int, str]], streams: frozenset[str]) -> npt.NDArray[np.uint64]:
    """Blocks in which a stream for errors is named: what is written there is a message.

    It is a variable of this file, copied there by the loader, or another file's.
    """
    wanted = [i for i, name in enumerate(image.names) if (name.partition("@")[0] if "@" in name else name) in streams]
    copied = image.variables["address"][among(image.variables["name"], wanted)]
    imported = np.array([a for a, name in named if name in streams], np.uint64)
    at = np.concatenate([copied, imported])
    sites, args = image.sites, image.args
    found = [block_of(sites[among(sites["target"], at)])]
    handed = having(image.calls, "ip", args["ip"][among(args["value"].astype(np.uint64), at)])
    found.append(block_of(image.calls[handed]))
    return distinct(np.concatenate(found))


def _written_errors(image: Image, descriptors: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Blocks in which the file of errors is written by its number."""
    args = image.args
    written = having(args, "callee", descriptors) & (args["arg"] == 0) & (args["kind"] == ArgKind.CONSTANT)
    found = args["ip"][written & (args["value"] == STANDARD_ERROR)]
    return distinct(block_of(those_having(image.calls, "ip", found)))


def _preparing(named: list[tuple[int, str]]) -> Addresses:
    """Functions that make the text of a message, or keep others away meanwhile."""
    table = _table()
    whole = frozenset(name[:-1] for name in table.messages if name.endswith("$")) | table.formats
    begins = tuple(name for name in table.messages if not name.endswith("$"))
    return np.array([address for address, name in named if name in whole or name.startswith(begins)], np.uint64)


def _tellers(image: Image, prepares: Addresses, telling: Bools, errors: Addresses) -> tuple[Bools, Bools]:
    """As of ``rarefunctions.tellers``, and of ``keepers`` of numbers at ``errors``.

    And the calls that hand a number to one that asks for it, on branches.  Which numbers are heard is not
    seen.  A program writes few calls in vain.
    """
    kept = rarefunctions.keepers(image, errors, prepares)
    if not telling.any():
        return kept, telling
    calls, args = image.calls, image.args
    always = rarefunctions.tellers(image, telling, prepares)
    asked = np.append(rarefunctions.asked_by_arguments(image, telling, prepares) & ~always, False)
    handed = asked[functions_called(image)] & (calls["rarity"] > 0)
    if handed.any():
        handed &= having(calls, "ip", args["ip"][args["kind"] == ArgKind.CONSTANT])
    return always | kept, handed


def _dead_ends(
    image: Image, never: npt.NDArray[np.uint64], told: npt.NDArray[np.uint64], handed: Bools
) -> tuple[Bools, npt.NDArray[np.uint64], npt.NDArray[Any], Bools]:
    """Which calls lead to where nothing returns from, (block, address of the call) of the blocks that do so, and the
    functions behind whose calls the compiler put nothing.

    A function that comes to such a call whenever it runs does not return either; then its callers' ways are the rare
    ones.  What is called from one place, or works in loops before, is rather the program's work, which ends so.
    Blocks in which an error is ``told``, or ``handed`` by these calls to what tells it and comes back, are alike, and
    all of such a block is: what failed is counted before or behind.
    """
    calls = image.calls
    n = len(image.functions)
    row = functions_called(image)  # -1, the last of the masks below, for what is not of this image
    known = calls["function"] >= 0
    outside = np.flatnonzero(row < 0)
    dead = np.zeros(len(calls), bool)
    dead[outside] = among(calls["callee"][outside], never)
    ends_all = np.zeros(n + 1, bool)
    ends_all[function_at(image, never)] = True
    ends_all[n] = False
    dead |= ends_all[row] | among(block_of(calls), told) | handed
    short = np.bincount(row[row >= 0], minlength=n) > 1
    short[calls["function"][in_loop(calls["loop_depth"]) & known]] = False
    endless = _end_their_callers(image, row) & short
    ends_all[:n] |= endless
    dead |= ends_all[row]
    first_of_all = (calls["rarity"] == 0) & known
    for _ in range(ROUNDS):
        enders = distinct(calls["function"][dead & first_of_all])
        ends_all[enders[short[enders]]] = True
        fresh = dead | ends_all[row]
        if (fresh == dead).all():
            break
        dead = fresh
    chosen = dead & ((calls["rarity"] > 0) | (among(block_of(calls), told) & in_loop(calls["loop_depth"]))) & known
    block = block_of(calls)
    order = np.lexsort((calls["ip"][chosen], block[chosen]))
    keys, ends = block[chosen][order], calls["ip"][chosen][order]
    last = np.append(keys[1:] != keys[:-1], True) if len(keys) else np.zeros(0, bool)
    keys, ends = keys[last], ends[last]
    ends = np.where(among(keys, union(told, block_of(calls[handed]))), np.iinfo(np.uint64).max, ends)
    return chosen | _before(calls, keys, ends), keys, ends, endless


def _end_their_callers(image: Image, row: Rows) -> Bools:
    """Functions behind several of whose calls nothing follows, not even a return: a compiler leaves out what is never
    come to.

    ``row``: of the function that each call leads to, -1 for none of this image.
    """
    calls, functions = image.calls, image.functions
    known = ((functions["flags"] & FunctionFlag.FROM_CALLS) == 0) & (functions["size"] > 0)
    asked = np.flatnonzero((row >= 0) & (calls["function"] >= 0) & (calls["tail"] == 0))
    caller = calls["function"][asked]
    asked, caller = asked[known[caller]], caller[known[caller]]
    end = functions["address"][caller] + functions["size"][caller]
    first = calls["ip"][asked] == functions["address"][caller]  # what traces entries, alone in an empty function
    last = (calls["ip"][asked] + calls["where"][asked] == end) & ~first
    found: Bools = np.bincount(row[asked[last]], minlength=len(functions)) > 1
    return found


def _for_the_end_alone(image: Image, endless: Bools) -> Bools:
    """Functions that do not return, and what only they call: their messages, their traces of the stack."""
    calls = image.calls
    row = functions_called(image)
    known = (row >= 0) & (calls["function"] >= 0)
    caller, callee = calls["function"][known], row[known]
    entered = (image.functions["flags"] & (FunctionFlag.ADDRESS_TAKEN | FunctionFlag.EXPORTED)) != 0
    called = np.bincount(callee, minlength=len(endless)) > 0
    found = endless.copy()
    for _ in range(ROUNDS):
        others = np.bincount(callee[~found[caller] & (caller != callee)], minlength=len(endless)) > 0
        fresh = found | (called & ~others & ~entered)
        if (fresh == found).all():
            break
        found = fresh
    return found


def _before(rows: Table, blocks: npt.NDArray[np.uint64], ends: npt.NDArray[Any]) -> Bools:
    """Rows of these blocks up to the address at which the block's way ends."""
    if not len(blocks) or not len(rows):
        return np.zeros(len(rows), bool)
    wanted = block_of(rows)
    at = np.minimum(np.searchsorted(blocks, wanted), len(blocks) - 1)
    result: Bools = (blocks[at] == wanted) & (rows["ip"] < ends[at])
    return result


def _once_ranges(calls: Table, begin: npt.NDArray[np.uint64], end: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """[begin, end) of guarded code: from the call that begins it to the function's next one that ends it."""
    none = np.zeros((0, 2), np.uint64)
    if not len(begin) or not len(end):
        return none
    opens, closes = having(calls, "callee", begin), having(calls, "callee", end)
    rows = np.flatnonzero((opens | closes) & (calls["function"] >= 0))
    rows = rows[np.lexsort((calls["ip"][rows], calls["function"][rows]))]
    found: list[tuple[int, int]] = []
    opened: tuple[int, int] | None = None
    for row in rows.tolist():
        ip, function = int(calls["ip"][row]), int(calls["function"][row])
        if opens[row]:
            opened = (ip, function)
        elif opened is not None and opened[1] == function:
            found.append((opened[0] + 1, ip))
            opened = None  # a release ends it; what aborts stands apart
    return np.array(found, np.uint64) if found else none


def _between(ips: npt.NDArray[Any], ranges: npt.NDArray[np.uint64]) -> Bools:
    """Which addresses lie in a range [begin, end)."""
    order = np.argsort(ips, kind="stable")
    depth = np.zeros(len(ips) + 1, np.int64)
    np.add.at(depth, np.searchsorted(ips[order], ranges[:, 0], "left"), 1)
    np.add.at(depth, np.searchsorted(ips[order], ranges[:, 1], "left"), -1)
    inside = np.zeros(len(ips), bool)
    inside[order] = np.cumsum(depth[:-1]) > 0
    return inside
