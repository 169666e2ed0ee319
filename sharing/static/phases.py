"""Code that no second thread can overlap: run before the first thread starts or after the last was joined.

Owns that ordering, which is read off the control flow of the functions that start and join threads: ``program_point``
numbers their blocks so that a block comes after those that lead to it, and instructions within a block.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct
from sharing.model.image import Image, Table
from sharing.static.executions import in_loop
from sharing.static.threadends import Ends, leading_to, start_calls, starts_and_ends

ROUNDS = 16
_OFFSET_BITS = np.uint64(40)
_OFFSET_MASK = np.uint64((1 << 40) - 1)
Bools = npt.NDArray[np.bool_]


class Phases(msgspec.Struct, frozen=True):
    """``alone``: functions that only run while one thread exists.  Sites of function f outside
    [first[f], last[f]] are sequential; 0 and 2**64-1 where f neither starts nor joins threads."""

    alone: Bools
    first: npt.NDArray[np.uint64]
    last: npt.NDArray[np.uint64]

    def sequential(self, function: npt.NDArray[Any], where: npt.NDArray[np.uint64]) -> Bools:
        """Which sites (by function and ``program_point``) run without a second thread."""
        result: Bools = self.alone[function] | (where < self.first[function]) | (where > self.last[function])
        return result

    def starts_once(self, function: npt.NDArray[Any]) -> Bools:
        """Which functions start threads, and are run once, by the main thread alone."""
        result: Bools = self.first[function] > 0
        return result


def program_point(image: Image, rows: Table) -> npt.NDArray[np.uint64]:
    """Position of sites or calls in their functions' control flow: block order, then offset."""
    function, ip, order = rows["function"], rows["ip"], rows["order"].astype(np.uint64)
    start = image.functions["address"][function] if len(image.functions) else np.uint64(0)
    offset = (ip - start) & _OFFSET_MASK
    result: npt.NDArray[np.uint64] = (order << _OFFSET_BITS) | offset
    return result


def order_and_ip(
    image: Image, function: npt.NDArray[Any], where: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Block order and address of program points of these functions."""
    return where >> _OFFSET_BITS, image.functions["address"][function] + (where & _OFFSET_MASK)


_NEVER = np.uint64(2**64 - 1)


class OrderedCalls(msgspec.Struct, frozen=True):
    """The edges of the call graph, each with the ``program_point`` of the call in its caller."""

    caller: npt.NDArray[np.int64]
    callee: npt.NDArray[np.int64]
    where: npt.NDArray[np.uint64]


def find_phases(
    image: Image, knowledge: Knowledge, calls: OrderedCalls, once: Bools, entered: Bools, init: Bools
) -> Phases:
    """Order the once-only functions around thread creation; ``once`` are those that the main thread alone runs, once.

    1. the functions from which a thread is created; 2. in each once-only one the first such call, and the last join;
    3. functions called only from outside those places, or from constructors.
    """
    n = len(image.functions)
    caller, callee, where = calls.caller, calls.callee, calls.where
    first = np.zeros(n, np.uint64)
    last = np.full(n, _NEVER, np.uint64)
    starts = start_calls(image, knowledge)
    creates = np.zeros(n, bool)
    creates[image.calls["function"][starts]] = True
    reverse = np.argsort(callee, kind="stable")
    index = np.searchsorted(callee[reverse], np.arange(n + 1))
    front = np.flatnonzero(creates)
    while len(front):
        callers = distinct(np.concatenate([caller[reverse[index[f] : index[f + 1]]] for f in front.tolist()]))
        front = callers[~creates[callers]]
        creates[front] = True
    leading = once & creates
    ends = starts_and_ends(image, knowledge, leading)
    at = program_point(image, image.calls)
    create_at = np.full(n, _NEVER, np.uint64)
    np.minimum.at(create_at, image.calls["function"][starts], at[starts])
    to_creator = creates[callee]
    np.minimum.at(create_at, caller[to_creator], where[to_creator])
    first[leading] = create_at[leading]
    join_at, last_create = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    np.maximum.at(join_at, image.calls["function"][ends.joins], at[ends.joins])
    np.maximum.at(last_create, image.calls["function"][starts], at[starts])
    np.maximum.at(last_create, caller[to_creator], where[to_creator])
    _with_first_results(ends, at, leading, (join_at, last_create))
    joined = leading & (join_at > last_create)
    last[joined] = join_at[joined]
    return Phases(_alone(n, calls, (first, last), entered, init), first, last)


def _with_first_results(
    ends: Ends, at: npt.NDArray[np.uint64], leading: Bools, limits: tuple[npt.NDArray[np.uint64], ...]
) -> None:
    """Changes the last join of functions that start one task to the first wait for its result: others wait again.

    ``limits``: by function the last join and the last start.
    """
    calls = ends.image.calls
    join_at, last_create = limits
    if not ends.results.any():
        return
    starting = leading_to(ends.image, ends.starts)
    for function in distinct(calls["function"][ends.results]).tolist():
        own = (calls["function"] == function) & ~in_loop(calls["loop_depth"])
        waits = own & ends.results & (at > last_create[function])
        starts = starting & (calls["function"] == function)
        if leading[function] and starts.sum() == (starts & own).sum() == 1:
            join_at[function] = at[waits].min(initial=join_at[function])


def _alone(
    n: int,
    calls: OrderedCalls,
    limits: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    entered: Bools,
    init: Bools,
) -> Bools:
    """Functions that are called from sequential places only; grows from the constructors to a fixpoint."""
    first, last = limits
    caller, callee, where = calls.caller, calls.callee, calls.where
    outside = (where < first[caller]) | (where > last[caller])
    alone = init.copy()
    called = np.bincount(callee, minlength=n) > 0
    for _ in range(ROUNDS):
        overlapping = np.bincount(callee[~(alone[caller] | outside)], minlength=n) > 0
        fresh = init | (called & ~overlapping & ~entered)
        if (fresh == alone).all():
            break
        alone = fresh
    return alone
