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
from sharing.model.arrays import among, distinct, union
from sharing.model.image import FunctionFlag, Image
from sharing.static import numbers
from sharing.static.callees import functions_called, names_of_callees
from sharing.static.executions import each_time, in_loop

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Addresses = npt.NDArray[np.uint64]


class WorkTable(msgspec.Struct, frozen=True):
    """Instructions of calls (orders of magnitude, by names), and functions that sleep, some of them for seconds as a
    rule, or until a signal comes.

    Those of ``sleeps_prefixes`` are templates; ``interrupted`` are those that are made again when a signal ends them.
    """

    calls: tuple[tuple[int, frozenset[str]], ...]
    sleeps: frozenset[str]
    sleeps_seconds: frozenset[str]
    sleeps_prefixes: tuple[str, ...]
    interrupted: frozenset[str]


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
    outside = np.flatnonzero((functions_called(image) < 0) & (image.calls["callee"] != 0))
    addresses, inverse = np.unique(image.calls["callee"][outside], return_inverse=True)
    by_address = np.array([cost.get(name, numbers.STUB_INSTRUCTIONS) for name in names_of_callees(image, addresses)])
    calls[outside] = by_address[inverse] if len(addresses) else 0.0
    return own, calls


def calls_that_sleep(image: Image) -> Bools:
    """Which calls are made of functions that sleep, by their names."""
    table = _table()
    callees = distinct(image.calls["callee"])
    names = names_of_callees(image, callees)
    every = table.sleeps | table.sleeps_seconds
    chosen = [name in every or name.startswith(table.sleeps_prefixes) for name in names]
    return among(image.calls["callee"], callees[np.array(chosen, bool)])


class Sleepers(msgspec.Struct, frozen=True):
    """Roots whose own loop sleeps: ``some`` in many of its rounds, ``rest`` in every one, ``long`` for seconds."""

    some: Bools
    rest: Bools
    long: Bools


def sleepers(image: Image, once: Bools) -> Sleepers:
    """Which roots (rows of ``once``, functions that a thread runs once) sleep in their loop.

    A loop inside of it waits until there is something to do: a thread that is busy does not come there.  Only the call
    that is made again because a signal ended it stands in one of its own, and is made in every round all the same.
    Who calls a function that sleeps whenever it runs sleeps as well.
    """
    table = _table()
    calls = image.calls
    callees = distinct(calls["callee"])
    names = names_of_callees(image, callees)
    own = calls["function"] >= 0
    looped = own & in_loop(calls["loop_depth"]) & each_time(calls["rarity"])
    every_round = own & (calls["rarity"] < numbers.EVERY_ROUND)
    always = looped & every_round
    straight = every_round & ~in_loop(calls["loop_depth"])
    again = every_round & (calls["loop_depth"] == 1)

    def calling(targets: Addresses, rows: Bools) -> Rows:
        return distinct(calls["function"][rows & among(calls["callee"], targets)])

    def named(wanted: frozenset[str], prefixes: tuple[str, ...] = ()) -> Addresses:
        chosen = [name in wanted or (bool(prefixes) and name.startswith(prefixes)) for name in names]
        return np.asarray(callees[chosen] if len(names) else callees)

    def wrapped(targets: Addresses, first: Bools = straight) -> Addresses:
        """With the functions of this file that do so whenever they run."""
        for round_ in range(numbers.ONCE_WRAPPERS):
            around = image.functions["address"][calling(targets, straight if round_ else straight | first)]
            targets = union(targets, around)
        return targets

    def of(targets: Addresses, rows: Bools) -> Bools:
        return np.asarray(once[:, calling(targets, rows)].any(axis=1))

    interrupted = named(table.interrupted)
    seconds = wrapped(named(table.sleeps_seconds))
    every = named(table.sleeps | table.sleeps_seconds, table.sleeps_prefixes)
    around = wrapped(interrupted, again)
    every = union(wrapped(every), around[~among(around, interrupted)])
    rest = of(every, always & (calls["loop_depth"] == 1))
    rest |= of(interrupted, always & (calls["loop_depth"] == 2))
    return Sleepers(of(every, looped), rest, of(seconds, looped))
