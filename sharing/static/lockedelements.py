"""Arrays on the heap whose elements have a lock each, by the types that debug information gives pointers to them.

Owns which records are such elements, a call that takes a lock at a computed index so many bytes from the next says so,
and an image of an array of two of each with the accesses and calls that reach them.  Where one begins nothing says: of
elements that are whole lines long it may be at a line, and they are left out.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct
from sharing.model.image import (
    HEAP_ALIGNMENT,
    ArgKind,
    Image,
    SiteFlag,
    Table,
    VariableFlag,
)
from sharing.model.types import TypeTable
from sharing.static.callees import names_of_callees
from sharing.static.callgraph import CallGraph
from sharing.static.handovers import NO_STRIDE
from sharing.static.heapimage import LaidOut, NamedTypes, ReadRecords, row_named
from sharing.static.heaprecords import offsets
from sharing.static.recordobjects import Reached
from sharing.static.startobjects import offset_of

_NEIGHBOURS = 2  # elements of the array that stands for all


def locked_elements(
    image: Image, calls: CallGraph, reached: Reached, read: ReadRecords, knowledge: Knowledge
) -> Image | None:
    """The image with an array of each such record behind the sections, of its accesses those to these alone; None where
    there are none."""
    locks = _indexed_locks(image, calls, knowledge)
    used = reached.sites[among(reached.sites["function"], locks["function"])]
    places = reached.places.at
    beside: dict[int, dict[str, bool]] = defaultdict(dict)  # by function the records there, and whether at an index
    for ip, function, flags in used[["ip", "function", "flags"]].tolist():
        name = places[ip].name
        beside[function][name] = beside[function].get(name, False) or bool(flags & SiteFlag.INDEXED)
    names = sorted({name for records in beside.values() for name in records})
    named = read(names) if names else NamedTypes(TypeTable(), ())
    rows = {name: row for name in names if (row := row_named(named.types, name)) >= 0}
    taken: dict[str, list[int]] = defaultdict(list)
    for at, lock in enumerate(locks):
        records = {name: rows[name] for name in beside[int(lock["function"])] if name in rows}
        offset = offset_of(int(lock["value"]))
        told = [name for name, row in records.items() if _has_lock(named.types, row, offset, knowledge)]
        exact = [name for name in told if named.types.size(rows[name]) == lock["source"]]
        # Of an index that is multiplied by a sum of powers of two the scan knows one of these.
        found = exact or [name for name in told if beside[int(lock["function"])][name]]
        if len(found) == 1:
            taken[found[0]].append(at)
    line = image.arch.line_size
    kept = {
        name: locks[taken[name]]
        for name, row in rows.items()
        if taken[name] and named.types.size(row) % line and named.types.alignment(row) < line
    }
    return _laid_out(image, reached, named, rows, kept) if kept else None


def _has_lock(types: TypeTable, row: int, offset: int, knowledge: Knowledge) -> bool:
    """Whether a record has a lock so many bytes into it, or into one of an array of such."""
    size = types.size(row)
    if size <= 0:
        return False
    # The leaf is a lock's first word, and around it are the types that knowledge names.
    leaves = (leaf for leaf in types.flatten(row) if leaf.offset == offset % size)
    return any(knowledge.lock_types.find(name) >= 0 for leaf in leaves for name in (*leaf.via, leaf.type_name))


def _indexed_locks(image: Image, calls: CallGraph, knowledge: Knowledge) -> Table:
    """Arguments that lead to a lock of an array behind a pointer, at a computed index; ``source`` is its stride."""
    args = np.concatenate([image.behind.args, image.behind.word_args])
    step, function = args["source"], args["function"]
    args = args[(step > 0) & (step < NO_STRIDE) & (function >= 0)]
    function = args["function"]
    args = args[(calls.mask[function] != 0) & ~calls.cold[function]]
    callees = distinct(args["callee"])
    names = names_of_callees(image, callees)
    takers = {
        (int(callees[at]), arg) for at in knowledge.lock_callees(names) for arg, *_ in knowledge.lock_calls(names[at])
    }
    kept = [(callee, arg) in takers for callee, arg in args[["callee", "arg"]].tolist()]
    result: Table = args[np.array(kept, bool)]
    return result


def _laid_out(
    image: Image,
    reached: Reached,
    named: NamedTypes,
    rows: Mapping[str, int],
    locks: Mapping[str, Table],
) -> Image:
    laid = LaidOut(image, named)
    begin: dict[str, int] = {}
    args = []
    for name, taken in locks.items():
        row = rows[name]
        size, alignment = named.types.size(row), max(HEAP_ALIGNMENT, named.types.alignment(row))
        two = laid.types.array(row, _NEIGHBOURS)
        begin[name] = address = laid.add(name, _NEIGHBOURS * size, alignment, VariableFlag.TYPED, two, row)
        mine = taken.copy()
        mine["kind"], mine["source"] = ArgKind.ADDRESS, min(size, NO_STRIDE)
        mine["value"] = address + offsets(mine["value"].astype(np.uint64)).astype(np.int64) % size
        args.append(mine)
    every = np.concatenate([image.args, *args])
    return dataclasses.replace(
        laid.image(),
        sites=_sites(reached, begin, {name: named.types.size(rows[name]) for name in locks}),
        args=every[np.argsort(every["ip"], kind="stable")],
        given=(),
    )


def _sites(reached: Reached, begin: Mapping[str, int], size: Mapping[str, int]) -> Table:
    """What is done to such records, each time to one that the code chose."""
    places = reached.places.at
    told = [
        (name := places[ip].name) in begin and places[ip].offset < size[name] for ip in reached.sites["ip"].tolist()
    ]
    found: Table = reached.sites[np.array(told, bool)].copy()
    at = [places[ip] for ip in found["ip"].tolist()]
    found["target"] = np.array([begin[one.name] + one.offset for one in at], np.uint64)
    found["stride"] = np.array([size[one.name] for one in at], np.int64)
    found["flags"] &= np.uint8(SiteFlag.ATOMIC | SiteFlag.CLEARS | SiteFlag.BITMAP)
    found["flags"] |= np.uint8(SiteFlag.INDEXED)
    return found
