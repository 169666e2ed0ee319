"""Rounds of a loop in which a thread does not sleep, though it does in others: who is refused tries again later.

Owns which accesses and calls of a thread stand on ways around its loop that go past all its sleeps.  A worker that
sleeps where a limiter refuses, or where its queue is empty, does its work in the rounds between, as one that waits for
work.  Who sleeps on one way and then goes on to the same work does that once a sleep.  Threads of which there are
several share out work; a single one that looks every few milliseconds whether there is something seldom finds it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, rows_having
from sharing.basics.ways import Mirrors, in_loops, points
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, Table
from sharing.model.ways import share_way
from sharing.static.executions import each_time, in_loop
from sharing.static.waitingrounds import Loop, loops_of

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

MAX_CALLS = 64  # that sleep in one loop, or in one function, which are compared with all else there


class AwakeRounds(msgspec.Struct, frozen=True):
    """Of a root the places of its sleeps in both orders of blocks by outermost loop, and the functions that these
    loops call each time around in rounds without a sleep alone."""

    sleeps: dict[Loop, Ints]
    called: Bools

    def among(self, image: Image, rows: Table) -> Bools:
        """Which of these rows of sites or calls are done in no round in which the thread sleeps."""
        found = np.asarray(self.called[rows["function"]])
        at = rows_having(rows, "function", distinct(np.array([function for function, _ in self.sleeps], np.int64)))
        at = at[in_loop(rows["loop_depth"][at])]
        places = _places(image, rows[at])
        for row, loop, place in zip(at.tolist(), loops_of(image, rows[at]), places, strict=True):
            if loop in self.sleeps:
                found[row] = bool(_apart(self.sleeps[loop], place).all())
        return found


def awake_rounds(
    image: Image, once: Bools, near: Bools, sleeps: Bools, made: Table, near_without: Callable[[Bools, Bools], Bools]
) -> AwakeRounds:
    """Of a root that runs ``once`` and ``near`` as ``perthread`` has them and makes these calls (``sleeps``).

    ``made``: all edges as calls; ``near_without``: of functions run once what is near without some edges.
    """
    calls = image.calls[sleeps & once[image.calls["function"]]]
    places: dict[Loop, list[Ints]] = {}
    for loop, place in zip(loops_of(image, calls), _places(image, calls), strict=True):
        places.setdefault(loop, []).append(place)
    sleeping = {loop: np.array(rows) for loop, rows in places.items() if len(rows) <= MAX_CALLS}
    own = AwakeRounds(sleeping, np.zeros(len(once), bool))
    awake = own.among(image, made) & once[made["function"]]
    return msgspec.structs.replace(own, called=near & ~near_without(once, awake))


def go_around(image: Image, sleeps: Ints) -> Bools:
    """Which of these rows of calls, which are in loops, a round as a rule does not make: it does something else."""
    chosen = image.calls[sleeps]
    functions, many = np.unique(chosen["function"], return_counts=True)
    functions = functions[many <= MAX_CALLS]
    tables = [picked(rows, having(rows, "function", functions)) for rows in (image.calls, image.sites)]
    usual = [picked(rows, in_loop(rows["loop_depth"]) & each_time(in_loops(image, rows))) for rows in tables]
    loops = np.concatenate([Mirrors(image).loops(rows) for rows in usual])
    order = np.argsort(loops, kind="stable")
    loops, places = loops[order], np.concatenate([_places(image, rows) for rows in usual])[order]
    found = np.zeros(len(sleeps), bool)
    within = np.flatnonzero(among(chosen["function"], functions))
    of_sleeps = zip(within.tolist(), Mirrors(image).loops(chosen[within]), _places(image, chosen[within]), strict=True)
    for at, loop, place in of_sleeps:
        begin, end = np.searchsorted(loops, loop, "left"), np.searchsorted(loops, loop, "right")
        found[at] = bool(_apart(places[begin:end], place).any())
    return found


def _apart(places: Ints, place: Ints) -> Bools:
    """Which of these are on no way with the other one: of the arms of a branch the second order has the other first."""
    return ~np.asarray(share_way(*(places - place).T))


def _places(image: Image, rows: Table) -> Ints:
    """Where these rows are in both orders of their functions' blocks."""
    at = points(image, rows)
    return np.stack([at.order, at.mirror], axis=1)
