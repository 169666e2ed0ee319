"""Code in front of the event loop that a thread lives in: it prepares, once, however many rounds its loops go.

Owns which places these are.  A function of a library that runs events until the program ends is a life by itself:
``for (i = 0; i < n; i++) watch(loop, i); ev_run(loop, 0);``.  What is done in loops in front of it counts elsewhere as
what a thread does all the time.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, having, rows_having
from sharing.basics.ways import points
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct
from sharing.model.image import Image, Table
from sharing.static.callees import functions_called, names_of_callees
from sharing.static.everysite import every_site, raised, with_sites
from sharing.static.executions import in_loop
from sharing.static.roots import main_roots
from sharing.static.starts import created

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


def with_rare_preparations(image: Image, knowledge: Knowledge) -> Image:
    """The image with the rarity raised of what entries of threads do in front of an event loop that they call once.

    1. accesses in loops there; 2. calls there of functions of the image, which have loops of their own, but for those
    that start or end threads.  An event loop in a loop is run one event after the other: what is in front is its work.
    """
    calls = image.calls
    running = _event_loops(image, knowledge)
    running = running[~in_loop(calls["loop_depth"][running]) & (calls["function"][running] >= 0)]
    if not len(running):
        return image
    mains = {root.function for root in main_roots(image)}
    roots, _ = created(image, knowledge, mains)
    entries = mains | {root.function for root in roots}
    running = running[among(calls["function"][running], sorted(entries))]
    if not len(running):
        return image
    caller = calls["function"][running]
    where = [calls[running[caller == row]] for row in distinct(caller).tolist()]
    sites, params = every_site(image), image.params
    kept = [
        at for at, name in image.callee_names.items() if knowledge.starts_thread(name) or knowledge.joins_thread(name)
    ]
    prepares = _in_front(image, calls, where) & (functions_called(image) >= 0) & ~having(calls, "callee", kept)
    found = with_sites(image, raised(sites, _in_front(image, sites, where) & in_loop(sites["loop_depth"])))
    params = raised(params, _in_front(image, params, where) & in_loop(params["loop_depth"]))
    return dataclasses.replace(found, calls=raised(calls, prepares), params=params)


def _event_loops(image: Image, knowledge: Knowledge) -> Rows:
    """Rows of the calls that run a library's events."""
    callees = distinct_in(image.calls, "callee")
    callees = callees[callees != 0]
    loops = callees[knowledge.event_loops(names_of_callees(image, callees))]
    return rows_having(image.calls, "callee", loops)


def _in_front(image: Image, rows: Table, loops: list[Table]) -> Bools:
    """Which of these lead to an event loop of their function; ``loops`` are the calls, by function."""
    found = np.zeros(len(rows), bool)
    for there in loops:
        mine = np.flatnonzero(rows["function"] == there["function"][0])
        found[mine] = points(image, there).behind(points(image, rows[mine])).any(axis=0)
    return found
