"""What a thread does before it waits for all others once, and then lives in a loop: it loads its part, or calibrates.

Owns which accesses these are.  ``load(n); barrier.wait(); for (;;) ...``: the loop in ``load`` runs once in the life of
the thread, however often it goes round.  A program that works in stages looks the same where all its threads have work
in front of the barrier; so another kind of thread must come there with none, which shows that the barrier is where
threads start.  Main may come for any reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import rows_having
from sharing.basics.ways import points
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, Table
from sharing.static.edges import Edges
from sharing.static.executions import in_loop
from sharing.static.lifeloops import ANY_DEPTH, LifeLoops, ways_to
from sharing.static.meetingpoints import MeetingPoint
from sharing.static.starts import Root
from sharing.static.waitingrounds import WaitingRounds, loops_of

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]


class Preludes(msgspec.Struct, frozen=True):
    """By root what it does once before it waits for all others."""

    rounds: dict[int, WaitingRounds] = {}

    def of_parts(self, source: Sequence[int]) -> Preludes:
        """The same where ``source`` says of which root each stretch of a thread is."""
        return Preludes({bit: self.rounds[of] for bit, of in enumerate(source) if of in self.rounds})

    def alone(self, image: Image, rows: Table, mask: Masks) -> Bools:
        """Which of these accesses all threads that make them, ``mask``, make before they wait."""
        left = mask.copy()
        for bit, rounds in self.rounds.items():
            at = np.flatnonzero(mask >> np.uint64(bit) & np.uint64(1))
            left[at[rounds.among(image, picked(rows, at))]] &= ~np.uint64(1 << bit)
        found: Bools = (mask != 0) & (left == 0)
        return found


class _Way(msgspec.Struct, frozen=True):
    """What a thread does around the place where it waits: in front of it, once, and whether it goes round a loop
    behind it."""

    rounds: WaitingRounds
    bare: bool
    lives: bool


def find_preludes(
    image: Image,
    knowledge: Knowledge,
    meetings: Iterable[MeetingPoint],
    roots: Sequence[Root],
    edges: Edges,
    once: Bools,
    entered: Bools,
) -> Preludes:
    """``once`` by root: the functions that its thread runs once; ``entered``: those that are called through pointers.

    1. places that roots pass once, outside of loops; 2. what each does in front of them and behind; 3. where one has
    nothing to do in front, it is the others' start.
    """
    rounds: dict[int, WaitingRounds] = {}
    for calls in _places(meetings):
        ways, caller = {}, calls["function"]
        for at, own in enumerate(once):
            root, here = roots[at], calls[own[caller]]
            passes = len(distinct(here["function"])) == 1 and not in_loop(here["loop_depth"]).any()
            if passes and _is_thread(root):
                ways[at] = _way(image, here, edges, own, entered)
        if any(way.bare and way.lives for way in ways.values()):
            rounds |= {at: way.rounds for at, way in ways.items() if way.lives and not way.bare}
    lives = LifeLoops(image, knowledge, edges, entered)
    for at, own in enumerate(once):
        if at not in rounds and _is_thread(roots[at]):
            found = lives.in_front(own)
            if found is not None:
                rounds[at] = found
    return Preludes(rounds)


def _is_thread(root: Root) -> bool:
    return root.function >= 0 and not root.is_task and root.name != "main"


def _places(meetings: Iterable[MeetingPoint]) -> Iterator[Table]:
    """Calls at which threads arrive and wait, by the place or, where it is not known, by what they call."""
    unnamed: dict[int, list[Table]] = defaultdict(list)
    for one in meetings:
        if not one.both or one.of_region or not len(one.waits):
            continue
        if one.unnamed:
            unnamed[int(one.waits["callee"][0])].append(one.waits)
        else:
            yield one.waits
    yield from map(np.concatenate, unnamed.values())


def _way(image: Image, calls: Table, edges: Edges, own: Bools, entered: Bools) -> _Way:
    """Of a thread that runs the functions ``own`` once and waits at these calls, in one of them."""
    towards = ways_to(image, edges, own, int(calls["function"][0]), calls)
    none = np.full(len(own), -1, np.int64)
    loops, before, behind, lives = set(), [], [], False
    through = [none[:0].astype(np.uint64)]  # calls in front, where what the callee does is noted as well
    for function, ends in towards.items():
        cut = points(image, ends)
        for table in _tables(image):
            inside, depth = table["function"] == function, table["loop_depth"]
            here = table[inside & in_loop(depth)]
            places = points(image, here)
            later = places.behind(cut).any(axis=1)
            lives |= bool(later.any())
            loops.update(loops_of(image, here[~later & cut.behind(places).any(axis=0)]))
        called = np.flatnonzero(edges.caller == function)
        places = points(image, made := edges.made(image, called))
        later = places.behind(cut).any(axis=1)
        first = cut.behind(places).any(axis=0) & ~later
        before.append(edges.callee[called[first]])
        through.append(made["ip"][first])
        aside = ~first & ~among(edges.callee[called], list(towards))
        behind.append(edges.callee[called[later | aside]])
    later = edges.reached_from(np.concatenate(behind))
    lives |= bool(_loops(image, np.flatnonzero(later & own)))
    first = edges.reached_from(np.concatenate(before)) & ~later & ~entered
    first[list(towards)] = False
    bare = not loops and not _loops(image, np.flatnonzero(first))
    rounds = WaitingRounds(
        dict.fromkeys(loops, ANY_DEPTH), np.where(first, ANY_DEPTH, none), distinct(np.concatenate(through))
    )
    return _Way(rounds, bare, lives)


def _loops(image: Image, functions: Ints) -> bool:
    """Does one of these functions access or call something in a loop?"""
    return any(
        bool(in_loop(table["loop_depth"][rows_having(table, "function", functions)]).any()) for table in _tables(image)
    )


def _tables(image: Image) -> tuple[Table, ...]:
    """What functions do, by its place in them."""
    return image.sites, image.params, image.behind.elsewhere, image.calls
