"""Records of which one object is seen to be with several threads at one time, by how these come to it.

Owns when starts of threads are given the same object, which nothing names: what a call returned that is made once.  So
is, for all threads, the only object of its record in static storage (``alone``), where the program allocates none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from sharing.model.image import Image
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeTable
from sharing.static.allocations import allocating_calls, allocation
from sharing.static.callgraph import CallGraph
from sharing.static.handovers import Handover
from sharing.static.recordplaces import Place

SEVERAL = 2  # objects that are counted: of more nothing else is said


def started_alike(
    image: Image,
    calls: CallGraph,
    starts: Iterable[Handover],
    handed: Mapping[tuple[int, int], Place],
    returned: Mapping[tuple[int, int], int],
) -> frozenset[str]:
    """Records of which code that runs once starts several threads with one object.

    ``handed``: what a call is given as an argument; ``returned``: the function that returned that.
    """
    calls_by: dict[tuple[int, int], list[int]] = defaultdict(list)  # loops around calls of one function by another one
    at: dict[int, tuple[int, int]] = {}
    for ip, callee, function, depth in image.calls[["ip", "callee", "function", "loop_depth"]].tolist():
        calls_by[function, callee].append(depth)
        at[ip] = function, depth
    alike: dict[tuple[str, int, int], int] = defaultdict(int)
    for key in {one.given or (one.ip, one.argument) for one in starts}:
        where, maker = handed.get(key), returned.get(key, 0)
        function, depth = at.get(key[0], (-1, 0))
        # What one of several calls of a function returned, nothing tells from what another did.
        if where is None or where.offset or function < 0 or calls_by.get((function, maker)) != [0]:
            continue
        if calls.phases.starts_once(np.array([function]))[0]:
            alike[where.name, function, maker] += SEVERAL if depth else 1
    return frozenset(name for (name, _, _), number in alike.items() if number >= SEVERAL)


def static_objects(image: Image) -> dict[str, int]:
    """How many objects of each record have static storage, SEVERAL of those with more."""
    types, known = image.types, dict[int, dict[str, int]]()
    found: dict[str, int] = defaultdict(int)
    for row in image.variables["type"].tolist():
        for name, number in _within(types, row, known).items() if row >= 0 else ():
            found[name] = min(found[name] + number, SEVERAL)
    return dict(found)


def alone(image: Image, static: Mapping[str, int], sizes: Mapping[str, int]) -> set[str]:
    """Records of so many bytes of which the program has one object, in static storage, and allocates none."""
    found = {name for name in sizes if static.get(name) == 1}
    made = {allocation(image, ip)[0] for ip in allocating_calls(image)["ip"].tolist()} if found else set()
    return {name for name in found if sizes[name] not in made}


def _within(types: TypeTable, row: int, known: dict[int, dict[str, int]], depth: int = 0) -> Mapping[str, int]:
    """The records in an object of a type, itself among them."""
    core = types.strip(row)[0]
    if core < 0 or depth > MAX_DEPTH:
        return {}
    if core in known:
        return known[core]
    found: dict[str, int] = defaultdict(int)
    known[core] = found  # of a record that is within itself
    record = types[core]
    if record.kind == TypeKind.ARRAY:
        for name, number in _within(types, record.target, known, depth + 1).items():
            found[name] = min(number * (record.count if record.count > 0 else SEVERAL), SEVERAL)
    elif record.kind in RECORD_KINDS:
        found[types.record_name(row)] = 1
        for member in record.members:
            for name, number in _within(types, member.type, known, depth + 1).items():
                found[name] = min(found[name] + number, SEVERAL)
    return found
