"""What a thread does in loops in front of the one that it lives in: it fills a table, and then serves.

Owns which loops these are.  A thread lives in a loop that waits each time around for work or input, by the names of the
calls that do, and does something besides.  What goes round in front of that and waits for nothing is done once in the
life of the thread, however often it goes round.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, having
from sharing.basics.ways import in_loops, points
from sharing.knowledge import Knowledge, read_table
from sharing.model.arrays import among, distinct
from sharing.model.image import AccessKind, Image, Table
from sharing.static.callees import names_of_callees
from sharing.static.edges import Edges
from sharing.static.executions import each_time, in_loop
from sharing.static.waitingrounds import Loop, WaitingRounds, calls_through, loops_of

ANY_DEPTH = 255  # of loops: all that is done there
MOST_FUNCTIONS = 64  # that one thread runs once on the way to the loop that it lives in

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@functools.cache
def _blocking() -> frozenset[str]:
    return frozenset(read_table("blocking.json", tuple[str, ...]))


class LifeLoops:
    """The loops that threads of an image may live in."""

    def __init__(self, image: Image, knowledge: Knowledge, edges: Edges, entered: Bools) -> None:
        """``entered``: functions that are called through pointers."""
        self._image, self._knowledge, self._edges, self._entered = image, knowledge, edges, entered
        direct = _blocking_calls(image, knowledge)
        self._waiting = direct | calls_through(image, direct)
        self._waiters = distinct(image.calls["function"][direct])
        rows = np.flatnonzero(self._waiting & in_loop(image.calls["loop_depth"]) & (image.calls["function"] >= 0))
        self._wait_in = set(loops_of(image, image.calls[rows]))
        self._rounds = image.calls[rows[each_time(in_loops(image, image.calls[rows]))]]
        tables = (image.sites, image.params, image.behind.elsewhere, image.calls)
        self._looped = [_looped(table) for table in tables] if len(self._rounds) else []

    def in_front(self, once: Bools) -> WaitingRounds | None:
        """What a thread does in front of the loop that it lives in; None where none is known.

        ``once``: the functions that it runs once.
        """
        function = self._rounds["function"]
        rounds = self._rounds[once[function]]
        if len(distinct(rounds["function"])) != 1:
            return None
        life = min(loops_of(self._image, rounds))
        if not self._does_more(life):
            return None
        waits = rounds[[loop == life for loop in loops_of(self._image, rounds)]]
        return self._found(life, ways_to(self._image, self._edges, once, life[0], waits))

    def _does_more(self, life: Loop) -> bool:
        """Does a round do more than to wait: store something, or call what is neither a wait nor a lock?"""
        *stores, calls = self._in_loops(life[0])
        for table in stores:
            if life in loops_of(self._image, table[among(table["kind"], (AccessKind.STORE, AccessKind.RMW))]):
                return True
        calls = calls[~among(calls["ip"], self._image.calls["ip"][self._waiting])]
        calls = calls[[loop == life for loop in loops_of(self._image, calls)]]
        return any(not self._knowledge.lock_calls(name) for name in names_of_callees(self._image, calls["callee"]))

    def _in_loops(self, function: int) -> list[Table]:
        """What a function does in loops, by table."""
        found = []
        for table, rows, functions in self._looped:
            first, last = np.searchsorted(functions, (function, function + 1)).tolist()
            found.append(table[rows[first:last]])
        return found

    def _found(self, life: Loop, towards: dict[int, Table]) -> WaitingRounds | None:
        edges, loops = self._edges, set[Loop]()
        first, later = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]  # functions that are called there
        through = [np.zeros(0, np.uint64)]
        for function, cut in towards.items():
            for here in self._in_loops(function):
                loops.update(loops_of(self._image, here[self._is_first(here, cut, life)]))
            called = np.arange(edges.start[function], edges.start[function + 1])
            made = edges.made(self._image, called)
            ahead = self._is_first(made, cut, life)
            first.append(edges.callee[called[ahead]])
            through.append(made["ip"][ahead])
            later.append(edges.callee[called[~ahead & ~among(edges.callee[called], list(towards))]])
        none, ahead = np.full(edges.functions, -1, np.int64), np.concatenate(first)
        if len(ahead):
            alone = edges.reached_from(ahead) & ~edges.reached_from(np.concatenate(later)) & ~self._entered
            alone[list(towards)] = False
            if alone[self._waiters].any():  # it has more than one life
                return None
            none[alone] = ANY_DEPTH
        loops -= self._wait_in
        ips = distinct(np.concatenate(through))
        return WaitingRounds(dict.fromkeys(loops, ANY_DEPTH), none, ips) if loops or len(ahead) else None

    def _is_first(self, rows: Table, cut: Table, life: Loop) -> Bools:
        """Which of these, of one function, are in front of the loop on all ways that come to both."""
        places, ends = points(self._image, rows), points(self._image, cut)
        found: Bools = np.asarray(ends.behind(places).any(axis=0) & ~places.behind(ends).any(axis=1))
        looped = np.flatnonzero(found & in_loop(rows["loop_depth"]))
        found[looped] = [loop != life for loop in loops_of(self._image, rows[looped])]
        return found


def ways_to(image: Image, edges: Edges, once: Bools, last: int, calls: Table) -> dict[int, Table]:
    """Functions on the way to these calls in the ``last`` one, each with where it goes on; ``once``: what may be."""
    rows = np.flatnonzero(once[edges.caller] & ~in_loop(edges.depth))
    towards = {last: calls}
    front = [last]
    while front and len(towards) <= MOST_FUNCTIONS:
        leading = rows[edges.callee[rows] == front.pop()]
        for function in distinct(edges.caller[leading]).tolist():
            if function not in towards:
                towards[function] = edges.made(image, leading[edges.caller[leading] == function])
                front.append(function)
    return towards


def _blocking_calls(image: Image, knowledge: Knowledge) -> Bools:
    """Calls that wait for another thread or for input."""
    callees = distinct_in(image.calls, "callee")
    names = names_of_callees(image, callees)
    waits = set(knowledge.waits(names)) | {at for at, name in enumerate(names) if name in _blocking()}
    return having(image.calls, "callee", callees[sorted(waits)]) & (image.calls["function"] >= 0)


def _looped(table: Table) -> tuple[Table, Ints, Ints]:
    """A table, its rows in loops in the order of their functions, and these."""
    rows = np.flatnonzero(in_loop(table["loop_depth"]))
    functions = table["function"][rows].astype(np.int64)
    order = np.argsort(functions, kind="stable")
    return table, rows[order], functions[order]
