"""Functions that run once or as good as never by what they are for: what ends a program, signal handlers, logs.

Owns which functions these are.  What that makes of the places in them, and of calls that
lead there, is ``rarecode``'s.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, having
from sharing.basics.ways import block_of
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, ArgKind, Image, Table
from sharing.static import numbers
from sharing.static.callees import functions_called
from sharing.static.executions import in_loop

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Addresses = npt.NDArray[np.uint64]


class Logs(msgspec.Struct, frozen=True):
    """Functions that write to a log: those that ``always`` do, and those that look first whether they should."""

    always: Bools
    asked: Bools


def log_functions(image: Image, formats: Addresses, logs: Addresses, locks: Addresses, told: Bools) -> Logs:
    """Functions that make a text of their arguments and write it to a log or to a stream for errors.

    Or keep it under a lock of the whole program, for all of whose texts there is one place.  ``told``: calls of ways on
    which an error is told.  A log is written by the function itself or by one that it calls.
    """
    callee, args = image.calls["callee"], image.args
    makes = among(callee, formats)
    writes = calls_made(image, among(callee, logs)) > 0
    keeping = args["function"][having(args, "callee", locks) & (args["kind"] == ArgKind.ADDRESS)]
    writes |= np.bincount(keeping[keeping >= 0], minlength=len(writes)) > 0
    writes |= calls_made(image, np.append(writes, False)[functions_called(image)]) > 0
    found = (calls_made(image, makes & told) > 0) | ((calls_made(image, makes) > 0) & writes)
    always = calls_made(image, makes & (image.calls["rarity"] < numbers.EVERY_ROUND)) > 0
    return Logs(found & always, found & ~always)


def speakers(image: Image, formats: Addresses, telling: Bools, told: Addresses) -> Bools:
    """Functions that write a text of their arguments to a stream that they are handed, of which one is that for errors.

    Who writes there as well as elsewhere speaks to people.  What leads to such a call may be what the program is there
    to say: of that nothing is told.  ``telling``: calls where the stream for errors is named; ``told``: all blocks that
    name it: after one that makes no call, another one may that loads nothing: ``say(quiet ? stderr : stdout)``.
    """
    calls, args = image.calls, image.args
    handed = having(args, "callee", formats) & (args["arg"] == 0) & (args["kind"] == ArgKind.PARAM)
    handed &= (args["function"] >= 0) & (args["value"] == 0)
    found = np.zeros(len(image.functions) + 1, bool)
    found[args["function"][handed]] = True
    found[-1] = False
    if not found.any():
        return found[:-1]
    makes = having(calls, "ip", args["ip"][handed]) & (calls["rarity"] < numbers.EVERY_ROUND)
    found[:-1] &= calls_made(image, makes) > 0
    row = functions_called(image)
    if len(apart := told[~among(told, block_of(calls))]):
        sites = image.sites
        chooses = sites["function"][among(block_of(sites), apart)]
        loads = block_of(picked(sites, (sites["kind"] == AccessKind.LOAD) & having(sites, "function", chooses)))
        telling = telling | (having(calls, "function", chooses[chooses >= 0]) & ~among(block_of(calls), loads))
    called = row[telling]
    result: Bools = found[:-1] & (np.bincount(called[called >= 0], minlength=len(image.functions)) > 0)
    return result


def keepers(image: Image, asks: Addresses, prepares: Addresses) -> Bools:
    """Functions that keep the number of an error which a call of their caller left, under a lock perhaps.

    ``asks`` say where that number is.  Who calls anything that may fail asks what that left, or puts the number back
    behind it; who keeps nothing may be asked each time whether to try again.
    """
    calls = image.calls
    asked = having(calls, "callee", asks)
    found: Bools = calls_made(image, asked & (calls["rarity"] < numbers.EVERY_ROUND)) > 0
    if not found.any():
        return found
    found &= calls_made(image, ~(asked | having(calls, "callee", prepares))) == 0
    found &= among(image.functions["address"], distinct_in(calls, "callee"))
    keeps = np.zeros(len(found), np.int64)
    for rows in (image.sites, image.params):
        mine = rows["function"] >= 0
        stores = mine & among(rows["kind"], (AccessKind.STORE, AccessKind.RMW))
        keeps += np.bincount(rows["function"][stores], minlength=len(found))
        found &= np.bincount(rows["function"][mine & in_loop(rows["loop_depth"])], minlength=len(found)) == 0
    result: Bools = found & (keeps > 0)
    return result


def tellers(image: Image, telling: Bools, prepares: Addresses) -> Bools:
    """Functions that tell of an error, or of little more, and do nothing else, by themselves or by others that do so.

    ``telling``: calls that write to a stream or log for errors; ``prepares`` make the text, or keep others away.
    Not what looks first whether it should write: that is called on all ways, to be heard on request.
    """
    calls, sites = image.calls, image.sites
    stores = among(sites["kind"], (AccessKind.STORE, AccessKind.RMW)) & in_loop(sites["loop_depth"])
    works = np.bincount(sites["function"][stores & (sites["function"] >= 0)], minlength=len(image.functions)) > 0
    possible = ~works & among(image.functions["address"], distinct_in(calls, "callee"))
    called, quiet = functions_called(image), having(calls, "callee", prepares)
    found: Bools = np.zeros(len(image.functions) + 1, bool)  # the last one for -1
    while True:
        tells = telling | found[called]
        only = calls_made(image, ~(tells | quiet)) == 0
        fresh: Bools = possible & only & (calls_made(image, tells & (calls["rarity"] < numbers.EVERY_ROUND)) > 0)
        if (fresh == found[:-1]).all():
            return fresh
        found[:-1] = fresh


def that_only_end(image: Image, endings: Bools, telling: Bools, prepares: Addresses) -> Bools:
    """Functions that do nothing but end the program or the thread: count that, say why, and do not come back.

    ``endings``: calls that nothing comes back from; ``telling`` and ``prepares`` are those of ``tellers``.  What works
    in a loop, or calls anything else, may be what a program is there for, and ends with it.
    """
    calls, found = image.calls, np.zeros(len(image.functions), bool)
    if not endings.any():
        return found
    found = calls_made(image, endings & (calls["rarity"] == 0) & ~in_loop(calls["loop_depth"])) > 0
    found &= among(image.functions["address"], distinct_in(calls, "callee"))
    found &= calls_made(image, ~(endings | telling | having(calls, "callee", prepares))) == 0
    for rows in (image.sites, image.params, calls):
        looped = (rows["function"] >= 0) & in_loop(rows["loop_depth"])
        found &= np.bincount(rows["function"][looped], minlength=len(found)) == 0
    return found


def asked_by_arguments(image: Image, telling: Bools, prepares: Addresses) -> Bools:
    """Functions that tell of an error if what they are handed says so, as a level, and do nothing else.

    ``telling`` and ``prepares`` are those of ``tellers``.  One that reads anything before is heard on request.
    """
    calls, told = image.calls, block_of(image.calls[telling])
    other = ~(telling | having(calls, "callee", prepares))
    works = calls_made(image, other) > 0
    for rows in (image.sites, image.params):
        apart = (rows["function"] >= 0) & ~among(block_of(rows), told)
        works |= np.bincount(rows["function"][apart], minlength=len(works)) > 0
    tells = telling & (calls["rarity"] >= numbers.EVERY_ROUND) & ~in_loop(calls["loop_depth"])
    found: Bools = (calls_made(image, tells) > 0) & ~works
    return found


def calls_made(image: Image, rows: Bools) -> Rows:
    """By function how many of these calls it makes."""
    callers = image.calls["function"][rows] + 1  # of what is in no function 0
    return np.bincount(callers, minlength=len(image.functions) + 1)[1:]


def handed_over_to(image: Image, asked: set[tuple[int, int]]) -> Rows:
    """Functions that are passed as one of these arguments (callee, argument), directly or by those that hand it on."""
    args, starts = image.args, image.functions["address"]
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
    return _uncalled(image, np.array(sorted(found), np.int64))


def installed(image: Image, installs: Addresses, prepares: Addresses) -> Rows:
    """Functions whose address is taken right before a record with it is handed over, and which nobody calls."""
    calls, sites = image.calls, image.sites
    where = having(sites, "function", calls["function"][having(calls, "callee", installs)])
    taken = picked(sites, where & (sites["kind"] == AccessKind.ADDRESS))
    row = np.searchsorted(image.functions["address"], taken["target"])
    safe = np.minimum(row, len(image.functions) - 1)
    own = image.functions["address"][safe] == taken["target"]
    taken, row = taken[own], row[own]
    if not len(taken):
        return np.zeros(0, np.int64)
    others = _by_place(calls[having(calls, "function", taken["function"]) & ~having(calls, "callee", prepares)])
    if not len(others):
        return np.zeros(0, np.int64)
    ips, taking = others["ip"], taken["ip"]
    at = np.minimum(np.searchsorted(ips, taking, "right"), len(others) - 1)
    follows = (others["function"][at] == taken["function"]) & among(others["callee"][at], installs)
    return _uncalled(image, distinct(row[follows]))


def installed_by_callers(image: Image, installs: Addresses, prepares: Addresses) -> Rows:
    """Functions that are handed to one which puts such an argument into a record that it hands over, and nowhere else.

    Most programs have one: ``my_signal(SIGTERM, stop)``.  Of an argument that the wrapper neither keeps nor hands on
    nor calls there is nothing else that it can do with it.
    """
    calls, args, kept = image.calls, image.args, image.kept
    known = (calls["function"] >= 0) & (calls["rarity"] <= numbers.EACH_TIME)
    wrappers = distinct(calls["function"][known & having(calls, "callee", installs)])
    wrappers = wrappers[~among(wrappers, calls["function"][calls["callee"] == 0])]
    if not len(wrappers):
        return np.zeros(0, np.int64)
    on = picked(args, (args["kind"] == ArgKind.PARAM) & having(args, "function", wrappers))
    on = on[~among(on["callee"], np.concatenate([installs, prepares]))]
    held = picked(kept, (kept["value"] == 0) & having(kept, "function", wrappers))
    used = {*_pairs(on["function"], on["source"]), *_pairs(held["function"], held["arg"])}
    taken = picked(
        args, (args["kind"] == ArgKind.ADDRESS) & having(args, "callee", image.functions["address"][wrappers])
    )
    row = np.searchsorted(image.functions["address"], np.append(taken["value"], taken["callee"]).astype(np.uint64))
    handler, wrapper = np.split(np.minimum(row, len(image.functions) - 1), 2)
    own = image.functions["address"][handler] == taken["value"].astype(np.uint64)
    own &= np.array([pair not in used for pair in _pairs(wrapper, taken["arg"])], bool)
    return _uncalled(image, distinct(handler[own]))


def _pairs(functions: npt.NDArray[np.integer], arguments: npt.NDArray[np.integer]) -> list[tuple[int, int]]:
    return list(zip(functions.tolist(), arguments.tolist(), strict=True))


def _by_place(calls: Table) -> Table:
    """By address; those of a binary nearly always are."""
    ip = calls["ip"]
    return calls[np.argsort(ip, kind="stable")] if (ip[1:] < ip[:-1]).any() else calls


def _uncalled(image: Image, rows: Rows) -> Rows:
    """Those of these functions that no other calls as well."""
    return rows[~among(image.functions["address"][rows], image.calls["callee"])]
