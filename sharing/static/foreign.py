"""Calls into other files that say how long a thread is away: work of known libraries, and sleep.

Owns the reading of ``sharing/knowledge/work.json``.  What a call into another file executes there is not seen; where
its name tells that it compresses, encrypts or sorts a block, that is most of the thread's work, and what the thread
does besides is rarer for it.  A thread that sleeps each time around does all of it seldom, whatever share of its own
instructions that is.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, having
from sharing.basics.ways import Mirrors
from sharing.knowledge import read_table
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image
from sharing.static import numbers
from sharing.static.backoffs import go_around
from sharing.static.callees import function_at, functions_called, names_of_callees
from sharing.static.executions import each_time, in_loop

TIMED_OUT = (
    "St9cv_status"  # std::cv_status in a mangled name (Itanium C++ ABI, 5.1.5: of templates the result is a part)
)
_WRITES = np.array([AccessKind.STORE, AccessKind.RMW], np.uint8)
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


class WorkTable(msgspec.Struct, frozen=True):
    """Instructions of calls (orders of magnitude, by names), and functions that sleep, some of them for seconds as a
    rule, or until a signal comes.

    Those of ``sleeps_prefixes`` are templates, those of ``sleeps_prefixes_short`` are told micro- or nanoseconds;
    ``interrupted`` are those that are made again when a signal ends them.  ``sleeps_units``: the argument that says how
    long, and how many nanoseconds one of that is.
    Those of ``waits_for_a_time_prefixes`` do so where they return whether time ran out, and wait for a condition else.
    Those of ``sleeps_if_zero`` sleep where the argument of this number is zero: they wait for that many descriptors.
    """

    calls: tuple[tuple[int, frozenset[str]], ...]
    sleeps: frozenset[str]
    sleeps_seconds: frozenset[str]
    sleeps_prefixes: tuple[str, ...]
    sleeps_prefixes_short: tuple[str, ...]
    sleeps_units: dict[str, tuple[int, int]]
    sleeps_if_zero: dict[str, int]
    waits_for_a_time: frozenset[str]
    waits_for_a_time_prefixes: tuple[str, ...]
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
    callee = image.calls["callee"]
    outside = np.flatnonzero((functions_called(image) < 0) & (callee != 0))
    addresses, inverse = np.unique(callee[outside], return_inverse=True)
    by_address = np.array([cost.get(name, numbers.STUB_INSTRUCTIONS) for name in names_of_callees(image, addresses)])
    calls[outside] = by_address[inverse] if len(addresses) else 0.0
    return own, calls


def calls_that_sleep(image: Image) -> Bools:
    """Which calls are made of functions that sleep, by their names, or wait for none of zero descriptors."""
    return _Calls(image).that_sleep()


class Sleepers(msgspec.Struct, frozen=True):
    """Roots whose own loop sleeps: ``some`` in many of its rounds, ``rest`` in every one, ``long`` for seconds.

    ``calls``: rows of the call table that make those of ``some``.
    """

    some: Bools
    rest: Bools
    long: Bools
    calls: Bools


class _Calls:
    """The calls of an image by what their names and arguments say of sleep."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._callees = distinct_in(image.calls, "callee")
        self._at: dict[str, list[int]] = defaultdict(list)
        for at, name in enumerate(names_of_callees(image, self._callees)):
            self._at[name].append(at)

    def of(self, wanted: Collection[str], prefixes: tuple[str, ...] = (), part: str = "") -> Bools:
        """Those of functions with such names, or with such a prefix and ``part`` behind it."""
        chosen = {*self._rows(wanted), *(self._starting(prefixes, part) if prefixes else ())}
        return having(self._image.calls, "callee", self._callees[sorted(chosen)])

    def _rows(self, wanted: Collection[str]) -> list[int]:
        return [at for name in wanted for at in self._at.get(name, ())]

    def _starting(self, prefixes: tuple[str, ...], part: str) -> list[int]:
        return [at for name, rows in self._at.items() if name.startswith(prefixes) and part in name for at in rows]

    def that_wait_for_a_time(self) -> Bools:
        """Those that go on after a time, whatever happened; of a method its result says so."""
        return self.of(_table().waits_for_a_time, _table().waits_for_a_time_prefixes, TIMED_OUT)

    def shorter_than(self, limit: float) -> Bools:
        """Those that sleep for less than so many nanoseconds, as far as that is told: by a number, or by the unit.

        What is worked out and less than a second (below zero, see ``Naps.h``) is how long a thread waits before it
        tries again.
        """
        table, calls, args = _table(), self._image.calls, self._image.args
        templates = self._callees[sorted(self._starting(table.sleeps_prefixes_short, ""))]
        inside = function_at(self._image, templates)
        found = having(calls, "callee", templates) | having(calls, "function", inside[inside >= 0])
        for name, (argument, unit) in table.sleeps_units.items():
            if name not in self._at:
                continue
            told = (args["arg"] == argument) & (args["kind"] == ArgKind.CONSTANT)
            long = args["ip"][told & (args["value"] * unit >= limit)]
            found |= self.of({name}) & having(calls, "ip", args["ip"][told]) & ~having(calls, "ip", long)
        return found

    def that_sleep(self) -> Bools:
        """See ``calls_that_sleep``."""
        table, args = _table(), self._image.args
        made = self.of(table.sleeps | table.sleeps_seconds, table.sleeps_prefixes)
        for name, argument in table.sleeps_if_zero.items():
            if name in self._at:
                none = (args["arg"] == argument) & (args["kind"] == ArgKind.CONSTANT) & (args["value"] == 0)
                made |= self.of({name}) & having(self._image.calls, "ip", args["ip"][none])
        return made


