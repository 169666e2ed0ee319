"""Ways of a thread's life: which of several loops it goes round is what it was told as it began, ``switch (my->role)``.

Owns which loops of an entry, and calls of functions with loops, are such ways: no run of the entry comes to two of
them.  Each has a bit of its own in the masks of roots (``stretches``), as other entries would have.  What is seldom
come to is no way of life: a loop behind an error.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import rows_having, those_having
from sharing.basics.kept import Kept
from sharing.basics.ways import Mirrors, points
from sharing.model.arrays import picked
from sharing.model.image import Image, Table
from sharing.model.ways import Points, share_way
from sharing.static.callees import functions_called
from sharing.static.executions import each_time, in_loop

MAX_PLACES = 64  # of one entry, which are compared with each other

Bools = npt.NDArray[np.bool_]

_looping: Kept[Bools] = Kept()


class LifeArms(msgspec.Struct, frozen=True):
    """``places`` of an entry that tell a way of life, and of each the number of the way.

    ``ends``: places at which a way ends, and another one may begin.
    """

    places: Points
    arms: tuple[int, ...]
    ends: Points | None = None

    def at(self, places: Points) -> list[int]:
        """The way on which each of these places is, -1 where it may be on several."""
        shared = share(places, self.places, self.ends)
        arms = np.array(self.arms, np.int64)
        many = max(self.arms) + 1
        on = np.stack([(shared & (arms == arm)).any(axis=1) for arm in range(many)], axis=1)
        found: list[int] = np.where(on.sum(axis=1) == 1, on.argmax(axis=1), -1).tolist()
        return found


def life_arms(image: Image, function: int) -> LifeArms | None:
    """None where all threads of this entry may go the same way."""
    loops, calls = _loops(image, function), _calls(image, function)
    heads = Points(*(np.concatenate([one, two]) for one, two in zip(columns(loops), columns(calls), strict=True)))
    return arms_apart(heads) if 1 < len(heads.order) <= MAX_PLACES else None


def arms_apart(places: Points, ends: Points | None = None) -> LifeArms | None:
    """The ways that these places of one function are on, where no run comes to places on two; None where it is one."""
    shared = share(places, places, ends)
    apart = ~shared.all(axis=1)  # what is on all ways tells none
    chosen = Points(places.order[apart], places.mirror[apart], places.ip[apart])
    arms = _components(shared[apart][:, apart])
    return LifeArms(chosen, tuple(arms), ends) if max(arms, default=0) > 0 else None


def columns(one: Points) -> tuple[npt.NDArray[np.int64], ...]:
    return one.order, one.mirror, one.ip


def share(a: Points, b: Points, ends: Points | None) -> Bools:
    """Which of these (rows) one run may come to besides the others (columns), with no end between them."""
    result: Bools = share_way(a.order[:, None] - b.order, a.mirror[:, None] - b.mirror)
    if ends is not None:
        before, behind = (one.behind(ends).astype(np.int64) for one in (a, b))
        result &= before @ ends.behind(b).astype(np.int64) + ends.behind(a).astype(np.int64).T @ behind.T == 0
    return result


def _components(shared: Bools) -> list[int]:
    """A number for each place, the same where a chain of runs comes to both."""
    arms = [-1] * len(shared)
    found = 0
    for start in range(len(shared)):
        if arms[start] >= 0:
            continue
        waiting = [start]
        while waiting:
            at = waiting.pop()
            if arms[at] < 0:
                arms[at] = found
                waiting += np.flatnonzero(shared[at]).tolist()
        found += 1
    return arms


def _loops(image: Image, function: int) -> Points:
    """Where the outermost loops begin that a run often comes to, by what is in them."""
    rows = [those_having(table, "function", function) for table in (image.sites, image.behind.elsewhere, image.calls)]
    names = ["ip", "function", "order", "loop_depth"]
    inside = np.concatenate([table[in_loop(table["loop_depth"])][names].copy() for table in rows])
    if not len(inside):
        return Points(*(np.zeros(0, np.int64) for _ in range(3)))
    mirrors = Mirrors(image)
    inside = inside[each_time(mirrors.reached(inside["function"], inside["order"]))]
    _, first = np.unique(mirrors.loops(inside), return_index=True)
    return points(image, inside[np.sort(first)])


def _calls(image: Image, function: int) -> Points:
    """Calls outside of loops, made as a rule, of functions of the program that have loops."""
    calls, callees = image.calls, functions_called(image)
    mine = rows_having(calls, "function", function)
    mine = mine[(callees[mine] >= 0) & _with_loops(image)[callees[mine]]]
    found: Table = calls[mine]
    return points(image, picked(found, ~in_loop(found["loop_depth"]) & each_time(found["rarity"])))


def _with_loops(image: Image) -> Bools:
    """By row of functions whether it does something in a loop; of row -1 nothing is said."""

    def looked_for() -> Bools:
        found = np.zeros(len(image.functions) + 1, bool)
        for table in (image.calls, image.sites, image.params):
            looped = in_loop(table["loop_depth"])
            found[table["function"][looped]] = True
        return found

    return _looping.of(image.calls, (image.sites, image.params, image.functions), looked_for)
