"""Functions that calls hand over, with their data: what starts a thread, and what is called back.

Owns the way from a call that names a function to the object that the function is handed: through functions of the
program that hand on what they are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from sharing.basics.columns import distinct_in, those_having
from sharing.basics.kept import Kept
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import HELD, HELD_OFFSET_BITS, ArgKind, Image, Table
from sharing.model.vocabulary import CallbackRow, ThreadRow, data_of
from sharing.static import numbers
from sharing.static.callees import calls_of, function_at, names_of_callees
from sharing.static.startwrappers import start_wrappers

ADDRESS_MASK = (1 << 64) - 1
MOST_ARGUMENTS = 8  # that calling conventions hand over in registers
NO_STRIDE = 255  # in rows of arguments so far apart or further


class _Held(NamedTuple):
    """What a function hands over by itself, whoever calls it: ``data``, in its call at ``ip`` as argument ``at``."""

    ip: int
    at: int
    data: tuple[int, int]  # (address, bytes between elements or 0)


class _Way(NamedTuple):
    """How a function hands on: its argument ``at`` is a function, and ``data`` what that gets as its ``parameter``.

    It does so if more than ``nth`` are handed on by what its argument ``counted_by`` says; -1: in any case.
    ``entry``: the address of that function where it is no argument, but always this one; else 0.
    ``held``: the data where that is no argument (``data`` is -1), but always this: compilers make such copies.
    """

    at: int
    data: int
    parameter: int
    counted_by: int = -1
    nth: int = 0
    entry: int = 0
    held: _Held | None = None


# By address of a function: whether it starts a thread, and what it hands on.
_Handing = dict[int, tuple[bool, list[_Way]]]


class Handover(NamedTuple):
    """A call that starts a thread, or calls a function back, and what it hands to it."""

    ip: int
    at: int  # its argument that is the function
    entry: int  # address of that function
    argument: int  # its argument that is the data
    data: tuple[int, int] | None  # (address, signed as in the arguments; bytes between elements or 0); None unknown
    parameter: int  # the data's number among the arguments of the function
    starts: bool  # a thread
    given: tuple[int, int] | None = None  # (call, its argument) that the data is given to, where that is another one
    unnamed: bool = False  # the call does not name the function: what is called starts this one always


class _Entered(Protocol):
    @property
    def ip(self) -> int: ...
    @property
    def entry(self) -> int: ...


# Several passes ask for these, by the table of arguments.
_known: Kept[_Handing] = Kept()
_by_name: Kept[dict[int, tuple[bool, list[_Way]] | None]] = Kept()  # by address of what was asked for; None: nothing
_found: Kept[list[Handover]] = Kept()
_taken: Kept[Table] = Kept()  # addresses of functions that are kept or handed on


def handovers(image: Image, knowledge: Knowledge, args: Table) -> list[Handover]:
    """Of ``args``, rows as of the image's, those that hand over a function that is known, with what it is handed.

    A function of the program that hands its own arguments on to one of these is one as well, as is one that starts a
    thread in a function which calls what it was handed (``startwrappers``).  One that starts a
    function with its own argument is called with what the function is handed.
    """
    named = image.functions, image.names, image.callee_names, image.calls, image.kept, image.behind, knowledge
    known = _known.of(image.args, named, lambda: _callees_that_hand(image, knowledge))
    rows = _of_kind(those_having(args, "callee", list(known)), ArgKind.ADDRESS)
    passed = _of_kind(those_having(image.args, "ip", rows["ip"]), ArgKind.PARAM)
    own = {
        (ip, arg): (function, source)
        for ip, value, function, arg, source in passed[["ip", "value", "function", "arg", "source"]].tolist()
        if not value and function >= 0
    }
    callers, counts = _Callers(image, args), _counts(args, known)
    found = []
    for (ip, callee), values in _by_call(rows).items():
        starts, handed = known[callee]
        for way in handed:
            at, data = way.at, way.data
            entry, step = (way.entry, 0) if way.entry else values.get(at, (0, 1))
            if step:
                continue  # an element of a table is any function of it
            given, held = values.get(data), way.held
            if held is not None:
                found.append(
                    Handover(ip, at, entry & ADDRESS_MASK, data, held.data, way.parameter, starts, (held.ip, held.at))
                )
                continue
            if way.counted_by >= 0 and counts.get((ip, way.counted_by), 0) <= way.nth:
                if way.nth:
                    continue
                given = None
            one = Handover(ip, at, entry & ADDRESS_MASK, data, given, way.parameter, starts, unnamed=way.entry != 0)
            found += callers.of(one, *own[ip, data]) if starts and data not in values and (ip, data) in own else [one]
    return found


def _of_kind(args: Table, kind: ArgKind) -> Table:
    return picked(args, args["kind"] == kind)


def _counts(args: Table, known: _Handing) -> dict[tuple[int, int], int]:
    """How many arguments calls say that they hand on, by (instruction, argument)."""
    counting = [callee for callee, (_, ways) in known.items() if any(way.counted_by >= 0 for way in ways)]
    rows = _of_kind(those_having(args, "callee", counting), ArgKind.CONSTANT)
    return {(ip, arg): value for ip, arg, value in rows[["ip", "arg", "value"]].tolist()}


def of_known_objects(image: Image, knowledge: Knowledge) -> list[Handover]:
    """Those of the image's arguments, elements of arrays as such; nobody changes the list."""
    asked = image.functions, image.names, image.callee_names, image.variables, image.calls, image.kept, image.code_words
    return _found.of(
        image.args, (*asked, knowledge), lambda: as_elements(image, handovers(image, knowledge, image.args))
    )


