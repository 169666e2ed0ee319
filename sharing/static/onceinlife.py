"""What a thread does once in its life: it stands in code that the thread runs once, outside of the loops it lives in.

Owns which accesses these are.  A worker clears a flag that stops it and then goes round its loop, or adds up what it
did once it has left it: such a store takes the line from nobody, says nothing of what belongs together, and makes no
counter or flag of what all others read alone.  Threads are started as seldom as ``startloops`` says.  Where a thread
has no loop, such code is all that it does, and it may be started again and again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, picked
from sharing.model.image import AccessKind, Image, SiteFlag, Table, ZeroRange
from sharing.static.callgraph import CallGraph
from sharing.static.executions import in_loop
from sharing.static.perthread import Threads

Bools = npt.NDArray[np.bool_]
Masks = npt.NDArray[np.uint64]


def once_in_life(image: Image, graph: CallGraph, rows: Table, mask: Masks) -> Bools:
    """Which of these accesses each of the threads that make them, ``mask``, makes once while it lives.

    Nothing is said of functions that may be entered from where no direct call shows it, or where how often each thread
    runs what is not known; nor of what a callee does, on locks and through arguments, which may be in its loops.
    """
    if graph.by_thread is None:
        return np.zeros(len(rows), bool)
    lives = _run_once(image, graph, graph.by_thread)
    function = rows["function"]
    here = (rows["flags"] & SiteFlag.VIA_CALL == 0) & ~in_loop(rows["loop_depth"])
    found: Bools = here & (mask != 0) & (mask & ~lives[function] == 0)
    return found


def _run_once(image: Image, graph: CallGraph, threads: Threads) -> Masks:
    """By function the roots that run it once and go round a loop besides.

    Not main, which may do so while other threads work: of what it sets then they may ask for each time around.
    """
    n = len(image.functions)
    lives, loops = np.zeros(n, np.uint64), np.zeros(n, bool)
    for table in (image.sites, image.behind.elsewhere, image.calls):
        known = table["function"] >= 0
        loops[table["function"][known & in_loop(table["loop_depth"])]] = True
    # Of many the last ones share a bit, and have no row: of what they run nothing is said.
    for at, (root, once) in enumerate(zip(graph.roots, threads.once, strict=False)):
        if root.function >= 0 and root.name != "main" and (once & loops).any():
            lives[once] |= np.uint64(1 << at)
    entries = {root.function for root in graph.roots if root.function >= 0}
    hidden = graph.entered.copy()
    for entry in entries:
        callers = graph.callers(entry)
        hidden[entry] = any(int(graph.mask[one] & ~lives[one]) for one in callers)
    lives[hidden] = 0
    return lives


def latched(image: Image, graph: CallGraph, rows: Table, mask: Masks, seldom: Bools) -> Bools:
    """Which stores set a variable for good that the threads which do so ask each time around: ``stop = 1;``.

    Once it is set, what they do is to leave, and nothing but ``seldom`` code takes it back: all others store one
    number, so that a second store would change nothing.  ``rows`` are in the order of their targets.
    """
    found = np.zeros(len(rows), bool)
    if graph.by_thread is None:
        return found
    changes = among(rows["kind"], (AccessKind.STORE, AccessKind.RMW)) & ~seldom & (mask != 0)
    number = _stored(image, rows)
    told = changes & (number >= 0)
    if not told.any():
        return found
    target = rows["target"]
    first = np.append(True, target[1:] != target[:-1])
    of = np.cumsum(first) - 1
    many = int(of[-1]) + 1
    least, most = np.full(many, np.iinfo(np.int64).max), np.full(many, -1)
    np.minimum.at(least, of[changes], number[changes])
    np.maximum.at(most, of[changes], number[changes])
    alike = (least == most) & (least >= 0)
    asked = np.zeros(many, np.uint64)
    reads = np.flatnonzero((rows["kind"] == AccessKind.LOAD) & alike[of])
    np.bitwise_or.at(asked, of[reads], _each_round(graph.by_thread, rows[reads]))
    sets = np.zeros(many, np.uint64)
    np.bitwise_or.at(sets, of[changes], mask[changes])
    result: Bools = told & (alike & (sets & ~asked == 0))[of]
    return result


def _stored(image: Image, rows: Table) -> npt.NDArray[np.int64]:
    """The small number that each of these stores sets what it names to; -1 where that is not known."""
    number = np.full(len(rows), -1, np.int64)
    plain = (rows["kind"] == AccessKind.STORE) & ((rows["flags"] & SiteFlag.INDEXED) == 0)
    number[plain & ((rows["flags"] & SiteFlag.CLEARS) != 0)] = 0
    sets = picked(image.zero_ranges, image.zero_ranges["what"] == ZeroRange.SETS)
    sets = sets[np.argsort(sets["begin"], kind="stable")]
    at = np.flatnonzero(plain & among(rows["ip"], sets["begin"]))
    row = np.searchsorted(sets["begin"], rows["ip"][at])
    same = sets["variable"][row] == rows["target"][at]
    number[at[same]] = sets["value"][row[same]]
    return number


def _each_round(threads: Threads, rows: Table) -> Masks:
    """Of each access the roots whose own loops make it each time around."""
    result = np.zeros(len(rows), np.uint64)
    looped, function = in_loop(rows["loop_depth"]), rows["function"]
    for at, (once, near) in enumerate(zip(threads.once, threads.near, strict=True)):
        result[(once[function] & looped) | near[function]] |= np.uint64(1 << at)
    return result
