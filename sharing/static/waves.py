"""Threads that come one after another: all of the one kind have ended before the first of the other is started.

Owns what the order of starts and joins in a function that main runs once says of who meets whom.  Of handles it knows
nothing: it counts.  Before a start all threads that this function started have ended where as many joins lie there as
starts, and one in a loop for each start in a loop, and where no join is left over behind it for one of the earlier.
Threads of one kind are a series where each has so ended before the next, in each round of a loop as well: joins of a
round that are as many as its starts, and lie behind them, leave none of these to the next.  So does a function that
starts a thread and joins one behind it, however often main calls it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, rows_having, those_having
from sharing.basics.ways import Mirrors, points
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, Table
from sharing.model.ways import longest
from sharing.static import numbers
from sharing.static.callees import calls_by_callee, calls_of, functions_called
from sharing.static.executions import in_loop
from sharing.static.starts import Root
from sharing.static.threadends import leading_to, starts_and_ends

MAX_CALLS = 64  # of one function; of more, which are compared with each other, nothing is said

Bools = npt.NDArray[np.bool_]
Pairs = frozenset[tuple[int, int]]


class Waves(NamedTuple):
    """``parted``: pairs of roots, by number and in both orders, that never run at one time; ``series``: roots of which
    no two threads do; ``places`` as of ``start_places``."""

    parted: Pairs = frozenset()
    series: frozenset[int] = frozenset()
    places: Sequence[dict[int, Table]] = ()

    def in_series(self, roots: Sequence[Root]) -> tuple[Root, ...]:
        """The roots, of which those in ``series`` are one thread at a time."""
        return tuple(dataclasses.replace(one, many=one.many and at not in self.series) for at, one in enumerate(roots))


def find_waves(image: Image, knowledge: Knowledge, roots: Sequence[Root], leading: Bools) -> Waves:
    """Which threads of ``roots`` come one after another.

    ``leading``: functions that main alone runs, once, and that start threads.
    """
    if not leading.any():
        return Waves()
    image, starts, joins, _ = starts_and_ends(image, knowledge, leading)
    places = start_places(image, roots, leading)
    if not joins.any():
        return Waves(places=places)
    starting, joining = leading_to(image, starts), leading_to(image, joins)
    looped = _looped_within(image, joins, joining)
    # Of other functions nobody asks for the order of blocks.
    kept = np.union1d(np.flatnonzero(leading), image.calls["function"][starts])
    image = dataclasses.replace(image, blocks=image.blocks[among(image.blocks["function"], kept)])
    of_many = [at for at, name in image.callee_names.items() if (row := knowledge.thread_start(name)) and row.many]
    several = set(image.calls["ip"][having(image.calls, "callee", of_many)].tolist())
    parted: set[tuple[int, int]] = set()
    series: set[int] = set()
    for function in np.flatnonzero(leading).tolist():
        here = [(at, where[function]) for at, where in enumerate(places) if function in where]
        asked = here and not _ends_later(image, function, starting, joining, looped)
        walls = dict(_walls(image, function, starting, joining, looped)) if asked else {}
        for joins in walls.values() if len(here) > 1 else ():
            sides = [(at, *_sides(image, rows, joins)) for at, rows in here]
            parted |= {(a, b) for a, before, _ in sides for b, _, after in sides if before and after}
        made = _Made(image, function, starting, joining)
        one_each = [(at, rows) for at, rows in here if several.isdisjoint(roots[at].started)]
        series |= {at for at, rows in one_each if _is_series(made, roots[at], rows, walls)}
    return Waves(frozenset(parted | {(b, a) for a, b in parted}), frozenset(series), places)


class _Made(NamedTuple):
    """What a function calls: ``starting`` and ``joining`` say of all calls which lead to a start, and to a join."""

    image: Image
    function: int
    starting: Bools
    joining: Bools

    def of(self, function: int) -> tuple[Table, Table]:
        """(starts, joins) of a function."""
        calls = self.image.calls
        own = calls["function"] == function
        return calls[own & self.starting], calls[own & self.joining]


def _is_series(made: _Made, root: Root, rows: Table, walls: Container[int]) -> bool:
    """Has each thread that these calls of one function start, themselves or further down, ended before the next?

    They lead to all that start it.
    """
    calls = made.image.calls
    if not root.many or not root.started:
        return False
    if root.started != set(rows["ip"].tolist()):
        first = those_having(calls, "ip", list(root.started))
        if _ends_its_own(made, first):
            return True
        if len(first) != 1 or in_loop(first["loop_depth"]).any():
            return False
    at = points(made.image, rows)
    led = at.behind(at).any(axis=1)
    looped = in_loop(rows["loop_depth"])
    if len(rows) == 1 and not looped.any():
        return False  # nobody knows what makes several of it
    return all(ip in walls for ip in rows["ip"][led].tolist()) and all(
        _ends_in_its_round(made, row) for row in rows[looped]
    )


def _ends_its_own(made: _Made, first: Table) -> bool:
    """Does the function that makes this one call, outside of loops, join behind it as many as it starts?

    Of several calls of one function those threads meet that the first two of them start.
    """
    if len(first) != 1:
        return False
    starts, joins = made.of(int(first["function"][0]))
    if max(len(starts), len(joins)) > MAX_CALLS or in_loop(starts["loop_depth"]).any():
        return False
    return _left_none(made.image, starts, joins[~in_loop(joins["loop_depth"])])


def _ends_in_its_round(made: _Made, start: Any) -> bool:
    """Does a round of the loop around this start join behind its starts as many as these are?

    Of two loops within another nothing tells whether they are one.
    """
    starts, joins = made.of(made.function)
    if start["loop_depth"] != 1 or max(len(starts), len(joins)) > MAX_CALLS:
        return False
    mirrors = Mirrors(made.image)
    here = mirrors.loops(np.array([start], starts.dtype))
    starts, joins = (rows[in_loop(rows["loop_depth"])] for rows in (starts, joins))
    starts, joins = (rows[mirrors.loops(rows) == here] for rows in (starts, joins))
    return bool((starts["loop_depth"] == 1).all()) and _left_none(
        made.image, starts, picked(joins, joins["loop_depth"] == 1)
    )


def _left_none(image: Image, starts: Table, joins: Table) -> bool:
    """Are there as many joins behind these starts, made as often as these, in the same round or outside of loops?"""
    if not len(starts):
        return False  # the call that starts this one hands its entry to code that is not seen to start anything
    at, ends = points(image, starts), points(image, joins)
    often = joins["rarity"] < int(starts["rarity"].min()) + numbers.EVERY_ROUND
    joins = joins[often & ends.behind(at).all(axis=1)]
    a, b = _most(image, starts), _most(image, joins)
    return b.once >= a.once and b.looped >= a.looped


def _sides(image: Image, places: Table, joins: Table) -> tuple[bool, bool]:
    """Do all of these places come before the joins, or behind them?"""
    at, ends = points(image, places), points(image, joins)
    before = (ends.behind(at).T | (places["ip"][:, None] == joins["ip"])).any(axis=1)
    return bool(before.all()), bool((at.behind(ends).any(axis=1) & ~before).all())


def start_places(image: Image, roots: Sequence[Root], leading: Bools) -> list[dict[int, Table]]:
    """By root and function of ``leading`` the calls in it that start all threads of it, themselves or further down."""
    calls = image.calls
    order, callees = calls_by_callee(image)
    starting = rows_having(calls, "ip", [ip for root in roots for ip in root.started])
    places: list[dict[int, Table]] = []
    for root in roots:
        found: dict[int, Table] = {}
        rows = starting[among(calls["ip"][starting], list(root.started))]
        for _ in range(numbers.ENTRY_WRAPPERS + 1):
            functions = distinct(calls["function"][rows])
            if len(functions) == 1 and leading[functions[0]]:
                found[int(functions[0])] = calls[rows]
            starts = image.functions["address"][functions]
            first, last = np.searchsorted(callees, starts), np.searchsorted(callees, starts, "right")
            # Of a function that nobody calls directly nobody knows who does.
            if not len(rows) or (first == last).any():
                break
            rows = np.concatenate([order[a:b] for a, b in zip(first, last, strict=True)])
            rows = rows[calls["function"][rows] >= 0]
        places.append(found)
    return places


def _looped_within(image: Image, joins: Bools, joining: Bools) -> Bools:
    """Which of the calls that lead to joins lead to such in loops: ``pool.join()`` joins any number."""
    found = np.zeros(len(image.calls), bool)
    rows, inside = np.flatnonzero(joining), np.zeros(len(image.functions) + 1, bool)  # the last is of row -1
    function, callee = image.calls["function"][rows], functions_called(image)[rows]
    inside[function[joins[rows] & in_loop(image.calls["loop_depth"][rows])]] = True
    while True:
        inside[-1] = False
        further = inside[callee]
        if not (further & ~found[rows]).any():
            return found
        found[rows[further]] = True
        inside[function[further]] = True


def _ends_later(image: Image, function: int, starting: Bools, joining: Bools, looped: Bools) -> bool:
    """Are there joins left over behind a call of this function, for threads that it leaves?

    One that lies behind a start in it may then be none of what it started: of a handle that is assigned to, whose
    thread would be waited for if it had one.
    """
    for _ in range(numbers.ENTRY_WRAPPERS):
        made = image.calls[calls_of(image, int(image.functions["address"][function]))]
        if len(made) != 1 or made["function"][0] < 0:
            break
        function = int(made["function"][0])
        own = image.calls["function"] == function
        starts, joins = image.calls[own & starting], _deepened(image, own & joining, looped)
        at = points(image, made)
        starts, joins = (rows[points(image, rows).behind(at).any(axis=1)] for rows in (starts, joins))
        if _left_over(_most(image, starts), _most(image, joins)):
            return True
    return False


def _deepened(image: Image, chosen: Bools, looped: Bools) -> Table:
    """These calls, in loops where they lead to joins in loops."""
    rows = image.calls[chosen].copy()
    depth = rows["loop_depth"]
    rows["loop_depth"] = np.where(looped[chosen], np.maximum(depth, 1), depth)
    return rows


def _walls(image: Image, function: int, starting: Bools, joining: Bools, looped: Bools) -> Iterator[tuple[int, Table]]:
    """Calls in this function, some and then more of them, behind which none of the threads runs that it started, each
    time with the start in front of which these are."""
    own = image.calls["function"] == function
    starts, joins = image.calls[own & starting], _deepened(image, own & joining, looped)
    looping = in_loop(image.calls["loop_depth"][own & joining])
    if not len(joins) or len(starts) < 2 or max(len(starts), len(joins)) > MAX_CALLS:
        return
    at, ends = points(image, starts), points(image, joins)
    before, ended = at.behind(at), at.behind(ends)  # by start: which others, and which joins, lie before it
    led = ends.behind(at) | (joins["ip"][:, None] == starts["ip"])  # by join: the starts before it
    again = Mirrors(image).loop(starts["function"], starts["order"])
    for number in range(len(starts)):
        earlier, done = before[number], ended[number]
        if not earlier.any() or not led[done][:, earlier].any(axis=0).all():
            continue
        before_it, behind_it = (_most(image, starts[rows]) for rows in (earlier, ~earlier))
        # What is on another arm than this start ends nothing behind it, unless in another round.
        later = ~done & (led[:, number] | looping)
        ended_there, ended_later = (_most(image, joins[rows]) for rows in (done, later))
        ended_all = _balanced(before_it, ended_there) and not _left_over(behind_it, ended_later)
        in_one = in_loop(starts["loop_depth"][number]) & in_loop(starts["loop_depth"][earlier])
        round_again = (in_one & (again[earlier] == again[number])).any()
        if ended_all and (not round_again or _balanced(behind_it, ended_later)):
            yield int(starts["ip"][number]), joins[done]


class _Number(NamedTuple):
    """Of calls, how many one run makes at most: outside of loops, and in the least nested ones, each any number."""

    once: int
    looped: int
    depth: int  # of the latter


def _most(image: Image, rows: Table) -> _Number:
    at, depth = points(image, rows), np.where(in_loop(rows["loop_depth"]), rows["loop_depth"], 0).astype(np.int64)
    behind = at.behind(at)
    # A loop that is entered in two ways has a call in an inner one that is no other loop of the source.
    least = int(depth[depth > 0].min(initial=np.iinfo(np.int64).max))
    chains = [longest(behind[kind][:, kind]).max(initial=0) for kind in (depth == 0, depth == least)]
    return _Number(int(chains[0]), int(chains[1]), least)


def _balanced(starts: _Number, joins: _Number) -> bool:
    """Are there joins for all of the starts?"""
    looped = joins.depth < starts.depth or joins.looped >= starts.looped
    more = joins.looped > (starts.looped if joins.depth == starts.depth else 0)
    return joins.depth <= starts.depth and looped and (joins.once >= starts.once or more)


def _left_over(starts: _Number, joins: _Number) -> bool:
    """Are there joins for more than these starts?"""
    more = joins.looped > (starts.looped if joins.depth == starts.depth else joins.looped if starts.looped else 0)
    return (joins.once > starts.once and not starts.looped) or (more and not starts.once)
