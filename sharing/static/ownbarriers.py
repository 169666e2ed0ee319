"""Barriers of a program's own: a number of threads that have come, and a condition or a word that all wait for.

Owns which code is one, and the calls at which threads wait for all others there.  One thread comes last: it finds the
number complete, changes what the others ask for and wakes them, on one arm of a branch; they wait on the other.  A
queue wakes and waits for different reasons, and a pool's end wakes whom others let wait: neither does both on two arms
behind one count.  What the loop around the wait asks for must be set by that last thread alone.  It may be the count
itself, which all that come make less: then who comes last wakes all others on one arm and finds nothing to wait for.
Where threads spin (``spinbarriers``) who comes last must set back the count as well: else it may be who comes first,
and prepares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import those_having
from sharing.basics.ways import points, surely_behind
from sharing.knowledge import Knowledge
from sharing.knowledge.locks import WAITS
from sharing.model.arrays import among, picked
from sharing.model.image import ArgKind, FunctionFlag, Image, SiteFlag, Table
from sharing.model.vocabulary import LockKind
from sharing.model.ways import Points
from sharing.static.callees import calls_of
from sharing.static.executions import in_loop
from sharing.static.spinbarriers import CHANGES, OFFSETS, accessed, spins
from sharing.static.waitingrounds import loops_of

_WAITING = tuple(f".{operation}" for operation in WAITS)  # as source shows it
MAX_BARRIERS = 16  # in the code of one function; of more, which are compared with each other, nothing is said
MAX_WORDS = 4  # that a barrier changes: a number, a generation, a sense, how many go on

Bools = npt.NDArray[np.bool_]
Place = tuple[int, int]


class OwnBarrier(msgspec.Struct, frozen=True):
    """Calls at which threads wait for all others; ``named``: all that pass it are among these."""

    calls: Table
    named: bool


class _Words(msgspec.Struct, frozen=True):
    """Accesses of one function: where they are, and of which word, by number."""

    rows: Table
    word: npt.NDArray[np.int64]
    changes: Bools
    static: Bools

    def keep(self, chosen: Bools) -> _Words:
        """Those of some rows."""
        return _Words(self.rows[chosen], self.word[chosen], self.changes[chosen], self.static[chosen])


class _Code(msgspec.Struct, frozen=True):
    """One barrier in a function: the locks that it begins with, if these are seen, and the words that it is made of."""

    locks: Table
    words: _Words
    asked: int  # the word that all wait for

    @property
    def named(self) -> bool:
        """Whether what all wait for is in static storage."""
        return self.asked in self.words.word[self.words.static].tolist()


class _Calls(msgspec.Struct, frozen=True):
    """What functions do, by their callees: wait for a condition, wake who waits, take a lock, give it back.

    ``spin``: they ask for a word and change it instead, and count atomically under no lock.
    """

    waits: Table
    wakes: Table
    takes: Table
    gives: Table
    spin: bool = False

    def of(self, function: int) -> _Calls:
        """Those of one function."""
        waits, wakes, takes, gives = (
            picked(rows, rows["function"] == function) for rows in (self.waits, self.wakes, self.takes, self.gives)
        )
        return _Calls(waits, wakes, takes, gives, self.spin)


class _Seldom(msgspec.Struct, frozen=True):
    """Functions that run at most once, a mask, and rows of those that wait and wake, as barriers do."""

    once: Bools
    barriers: npt.NDArray[np.int64]


def own_barriers(
    image: Image, knowledge: Knowledge, callees: npt.NDArray[np.uint64], names: list[str], once: Bools
) -> Iterator[OwnBarrier]:
    """Those of an image that calls ``callees``, by these names; ``once``: functions that run at most once.

    1. functions that wait for a condition and wake others; 2. where they do so on two arms, behind a count; 3. calls of
    such functions, or where the code stands in one that does other things as well, the locks that it begins with, of
    spinning threads the counts.
    """
    for calls in (_calls(image, knowledge, callees, names), _spins(image)):
        if calls is not None:
            yield from _of_kind(image, calls, once)


def _of_kind(image: Image, calls: _Calls, once: Bools) -> Iterator[OwnBarrier]:
    named: dict[Place, list[Table]] = defaultdict(list)
    both = sorted(set(calls.waits["function"].tolist()) & set(calls.wakes["function"].tolist()) - {-1})
    seldom = _Seldom(once | (image.functions["flags"] & FunctionFlag.INIT != 0), np.array(both, np.int64))
    words = _words(image, both)
    for function in both:
        every = words.keep(words.rows["function"] == function)
        own = calls.of(function)
        found = list(_in_function(image, own, every, seldom))
        if len(found) == 1 and _is_no_more(image, function, every, own.waits):
            for place, rows in _made(image, function, found[0]):
                if place is not None and _set_behind(image, function, place, found[0], seldom):
                    continue
                if place is not None:
                    named[place].append(rows)
                else:
                    yield OwnBarrier(rows, named=False)
            continue
        for one in found:
            if one.named and len(one.locks) == 1:
                named[-1, one.asked].append(one.locks)
        apart = [one.locks for one in found if not one.named]
        if apart and len({one.asked for one in found}) == 1 and all(len(locks) == 1 for locks in apart):
            yield OwnBarrier(np.concatenate(apart), named=False)
    for parts in named.values():
        rows = np.concatenate(parts)
        yield OwnBarrier(rows[np.argsort(rows["ip"], kind="stable")], named=True)


def _calls(image: Image, knowledge: Knowledge, callees: npt.NDArray[np.uint64], names: list[str]) -> _Calls | None:
    """Calls by what they do; None where nobody waits for a condition, or nobody wakes."""
    does = {at: one.waits for at, one in knowledge.handoffs(names) if one.kind is LockKind.CONDITION}
    if len(set(does.values())) < 2:
        return None
    locks: dict[str, list[int]] = defaultdict(list)
    for at in knowledge.lock_callees(names):
        waiting = at in does or names[at].endswith(_WAITING)  # gives a lock back and takes it again
        for effect in () if waiting else knowledge.lock_calls(names[at]):
            locks[effect.effect].append(at)

    def of(rows: list[int]) -> Table:
        found: Table = those_having(image.calls, "callee", callees[rows])
        return found

    waits, wakes = ([at for at, waiting in does.items() if waiting is which] for which in (True, False))
    return _Calls(of(waits), of(wakes), of(locks["lock"]), of(locks["unlock"]))


def _spins(image: Image) -> _Calls | None:
    found = spins(image)
    return None if found is None else _Calls(*found, found.counts[:0], spin=True)


def _words(image: Image, functions: list[int]) -> _Words:
    """The words that functions access."""
    rows, word, static = accessed(image, functions)
    return _Words(rows, word, among(rows["kind"], CHANGES), static)


def _in_function(image: Image, calls: _Calls, every: _Words, seldom: _Seldom) -> Iterator[_Code]:
    """The barriers in the code of one function, of which each begins with a lock, where these are seen.

    ``seldom``: what else changes a word is no barrier.
    """
    locks, waits, wakes = calls.takes, calls.waits, calls.wakes
    if not 0 < len(waits) <= MAX_BARRIERS or len(wakes) > MAX_BARRIERS or len(locks) > MAX_BARRIERS:
        return
    if not len(locks):
        if (asked := _asked(image, calls, every, seldom)) is not None:
            yield _Code(locks, every, asked)
        return
    at, ends = points(image, locks), points(image, calls.gives)
    after, before = at.behind(at), ends.behind(at)
    around_waits, around_wakes = (_Around.of(image, rows, at, ends) for rows in (waits, wakes))
    around_words: _Around | None = None  # of few locks
    for number in range(len(locks)):
        later, given = after[:, number], before[:, number]  # neither behind the next one nor where it was given back
        rarity = calls.gives["rarity"][given]
        chosen, woken = (one.inside(number, later, given, rarity) for one in (around_waits, around_wakes))
        if calls.spin:  # not what is looked at in front of the next one
            chosen &= waits["loop_depth"] > locks["loop_depth"][number]
        if not chosen.any() or not woken.any():
            continue
        around_words = around_words or _Around.of(image, every.rows, at, ends)
        counted = every.rows["ip"] == locks["ip"][number] if calls.spin else np.zeros(len(every.rows), bool)
        words = every.keep(around_words.inside(number, later, given, rarity) | counted)
        own = msgspec.structs.replace(calls, waits=waits[chosen], wakes=wakes[woken])
        if (asked := _asked(image, own, words, seldom)) is not None:
            yield _Code(locks[number : number + 1], words, asked)


class _Around(NamedTuple):
    """Rows of a function by which of its locks (columns), and where these are given back, they are behind."""

    locks: Bools
    ends: Bools
    rarity: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, image: Image, rows: Table, locks: Points, ends: Points) -> _Around:
        places = points(image, rows)
        return cls(places.behind(locks), places.behind(ends), rows["rarity"])

    def inside(self, number: int, later: Bools, given: Bools, rarity: npt.NDArray[np.uint8]) -> Bools:
        """Which are behind this lock, and behind none of the ``later`` ones, nor surely where it was ``given`` back.

        An end that is seldom come to (``rarity``) is no way to what is done as a rule.
        """
        behind: Bools = self.locks[:, number] & ~self.locks[:, later].any(axis=1)
        behind &= surely_behind(self.ends[:, given], rarity, self.rarity) == 0
        return behind


def _asked(image: Image, calls: _Calls, words: _Words, seldom: _Seldom) -> int | None:
    """The word that those who wait ask for, and who comes last sets, where this is a barrier; else None.

    A word is counted on the way to both.  Where the loop is another function's nobody sees what is asked: it must be
    set on the arm that wakes alone.
    """
    waits, wakes = calls.waits, calls.wakes
    waiting, waking = points(image, waits), points(image, wakes)
    if in_loop(wakes["loop_depth"] - min(waits["loop_depth"].min(), wakes["loop_depth"].min())).any():
        return None
    if (latch := _counted_down(image, calls, words, seldom)) is not None:
        return latch
    if waiting.behind(waking).any() or waking.behind(waiting).any():
        return None
    places = points(image, words.rows)
    before = [one.behind(places).any(axis=0) for one in (waiting, waking)]
    reads = set(words.word[before[0] & before[1] & ~words.changes].tolist())
    changed = []
    for way, rows in zip(before, (waits, wakes), strict=True):
        here = among(words.rows["order"], rows["order"])  # what a call is beside may be moved behind it
        changed.append(set(words.word[(way | here) & words.changes].tolist()))
    counted = (reads | set(words.word[before[0] & before[1] & words.changes].tolist())) & changed[0]
    if calls.spin:
        counted &= set(words.word[(before[1] | here) & ~before[0] & words.changes].tolist())
    looped = words.rows["loop_depth"] > wakes["loop_depth"].max()
    asked = set(words.word[looped & ~words.changes].tolist())
    told = sorted(asked & changed[1]) if asked else sorted(changed[1] - changed[0])
    if not counted or not told or _set_elsewhere(image, words, asked | set(told), seldom):
        return None
    return int(told[0])


def _counted_down(image: Image, calls: _Calls, words: _Words, seldom: _Seldom) -> int | None:
    """The word that each thread changes and then waits for, where some wake the others on the way; else None."""
    waits, wakes = calls.waits, calls.wakes
    if calls.spin or len(waits) != 1 or len(wakes) != 1 or not in_loop(waits["loop_depth"]).all():
        return None
    waiting, waking, places = (points(image, rows) for rows in (waits, wakes, words.rows))
    # Who wakes comes to the wait as well, and not each thread that comes there has woken others.
    if not waiting.behind(waking).all() or waking.behind(waiting).any() or wakes["rarity"][0] == waits["rarity"][0]:
        return None
    before = (waking.behind(places) & waiting.behind(places)).any(axis=0)
    before &= words.rows["rarity"] < wakes["rarity"][0]  # each does so, not who wakes alone
    looped = words.rows["loop_depth"] > wakes["loop_depth"][0]
    asked = set(words.word[looped & ~words.changes].tolist())
    told: set[int] = asked & set(words.word[before & words.changes & ~looped].tolist())
    changed = set(words.word[words.changes & ~before].tolist())
    if not told or told & changed or _set_elsewhere(image, words, told, seldom):
        return None
    return min(told)  # in source one word may be that of an object and of an argument


def _set_elsewhere(image: Image, words: _Words, asked: set[int], seldom: _Seldom) -> bool:
    """Whether code that is no barrier, and may run again, changes a static word that those who wait ask for."""
    static = np.array(sorted(asked.intersection(words.word[words.static].tolist())), np.uint64)
    sites = picked(image.sites, among(image.sites["target"], static) & among(image.sites["kind"], CHANGES))
    return _again(sites, seldom)


def _again(sites: Table, seldom: _Seldom) -> bool:
    """Whether a thread may come to one of these that is no barrier more than once."""
    sites = picked(sites, (sites["function"] >= 0) & (sites["rarity"] < shared.SELDOM))
    once = seldom.once[sites["function"]] & ~in_loop(sites["loop_depth"])
    return bool((~once & ~among(sites["function"], seldom.barriers)).any())


def _set_behind(image: Image, function: int, place: Place, code: _Code, seldom: _Seldom) -> bool:
    """As ``_set_elsewhere``, of the word that is asked for in an object that the barrier is handed."""
    if place[0] != function or code.asked >= 0:
        return False
    word = np.uint64(place[1] + (-1 - code.asked) % OFFSETS)
    sites = picked(image.sites, (image.sites["target"] == word) & among(image.sites["kind"], CHANGES))
    return _again(picked(sites, sites["flags"] & SiteFlag.VIA_CALL == 0), seldom)


def _is_no_more(image: Image, function: int, every: _Words, waits: Table) -> bool:
    """Whether other functions call this one by its name, and it is a barrier and nothing else."""
    row = image.functions[function]
    called = len(calls_of(image, int(row["address"]))) > 0 and not row["flags"] & FunctionFlag.ADDRESS_TAKEN
    changes = every.rows[every.changes]
    counted = set(every.word[every.changes].tolist())
    waiting = set(loops_of(image, waits[in_loop(waits["loop_depth"])]))  # how often it waited may be counted there
    working = set(loops_of(image, changes[in_loop(changes["loop_depth"])])) - waiting
    return bool(called and not working and len(counted) <= MAX_WORDS)


def _made(image: Image, function: int, code: _Code) -> Iterator[tuple[Place | None, Table]]:
    """Calls of a function that is a barrier, by the object that they hand it, None where nobody sees which."""
    calls = image.calls[calls_of(image, int(image.functions["address"][function]))]
    calls = picked(calls, calls["function"] >= 0)
    if code.named:
        yield (-1, code.asked), calls
        return
    by_place: dict[Place | None, list[int]] = defaultdict(list)
    argument = (-1 - code.asked) // OFFSETS if code.asked < 0 else -1
    for number, ip in enumerate(calls["ip"].tolist()):
        given = those_having(image.args, "ip", ip)
        given = picked(given, (given["arg"] == argument) & (given["kind"] == ArgKind.ADDRESS) & (given["source"] == 0))
        by_place[(function, int(given["value"][0])) if len(given) == 1 else None].append(number)
    for place, numbers in by_place.items():
        yield place, calls[numbers]
