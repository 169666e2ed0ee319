"""Rounds of a thread's loop in which it waits for another thread: for an item, a frame, the next step.

Owns which accesses and calls are made once in such a round.  A thread that takes a frame from a queue, works on it and
hands it on uses the queue's lock each time around, as another thread does.  How long the work takes is not known, both
may sleep and be woken in between, and what is handed over takes several lines along in any case.  Loops within the
round are not meant: they run as long as they like between two waits.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, having, rows_having
from sharing.basics.ways import Mirrors, in_loops
from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct, picked
from sharing.model.image import Image, Table
from sharing.static import numbers
from sharing.static.callees import names_of_callees
from sharing.static.executions import each_time, in_loop

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Ips = npt.NDArray[np.uint64]


Loop = tuple[int, int]  # row of its function, number of the outermost loop


class WaitingRounds(msgspec.Struct, frozen=True):
    """Of functions that threads run once, each outermost loop that waits, and how deep: ``loops``.

    Of functions that loops call each time around, how deep all is done once in such a round, -1 for none (``called``).
    ``ips`` are the instructions that wait, which take a lock again.
    """

    loops: dict[Loop, int]
    called: Ints
    ips: Ips

    def among(self, image: Image, rows: Table) -> Bools:
        """Which of these rows of sites or calls are made once in such a round."""
        found: Bools = (rows["loop_depth"] <= self.called[rows["function"]]) | having(rows, "ip", self.ips)
        functions = distinct(np.array([function for function, _ in self.loops], np.int64))
        at = rows_having(rows, "function", functions)
        at = at[in_loop(rows["loop_depth"][at])]
        deepest = np.array([self.loops.get(loop, -1) for loop in loops_of(image, picked(rows, at))], np.int64)
        found[at] |= rows["loop_depth"][at] <= deepest
        return found


def loops_of(image: Image, rows: Table) -> list[Loop]:
    """The outermost loop around each of these rows, which are in loops."""
    numbers_of_loops = Mirrors(image).loop(rows["function"], rows["order"]).tolist()
    return list(zip(rows["function"].tolist(), numbers_of_loops, strict=True))


class Waits(msgspec.Struct, frozen=True):
    """Rows of the call table that wait: ``direct`` for another thread, ``through`` a function that does as a rule."""

    direct: Ints
    through: Ints


def calls_that_wait(image: Image, knowledge: Knowledge) -> Waits:
    """Calls that wait for what another thread does, by their names, and of functions of this file that make one."""
    callees = distinct_in(image.calls, "callee")
    known = knowledge.waits(names_of_callees(image, callees))
    direct = _as_a_rule(image, having(image.calls, "callee", callees[known]))
    return Waits(np.flatnonzero(direct), np.flatnonzero(calls_through(image, direct) & ~direct))


def _as_a_rule(image: Image, chosen: Bools) -> Bools:
    """Those of these calls that are made in most rounds of the loop around."""
    rows = np.flatnonzero(chosen & (image.calls["function"] >= 0))
    found = np.zeros(len(chosen), bool)
    found[rows] = each_time(in_loops(image, image.calls[rows]))
    return found


def calls_through(image: Image, made: Bools) -> Bools:
    """Calls of functions that make such calls as a rule."""
    calls = image.calls
    found = np.zeros(len(calls), bool)
    for _ in range(numbers.ONCE_WRAPPERS):
        if not made.any():
            break
        functions = distinct(calls["function"][made & each_time(calls["rarity"])])
        made = _as_a_rule(image, having(calls, "callee", image.functions["address"][functions]))
        found |= made
    return found


def waiting_loops(image: Image, waits: Waits, once: Bools) -> WaitingRounds:
    """Loops of functions that a thread runs ``once`` that wait each time around.

    Who waits for a condition does so in a loop that asks for it: the round is that of the loop around.
    """
    loops: dict[Loop, int] = {}
    for rows, further in ((waits.direct, 1), (waits.through, 0)):
        calls = image.calls[rows]
        caller, looped = calls["function"], in_loop(calls["loop_depth"])
        calls = calls[once[caller] & looped]
        depth = np.maximum(calls["loop_depth"].astype(np.int64) - further, 1)
        for loop, deep in zip(loops_of(image, calls), depth.tolist(), strict=True):
            loops[loop] = max(loops.get(loop, 0), deep)
    return WaitingRounds(loops, np.full(len(image.functions), -1, np.int64), image.calls["ip"][waits.direct])


def with_called(image: Image, waits: Waits, found: WaitingRounds, near: Bools, free: Bools) -> WaitingRounds:
    """With what loops call each time around (``near``): functions of ``free`` they call in other rounds as well."""
    called = np.where(near & ~free, 0, found.called)
    calls = image.calls[np.concatenate([waits.direct, waits.through])]
    calls = calls[near[calls["function"]]]
    np.maximum.at(called, calls["function"], calls["loop_depth"].astype(np.int64))
    return msgspec.structs.replace(found, called=called)
