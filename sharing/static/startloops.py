"""Code that runs as often as threads start or end: a loop that starts one each time around, and what it calls there.

Owns which places these are.  A loop counts as many rounds elsewhere; here each of them takes as long as a thread takes
to come to life, so that what it writes is written next to never, however early the first threads run already.  Nor is
a flag often written by what then waits until a thread has seen it and ended.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import having
from sharing.basics.ways import Mirrors
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, union
from sharing.model.image import FunctionFlag, Image, Table
from sharing.static import numbers
from sharing.static.callees import functions_called
from sharing.static.everysite import every_site, raised, with_sites
from sharing.static.executions import in_loop
from sharing.static.roots import main_roots

Bools = npt.NDArray[np.bool_]


def with_rare_starts(image: Image, knowledge: Knowledge) -> Image:
    """The image with the rarity raised of what is done once for each thread that is started.

    1. calls that start a thread, and functions that do so as a rule when they run; 2. the outermost loops around
    such calls, where most rounds make one of them; 3. accesses and other calls in these loops, and
    outside of loops in these functions, but for what a program that runs such a function once calls there, which may be
    its work; 4. accesses outside of loops in functions that as a rule wait for one to end, and what loops do of which
    most rounds wait for one: that many threads there are to end.
    """
    return _with_rare_ends(_started(image, knowledge), knowledge)


def _with_rare_ends(image: Image, knowledge: Knowledge) -> Image:
    """What else such a function calls outside of these loops is left alone: a loop may be its work until the end."""
    calls = image.calls
    joining = [address for address, name in image.callee_names.items() if knowledge.joins_thread(name)]
    ends = having(calls, "callee", joining) & (calls["function"] >= 0)
    at = np.flatnonzero(ends)
    if not len(at):
        return image
    ending = _mostly(calls["function"][at].astype(np.int64), calls["rarity"][at], numbers.EACH_TIME)
    mirrors = Mirrors(image)
    looped = at[in_loop(calls["loop_depth"][at])]
    loops = _mostly(mirrors.loops(calls[looped]), _in_round(mirrors, calls[looped]), numbers.EVERY_ROUND - 1)

    def seldom(rows: Table) -> Bools:
        found: Bools = in_loop(rows["loop_depth"]) & among(mirrors.loops(rows), loops)
        return found

    sites = every_site(image)
    outside = ~in_loop(sites["loop_depth"]) & among(sites["function"], ending)
    found = with_sites(image, raised(sites, outside | seldom(sites)))
    return dataclasses.replace(found, calls=raised(calls, seldom(calls) & ~ends))


def _started(image: Image, knowledge: Knowledge) -> Image:
    calls = image.calls
    starting = [address for address, name in image.callee_names.items() if knowledge.starts_thread(name)]
    starts = having(calls, "callee", starting) & (calls["function"] >= 0)
    if not starts.any():
        return image
    direct = starts
    starts, starters = _with_wrappers(image, starts)
    mirrors = Mirrors(image)
    looped = np.flatnonzero(starts & in_loop(calls["loop_depth"]))
    looped = _with_other_arms(image, mirrors, looped, direct)
    loops = _mostly(mirrors.loops(calls[looped]), _in_round(mirrors, calls[looped]), numbers.EVERY_ROUND - 1)

    def seldom(rows: Table) -> Bools:
        inside = in_loop(rows["loop_depth"])
        found: Bools = inside & among(mirrors.loops(rows), loops)
        return found | (~inside & having(rows, "function", starters))

    sites = every_site(image)
    found = with_sites(image, raised(sites, seldom(sites)))
    # Calls through pointers of a function that starts threads are made of the objects that it hands them.
    work = (functions_called(image) >= 0) & ~in_loop(calls["loop_depth"]) & having(calls, "function", _run_once(image))
    # Whether a round waits for the end of what it started is asked elsewhere (``waves``).
    ends = having(
        calls,
        "callee",
        [
            at
            for at, name in image.callee_names.items()
            if knowledge.joins_thread(name) or knowledge.waits_for_result(name)
        ],
    )
    calls = raised(calls, seldom(calls) & ~starts & ~work & ~ends)
    return dataclasses.replace(found, calls=calls, params=raised(image.params, seldom(image.params)))


def _run_once(image: Image) -> npt.NDArray[np.int64]:
    """Functions that a program runs once: main, and what it calls from one place, outside of loops."""
    calls, called = image.calls, functions_called(image)
    known = (called >= 0) & (calls["function"] >= 0)
    caller, callee = calls["function"][known], called[known]
    allowed = np.bincount(callee, minlength=len(image.functions)) == 1
    allowed[callee[in_loop(calls["loop_depth"][known])]] = False
    allowed &= (image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN) == 0
    found = front = np.array([root.function for root in main_roots(image)], np.int64)
    while len(front):
        front = distinct(callee[among(caller, front)])
        front = front[allowed[front] & ~among(front, found)]
        found = union(found, front)
    return found


def _with_wrappers(image: Image, starts: Bools) -> tuple[Bools, npt.NDArray[np.int64]]:
    """Calls that start a thread at once or by a function that does so as a rule, and the rows of such functions."""
    calls, called = image.calls, functions_called(image)
    starters = np.zeros(0, np.int64)
    for _ in range(numbers.START_DEPTH):
        direct = np.flatnonzero(starts & ~in_loop(calls["loop_depth"]))
        starters = _mostly(calls["function"][direct].astype(np.int64), calls["rarity"][direct], numbers.EACH_TIME)
        fresh = starts | (among(called, starters) & (calls["function"] >= 0))
        if (fresh == starts).all():
            break
        starts = fresh
    return starts, starters


def _with_other_arms(
    image: Image, mirrors: Mirrors, looped: npt.NDArray[np.int64], direct: Bools
) -> npt.NDArray[np.int64]:
    """``looped``, calls in loops that start a thread, and those of functions that may do so in the same loops.

    Where a list of threads has room code starts one itself, and else a function that makes the list longer does.
    """
    calls = image.calls
    may = distinct(calls["function"][direct & ~in_loop(calls["loop_depth"])])
    others = among(functions_called(image), may) & (calls["function"] >= 0) & in_loop(calls["loop_depth"])
    more = np.flatnonzero(others)
    more = more[among(mirrors.loops(calls[more]), mirrors.loops(calls[looped]))]
    result: npt.NDArray[np.int64] = union(looped, more)
    return result


def _mostly(places: npt.NDArray[np.int64], rarity: npt.NDArray[Any], most: int) -> npt.NDArray[np.int64]:
    """Loops or functions of which a round or run makes one of these calls, on whatever way, no rarer than ``most``."""
    found, of_place = np.unique(places, return_inverse=True)
    chance = np.bincount(of_place, np.exp2(-rarity.astype(np.float64) / shared.RARITY_STEPS), len(found))
    result: npt.NDArray[np.int64] = found[chance >= 2.0 ** (-most / shared.RARITY_STEPS)]
    return result


def _in_round(mirrors: Mirrors, rows: Table) -> npt.NDArray[np.uint8]:
    """Rarity in a round of the outermost loop around."""
    reached = mirrors.reached(rows["function"], rows["order"])
    result: npt.NDArray[np.uint8] = rows["rarity"] - np.minimum(reached, rows["rarity"]).astype(rows["rarity"].dtype)
    return result
