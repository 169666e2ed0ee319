"""Small records of which a program has many side by side, whatever leads threads to the one that each changes.

Owns which records these are, and the image in which each update is of an element of its own.  A loop that no thread
runs allocates them one after the other with nothing large between them, or they are elements of an array of which code
takes single ones.  That a thread has others than its neighbour tell plain stores under no lock by several threads: to
one object these would be data races (whether locks are held says the judgement).
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Set

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, ArgKind, Image, SiteFlag
from sharing.model.types import TypeKind, TypeTable
from sharing.static.allocations import allocating_calls, allocation
from sharing.static.callees import names_of_callees
from sharing.static.callgraph import CallGraph
from sharing.static.recordobjects import Reached, RecordObjects
from sharing.static.waitingrounds import loops_of


def many_records(
    image: Image, calls: CallGraph, reached: Reached, records: RecordObjects, knowledge: Knowledge
) -> Image | None:
    """The image of ``records`` with the accesses to such alone; None where there are none."""
    laid = records.image
    rows = laid.variables[len(image.variables) :]
    length = rows["size"]
    rows = rows[(length > 0) & (length < image.arch.line_size)]
    rows = rows[[not _is_open(laid.types, kind) for kind in rows["type"].tolist()]]
    chosen = reached.places.chosen
    walked = {ip for ip, one in chosen.items() if one.walks}  # of threads that go through a part, two meet at its ends
    updating = _updated_at_once(calls, laid) & ~among(laid.sites["ip"], np.array(sorted(walked), np.uint64))
    targets = np.unique(laid.sites["target"][updating])
    start, length = rows["address"], rows["size"]
    held = np.searchsorted(targets, start) < np.searchsorted(targets, start + length)
    names = [laid.names[name].removeprefix("struct ") for name in rows["name"].tolist()]
    elements = {one.record for one in chosen.values() if one.record and not one.walks}
    elements |= {one.name for ip, one in reached.uncut[1].items() if not one.exact and ip not in walked}
    sizes: list[int] = length.tolist()
    alone = Counter(size for name, size in zip(names, sizes, strict=True) if name not in elements)
    beside = set[int]()
    if held.any():
        beside = _side_by_side(image, calls, alone.keys(), image.arch.line_size) | _started_with(image, knowledge)
    kept = [
        (address, size)
        for name, (address, size), busy in zip(names, rows[["address", "size"]].tolist(), held.tolist(), strict=True)
        if busy and name not in reached.static and (name in elements or (size in beside and alone[size] == 1))
    ]
    return _with_elements(laid, updating, kept) if kept else None


def _started_with(image: Image, knowledge: Knowledge) -> set[int]:
    """Bytes of elements of arrays that threads are started with, each with the one of another number."""
    args = np.concatenate([image.args, image.behind.args, image.behind.word_args])
    step, kind = args["source"], args["kind"]
    args = args[(step > 0) & (kind != ArgKind.PARAM)]
    callees = distinct(args["callee"])
    named = zip(callees.tolist(), names_of_callees(image, callees), strict=True)
    starters = np.array([at for at, name in named if name and knowledge.thread_start(name) is not None], np.uint64)
    return set(args["source"][among(args["callee"], starters)].tolist())


def _is_open(types: TypeTable, kind: int) -> bool:
    """Whether the record ends in an array of no size: its objects are larger, by how much each its own."""
    core = types.strip(kind)[0]
    last = types.strip(types[core].members[-1].type)[0] if core >= 0 and types[core].members else -1
    return last >= 0 and types[last].kind == TypeKind.ARRAY and types[last].count <= 0


def _threads(calls: CallGraph) -> int:
    """Those that are seen to start: who else may call what a library does has objects of its own, or a lock."""
    return sum(1 << at for at, root in enumerate(calls.roots) if root.function >= 0 and root.name != "main")


def _updated_at_once(calls: CallGraph, laid: Image) -> npt.NDArray[np.bool_]:
    """Which accesses are plain ones by which threads, several at once, go on from what is there, and nobody else looks.

    What others look at is handed on, as a message is: who changes it next, and who its neighbour, nothing says.
    """
    threads = _threads(calls)
    sites = laid.sites
    function, target = sites["function"], sites["target"]
    masks = calls.mask[function]
    targets, place = np.unique(target, return_inverse=True)
    users = np.zeros(len(targets), masks.dtype)
    np.bitwise_or.at(users, place, masks)
    anybody = sum(1 << at for at, root in enumerate(calls.roots) if root.function < 0 and root.name != "main")
    mine = (masks & masks.dtype.type(anybody) == 0) & (masks & masks.dtype.type(threads) != 0)
    mine &= sites["flags"] & SiteFlag.ATOMIC == 0
    key = place * (len(laid.functions) + 1) + function
    read = mine & among(sites["kind"], (AccessKind.LOAD, AccessKind.RMW))
    written = mine & among(sites["kind"], (AccessKind.STORE, AccessKind.RMW))
    updating = mine & among(key, key[read]) & among(key, key[written])
    kinds: dict[int, set[int]] = defaultdict(set)
    for at, mask in zip(place[updating].tolist(), masks[updating].tolist(), strict=True):
        kinds[at].add(mask)
    at_once = [
        at for at, by in kinds.items() if any(calls.concurrent(one & threads, other) for one in by for other in by)
    ]
    updating &= among(place, np.array(at_once, np.int64))
    changing = np.zeros(len(targets), masks.dtype)
    np.bitwise_or.at(changing, place[updating], masks[updating])
    alone = users & ~changing & masks.dtype.type(threads) == 0
    found: npt.NDArray[np.bool_] = updating & alone[place]
    return found


def _side_by_side(image: Image, calls: CallGraph, sizes: Set[int], line: int) -> set[int]:
    """Those sizes that one call alone allocates, in a loop that no thread runs, with nothing large between."""
    threads = _threads(calls)
    made = allocating_calls(image)
    asked = {ip: allocation(image, ip)[:2] for ip in made["ip"].tolist()}
    often = Counter(size for size, _ in asked.values())
    looped = picked(made, made["loop_depth"] > 0)
    looped = looped[[not int(calls.mask[row]) & threads for row in looped["function"].tolist()]]
    loops: dict[tuple[object, int], list[int]] = defaultdict(list)
    columns = (looped["ip"].tolist(), looped["loop_depth"].tolist(), loops_of(image, looped))
    for ip, depth, loop in zip(*columns, strict=True):
        loops[loop, depth].append(ip)
    alone = [asked[ip] for run in loops.values() if all(0 < asked[ip][0] < line for ip in run) for ip in run]
    return {size for size, alignment in alone if size in sizes and often[size] == 1 and alignment < line}


def _with_elements(laid: Image, updating: npt.NDArray[np.bool_], kept: Iterable[tuple[int, int]]) -> Image:
    """The image with the accesses to these objects (address, size) alone, updates each of the thread's own element."""
    sites = laid.sites
    strides = np.zeros(len(sites), np.uint16)
    for address, size in kept:
        strides[(sites["target"] >= address) & (sites["target"] < address + size)] = size
    found = sites[strides > 0].copy()
    mine = updating[strides > 0]
    found["stride"] = np.where(mine, strides[strides > 0], 0)
    found["flags"][mine] |= np.uint8(SiteFlag.INDEXED | SiteFlag.OWN)
    return dataclasses.replace(laid, sites=found)
