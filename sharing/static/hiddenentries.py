"""Thread entries that a function chooses among several, by ``i ? reader : writer`` or from a table of roles.

Owns what may arrive at a call whose argument is not followed: functions whose addresses the caller makes and that go
out of sight there, and those in tables that it reads at an index.  Where the caller does neither nothing is found.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, rows_having, those_having
from sharing.model.arrays import among, picked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, SiteFlag, SlotKind
from sharing.static.callees import Argument, function_at
from sharing.static.pointercalls import KeptFunctions
from sharing.static.slotnumbers import argument_slot

MAX_ENTRIES = 64  # of one table: no program has so many kinds of threads


def hidden_entries(image: Image, callees: npt.NDArray[np.uint64], wanted: set[Argument]) -> list[tuple[int, int]]:
    """(row of a function, row of the call) of what may be handed over at a ``wanted`` argument that is not known.

    ``callees`` are the called addresses that ``wanted`` speaks of by index.
    """
    calls, args = image.calls, image.args
    asked = callees[[callee for callee, _ in wanted if callee >= 0]]
    told = those_having(args, "ip", calls["ip"][having(calls, "callee", asked)])
    told = picked(told, (told["kind"] == ArgKind.ADDRESS) | (told["kind"] == ArgKind.PARAM))
    known = set(zip(told["ip"].tolist(), told["arg"].tolist(), strict=True))
    found: list[tuple[int, int]] = []
    for callee, argument in sorted(wanted):
        if callee < 0:
            continue
        for call in rows_having(calls, "callee", callees[callee]).tolist():
            if calls["function"][call] >= 0 and (int(calls["ip"][call]), argument) not in known:
                found += [(row, call) for row in _candidates(image, int(calls["function"][call]))]
    return found


def _candidates(image: Image, function: int) -> list[int]:
    """Rows of functions that this one may choose among."""
    kept = picked(image.kept, (image.kept["function"] == function) & (image.kept["slot"] == SlotKind.UNKNOWN))
    rows = set(function_at(image, kept["value"]).tolist())
    sites = those_having(image.sites, "function", function)
    read = (sites["kind"] == AccessKind.LOAD) & (sites["stride"] > 0)
    read &= (sites["flags"] & SiteFlag.INDEXED != 0) & (sites["size"] == image.arch.pointer_size)
    for site in sites[read]:
        rows.update(_in_table(image, int(site["target"]), int(site["stride"])))
        rows.update(_put_in_table(image, int(site["target"])))
    taken = image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN != 0
    return [row for row in sorted(rows) if row >= 0 and taken[row]]


def _in_table(image: Image, begin: int, stride: int) -> list[int]:
    """Functions whose addresses stand there one after another, so many bytes apart."""
    slots = np.arange(begin, begin + stride * MAX_ENTRIES, stride, dtype=np.uint64)
    there = among(slots, image.code_words["slot"])
    end = int(np.argmin(there)) if not there.all() else len(slots)
    words = image.code_words[among(image.code_words["slot"], slots[:end])]
    rows: list[int] = function_at(image, words["value"]).tolist()
    return rows


def _put_in_table(image: Image, begin: int) -> set[int]:
    """Functions that code stores in elements of the table, or hands to what stores them there."""
    sites, kept = image.sites, image.kept
    stores = picked(sites, (sites["target"] == begin) & (sites["kind"] == AccessKind.STORE))
    there = those_having(kept, "ip", stores["ip"][stores["flags"] & SiteFlag.INDEXED != 0])
    if not len(there):
        return set()
    rows = set(function_at(image, there["value"][there["value"] != 0]).tolist())
    handed = picked(there, there["value"] == 0)
    arguments = {argument_slot(*one) for one in handed[["function", "arg"]].tolist()}
    return rows.union(*KeptFunctions(image).at(arguments).values())
