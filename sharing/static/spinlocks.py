"""Locks that code takes by itself: a word that an exchange found zero, or a ticket, until it is given back.

Owns which words are such locks, and where each is held.  A word is a lock if nothing changes it, once threads run, but
what takes it and what gives it back: a store of zero, or for a ticket a store to the word that says whose turn it is.
Where a function holds it that it took itself is told by the reader of its code; functions that return with it held, or
give back what they did not take, do so for who calls them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having
from sharing.knowledge import Knowledge
from sharing.knowledge.locks import SPIN_LOCK
from sharing.model.arrays import among, distinct, picked, stacked
from sharing.model.image import (
    HELD,
    HELD_ADDRESS_BITS,
    HELD_OFFSET_BITS,
    AccessKind,
    ArgKind,
    Image,
    ImageKind,
    SiteFlag,
    Table,
    ZeroRange,
)
from sharing.static.callees import calls_by_callee, function_at
from sharing.static.callgraph import CallGraph
from sharing.static.flow import LOCK, LOCK_DTYPE, UNLOCK, ByEntry, LockCalls
from sharing.static.handovers import ADDRESS_MASK
from sharing.static.phases import program_point
from sharing.static.startobjects import argument_holder, function_of, is_argument, number_of

TAKEN_ROUNDS = 3  # of functions that take by calling one that takes

# In the value of a row, see SpinMark of the reader.
_IF_WAITS_TAKE, _IF_TAIL_CALLS_TAKE, _TICKET = 0x40, 0x80, 0x3F
_CHANGES = (AccessKind.STORE, AccessKind.RMW)
LAST_OFFSET = 1 << 12  # of a word in what a call is handed
_NO_EVENTS = np.empty(0, LOCK_DTYPE)

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


class Word(NamedTuple):
    """A word that is taken: at an address, or behind an argument of the function as in ``Behind.word_sites``."""

    place: int
    size: int
    ticket: int  # of a ticket lock 1 + the bytes to the word that gives it back


class SpinLocks(msgspec.Struct, frozen=True):
    """``taken``: what takes such a lock by itself; ``calls``: calls that do, and all that gives one back (LOCK_DTYPE).

    ``held`` by function row: [begin, end) of the code, address of the lock; ``sizes`` of the locks by address.
    """

    taken: Table
    calls: Table
    held: dict[int, list[tuple[int, int, int]]]
    sizes: dict[int, int]

    def plus(self, more: SpinLocks) -> SpinLocks:
        """These and ``more``, which are other words."""
        if not self.sizes or not more.sizes:
            return more if not self.sizes else self
        held = {
            function: [*self.held.get(function, ()), *more.held.get(function, ())] for function in self.held | more.held
        }
        taken, calls = np.concatenate([self.taken, more.taken]), np.concatenate([self.calls, more.calls])
        return SpinLocks(taken, calls, held, self.sizes | more.sizes)

    def joined(self, locks: LockCalls) -> LockCalls:
        """The locks of the program with these."""
        if not self.sizes:
            return locks
        events = np.concatenate([locks.events, self.calls])
        ordered = picked(events, np.argsort(events["ip"], kind="stable"))
        return msgspec.structs.replace(locks, events=ordered, held=self.held, sizes=self.sizes)

    def without_own(self, sites: Table) -> Table:
        """Accesses but those that take these locks or give them back."""
        if not self.sizes:
            return sites
        starts = np.array(sorted(self.sizes), np.uint64)
        sizes = np.array([self.sizes[int(start)] for start in starts], np.uint64)
        at = np.maximum(np.searchsorted(starts, sites["target"], "right").astype(np.int64) - 1, 0)
        inside = (sites["target"] >= starts[at]) & (sites["target"] - starts[at] < sizes[at])
        own = among(sites["ip"], np.concatenate([self.taken["ip"], self.calls["ip"]]))
        return picked(sites, ~(inside & own & among(sites["kind"], _CHANGES)))


NO_LOCKS = SpinLocks(_NO_EVENTS, _NO_EVENTS, {}, {})


def spin_locks(
    image: Image, graph: CallGraph, sites: Table, knowledge: Knowledge, handed: ByEntry, least: int = 0
) -> SpinLocks:
    """``sites``: all accesses to what lies at ``least`` and behind it, those that callees make through their arguments
    included; words in front of that are not looked for.

    ``handed``: by function row and argument the objects that threads begin with.  A kernel's locks are known by the
    names of the functions that take them: read from their code as well, each call would count twice.
    """
    if image.kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return NO_LOCKS
    what = image.zero_ranges["what"]
    rows = image.zero_ranges[(what >= ZeroRange.HELD) & (what <= ZeroRange.LEAVES)]
    lock = next((i for i, row in enumerate(knowledge.locks) if row.name == SPIN_LOCK), -1)
    if not len(rows) or lock < 0:
        return NO_LOCKS
    return _Search(image, rows, lock).found(graph, sites, handed, least)


def argument_place(function: int, argument: int, offset: int) -> int:
    """What stands for so many bytes behind an argument of a function (a row)."""
    return int(HELD) | argument_holder(function, argument) << HELD_OFFSET_BITS | offset


def _argument(place: int) -> tuple[int, int, int] | None:
    """(function, argument, offset) that a place stands for; None if it is an address, or behind another pointer."""
    holder = place >> HELD_OFFSET_BITS & (1 << HELD_ADDRESS_BITS) - 1
    if not place & int(HELD) or place >> 63 or not is_argument(holder):
        return None
    return function_of(holder), number_of(holder), place & (1 << HELD_OFFSET_BITS) - 1


def _key(function: Table, argument: Table, offset: Table) -> Table:
    """A number for a place behind an argument of a function."""
    return (function.astype(np.int64) << 3 | argument) * (2 * LAST_OFFSET) + offset


class _Search:
    """The words of one image that may be locks, and what is done to them."""

    def __init__(self, image: Image, rows: Table, lock: int) -> None:
        self._image = image
        self._lock = lock
        self._rows: dict[tuple[int, Word], list[tuple[int, int, int, int]]] = defaultdict(list)  # of a function
        for place, begin, end, function, size, what, value in rows.tolist():
            self._rows[function, Word(place, size, value & _TICKET)].append((what, begin, end, value))
        args = picked(image.args, (image.args["kind"] == ArgKind.ADDRESS) & (image.args["source"] == 0))
        self._addresses = picked(args, np.argsort(args["value"], kind="stable"))
        self._given: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        wanted = {of[0] for _, word in self._rows if (of := _argument(word.place)) is not None}
        starts = image.functions["address"][np.array(sorted(wanted), np.int64)]
        args = args[among(args["callee"], starts)]
        for function, row in zip(function_at(image, args["callee"]).tolist(), args.tolist(), strict=True):
            self._given[function, row[4]].append((row[0], row[2]))
        self._stored: tuple[Table, Table] | None = None  # keys of what functions store behind arguments, and not zero
        asked = {f for (f, _), found in self._rows.items() if any(value & _IF_TAIL_CALLS_TAKE for *_, value in found)}
        tails = picked(image.calls, (image.calls["tail"] != 0) & having(image.calls, "function", sorted(asked)))
        self._tails: dict[int, list[int]] = defaultdict(list)  # tail calls by function row
        for function, ip in zip(tails["function"].tolist(), tails["ip"].tolist(), strict=True):
            self._tails[function].append(ip)
        self._leaves: dict[int, list[Word]] = {}  # by function row
        held: dict[int, list[Word]] = defaultdict(list)
        for function, word in self._rows:
            held[function].append(word)
        for _ in range(TAKEN_ROUNDS):
            found = {}
            for function, words in held.items():
                if left := [word for word in words if self._is_left(function, word)]:
                    found[function] = left
            if found == self._leaves:
                break
            self._leaves = found

    def _pieces(self, function: int, word: Word, what: ZeroRange) -> list[tuple[int, int, int]]:
        """(begin, end, value) of the rows that hold, whatever others do or because those do what the row asks for."""
        rows = [(begin, end, value) for is_what, begin, end, value in self._rows[function, word] if is_what == what]
        if any(value & _IF_WAITS_TAKE for *_, value in rows):
            waits = [begin for is_what, begin, *_ in self._rows[function, word] if is_what == ZeroRange.WAITS]
            if all(self._takes(ip, function, word) for ip in waits):
                return rows
        return [row for row in rows if not row[2] & _IF_WAITS_TAKE]

    def _is_left(self, function: int, word: Word) -> bool:
        """Whether the word is held whenever the function returns."""
        rows = self._pieces(function, word, ZeroRange.LEAVES)
        if not rows or not all(value & _IF_TAIL_CALLS_TAKE for *_, value in rows):
            return bool(rows)
        tails = self._tails.get(function, ())
        return bool(tails) and all(self._takes(ip, function, word) for ip in tails)

    def _takes(self, ip: int, function: int, word: Word) -> bool:
        """Whether the call in the function returns only with its word held."""
        calls = self._image.calls
        at = int(np.searchsorted(calls["ip"], np.uint64(ip)))
        if at >= len(calls) or int(calls["ip"][at]) != ip:
            return False
        callee = int(function_at(self._image, calls["callee"][at : at + 1])[0])
        return any(
            other._replace(place=self._handed(ip, function, other.place)) == word
            for other in self._leaves.get(callee, ())
        )

    def _handed(self, ip: int, function: int, place: int) -> int:
        """What a call leads a place of the callee's to, as the caller sees it; -1 unknown."""
        if (of := _argument(place)) is None:
            return place
        args = self._image.args
        first, last = np.searchsorted(args["ip"], [np.uint64(ip), np.uint64(ip + 1)])
        for _, _, value, _, number, kind, source, _ in args[first:last].tolist():
            if number == of[1] and kind == ArgKind.ADDRESS and not source:
                return int(value + of[2] & ADDRESS_MASK)
            if number == of[1] and kind == ArgKind.PARAM and value >= 0:
                return argument_place(function, source, value + of[2])
        return -1

    def found(self, graph: CallGraph, sites: Table, handed: ByEntry, least: int) -> SpinLocks:
        """The words that are locks, see ``spin_locks``."""
        sites = picked(sites, among(sites["kind"], _CHANGES))
        wide = sites["size"] > LAST_OFFSET
        narrow = picked(sites, ~wide)
        changes = picked(narrow, np.argsort(narrow["target"], kind="stable")), sites[wide]
        sizes: dict[int, int] = {}
        held: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        taken, given = [_NO_EVENTS], [_NO_EVENTS]
        for word, functions in self._uses(handed).items():
            if word.place < least:
                continue
            near = self._changes(word, functions, graph, *changes)
            calls = np.concatenate([self._by_argument(word), self._by_name(word, functions)])
            tries, gives = self._split(word, functions, near)
            if not (tries | gives | among(near["ip"], calls["ip"])).all():
                continue
            giving = self._calls_of(self._givers(word, functions, near[gives]), word)
            calls = np.concatenate([calls, giving])
            if not gives.any() and not (calls["effect"] == UNLOCK).any():
                continue
            sizes[word.place] = word.size
            taken.append(self._events(near[tries], word, LOCK))
            given += [calls, self._events(near[gives], word, UNLOCK)]
            for function, own in functions.items():
                for begin, end, _ in self._pieces(function, own, ZeroRange.HELD):
                    held[function].append((begin, end, word.place))
        return SpinLocks(np.concatenate(taken), stacked(given), dict(held), sizes) if sizes else NO_LOCKS

    def _uses(self, handed: ByEntry) -> dict[Word, dict[int, Word]]:
        """By static word the functions that take it by themselves, with what it is called there.

        A function that takes what it is handed does so by itself only where a thread begins with it.
        """
        uses: dict[Word, dict[int, Word]] = defaultdict(dict)
        for function, word in self._rows:
            of = _argument(word.place)
            if of is None:
                if not word.place & int(HELD):
                    uses[word][function] = word
                continue
            for data, stride in handed.get((of[0], of[1]), ()):
                if not stride and not data & int(HELD):
                    uses[word._replace(place=data + of[2] & ADDRESS_MASK)][function] = word
            for _, value in self._given.get((of[0], of[1]), ()):
                uses.setdefault(word._replace(place=value + of[2] & ADDRESS_MASK), {})
        return uses

    def _changes(self, word: Word, functions: dict[int, Word], graph: CallGraph, sites: Table, wide: Table) -> Table:
        """What changes the word, but before threads start; of all changes, those by address and the few wide ones."""
        end = word.place + word.size
        first, last = np.searchsorted(sites["target"], np.array([max(word.place - LAST_OFFSET, 0), end], np.uint64))
        near = np.concatenate([sites[first:last], picked(wide, wide["target"] < np.uint64(end))])
        near = picked(near, near["target"] + np.maximum(near["size"], 1) > np.uint64(word.place))
        alone = graph.phases.sequential(near["function"], program_point(self._image, near))
        changes: Table = picked(near, ~alone | among(near["function"], list(functions)))
        return changes

    def _split(self, word: Word, functions: dict[int, Word], near: Table) -> tuple[Bools, Bools]:
        """Which of these accesses take the word by themselves, and which give it back."""
        ips = [begin for f, own in functions.items() for begin, *_ in self._pieces(f, own, ZeroRange.TAKES)]
        tries = among(near["ip"], np.array(ips, np.uint64))
        if not word.ticket:
            return tries, ~tries & (near["flags"] & SiteFlag.CLEARS != 0) & (near["target"] == np.uint64(word.place))
        turn = near["target"] == np.uint64(word.place + word.ticket - 1)
        # Whoever takes it gives it back where it is held; others never take it.
        inside = np.zeros(len(near), bool)
        for function, own in functions.items():
            for begin, end, _ in self._pieces(function, own, ZeroRange.HELD):
                inside |= (near["ip"] >= begin) & (near["ip"] <= end)
        gives: Bools = ~tries & turn & (inside | ~among(near["function"], list(functions)))
        return tries, gives

    def _givers(self, word: Word, functions: dict[int, Word], gives: Table) -> list[int]:
        """Functions that give the word back and do not take it."""
        own = {f for f in functions if self._pieces(f, functions[f], ZeroRange.HELD)}
        direct = picked(gives, gives["flags"] & SiteFlag.VIA_CALL == 0)
        return sorted(set(direct["function"].tolist()) - own)

    def _by_name(self, word: Word, functions: dict[int, Word]) -> Table:
        """Calls of functions that leave the static word held."""
        return self._calls_of(
            [f for f, own in functions.items() if own == word and word in self._leaves.get(f, ())], word, LOCK
        )

    def _calls_of(self, functions: list[int], word: Word, effect: int = UNLOCK) -> Table:
        calls, (order, called) = self._image.calls, calls_by_callee(self._image)
        callees = self._image.functions["address"][np.array(functions, np.int64)]
        first, last = (np.searchsorted(called, callees, side) for side in ("left", "right"))
        rows = [order[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return self._events(calls[np.sort(np.concatenate(rows))] if rows else calls[:0], word, effect)

    def _by_argument(self, word: Word) -> Table:
        """Calls that are handed the word and take it, give it back, or both."""
        place = word.place - (word.place >> 63 << 64)  # a kernel's are below zero there
        first, last = np.searchsorted(self._addresses["value"], [place - LAST_OFFSET, place + 1])
        args = self._addresses[first:last]
        callees = function_at(self._image, args["callee"])
        offsets = place - args["value"]
        gives = self._give_back(callees, args["arg"], offsets, word.ticket)
        found = []
        for ip, function, argument, offset, is_given in zip(
            args["ip"].tolist(), callees.tolist(), args["arg"].tolist(), offsets.tolist(), gives.tolist(), strict=True
        ):
            own = word._replace(place=argument_place(function, argument, offset)) if function >= 0 else word
            if own in self._leaves.get(function, ()):
                found.append((ip, LOCK))
            elif (function, own) in self._rows:
                found += [(ip, LOCK), (ip, UNLOCK)]
            elif is_given:
                found.append((ip, UNLOCK))
        if not found:
            return _NO_EVENTS
        calls = self._image.calls
        at = np.searchsorted(calls["ip"], np.array([ip for ip, _ in found], np.uint64))
        events = self._events(calls[np.minimum(at, len(calls) - 1)], word, LOCK)
        events["effect"] = [effect for _, effect in found]
        return events

    def _give_back(self, functions: Table, arguments: Table, offsets: Table, ticket: int) -> Bools:
        """Which functions store what gives such a lock back, so many bytes behind an argument."""
        params = self._image.params
        if self._stored is None:
            stored = picked(
                params, among(params["kind"], _CHANGES) & (params["offset"] >= 0) & (params["offset"] < LAST_OFFSET)
            )
            clears = stored["flags"] & SiteFlag.CLEARS != 0
            keys = _key(stored["function"], stored["arg"], stored["offset"])
            self._stored = distinct(keys), distinct(keys[~clears])
        wanted = _key(functions, arguments, offsets + max(ticket - 1, 0))
        every, other = self._stored
        given: Bools = among(wanted, every) & (functions >= 0)
        return given if ticket else given & ~among(wanted, other)

    def _events(self, rows: Table, word: Word, effect: int) -> Table:
        events = np.zeros(len(rows), LOCK_DTYPE)
        for name in ("ip", "function", "loop_depth", "rarity", "order"):
            events[name] = rows[name]
        events["address"], events["row"], events["effect"] = word.place, self._lock, effect
        return events
