"""Records that threads of one kind are handed one each: ``while (next()) me->packets++`` in a thread that got ``me``.

Owns which records these are, by the types that debug information gives the arguments of threads' entries, and an image
of one of each, or of two neighbours where it is lines long.  That such a record is the thread's own is told by plain
stores to it: without a lock they would be data races if threads shared it (whether locks are held says the judgement).
That two stand side by side is told by an allocation of so many bytes, or of several at once, that asks for no line of
its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

import msgspec
import numpy as np

from sharing.basics.columns import having
from sharing.model.arrays import among, picked
from sharing.model.image import HEAP_ALIGNMENT, WORD_HOLDER, AccessKind, ArgKind, Image, SiteFlag, Table, VariableFlag
from sharing.model.threadwords import is_own_word
from sharing.model.types import RECORD_KINDS, TypeKind, TypeTable
from sharing.static.allocations import allocating_calls, allocation
from sharing.static.callees import names_of_callees
from sharing.static.callgraph import CallGraph
from sharing.static.handedobjects import Told, with_lives
from sharing.static.handovers import NO_STRIDE
from sharing.static.heapimage import LaidOut, NamedTypes, ReadRecords, row_named
from sharing.static.recordobjects import Reached, behind_arguments, behind_holders, passed_on
from sharing.static.startobjects import function_of, holder_of, is_argument, is_frame

_NEIGHBOURS = 2  # elements of the array that stands for all
_WRITES = (AccessKind.STORE, AccessKind.RMW)


def own_records(
    image: Image, calls: CallGraph, handed: Mapping[str, int], reached: Reached, read: ReadRecords
) -> Image | None:
    """The image with each such record behind the sections, of its accesses those to these alone; None where there are
    none.  ``handed``: what threads are."""
    in_arrays = _static_elements(image)
    masks = changed_plainly(calls, handed, reached)
    reached = _with_all(reached)
    masks = {name: mask for name, mask in masks.items() if name in in_arrays or name not in reached.static}
    named = read(sorted(masks)) if masks else NamedTypes(TypeTable(), ())
    line = image.arch.line_size
    rows = {name: row for name in masks if (row := row_named(named.types, name)) >= 0}
    short = {
        name: row for name, row in rows.items() if named.types.size(row) % line and named.types.alignment(row) < line
    }
    beside = _side_by_side(image, {named.types.size(row) for row in short.values()}) if short else set()
    kept = {name: row for name, row in short.items() if name in in_arrays or named.types.size(row) in beside}
    return _laid_out(image, calls, reached, named, kept, masks) if kept else None


def handed_one_each(image: Image, calls: CallGraph, told: Told, reached: Reached) -> dict[str, int]:
    """The records that threads are handed of which several of one kind run at once, and the roots of these."""
    reached = _with_all(reached)
    several = [
        (1 << at, root.function)
        for at, root in enumerate(calls.roots)
        if root.function >= 0 and root.name != "main" and calls.concurrent(1 << at, 1 << at)
    ]
    functions = image.functions["address"]
    looped = image.calls["loop_depth"] > 0
    again = set(image.calls["ip"][looped].tolist())  # what these make are several
    one = {
        (handed.entry, handed.parameter)
        for handed in told.handed
        if handed.data is not None and holder_of(handed.data) not in again
    }
    found: dict[str, int] = {}
    for bit, entry in several:
        lives = with_lives(image, {entry})
        behind = passed_on(image, behind_arguments(image, reached.places), lives)
        for (row, argument), (name, offset) in behind.items():
            if row in lives and not offset and (int(functions[row]), argument) not in one:
                found[name] = found.get(name, 0) | bit
        for holder, (name, offset) in behind_holders(image, reached.places).items():
            if _is_word(holder) and function_of(holder) in lives and not offset and holder not in told.words:
                found[name] = found.get(name, 0) | bit
    return found


def changed_plainly(calls: CallGraph, handed: Mapping[str, int], reached: Reached) -> dict[str, int]:
    """Those of the records that the threads which are handed one change by plain stores: each its own."""
    reached = _with_all(reached)
    return {name: mask for name, mask in handed.items() if _is_changed(reached, calls, name, mask)}


def _with_all(reached: Reached) -> Reached:
    """With what is done to records in static storage as well."""
    sites, at = reached.uncut
    return msgspec.structs.replace(reached, sites=sites, places=msgspec.structs.replace(reached.places, at=at))


def _static_elements(image: Image) -> set[str]:
    """Records of which arrays have static storage, but those of which code is seen to change a thread's own element."""
    sites, types = image.sites, image.types
    seen = sites["target"][sites["flags"] & SiteFlag.OWN != 0]
    known = {row for row in image.variables_at(np.unique(seen)).tolist() if row >= 0}
    found, told = set[str](), set[str]()
    for row in np.flatnonzero(image.variables["type"] >= 0).tolist():
        core = types.strip(int(image.variables["type"][row]))[0]
        waiting = [core] if core >= 0 else []
        while waiting:
            at = waiting.pop()
            record = types[at]
            inner = [record.target] if record.kind == TypeKind.ARRAY else [m.type for m in record.members]
            for kind in inner if record.kind == TypeKind.ARRAY or record.kind in RECORD_KINDS else ():
                part = types.strip(kind)[0]
                if part >= 0 and (record.kind == TypeKind.ARRAY and types[part].kind in RECORD_KINDS):
                    (told if row in known else found).add(types.record_name(kind))
                elif part >= 0 and at == core:
                    waiting.append(part)
    return found - told