def _callees_that_hand(image: Image, knowledge: Knowledge) -> _Handing:
    """Functions that start threads or call back, by their names, and those of the program around these."""
    asked = _by_name.of(image.functions, (image.names, image.callee_names, knowledge), dict)
    every = distinct_in(image.args, "callee").tolist()
    callees = [callee for callee in every if callee not in asked]
    names = names_of_callees(image, np.array(callees, np.uint64))
    starters = set(knowledge.thread_starters(names))
    asked.update(dict.fromkeys(callees))
    for at in {*starters, *knowledge.callers_back(names)}:
        handed = _handing(knowledge, names[at])
        asked[callees[at]] = (at in starters, handed) if handed else None
    known = {callee: handing for callee in every if (handing := asked[callee]) is not None}
    starting = {callee: [(way.at, way.parameter) for way in ways] for callee, (starts, ways) in known.items() if starts}
    for one in start_wrappers(image, starting):
        known.setdefault(one.address, (True, [_Way(one.at, one.data, one.parameter, entry=one.entry)]))
    return _wrapping(image, known) | known


def _by_call(rows: Table) -> dict[tuple[int, int], dict[int, tuple[int, int]]]:
    """What calls are given: by (instruction, callee) and number of the argument (address, bytes between elements)."""
    given: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
    for ip, callee, value, _, arg, _, source, _ in rows.tolist():
        given.setdefault((ip, callee), {})[arg] = (value, source)
    return given


def _wrapping(image: Image, known: _Handing) -> _Handing:
    """Functions that hand their own arguments on to one of these: the function, and its data as it is or one place."""
    found: _Handing = {}
    for _ in range(numbers.PARAM_ROUNDS):
        every = known | found
        rows = _of_kind(those_having(image.args, "callee", list(every)), ArgKind.PARAM)
        rows = picked(rows, (rows["value"] == 0) & (rows["function"] >= 0))
        by_call: dict[tuple[int, int, int], dict[int, int]] = {}
        for ip, callee, _, function, arg, _, source, _ in rows.tolist():
            by_call.setdefault((ip, callee, function), {})[arg] = source
        places = _by_call(_of_kind(those_having(image.args, "ip", rows["ip"]), ArgKind.ADDRESS))
        more = {
            int(image.functions["address"][function]): (starts, [handed_on])
            for (ip, callee, function), given in by_call.items()
            for starts, handed in [every[callee]]
            for way in handed
            if (handed_on := _handed_on(way, ip, given, places.get((ip, callee), {}))) is not None
        }
        if more.keys() <= every.keys():
            break
        found = more | found
    return found


def _handed_on(way: _Way, ip: int, own: dict[int, int], places: dict[int, tuple[int, int]]) -> _Way | None:
    """What a function hands on by the call at ``ip``, that is given ``own`` arguments of it, and places."""
    if way.at not in own or way.entry:
        return None
    if way.held is not None:
        return way._replace(at=own[way.at])
    if way.data in own and own[way.at] != own[way.data]:
        return _Way(own[way.at], own[way.data], way.parameter)
    if way.data in places and way.counted_by < 0:
        return _Way(own[way.at], -1, way.parameter, held=_Held(ip, way.data, places[way.data]))
    return None


