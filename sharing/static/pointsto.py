"""Which objects pointers lead to, told by the moves of pointers through a whole program.

Owns the objects that code without debug information makes, and the sets of places that arguments, results and words of
objects may lead to: what one place is given is added to what it leads to, until nothing changes (after Andersen).  One
object stands for all that a call makes.  What is not seen leads nowhere: of that an object too few is found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.allocators import makes_objects
from sharing.model.arrays import picked
from sharing.model.image import ArgKind, Image, SectionKind
from sharing.model.operands import NO_REGISTER, Moved, WordSet
from sharing.static.callees import function_at, names_of_callees

MAX_PLACES = 8  # that one word or argument leads to: with more it is one that anything is handed through
MAX_OFFSET = 1 << 12  # bytes into an object: beyond, a number was taken for a pointer
ALIGNED = -(1 << 30)  # in front of places in a frame that begins at a line; twice in one that begins elsewhere
MAX_STEPS = 1 << 18  # values that are followed
MAX_UNKNOWN = 2  # words, each behind the other, of which nobody tells what they lead to

Place = tuple[int, int]  # row of an object, bytes from its begin


class Kind(IntEnum):
    STATIC = 0  # all static storage and code; places are addresses
    FRAME = 1  # of a function (its row), from the stack pointer at entry
    MADE = 2  # by the call at an address
    GIVEN = 3  # what a function (its row) that nobody is seen to call is handed as an argument
    WORD = 4  # what a word of another object leads to, of which nothing tells what it is set to
    ELEMENT = 5  # one of an array in another object, whichever


class Object(NamedTuple):
    """``of``: what ``Kind`` says; ``at``: the argument, or the word's place.  ``depth``: unknown words on the way."""

    kind: Kind
    of: int
    at: int = 0
    depth: int = 0


class Value(NamedTuple):
    """One way in which a value is made: a root, and from there the distances of words, each of which leads to the next.

    ``root``: (WordSet, number): GIVEN with function and argument, RETURNED with the call, FRAME with the function,
    UNKNOWN static storage.
    """

    root: tuple[int, int, int]
    steps: tuple[tuple[int, bool], ...]  # bytes, and whether an unknown number of elements comes to them


class Move(NamedTuple):
    what: Moved
    ip: int
    function: int
    number: int
    values: tuple[Value, ...]


class Leads(msgspec.Struct):
    """What is known at the end: objects by row, and what accesses and arguments of calls lead to.

    ``tables``: places of pointers to tables of functions that objects are made with.
    """

    objects: list[Object]
    accesses: dict[int, frozenset[Place]]
    handed: dict[tuple[int, int], frozenset[Place]]  # by (call, argument)
    arguments: dict[tuple[int, int], frozenset[Place]]  # by (row of the function, argument)
    tables: frozenset[Place] = frozenset()


def moves_of(rows: npt.NDArray[Any], functions: npt.NDArray[np.int64]) -> Iterator[Move]:
    """The moves that ORIGIN_DTYPE rows tell; ``functions`` are the rows of the image that were asked for."""
    columns = {name: rows[name].tolist() for name in rows.dtype.names or ()}
    begins = np.flatnonzero(rows["kept"] == WordSet.BEGINS).tolist()
    for begin, end in zip(begins, [*begins[1:], len(rows)], strict=True):
        function = int(functions[columns["asked"][begin]])
        values = tuple(
            dict.fromkeys(v for at in range(begin + 1, end) if (v := _value(columns, at, function)) is not None)
        )
        what = Moved(columns["indexed"][begin])
        if values or what is Moved.ACCESS:
            yield Move(what, columns["ip"][begin], function, columns["held"][begin], values)