def _is_word(holder: int) -> bool:
    """Whether this is what a word leads to of the object that a function is handed."""
    return bool(holder & WORD_HOLDER) and not is_argument(holder) and not is_frame(holder) and not is_own_word(holder)


def _is_changed(reached: Reached, calls: CallGraph, name: str, mask: int) -> bool:
    """Whether these threads change it in a loop, by plain stores."""
    sites, places = reached.sites, reached.places.at
    plain = among(sites["kind"], _WRITES) & (sites["flags"] & SiteFlag.ATOMIC == 0)
    plain &= (calls.mask[sites["function"]] & mask) != 0
    return any(places[ip].name == name and places[ip].exact for ip in sites["ip"][plain].tolist())


def _side_by_side(image: Image, sizes: Collection[int]) -> set[int]:
    """Those sizes of objects of which the program allocates several at once, or one after another with nothing large
    between them, that need not begin at a line."""
    line = image.arch.line_size
    found, at_lines = set[int](), set[int]()
    for calls in _allocating(image):
        asked = [allocation(image, ip)[:2] for ip in calls["ip"].tolist()]
        arrays = _elements_asked_for(image, calls)
        for size in sizes:
            if any(not alignment or alignment >= line for many, alignment in asked if size <= many < 2 * size):
                at_lines.add(size)
            one = [many == size for many, _ in asked]
            between = any(not many or many >= line for many, _ in asked if many != size)
            several = any(many > size and not many % size for many, _ in asked)
            if size in arrays or (not between if any(one) else several):
                found.add(size)
    return found - at_lines


def _allocating(image: Image) -> list[Table]:
    """Calls that allocate, those together that a function makes equally often."""
    calls = allocating_calls(image)
    keys = calls["function"].astype(np.int64) << 8 | calls["loop_depth"]
    return [calls[keys == key] for key in np.unique(keys).tolist()]


def _elements_asked_for(image: Image, calls: Table) -> set[int]:
    """Sizes of elements of which one of these calls asks for a number that it computes: ``calloc(n, size)``."""
    args = picked(image.args, having(image.args, "ip", calls["ip"]) & (image.args["kind"] == ArgKind.CONSTANT))
    named = names_of_callees(image, args["callee"])
    args = args[np.array([name.endswith("calloc") for name in named], bool)]
    counted = args["ip"][args["arg"] == 0]
    return set(args["value"][(args["arg"] == 1) & ~among(args["ip"], counted)].tolist())


def _laid_out(
    image: Image,
    calls: CallGraph,
    reached: Reached,
    named: NamedTypes,
    rows: Mapping[str, int],
    masks: Mapping[str, int],
) -> Image:
    laid = LaidOut(image, named)
    line = image.arch.line_size
    begin, size = {}, {name: named.types.size(row) for name, row in rows.items()}
    for name, row in rows.items():
        many = _NEIGHBOURS if size[name] >= line else 1
        kind = laid.types.array(row, many) if many > 1 else laid.types.row(row)
        alignment = max(HEAP_ALIGNMENT, named.types.alignment(row))
        begin[name] = laid.add(reached.places.shown(name), many * size[name], alignment, VariableFlag.TYPED, kind, row)
    places = reached.places.at
    sites = reached.sites
    told = [
        (one := places[ip]).name in begin and one.exact and one.offset < size[one.name] for ip in sites["ip"].tolist()
    ]
    found: Table = sites[np.array(told, bool)].copy()
    at = [places[ip] for ip in found["ip"].tolist()]
    found["target"] = np.array([begin[one.name] + one.offset for one in at], np.uint64)
    found["stride"] = np.array([min(size[one.name], NO_STRIDE) for one in at], np.int64)
    flags = found["flags"]
    flags &= np.uint8(SiteFlag.ATOMIC | SiteFlag.CLEARS | SiteFlag.BITMAP)
    flags |= np.uint8(SiteFlag.INDEXED)
    own = np.array([masks[one.name] for one in at], calls.mask.dtype) & calls.mask[found["function"]] != 0
    flags[own] |= np.uint8(SiteFlag.OWN)
    return dataclasses.replace(laid.image(), sites=found, given=())
