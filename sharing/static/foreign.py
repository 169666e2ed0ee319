"""Calls into other files that say how long a thread is away: work of known libraries, and sleep.

Owns the reading of ``sharing/knowledge/work.json``.  What a call into another file executes there is not seen; where
its name tells that it compresses, encrypts or sorts a block, that is most of the thread's work, and what the thread
does besides is rarer for it.  A thread that sleeps each time around does all of it seldom, whatever share of its own
instructions that is.
"""

from __future__ import annotations

import functools

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.knowledge import read_table
from sharing.model.image import FunctionFlag, Image
from sharing.static import numbers
from sharing.static.callees import function_at, names_of_callees
from sharing.static.executions import each_time, in_loop

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class WorkTable(msgspec.Struct, frozen=True):
    """Instructions of calls (orders of magnitude, by names), and functions that sleep, for seconds as a rule."""

    calls: tuple[tuple[int, frozenset[str]], ...]
    sleeps: frozenset[str]
    sleeps_seconds: frozenset[str]


@functools.cache
def _table() -> WorkTable:
    return read_table("work.json", WorkTable)


def instructions(image: Image) -> tuple[Floats, Floats]:
    """What a call executes outside of this file: by row of the function table (0 where it is code of this file), and
    by row of the call table where the callee is in neither."""
    cost = {name: float(number) for number, names in _table().calls for name in names}
    functions = image.functions
    own, calls = np.zeros(len(functions)), np.zeros(len(image.calls))
    stubs = np.flatnonzero(functions["flags"] & FunctionFlag.STUB)
    names = names_of_callees(image, functions["address"][stubs])
    own[stubs] = [cost.get(name, numbers.STUB_INSTRUCTIONS) for name in names]
    outside = np.flatnonzero((function_at(image, image.calls["callee"]) < 0) & (image.calls["callee"] != 0))
    addresses, inverse = np.unique(image.calls["callee"][outside], return_inverse=True)
    by_address = np.array([cost.get(name, numbers.STUB_INSTRUCTIONS) for name in names_of_callees(image, addresses)])
    calls[outside] = by_address[inverse] if len(addresses) else 0.0
    return own, calls


def sleepers(image: Image, once: Bools) -> tuple[Bools, Bools]:
    """Roots (rows of ``once``, functions that a thread runs once) whose loop sleeps each time around; for seconds."""
    table = _table()
    calls = image.calls
    callees = np.unique(calls["callee"])
    names = names_of_callees(image, callees)
    looped = in_loop(calls["loop_depth"]) & each_time(calls["rarity"]) & (calls["function"] >= 0)
    found = []
    for wanted in (table.sleeps | table.sleeps_seconds, table.sleeps_seconds):
        targets = callees[[name in wanted for name in names]] if len(names) else callees
        functions = np.unique(calls["function"][looped & np.isin(calls["callee"], targets)])
        found.append(np.asarray(once[:, functions].any(axis=1)))
    return found[0], found[1]
