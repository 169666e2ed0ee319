"""Functions that threads are seen to run on every round of their loops: their names say nothing against it.

Owns what entries of threads do by themselves, and what they call each time around.  Which words of names speak of code
that seldom runs is ``coldness``'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import distinct
from sharing.model.image import FunctionFlag, Image
from sharing.static import numbers
from sharing.static.callees import function_at
from sharing.static.edges import Edges
from sharing.static.executions import in_loop
from sharing.static.starts import Root

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def whole_work(image: Image, edges: Edges, roots: Sequence[Root]) -> Ints:
    """Functions that are all that a thread does: its entry makes one call, and neither loops nor makes another.

    An entry that loops itself is so where several such threads run at once, since no program starts several that clean
    up, and where nothing that its loops call can wait: a thread that cleans up waits for something to do.
    """
    loops, made = _looping(image), _calls_made(image)
    entries = [root for root in roots if root.function >= 0]
    found = {root.function for root in entries if root.many and loops[root.function]}
    front = {root.function for root in entries if root.name != "main"}
    if any(loops[row] for row in front - found):
        waits = _may_wait(image)
        found |= {row for row in front - found if loops[row] and not _waits_in_loops(edges, waits, row)}
    while front:
        single = [row for row in front if made[row] == 1 and not loops[row]]
        callees = {int(edges.callee[at]) for row in single for at in range(edges.start[row], edges.start[row + 1])}
        front = callees - found
        found |= front
    return np.array(sorted(found), np.int64)


def on_every_round(image: Image, edges: Edges, whole: Ints) -> Ints:
    """``whole`` work, and what its loops call each time around, with all that this calls on every run."""
    if not len(whole):
        return whole
    rarity = edges.made(image, np.arange(len(edges.caller)))["rarity"]
    always = rarity < numbers.EVERY_ROUND
    inside = np.zeros(edges.functions, bool)
    inside[whole] = True
    found = inside.copy()
    front = inside[edges.caller] & always & (edges.depth == 1)
    while front.any():
        fresh = np.zeros(edges.functions, bool)
        fresh[edges.callee[front]] = True
        fresh &= ~found
        found |= fresh
        front = fresh[edges.caller] & always
    return np.flatnonzero(found)


def _looping(image: Image) -> Bools:
    loops = np.zeros(len(image.functions) + 1, bool)  # the last one for -1
    for rows in (image.sites, image.calls):
        looped = in_loop(rows["loop_depth"])
        loops[rows["function"][looped]] = True
    function, head = image.blocks["function"], image.blocks["head"]
    loops[function[head != 0]] = True
    loops[-1] = False
    return loops


def _calls_made(image: Image) -> npt.NDArray[np.intp]:
    caller = image.calls["function"]
    return np.bincount(caller[caller >= 0], minlength=len(image.functions))


def _may_wait(image: Image) -> Bools:
    """Functions that call what is not in the image, or nobody knows what: anything may wait there."""
    callee = function_at(image, image.calls["callee"])
    unseen = callee < 0
    unseen[~unseen] = image.functions["flags"][callee[~unseen]] & FunctionFlag.STUB != 0
    caller = image.calls["function"][unseen]
    waits = np.zeros(len(image.functions), bool)
    waits[distinct(caller[caller >= 0])] = True
    return waits


def _waits_in_loops(edges: Edges, waits: Bools, row: int) -> bool:
    if waits[row]:
        return True
    called = slice(edges.start[row], edges.start[row + 1])
    inside = edges.callee[called][edges.depth[called] > 0]
    return bool((edges.reached_from(inside) & waits).any())
