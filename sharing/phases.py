"""Code that no second thread can overlap: run before the first thread starts or after the last was joined.

Owns that ordering, which is read off the addresses within the functions that start and join threads: compilers
keep statement order well enough for straight start-up code.  Counts as sequential only what certainly is.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.image import Image

ROUNDS = 16
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Phases:
    """``alone``: functions that only run while one thread exists.  Sites of function f outside
    [first[f], last[f]] are sequential; 0 and 2**64-1 where f neither starts nor joins threads."""

    alone: Bools
    first: npt.NDArray[np.uint64]
    last: npt.NDArray[np.uint64]

    def sequential(self, function: npt.NDArray[np.int32], ip: npt.NDArray[np.uint64]) -> Bools:
        """Which sites run without a second thread."""
        result: Bools = self.alone[function] | (ip < self.first[function]) | (ip > self.last[function])
        return result


_NEVER = np.uint64(2**64 - 1)


def find_phases(
    image: Image,
    knowledge: Knowledge,
    caller: npt.NDArray[np.int64],
    callee: npt.NDArray[np.int64],
    ip: npt.NDArray[np.uint64],
    once: Bools,
    entered: Bools,
    init: Bools,
) -> Phases:
    """Order the once-only functions around thread creation.

    1. the functions from which a thread is created; 2. in each once-only one the first such call, and the last join;
    3. functions called only from outside those places, or from constructors.
    """
    n = len(image.functions)
    first = np.zeros(n, np.uint64)
    last = np.full(n, _NEVER, np.uint64)
    starts, joins = _calls_named(image, knowledge)
    creates = np.zeros(n, bool)
    creates[image.calls["function"][starts]] = True
    reverse = np.argsort(callee, kind="stable")
    index = np.searchsorted(callee[reverse], np.arange(n + 1))
    front = np.flatnonzero(creates)
    while len(front):
        callers = np.unique(np.concatenate([caller[reverse[index[f] : index[f + 1]]] for f in front.tolist()]))
        front = callers[~creates[callers]]
        creates[front] = True
    leading = once & creates
    create_at = np.full(n, _NEVER, np.uint64)
    np.minimum.at(create_at, image.calls["function"][starts], image.calls["ip"][starts])
    to_creator = creates[callee]
    np.minimum.at(create_at, caller[to_creator], ip[to_creator])
    first[leading] = create_at[leading]
    join_at = np.zeros(n, np.uint64)
    np.maximum.at(join_at, image.calls["function"][joins], image.calls["ip"][joins])
    joined = leading & (join_at > create_at)
    last[joined] = join_at[joined]
    return Phases(_alone(n, caller, callee, ip, (first, last), entered, init), first, last)


def _alone(
    n: int,
    caller: npt.NDArray[np.int64],
    callee: npt.NDArray[np.int64],
    ip: npt.NDArray[np.uint64],
    limits: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    entered: Bools,
    init: Bools,
) -> Bools:
    """Functions that are called from sequential places only; grows from the constructors to a fixpoint."""
    first, last = limits
    outside = (ip < first[caller]) | (ip > last[caller])
    alone = init.copy()
    called = np.bincount(callee, minlength=n) > 0
    for _ in range(ROUNDS):
        overlapping = np.bincount(callee[~(alone[caller] | outside)], minlength=n) > 0
        fresh = init | (called & ~overlapping & ~entered)
        if (fresh == alone).all():
            break
        alone = fresh
    return alone


def _calls_named(image: Image, knowledge: Knowledge) -> tuple[Bools, Bools]:
    """Which rows of the call table start a thread, and which wait for one to end."""
    threads = {row.function for row in knowledge.threads.threads}
    starts, joins = [], []
    for address, name in image.callee_names.items():
        if name in threads or any(fnmatch.fnmatchcase(name, p) for p in knowledge.threads.creators_without_entry):
            starts.append(address)
        elif name in knowledge.threads.joins:
            joins.append(address)
    known = image.calls["function"] >= 0
    return np.isin(image.calls["callee"], starts) & known, np.isin(image.calls["callee"], joins) & known