def _value(rows: dict[str, list[int]], at: int, function: int) -> Value | None:
    kept = rows["kept"][at]
    if kept == WordSet.GIVEN:
        root = (kept, function, rows["held"][at])
    elif kept == WordSet.RETURNED:
        root = (kept, rows["ip"][at], 0)
    elif kept == WordSet.FRAME:
        root = (kept, function, 0)
    elif rows["base"][at] == NO_REGISTER and kept == WordSet.UNKNOWN and rows["displacement"][at] > 0:
        root = (WordSet.UNKNOWN, 0, 0)
    else:
        return None
    steps = [(rows["displacement"][at], bool(rows["indexed"][at]))]
    while (at := rows["parent"][at]) >= 0:
        steps.append((rows["displacement"][at], bool(rows["indexed"][at])))
    return Value(root, tuple(steps))


_Variable = tuple[Any, ...]


class Solver:
    """The sets grow until nothing changes; whoever read one that grew is asked again.

    ``entries``: functions (rows of the image) that threads begin with.
    """

    def __init__(self, image: Image, moves: Iterable[Move], entries: Iterable[int]) -> None:
        self._image, self._entries = image, frozenset(entries)
        self._objects: list[Object] = [Object(Kind.STATIC, 0)]
        self._row: dict[Object, int] = {self._objects[0]: 0}
        self._leads: dict[_Variable, set[Place]] = defaultdict(set)
        self._readers: dict[_Variable, set[int]] = defaultdict(set)
        self._lacking: set[_Variable] = set()  # words that were read and lead nowhere
        self._moves = [move for move in moves if move.values or move.what is not Moved.ACCESS]
        self._access: dict[int, Move] = {m.ip: m for m in self._moves if m.what is Moved.ACCESS}
        self._calls = _Calls(image)
        writable = (one for one in image.sections if one.kind is SectionKind.WRITABLE)
        self._writable = [(one.address, one.end) for one in writable]
        slots, values = image.code_words["slot"], image.code_words["value"]
        self._words = dict(zip(slots.tolist(), values.tolist(), strict=True))
        self._targets: dict[int, set[int]] = defaultdict(set)  # by an indirect call, the functions that it calls
        self._at_call: dict[int, list[int]] = defaultdict(list)  # the moves of a call
        for at, move in enumerate(self._moves):
            if move.what in (Moved.HANDED, Moved.CALLED):
                self._at_call[move.ip].append(at)
        self._made_with = self._tables()
        moving = (at for at, move in enumerate(self._moves) if move.what is not Moved.ACCESS)
        self._todo: dict[int, None] = dict.fromkeys(moving)
        self._done = 0
        self._now = -1

    def _tables(self) -> dict[tuple[int, int], set[Place]]:
        """By call and place in what it makes, the table of functions that its function gives that: the one it keeps.

        Destructors set it to others, each of which another object may come to as well.
        """
        found: dict[tuple[int, int], set[Place]] = defaultdict(set)
        for move in self._moves:
            access = self._access.get(move.ip) if move.what is Moved.STORED else None
            for place in access.values if access is not None else ():
                for value in move.values:
                    fixed = value.root[0] == WordSet.UNKNOWN and len(value.steps) == len(place.steps) == 1
                    if place.root[0] == WordSet.RETURNED and fixed and value.steps[0][0] in self._words:
                        found[place.root[1], place.steps[0][0] + move.number].add((0, value.steps[0][0]))
        return found

    def solve(self) -> Leads:
        self._run()
        for _ in range(MAX_UNKNOWN + 1):
            if not self._assume():
                break
            self._run()
        accesses = {ip: frozenset(self._places(move)) for ip, move in self._access.items()}
        handed = {(m.ip, m.number): frozenset(self._places(m)) for m in self._moves if m.what is Moved.HANDED}
        arguments = {key[1:]: frozenset(places) for key, places in self._leads.items() if key[0] == "given"}
        made = {one.of: row for row, one in enumerate(self._objects) if one.kind is Kind.MADE}
        tables = frozenset((made[call], at) for call, at in self._made_with if call in made)
        return Leads(self._objects, accesses, handed, arguments, tables)

    def _run(self) -> None:
        while self._todo and self._done < MAX_STEPS:
            at = next(iter(self._todo))
            del self._todo[at]
            self._done += 1
            self._now = at
            self._apply(self._moves[at])
        self._now = -1

    def _assume(self) -> bool:
        """Objects for what nobody is seen to hand over or store.  Whether there are any."""
        fresh = False
        for move in self._access.values():
            self._places(move)
        for key in sorted(self._lacking, key=repr):
            if self._leads.get(key) or key[0] == "result":
                continue
            if key[0] == "given":
                if self._calls.is_called(key[1]):
                    continue
                one = Object(Kind.GIVEN, key[1], key[2])
            else:
                depth = self._objects[key[1]].depth + 1
                if depth > MAX_UNKNOWN or not self._may_lead(key[1], key[2]):
                    continue
                one = Object(Kind.WORD, key[1], key[2], depth)
            fresh |= self._add(key, {(self._object(one), 0)})
        self._lacking.clear()
        return fresh

    def _may_lead(self, row: int, at: int) -> bool:
        """Whether a word that nobody is seen to set may be a pointer: of objects, and of variables."""
        if row:
            return self._objects[row].kind is not Kind.FRAME and at >= 0
        return any(begin <= at < end for begin, end in self._writable)

    def _object(self, one: Object) -> int:
        if one not in self._row:
            self._row[one] = len(self._objects)
            self._objects.append(one)
        return self._row[one]

    def _add(self, key: _Variable, places: Iterable[Place]) -> bool:
        known = self._leads[key]
        fresh = {(one, at) for one, at in places if self._is_near(one, at)} - known
        if not fresh or len(known) >= MAX_PLACES:
            return False
        known |= fresh
        self._todo.update(dict.fromkeys(self._readers[key]))
        return True

    def _is_near(self, row: int, at: int) -> bool:
        return self._objects[row].kind in (Kind.STATIC, Kind.FRAME) or abs(at) < MAX_OFFSET

    def _read(self, key: _Variable) -> set[Place]:
        if self._now >= 0:
            self._readers[key].add(self._now)
        found = self._leads.get(key)
        if not found:
            self._lacking.add(key)
            return set()
        return set(found)

    def _places(self, move: Move) -> set[Place]:
        return {place for value in move.values for place in self._of(value)}

    def _of(self, value: Value) -> set[Place]:
        what, first, second = value.root
        (by, indexed), *more = value.steps
        if what == WordSet.GIVEN:
            found = self._read(("given", first, second))
        elif what == WordSet.RETURNED:
            found = self._returned(first)
        elif what == WordSet.FRAME:
            found = {(self._object(Object(Kind.FRAME, first)), 0)}
        else:
            found = {(0, 0)}
        found = self._moved(found, by, indexed)
        for by, indexed in more:
            found = self._moved({one for place in found for one in self._content(place)}, by, indexed)
        return found

    def _moved(self, places: set[Place], by: int, indexed: bool) -> set[Place]:
        return {(self._element(one) if indexed else one, at + by) for one, at in places}

    def _element(self, row: int) -> int:
        one = self._objects[row]
        if one.kind in (Kind.STATIC, Kind.FRAME, Kind.ELEMENT):
            return row
        return self._object(Object(Kind.ELEMENT, row, 0, one.depth))

    def _content(self, place: Place) -> set[Place]:
        row, at = place
        if not row and at in self._words:
            return {(0, self._words[at])}
        one = self._objects[row]
        if one.kind is Kind.MADE and (kept := self._made_with.get((one.of, at))):
            return set(kept)
        found = self._read(("word", row, at))
        if self._objects[row].kind is Kind.ELEMENT:
            found |= self._read(("word", self._objects[row].of, at))
        return found

    def _returned(self, call: int) -> set[Place]:
        callee = self._calls.callee.get(call, 0)
        row = self._calls.function.get(callee, -1)
        if row >= 0:
            found = self._read(("result", row))
            return {self._again(place, call, row) for place in found}
        if makes_objects(self._calls.names.get(callee, "")):
            return {(self._object(Object(Kind.MADE, call)), 0)}
        found = set()
        for target in self._targets[call]:
            found |= self._read(("result", target))
        return found

    def _again(self, place: Place, call: int, function: int) -> Place:
        """What a function of the program returns that makes objects of any size: another one at each call."""
        one = self._objects[place[0]]
        if one.kind is Kind.MADE and self._calls.is_wrapped(one.of, function):
            return self._object(Object(Kind.MADE, call)), place[1]
        return place

    def _apply(self, move: Move) -> None:
        match move.what:
            case Moved.STORED:
                access = self._access.get(move.ip)
                found = self._places(move) if access is not None else set()
                for row, at in self._places(access) if access is not None and found else ():
                    self._add(("word", row, at + move.number), found)
            case Moved.RETURNS:
                self._add(("result", move.function), self._places(move))
            case Moved.HANDED:
                self._hand(move)
            case Moved.CALLED:
                self._call(move)
            case Moved.ACCESS:
                pass  # moves nothing

    def _call(self, move: Move) -> None:
        """A call through a pointer calls the functions that the pointer leads to."""
        known = self._targets[move.ip]
        for row, at in self._places(move):
            function = self._calls.function.get(at, -1) if not row else -1
            if function < 0 or function in known:
                continue
            known.add(function)
            self._calls.note(function)
            self._todo.update(dict.fromkeys(self._at_call[move.ip]))
            self._todo.update(dict.fromkeys(self._readers[("result", function)]))

    def _hand(self, move: Move) -> None:
        callee = self._calls.callee.get(move.ip, 0)
        row = self._calls.function.get(callee, -1)
        found = self._places(move)
        if row >= 0 or not callee:
            for function in (row,) if row >= 0 else tuple(self._targets[move.ip]):
                self._add(("given", function, move.number), found)
            return
        # A function of another file that starts threads calls an entry with what it is handed behind it, or what is in
        # an object's table of virtual functions.
        if self._calls.starts_virtual(callee):
            for place in found if move.number == 1 else ():
                for led in self._content(place):
                    if self._objects[led[0]].kind is Kind.MADE:  # as its library makes the state of a thread
                        self._virtual(led)
            return
        for one, at in found:
            function = self._calls.function.get(at, -1) if not one else -1
            if function in self._entries:
                self._calls.note(function)
                for other in self._at_call[move.ip]:
                    behind = self._moves[other]
                    if behind.what is Moved.HANDED and behind.number == move.number + 1:
                        self._add(("given", function, 0), self._places(behind))

    def _virtual(self, place: Place) -> None:
        """All virtual functions of the object are called with it."""
        for row, at in self._content(place):
            while not row and at in self._words:
                function = self._calls.function.get(self._words[at], -1)
                if function >= 0:
                    self._calls.note(function)
                    self._add(("given", function, 0), {place})
                at += self._image.arch.pointer_size


