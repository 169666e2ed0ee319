"""Threads that are woken seldom: in each round of their loop they wait for others, who come once, seldom or by a clock.

Owns which roots these are.  A writer in the background, a purger or a logger goes around as often as somebody signals
its condition or posts its semaphore, however little it does in a round.  The object must be known by its address, and
all that may wake who waits there: ``waking.Objects`` says which calls these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import those_having
from sharing.basics.ways import Mirrors, in_loops
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct
from sharing.model.image import AccessKind, Image, Table
from sharing.model.vocabulary import LockKind
from sharing.static import numbers
from sharing.static.callees import functions_called, names_of_callees
from sharing.static.edges import Edges
from sharing.static.executions import each_time, in_loop
from sharing.static.perthread import Threads, times
from sharing.static.starts import Root
from sharing.static.waitingrounds import Loop, WaitingRounds, loops_of
from sharing.static.waking import Objects

_WRITES = np.array([AccessKind.STORE, AccessKind.RMW], np.uint8)
_READS = np.array([AccessKind.LOAD, AccessKind.RMW], np.uint8)

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Ways(msgspec.Struct, frozen=True):
    """How functions are come to: the calls that threads may overlap, the roots, functions that
    are called through pointers (``dispatched``) and by other files, and which are cold (``factor``)."""

    edges: Edges
    roots: Sequence[Root]
    dispatched: Bools
    called: Bools
    factor: Floats


def woken_seldom(
    image: Image, knowledge: Knowledge, ways: Ways, threads: Threads, asleep: Bools
) -> dict[int, WaitingRounds]:
    """By root (row of ``threads``) the rounds in which it waits for what seldom comes; ``asleep``: who sleeps anyway.

    What is woken in such rounds alone is woken seldom as well.  Loops within a round run as long as they like.
    """
    objects = Objects(image, knowledge, [root.function for root in ways.roots])
    candidates = dict(_candidates(image, knowledge, objects, ways, threads, asleep)) if objects.waits else {}
    if not candidates:
        return {}
    often = _Often(image, ways, threads, asleep)
    found: dict[int, _Round] = {}
    while fresh := {
        root: _round(image, ways, threads.once[root], waits.loops)
        for root, waits in candidates.items()
        if root not in found and _seldom(objects, often, waits, root, found)
    }:
        found |= fresh
    return {root: of.rounds for root, of in found.items()}


class _Waits(msgspec.Struct, frozen=True):
    """Rows of calls that wait in a root's loop: of those that bound its rounds one is enough, or all where they ask.

    ``loops``: those that wait, and how deep is what is done once in a round.
    """

    bounding: tuple[int, ...]
    others: tuple[int, ...]
    asks: bool
    loops: dict[Loop, int]


class _Round(msgspec.Struct, frozen=True):
    """What is done once in rounds of a root, and the functions that it calls in loops within, or in other loops."""

    rounds: WaitingRounds
    looped: Bools


def _round(image: Image, ways: Ways, own: Bools, loops: dict[Loop, int]) -> _Round:
    """Of a root that runs these functions once."""
    edges = ways.edges
    none = np.full(len(own), -1, np.int64)
    rounds = WaitingRounds(loops, none, np.zeros(0, np.uint64))
    looping = in_loop(edges.depth)
    within = np.flatnonzero(own[edges.caller] & looping)
    in_round = rounds.among(image, edges.made(image, within))
    straight = edges.keep(~looping).reached_from(edges.callee[within[in_round]])
    begin = np.concatenate([edges.callee[within[~in_round]], edges.callee[straight[edges.caller] & looping]])
    looped = edges.reached_from(begin)
    straight &= ~looped & ~ways.dispatched & ~own
    return _Round(msgspec.structs.replace(rounds, called=np.where(straight, 0, none)), looped)


def _candidates(
    image: Image, knowledge: Knowledge, objects: Objects, ways: Ways, threads: Threads, asleep: Bools
) -> Iterator[tuple[int, _Waits]]:
    """Roots with waits in each round of their own loops."""
    rows = np.array(sorted(objects.waits), np.int64)
    ran = np.asarray((threads.once | threads.near).any(axis=0))
    caller = image.calls["function"][rows]
    rows = rows[ran[caller]]
    calls = image.calls[rows]
    how = _made(image, knowledge, objects, rows)
    looping = in_loop(image.calls["loop_depth"]) & (image.calls["function"] >= 0)
    looping &= among(functions_called(image), calls["function"])
    around, called = image.calls[looping], functions_called(image)[looping]  # calls in loops of functions that wait
    loops = loops_of(image, np.concatenate([calls, around]))
    for root, thread in enumerate(ways.roots):
        if asleep[root] or thread.function < 0 or thread.is_task:
            continue
        once, near = threads.once[root], threads.near[root] & ~threads.once[root]
        own, close = once[calls["function"]] & in_loop(calls["loop_depth"]), near[calls["function"]]
        sure = (own & how.sure & (calls["loop_depth"] == 1) & how.works) | (close & how.sure)
        taking = (own & how.taking & how.works) | (close & how.taking)
        bounding = sure if sure.any() else taking
        if not bounding.any():
            continue
        others = (own | close) & ~bounding & each_time(calls["rarity"])
        # The loops around: of a function that is called each time around, those of whom it is called by.
        by = among(called, calls["function"][bounding & close]) & once[around["function"]]
        waiting = {loops[at]: 1 for at in np.flatnonzero(np.concatenate([bounding & own, by])).tolist()}
        yield root, _Waits(tuple(rows[bounding].tolist()), tuple(rows[others].tolist()), not sure.any(), waiting)


class _Made(msgspec.Struct, frozen=True):
    """How calls that wait are made in a round of the loop around, or in a run of their function.

    ``sure``: in every one.  ``taking``: as a rule, after a look at what the function then takes for itself, as a count
    of items that it makes less; of a flag that others set and take back, nothing follows.  ``works``: the loop around
    does something else as well, but for taking locks.
    """

    sure: Bools
    taking: Bools
    works: Bools


def _made(image: Image, knowledge: Knowledge, objects: Objects, rows: Ints) -> _Made:
    """Of these rows of the call table, which wait."""
    calls = image.calls[rows]
    depth = calls["loop_depth"]
    in_round = np.where(in_loop(depth), in_loops(image, calls), calls["rarity"])
    does = [objects.waits[row] for row in rows.tolist()]
    # What is waited for until some time may come without a signal.
    conditions = np.array([of.kind is LockKind.CONDITION and not of.timed for of in does], bool)
    functions = distinct(calls["function"])
    sites, params, made, elsewhere = (
        those_having(table, "function", functions)
        for table in (image.sites, image.params, image.calls, image.behind.elsewhere)
    )
    deepest = np.zeros(len(image.functions), np.uint8)
    _look_for_taken(deepest, sites, sites["target"])
    _look_for_taken(deepest, params, params["offset"].astype(np.uint64) ^ _argument(params["arg"]))
    callees = distinct(made["callee"])
    locking = callees[knowledge.lock_callees(names_of_callees(image, callees))]
    loops = Mirrors(image)
    work = [made[~among(made["callee"], locking)]]
    work += [table[among(table["kind"], _WRITES)] for table in (sites, params, elsewhere)]
    working = np.concatenate([loops.loops(table[in_loop(table["loop_depth"])]) for table in work])
    return _Made(
        sure=(in_round < numbers.EVERY_ROUND) & (depth <= 1),
        taking=conditions & in_loop(depth) & (in_round <= numbers.EACH_TIME) & (deepest[calls["function"]] >= depth),
        works=among(loops.loops(calls), working),
    )


def _look_for_taken(deepest: npt.NDArray[np.uint8], rows: Table, keys: npt.NDArray[np.uint64]) -> None:
    """Notes by function how deep in loops it reads what it writes as well; rows of one key are of one place."""
    writes, reads = among(rows["kind"], _WRITES), among(rows["kind"], _READS)
    written = set(zip(rows["function"][writes].tolist(), keys[writes].tolist(), strict=True))
    for row, key in zip(rows[["function", "loop_depth"]][reads].tolist(), keys[reads].tolist(), strict=True):
        if (row[0], key) in written:
            deepest[row[0]] = max(deepest[row[0]], row[1])


def _argument(numbers_of: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    return (numbers_of.astype(np.uint64) + np.uint64(1)) << np.uint64(48)


class _Often:
    """Which code runs again and again on threads that neither sleep nor are woken seldom."""

    def __init__(self, image: Image, ways: Ways, threads: Threads, asleep: Bools) -> None:
        self._image, self._ways, self._threads, self._asleep = image, ways, threads, asleep
        edges = ways.edges
        chance = edges.once / times(edges.depth, np.zeros(len(edges.depth)))  # loops aside
        self._steps = _steps(chance * ways.factor[edges.callee])
        self._cold = cold = _steps(ways.factor)
        # What is called through a pointer, whoever does so, is as often called.
        self._entered = self._spread(np.full(len(cold), np.inf), np.where(ways.dispatched, cold, np.inf))
        # Of the root that was asked for last, and how many were woken seldom by then.
        self._last: tuple[tuple[int, int], tuple[Floats, Bools]] | None = None

    def made(self, places: Iterable[int], root: int, woken: dict[int, _Round]) -> bool:
        """Is any of these calls made often, by another root, or by this one where it is of several threads?"""
        calls = self._image.calls[np.array(list(places), np.int64)]
        function, steps = calls["function"], calls["rarity"]
        if (self._entered[function] + steps < shared.SELDOM).any():
            return True
        if self._last is None or self._last[0] != (root, len(woken)):
            self._last = (root, len(woken)), self._of(root, woken)
        reached, own = self._last[1]
        looped = own[function] & in_loop(calls["loop_depth"])
        for of in woken.values():
            looped &= ~of.rounds.among(self._image, calls)
        return bool((np.where(looped, steps, reached[function] + steps) < shared.SELDOM).any())

    def _of(self, root: int, woken: dict[int, _Round]) -> tuple[Floats, Bools]:
        """By function how seldom what repeats leads there, at best, in steps of rarity; and what threads run once."""
        ways, edges = self._ways, self._ways.edges
        own = np.zeros(len(ways.factor), bool)
        begin = np.full(len(own), np.inf)
        lives = np.zeros(len(own), bool)
        for other, thread in enumerate(ways.roots):
            if self._asleep[other] or (other == root and not thread.many):
                continue
            if other in woken:
                begin = np.where(woken[other].looped, 0.0, begin)
            elif thread.function < 0:
                begin = np.where(ways.called, self._cold, begin)
            elif thread.is_task:
                begin[thread.function] = 0.0
            else:
                lives |= self._threads.once[other]
            own |= self._threads.once[other]
        rounds = np.flatnonzero(lives[edges.caller] & in_loop(edges.depth))
        np.minimum.at(begin, edges.callee[rounds], self._steps[rounds])
        return self._spread(self._entered, begin), own

    def _spread(self, reached: Floats, begin: Floats) -> Floats:
        """What these functions call, and what that calls, as seldom as all the calls on the way together."""
        edges = self._ways.edges
        front = (begin < reached) & (begin < shared.SELDOM)
        reached = np.minimum(reached, begin)
        while front.any():
            at = np.flatnonzero(front[edges.caller])
            before = reached.copy()
            np.minimum.at(reached, edges.callee[at], reached[edges.caller[at]] + self._steps[at])
            front = (reached < before) & (reached < shared.SELDOM)
        return reached


def _steps(chance: Floats) -> Floats:
    """Steps of rarity of what is done with such a chance."""
    steps: Floats = -shared.RARITY_STEPS * np.log2(np.clip(chance, 1e-30, 1.0))
    return steps


def _seldom(objects: Objects, often: _Often, waits: _Waits, root: int, woken: dict[int, _Round]) -> bool:
    """Is all that may wake a root from one of these waits seldom done by others?"""
    bound = (_ends_seldom(objects, often, at, root, woken) for at in waits.bounding)
    others = (_ends_seldom(objects, often, at, root, woken) for at in waits.others)
    return (all(bound) if waits.asks else any(bound)) and all(others)


def _ends_seldom(objects: Objects, often: _Often, wait: int, root: int, woken: dict[int, _Round]) -> bool:
    """Are all calls that may wake who waits here made seldom?  That there is one shows who is waited for."""
    wanted = {place.address for place in objects.of(wait)}
    if 0 in wanted:
        return False
    known = [place.call for address in wanted for place in objects.wakes.get(address, ())]
    if not known or often.made(known, root, woken):
        return False
    kind = objects.waits[wait].kind
    unknown = [place.call for place in objects.wakes.get(0, ()) if place.kind is kind]
    return not any(map(objects.may_be_handed_on, wanted)) or not often.made(unknown, root, woken)
