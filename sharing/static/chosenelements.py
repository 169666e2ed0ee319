"""Small elements of arrays behind pointers, of which code chooses one: ``image->marks[tile] = 1``.

Owns which arrays these are, by the types that debug information gives the pointers, and an image of one element of each
with the accesses to it.  An array counts where all threads that use it must have the same one: a static pointer leads
to it, or a member of an object that has a lock or an atomic, which is made for several threads, and is not handed to
one thread each.  So do arrays of atomics.  What a loop goes through from element to element is no choice: of threads
that each go through a part, two share a line at the ends of these alone.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Set

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among
from sharing.model.image import HEAP_ALIGNMENT, AccessKind, Image, SiteFlag, Table, VariableFlag
from sharing.model.types import TypeTable
from sharing.static.callgraph import CallGraph
from sharing.static.heapimage import LaidOut, NamedTypes, ReadRecords, row_named
from sharing.static.ownrecords import changed_plainly
from sharing.static.recordobjects import Reached
from sharing.static.recordplaces import ChosenElement

_WRITES = (AccessKind.STORE, AccessKind.RMW)


def chosen_elements(
    image: Image, calls: CallGraph, reached: Reached, handed: Mapping[str, int], read: ReadRecords, knowledge: Knowledge
) -> Image | None:
    """The image with an element of each such array behind the sections, of its accesses those to these alone; None
    where there are none.  ``handed``: records of which threads of one kind are handed one each, as far as types tell.

    What such a thread changes by plain stores is its own, and so is a number that it finds there.
    """
    atomic = _changed_atomically(reached)
    arrays = _written(image, calls, reached, handed, atomic)
    every = [one for array in arrays.values() for one in array.values()]
    names = sorted(({one.holder for one in every} | {one.record for one in every}) - {""})
    named = read(names) if names else NamedTypes(TypeTable(), ())
    shared = {name for name in names if name in atomic or _is_for_several(named.types, name, knowledge)} | {""}
    kept = {}
    own = set[int]()
    masks = calls.mask[reached.asked["function"]].tolist()
    for name, array in arrays.items():
        is_atomic = any(one.atomic or reached.asked["flags"][row] & SiteFlag.ATOMIC for row, one in array.items())
        numbered = {row for row, one in array.items() if _by_thread(one, handed, masks[row])}
        own |= numbered
        mine = {row: one for row, one in array.items() if is_atomic or numbered or one.holder in shared}
        if mine:
            kept[name] = mine
    return _laid_out(image, reached, named, kept, own) if kept else None


def _written(
    image: Image, calls: CallGraph, reached: Reached, handed: Mapping[str, int], atomic: Set[str]
) -> dict[str, dict[int, ChosenElement]]:
    """By the name of each array that threads change what is accessed, by row of the sites that were asked for."""
    sites, chosen = reached.asked, reached.places.chosen
    own = changed_plainly(calls, handed, reached).keys() - _changed_by_kinds(calls, reached, atomic)
    arrays: dict[str, dict[int, ChosenElement]] = defaultdict(dict)
    changed = set[str]()
    for row, (ip, function, kind) in enumerate(sites[["ip", "function", "kind"]].tolist()):
        one = chosen.get(ip)
        if one is None or one.walks or one.size >= image.arch.line_size:
            continue
        if own & {one.holder, one.record} and not _by_thread(one, handed, int(calls.mask[function])):
            continue
        name = one.name(reached.places)
        arrays[name][row] = one
        if kind in _WRITES and calls.mask[function]:
            changed.add(name)
    return {name: array for name, array in arrays.items() if name in changed}


def _by_thread(one: ChosenElement, handed: Mapping[str, int], mask: int) -> bool:
    """Whether threads choose the element by a number in what each of them is handed."""
    return bool(mask) and any(not mask & ~handed.get(name, 0) for name in one.by)


def _changed_by_kinds(calls: CallGraph, reached: Reached, atomic: Set[str]) -> set[str]:
    """Records with atomics or locks that threads of several kinds change."""
    sites, places = reached.uncut
    threads = sum(1 << at for at, root in enumerate(calls.roots) if root.name != "main")
    written = sites[among(sites["kind"], _WRITES)]
    kinds: dict[str, int] = defaultdict(int)
    masks = calls.mask[written["function"]]
    for ip, mask in zip(written["ip"].tolist(), masks.tolist(), strict=True):
        kinds[places[ip].name] |= mask & threads
    return {name for name, mask in kinds.items() if name in atomic and mask.bit_count() > 1}


def _changed_atomically(reached: Reached) -> set[str]:
    """Records in which code changes something by atomic operations, or takes a lock.

    Not those that are handed over otherwise, as what a thread is started with is.
    """
    sites, places = reached.uncut
    atomic = sites["ip"][sites["flags"] & SiteFlag.ATOMIC != 0]
    found = {places[ip].name for ip in atomic.tolist() if places[ip].exact}
    handed = reached.places.handed
    return found | {handed[key].name for key in reached.locks[["ip", "arg"]].tolist() if key in handed}


def _is_for_several(types: TypeTable, name: str, knowledge: Knowledge) -> bool:
    """Whether a record has a lock or an atomic."""
    row = row_named(types, name)
    for leaf in types.flatten(row) if row >= 0 else ():
        words = (*leaf.via, leaf.type_name)
        tables = (knowledge.lock_types, knowledge.atomic_types)
        if leaf.is_atomic or any(table.find(one) >= 0 for one in words for table in tables):
            return True
    return False


def _laid_out(
    image: Image,
    reached: Reached,
    named: NamedTypes,
    arrays: Mapping[str, Mapping[int, ChosenElement]],
    own: Set[int],
) -> Image | None:
    laid = LaidOut(image, named)
    line = image.arch.line_size
    rows: list[int] = []
    targets: list[int] = []
    strides: list[int] = []
    atomic: list[bool] = []
    for name, array in arrays.items():
        size = max(one.size for one in array.values())
        record = next(iter(array.values())).record
        row = row_named(named.types, record) if record else -1
        alignment = named.types.alignment(row) if row >= 0 else min(size, HEAP_ALIGNMENT)
        if not line % size and alignment >= line:
            continue
        flags = VariableFlag.TYPED if row >= 0 else 0
        many = size * max(one.count for one in array.values()) or size
        begin = laid.add(name, many, max(HEAP_ALIGNMENT, alignment), flags, laid.types.row(row), row)
        for at, one in array.items():
            rows.append(at)
            targets.append(begin + one.offset)
            strides.append(size)
            atomic.append(one.atomic)
    found: Table = reached.asked[rows].copy()
    found["target"] = np.array(targets, np.uint64)
    found["stride"] = np.array(strides, np.uint16)
    how = found["flags"]
    how &= np.uint8(SiteFlag.ATOMIC | SiteFlag.CLEARS | SiteFlag.BITMAP | SiteFlag.OWN)
    how |= np.uint8(SiteFlag.INDEXED)
    how[np.array(atomic, bool)] |= np.uint8(SiteFlag.ATOMIC)
    how[np.array([row in own for row in rows], bool)] |= np.uint8(SiteFlag.OWN)
    return dataclasses.replace(laid.image(), sites=found, given=()) if rows else None