class _Calls:
    """Who is called where, and what of that makes objects."""

    def __init__(self, image: Image) -> None:
        self._image = image
        ips, callee = image.calls["ip"], image.calls["callee"]
        self.callee = dict(zip(ips.tolist(), callee.tolist(), strict=True))
        own = zip(image.functions["address"].tolist(), range(len(image.functions)), strict=True)
        self.function = {address: row for address, row in own if address not in image.callee_names}
        callees = np.unique(callee)
        self.names = dict(zip(callees.tolist(), names_of_callees(image, callees), strict=True))
        self._called = set(function_at(image, callees).tolist())
        self._computed: dict[int, bool] = {}

    def note(self, function: int) -> None:
        self._called.add(function)

    def is_called(self, function: int) -> bool:
        return function in self._called

    def starts_virtual(self, callee: int) -> bool:
        return "_M_start_thread" in self.names.get(callee, "")

    def is_wrapped(self, call: int, function: int) -> bool:
        """Whether a call in the function asks an allocator for what the function was asked for."""
        known = self._computed.get(call)
        if known is None:
            where = self._image.calls["function"][self._image.calls["ip"] == np.uint64(call)]
            args = picked(self._image.args, self._image.args["ip"] == np.uint64(call))
            fixed = set(args["arg"][args["kind"] == ArgKind.CONSTANT].tolist())
            known = bool(len(where)) and int(where[0]) == function and not fixed
            self._computed[call] = known
        return known
