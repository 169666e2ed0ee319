"""Sections of a parallel region of OpenMP: which code of a region's function is one section, and which is another.

Owns that pattern.  Compilers make one loop of ``#pragma omp sections``: each round asks for the number of a section and
branches to it.  Sections run at the same time on different threads, and each of them once: a section meets all others
and never itself.  Each has a bit of its own in the masks of roots (``stretches``), as ways of life have (``lifearms``).
GCC's runtime library hands out the numbers; clang's threads go round a loop over theirs, and the call in front of it
says so in the place in source that it is handed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sharing.basics.columns import those_having
from sharing.basics.ways import Mirrors, points
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import ArgKind, Image, Table
from sharing.model.ways import Points
from sharing.static.callees import names_of_callees
from sharing.static.executions import in_loop
from sharing.static.lifearms import LifeArms, arms_apart, columns, share

MAX_PLACES = 1024  # of one region, which are compared with each other

# Which argument is the number of sections, -1 where none is (libgomp 4.5 to 14, sections.c).
SECTION_COUNTS = {
    "GOMP_sections_start": 0,
    "GOMP_sections2_start": 0,
    "GOMP_parallel_sections": 3,
    "GOMP_sections_next": -1,
}


def section_arms(image: Image, function: int) -> LifeArms | None:
    """None where this function, in which threads begin, has no sections, or they cannot be told."""
    mine = those_having(image.calls, "function", function)
    ips: list[int] = mine["ip"].tolist()
    called = dict(zip(ips, names_of_callees(image, mine["callee"]), strict=True))
    asking = mine[[called[ip] in SECTION_COUNTS or ip in image.signs.sections for ip in ips]]
    if not len(asking):
        return None
    known = among(asking["ip"], list(image.signs.sections)).all()
    counts = _counts(image, function, asking)
    for places in _dispatched(image, asking):
        arms = arms_apart(places, points(image, asking)) if 1 < len(places.order) <= MAX_PLACES else None
        if arms is not None and (known or max(arms.arms) + 1 in counts):
            return arms
    return None


def _dispatched(image: Image, asking: Table) -> Iterator[Points]:
    """What is in the loops that ask for sections, or in the one that follows the call that does: one place a block,
    first of all blocks that are on some ways only, then of those alone that use memory or call.

    A section begins with a block of its own, but so may the tests for two of three sections.
    """
    mirrors, function = Mirrors(image), int(asking["function"][0])
    looped = asking[in_loop(asking["loop_depth"])]
    loops = mirrors.loops(looped) if len(looped) else mirrors.loops(asking)[:1] + 1
    names = ["ip", "function", "order", "loop_depth"]
    rows = [
        picked(table, table["function"] == function) for table in (image.sites, image.behind.elsewhere, image.calls)
    ]
    every = np.concatenate([table[names].copy() for table in rows])
    every = picked(every, in_loop(every["loop_depth"]) & among(mirrors.loops(every), loops))
    every = every[~among(every["ip"], asking["ip"])]
    places = every["order"]
    _, first = np.unique(places, return_index=True)
    used = points(image, every[np.sort(first)])
    blocks = picked(image.blocks, image.blocks["function"] == function)
    blocks = picked(
        blocks, among(mirrors.loops(blocks), loops) & ~among(blocks["order"], np.append(used.order, asking["order"]))
    )
    order, mirror = (blocks[name].astype(np.int64) for name in ("order", "mirror"))
    empty = Points(order, mirror, np.zeros(len(blocks), np.int64))
    led = share(empty, used, points(image, asking)).any(axis=1)  # to what is used: a way out is in no section
    yield Points(*(np.append(one, other[led]) for one, other in zip(columns(used), columns(empty), strict=True)))
    yield used


def _counts(image: Image, function: int, asking: Table) -> set[int]:
    """How many sections a region has by the calls that begin it."""
    args = picked(image.args, image.args["kind"] == ArgKind.CONSTANT)
    callees = distinct(args["callee"])
    named = dict(zip(callees.tolist(), names_of_callees(image, callees), strict=True))
    starting = picked(image.args, (image.args["kind"] == ArgKind.ADDRESS) & (image.args["arg"] == 0))
    started = starting["ip"][starting["value"] == np.int64(image.functions["address"][function])]
    args = args[among(args["ip"], np.concatenate([asking["ip"], started]))]
    return {int(one["value"]) for one in args if SECTION_COUNTS.get(named[int(one["callee"])], -1) == int(one["arg"])}
