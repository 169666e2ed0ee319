"""How far a thread is at places of its entry: how often it has arrived somewhere, and how often it has waited.

Owns the counting on all ways through the function.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.ways import Mirrors, points, surely_behind
from sharing.model.image import Image, Table
from sharing.model.ways import Points, longest
from sharing.static.executions import in_loop
from sharing.static.wordchanges import SEVERAL

OF_ALL = 1 << 30  # arrivals of who never arrives: nobody waits for it
NO_ROUND = (-1, 0)  # of what is at no stage of a round, as it is in no such loop, or has no turn
IN_NONE = -2  # in the place of a loop: several in none

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Arrivals(msgspec.Struct, frozen=True):
    """Where a thread arrives; ``loop`` as of ``loops_around``."""

    places: Points
    loop: Ints

    @classmethod
    def of(cls, image: Image, rows: Table) -> Arrivals:
        """Of rows of one function."""
        loop = np.where(rows["loop_depth"] == SEVERAL, IN_NONE, loops_around(image, rows))
        return cls(points(image, rows), loop)

    def made(self, places: Points, loop: Ints) -> Ints:
        """How many a thread has made at most at each place, which are in these loops."""
        made, _ = on_ways(self.places, places)
        again = self.loop != -1
        if not len(again):
            made[:] = OF_ALL
        elif again.any():
            any_times = places.behind(self.places) | (loop[:, None] == self.loop)
            made[any_times[:, again].any(axis=1)] = OF_ALL
        return made


class Waits(msgspec.Struct, frozen=True):
    """Where a thread waits, and how rarely it comes there.

    ``behind``: of a word that is set, the code behind loops that wait for it, (begin, end).
    """

    places: Points
    rarity: Ints
    behind: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def of(cls, image: Image, rows: Table, behind: Table | None) -> Waits:
        """Of rows of calls, and of ranges, of one function."""
        ranges = None if behind is None else tuple(behind[["begin", "end"]].tolist())
        return cls(points(image, rows), rows["rarity"].astype(np.int64), ranges)

    def passed(self, places: Points, rarity: Table) -> Ints:
        """How many a thread has passed at each place."""
        done, sure = on_ways(self.places, places)
        done = np.minimum(done * sure, surely_behind(places.behind(self.places), self.rarity, rarity))
        if self.behind is None:
            return done
        inside = [(begin <= places.ip) & (places.ip < end) for begin, end in self.behind]
        once: Ints = np.minimum(np.add.reduce([done, *inside]), 1)
        return once


def on_ways(calls: Points, places: Points) -> tuple[Ints, Bools]:
    """(how many of the calls a run has passed at most that comes to each place, is that so on each way that has all)"""
    behind = calls.behind(calls)
    before, after = (longest(led) for led in (behind, behind.T))
    reached = places.behind(calls)
    left = calls.behind(places).T
    made = np.where(reached, before, 0).max(axis=1, initial=0)
    missing = np.where(left, after, 0).max(axis=1, initial=0)
    return made, made + missing == before.max(initial=0)


def loops_around(image: Image, rows: Table) -> Ints:
    """A number of the outermost loop around each of these places of a function, -1 of those in none."""
    loops = Mirrors(image).loop(rows["function"], rows["order"])
    return np.where(in_loop(rows["loop_depth"]), loops, -1)
