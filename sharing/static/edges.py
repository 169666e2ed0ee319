"""The calls of an image as a graph in flat arrays: an edge a call whose callee is a function of the image.

Owns what can be asked of the graph alone: who is reached, and what lies on cycles.  Knows no threads.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import distinct, picked
from sharing.model.image import CALL_DTYPE, Image, Table
from sharing.static import numbers, perthread
from sharing.static.callees import function_at, of_call
from sharing.static.executions import times
from sharing.static.phases import order_and_ip, program_point

TRIM_ROUNDS = 40

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Edges:
    """Sorted by caller; functions are rows of the function table."""

    caller: Ints
    callee: Ints
    depth: Ints  # of loops around the call
    factor: Floats  # calls in one run of the caller
    once: Floats  # the same by the estimate for one thread, see ``perthread``
    where: npt.NDArray[np.uint64]  # see phases.program_point
    start: Ints  # by caller its first edge, and one past the last

    @property
    def functions(self) -> int:
        return len(self.start) - 1

    def made(self, image: Image, rows: Ints) -> Table:
        """These edges as calls: where in their functions they are."""
        calls = np.zeros(len(rows), CALL_DTYPE)
        calls["function"] = self.caller[rows]
        calls["order"], calls["ip"] = order_and_ip(image, self.caller[rows], self.where[rows])
        calls["loop_depth"] = self.depth[rows]
        calls["rarity"] = of_call(image, calls["ip"], "rarity", unknown=np.iinfo(np.uint8).max)
        return calls

    def keep(self, rows: Bools) -> Edges:
        """The edges of these rows."""
        kept = {
            field.name: getattr(self, field.name)[rows] for field in dataclasses.fields(self) if field.name != "start"
        }
        return Edges(**kept, start=_first_by_caller(self.caller[rows], self.functions))

    def reached_from(self, seeds: npt.NDArray[Any]) -> Bools:
        """The seeds, what they call, what that calls, and so on."""
        reached = np.zeros(self.functions, bool)
        front = distinct(seeds[seeds >= 0])
        reached[front] = True
        while len(front):
            targets, _ = self.called(front)
            front = distinct(targets[~reached[targets]])
            reached[front] = True
        return reached

    def called(self, callers: Ints) -> tuple[Ints, Ints]:
        """What these call, one behind the other, and how many calls each makes."""
        counts = self.start[callers + 1] - self.start[callers]
        offsets = np.repeat(self.start[callers] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        return self.callee[offsets + np.arange(len(offsets))], counts

    def spread(self, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """By function its bits in ``seeds``, those of all that call it, of all that call these, and so on."""
        mask = seeds.copy()
        front = np.flatnonzero(mask)
        while len(front):
            targets, counts = self.called(front)
            bits = np.repeat(mask[front], counts)
            fresh = bits & ~mask[targets] != 0
            targets = targets[fresh]
            np.bitwise_or.at(mask, targets, bits[fresh])
            front = distinct(targets)
        return mask

    def callers_by_callee(self) -> tuple[Ints, npt.NDArray[np.uint64], Ints]:
        """(callers sorted by the function that they call, where they do, for each function its first one there)"""
        order = np.argsort(self.callee, kind="stable")
        start = np.searchsorted(self.callee[order], np.arange(self.functions + 1))
        return self.caller[order], self.where[order], start

    def between_cycles(self) -> Bools:
        """Functions on a call cycle or on a path between two: what is left when leaves and roots are taken off."""
        left = np.ones(self.functions, bool)
        live = np.ones(len(self.caller), bool)
        for _ in range(TRIM_ROUNDS):
            into = np.bincount(self.callee[live], minlength=self.functions) > 0
            out = np.bincount(self.caller[live], minlength=self.functions) > 0
            fresh = left & into & out
            if (fresh == left).all():
                break
            left = fresh
            live &= left[self.caller] & left[self.callee]
        return left


def edges_of(image: Image, calls: Table) -> Edges:
    """``calls``: rows of the image's call table, and those that are made up for callbacks."""
    callee = function_at(image, calls["callee"])
    inside = (callee >= 0) & (calls["function"] >= 0)
    order = np.flatnonzero(inside)[np.argsort(calls["function"][inside], kind="stable")]
    chosen = picked(calls, order)
    caller = chosen["function"].astype(np.int64)
    depth = chosen["loop_depth"].astype(np.int64)
    depth[depth >= numbers.IMPLAUSIBLE_LOOPS] = 0
    return Edges(
        caller,
        callee[order],
        depth,
        times(chosen["loop_depth"], chosen["rarity"]),
        perthread.times(chosen["loop_depth"], chosen["rarity"]),
        program_point(image, chosen),
        _first_by_caller(caller, len(image.functions)),
    )


def _first_by_caller(callers: Ints, functions: int) -> Ints:
    return np.searchsorted(callers, np.arange(functions + 1))
