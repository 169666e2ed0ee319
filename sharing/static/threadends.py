"""Calls that start threads, and calls that wait until these have ended.

Owns which calls are such ends: joins, and waits for the result of a task, ``std::future::get``.  A task that
``std::async`` began is done when its result is there.  A thread that a program starts itself goes on behind the promise
that it keeps: results are ends only where the functions that start threads neither join one nor let one go.  Compilers
put the waiting into the caller: what is left is a loop around a call that sleeps until a word changes (``<future>`` of
libstdc++ alone waits so), which is passed once.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having
from sharing.knowledge import Knowledge
from sharing.model.arrays import among
from sharing.model.image import Image
from sharing.static.callees import functions_called

LET_GO = frozenset(("pthread_detach", "_ZNSt6thread6detachEv"))
TASKS = "std::async"  # what source calls
_IN_A_LOOP = "_M_futex_wait_until"
_LIBRARY = "_ZNSt13__future_base"  # how names of functions begin that run a task's thread and join it

Bools = npt.NDArray[np.bool_]


class Ends(NamedTuple):
    """Which rows of the calls of ``image`` start a thread, and which wait for one to end.

    In ``image`` waits for results are outside of the loops that they are.  ``results``: of the latter those that wait
    for a result, or call what does and starts nothing.
    """

    image: Image
    starts: Bools
    joins: Bools
    results: Bools


def starts_and_ends(image: Image, knowledge: Knowledge, leading: Bools) -> Ends:
    """``leading``: functions that main alone runs, once, from which threads are started."""
    starts, joins, results = _named(image, knowledge)
    if not results.any() or not starts.any():
        return Ends(image, starts, joins, np.zeros_like(joins))
    own = image.calls["function"] >= 0
    if image.origins:
        others = [at for at, name in image.callee_names.items() if knowledge.starts_thread(name) and name != TASKS]
        by_tasks = not having(image.calls, "callee", others).any()
    else:
        caller = image.calls["function"]
        ended = leading_to(image, joins & ~_of_library(image))[own & leading[caller]]
        by_tasks = not (image.imports & LET_GO) and not ended.any()
    if not by_tasks:
        return Ends(image, starts, joins, np.zeros_like(joins))
    calls = image.calls.copy()
    sleeping = [at for at, name in image.callee_names.items() if _IN_A_LOOP in name]
    looped = among(calls["callee"], sleeping) & (calls["loop_depth"] > 0)
    calls["loop_depth"][looped] -= 1
    waiting = leading_to(image, results) & ~leading_to(image, starts)
    return Ends(dataclasses.replace(image, calls=calls), starts, joins | waiting, waiting)


def start_calls(image: Image, knowledge: Knowledge) -> Bools:
    """Which rows of the call table start a thread."""
    return _named(image, knowledge)[0]


def _named(image: Image, knowledge: Knowledge) -> tuple[Bools, Bools, Bools]:
    """Which rows of the call table start a thread, wait for one to end, and wait for a result."""
    starts, joins, results = [], [], []
    for address, name in image.callee_names.items():
        if knowledge.starts_thread(name):
            starts.append(address)
        elif knowledge.joins_thread(name):
            joins.append(address)
        elif knowledge.waits_for_result(name):
            results.append(address)
    known = image.calls["function"] >= 0
    rows = tuple(having(image.calls, "callee", found) & known for found in (starts, joins, results))
    return rows[0], rows[1], rows[2]


def _of_library(image: Image) -> Bools:
    """Calls that the library's own functions of tasks make."""
    names = image.functions["name"]
    rows = [at for at, name in enumerate(names.tolist()) if name >= 0 and image.names[name].startswith(_LIBRARY)]
    return having(image.calls, "function", rows)


def leading_to(image: Image, made: Bools) -> Bools:
    """These calls, and calls of functions that make them, or call one that does."""
    callee = functions_called(image)
    inside = np.zeros(len(image.functions) + 1, bool)  # the last is of calls of other files
    own = image.calls["function"] >= 0
    rows = made & own
    while True:
        fresh = np.zeros_like(inside)
        fresh[image.calls["function"][rows]] = True
        if not (fresh & ~inside).any():
            return np.asarray(rows)
        inside |= fresh
        rows = own & (made | ((callee >= 0) & inside[callee]))