def sleepers(image: Image, once: Bools) -> Sleepers:
    """Which roots (rows of ``once``, functions that a thread runs once) sleep in their loop.

    A loop inside of it waits until there is something to do: a thread that is busy does not come there.  Only the call
    that is made again because a signal ended it stands in one of its own, and is made in every round all the same.
    Who calls a function that sleeps whenever it runs sleeps as well.  A wait that is for a time at most, in every round
    of the only loop, is a sleep that the end of the program cuts short: whoever waits for work asks first if there is.
    Where compilers copy a loop's test they make several loops of one: what counts is that nothing is done further out.
    Who sleeps for so short that lines may move all the same does not rest, and who sleeps for less than a millisecond
    on a way where there is nothing to do is as busy as who waits for work.
    """
    table = _table()
    calls, named = image.calls, _Calls(image)
    own = calls["function"] >= 0
    looped = own & in_loop(calls["loop_depth"]) & each_time(calls["rarity"])
    every_round = own & (calls["rarity"] < numbers.EVERY_ROUND)
    always = looped & every_round
    straight = every_round & ~in_loop(calls["loop_depth"])
    again = every_round & (calls["loop_depth"] == 1)
    further = calls["loop_depth"] - np.append(_outermost(image), 1)[calls["function"]]

    def wrapped(made: Bools, first: Bools = straight) -> Bools:
        """With the calls of functions of this file that do so whenever they run."""
        for round_ in range(numbers.ONCE_WRAPPERS):
            inside = made & (straight if round_ else straight | first)
            made = made | having(calls, "callee", image.functions["address"][distinct(calls["function"][inside])])
        return made

    def of(made: Bools) -> Bools:
        return np.asarray(once[:, distinct(calls["function"][made])].any(axis=1))

    sleeps, interrupted = named.that_sleep(), named.of(table.interrupted)

    def every_time(long: Bools) -> Bools:
        return wrapped(sleeps & long) | (wrapped(interrupted & long, again) & ~interrupted)

    long = ~named.shorter_than(numbers.REST_NS)
    each = (every_time(long) & always & (further == 0)) | (interrupted & long & always & (further == 1))
    rows = np.flatnonzero(each & np.asarray(once.any(axis=0))[calls["function"]])
    each[rows] = ~go_around(image, rows)
    rest = of(each)
    timed = distinct(calls["function"][wrapped(named.that_wait_for_a_time()) & always & (calls["loop_depth"] == 1)])
    if len(timed):
        rest |= once[:, timed].any(axis=1) & ~once[:, _with_other_loops(image, timed)].any(axis=1)
    some = every_time(~named.shorter_than(numbers.NAP_NS)) & looped
    return Sleepers(of(some), rest, of(wrapped(named.of(table.sleeps_seconds)) & looped), some)


def _outermost(image: Image) -> Rows:
    """By function the least depth in loops at which it does anything but ask what is behind a pointer."""
    least = np.full(len(image.functions), np.iinfo(np.int64).max)
    behind = [picked(table, among(table["kind"], _WRITES)) for table in (image.params, image.behind.elsewhere)]
    named = picked(image.sites, image.sites["kind"] != AccessKind.ADDRESS)
    for rows in (image.calls, named, *behind):
        rows = picked(rows, (rows["function"] >= 0) & in_loop(rows["loop_depth"]))
        np.minimum.at(least, rows["function"], rows["loop_depth"].astype(np.int64))
    return least


def _with_other_loops(image: Image, timed: Rows) -> Rows:
    """Functions with loops, but for those ``timed`` that have one and none within it."""
    tables = [
        picked(rows, (rows["function"] >= 0) & in_loop(rows["loop_depth"])) for rows in (image.sites, image.calls)
    ]
    mirrors = Mirrors(image)
    function = np.concatenate([rows["function"] for rows in tables])
    loop = np.concatenate([mirrors.loop(rows["function"], rows["order"]) for rows in tables])
    nested = np.concatenate([rows["loop_depth"] for rows in tables]) > 1
    first = np.full(len(image.functions), np.iinfo(np.int64).max)
    np.minimum.at(first, function, loop)
    other = ~among(function, timed) | nested | (loop != first[function])
    return distinct(function[other])