class _Callers:
    """What functions that start a thread with an argument of their own are called with."""

    def __init__(self, image: Image, args: Table) -> None:
        self._image = image
        self._args = args

    def of(self, one: Handover, function: int, argument: int, rounds: int = numbers.PARAM_ROUNDS) -> list[Handover]:
        """``one``, its data unknown, for each call of the function (a row) that is given the data as this argument.

        As it is where anybody else may call the function, or nothing is known of a call.
        """
        image, address = self._image, self._image.functions["address"][function]
        ips = image.calls["ip"][calls_of(image, int(address))].tolist()
        if not ips or not rounds or _is_taken(image, int(address)):
            return [one]
        given = those_having(self._args, "callee", address)
        given = picked(given, given["arg"] == argument)
        places = {row[0]: row for row in picked(given, given["kind"] == ArgKind.ADDRESS).tolist()}
        passed = {row[0]: row for row in picked(given, given["kind"] == ArgKind.PARAM).tolist()}
        found = []
        for ip in ips:
            if ip in places:
                found.append(one._replace(data=(places[ip][2], places[ip][6]), given=(ip, argument)))
            elif ip in passed and not passed[ip][2] and passed[ip][3] >= 0:
                found += self.of(one, passed[ip][3], passed[ip][6], rounds - 1)
            else:
                return [one]
        return found


def _is_taken(image: Image, address: int) -> bool:
    """Whether the function's address is kept or handed anywhere."""

    def taken() -> Table:
        named = image.args["value"][image.args["kind"] == ArgKind.ADDRESS].astype(np.uint64)
        return np.concatenate([named, image.kept["value"], image.code_words["value"]])

    return bool((_taken.of(image.args, (image.kept, image.code_words), taken) == np.uint64(address)).any())


def entered_otherwise(image: Image, handed: Iterable[_Entered]) -> set[int]:
    """Those of the functions handed over so that are entered in a way that does not show what they get."""
    ways = {(one.ip, one.entry) for one in handed}  # what code has loaded may be in a register that is no argument
    entries = distinct(np.array([entry for _, entry in ways], np.uint64))
    named = picked(image.args, image.args["kind"] == ArgKind.ADDRESS)
    named = named[among(named["value"].astype(np.uint64), entries)]
    otherwise = {value for ip, _, value, *_ in named.tolist() if (ip, value) not in ways}
    for values in (image.kept["value"], image.calls["callee"], image.code_words["value"]):
        otherwise.update(values[among(values, entries)].tolist())
    return otherwise


def as_elements(image: Image, found: list[Handover]) -> list[Handover]:
    """The same, where several places of one object are handed to one function each as elements of an array.

    Compilers unroll the loop that starts a thread for each element.
    """
    handed: dict[tuple[int, int, int], set[tuple[int, int]]] = {}
    for one in found:
        if one.starts and one.data is not None:
            handed.setdefault((one.entry, one.parameter, _object_at(image, one.data[0])), set()).add(one.data)
    arrays: dict[tuple[int, int, int], tuple[int, int]] = {}
    for key, places in handed.items():
        begin = min(places)[0]
        stride = math.gcd(*(at - begin for at, _ in places), *(step for _, step in places))
        known = key[2] >= 0 or stride * (len(places) - 1) == max(places)[0] - begin
        if known and key[2] < 0 and len(places) == 2:  # of two objects the second begins where the first one ends
            known = stride // 2 < _used(image, *key[:2]) <= stride
        if known and len(places) > 1 and 0 < stride < NO_STRIDE:
            arrays[key] = begin, stride
    return [
        one._replace(data=arrays.get((one.entry, one.parameter, _object_at(image, one.data[0])), one.data))
        if one.starts and one.data is not None
        else one
        for one in found
    ]


def _used(image: Image, entry: int, parameter: int) -> int:
    """Bytes of what a function is handed up to the last that it uses itself."""
    params = image.params
    row = int(function_at(image, np.array([entry], np.uint64))[0])
    mine = picked(params, (params["function"] == row) & (params["arg"] == parameter))
    return int((mine["offset"] + mine["size"]).max(initial=0))


def _object_at(image: Image, address: int) -> int:
    """Whose place it is, as a number: the row of a variable, or the object behind a pointer; -1 unknown."""
    if address > 0 and address & int(HELD):
        return address >> HELD_OFFSET_BITS
    return image.variable_at(address & ADDRESS_MASK)


def _handing(knowledge: Knowledge, name: str) -> list[_Way]:
    """What a function of this name hands on."""
    start = knowledge.thread_start(name)
    rows: list[ThreadRow | CallbackRow] = [*knowledge.callbacks(name)]
    if start is not None:
        rows.append(start)
    found = []
    for row in rows:
        if row.entry_argument is None:
            continue
        data = data_of(row)
        count = row.data_count_argument if isinstance(row, ThreadRow) else None
        if count is None:
            found.append(_Way(row.entry_argument, data, row.data_parameter))
            continue
        found += [
            _Way(row.entry_argument, data + nth, row.data_parameter + nth, count, nth)
            for nth in range(MOST_ARGUMENTS - data)
        ]
    return found
