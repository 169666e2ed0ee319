"""What a thread is to do, out of the record that it is handed: ``launch(work, data)`` inlined where it is called.

Owns the way from a call that starts a thread to the function that the thread's entry loads from its record and calls
once, and to the data that it hands over out of the record.  The record is an object on the heap, in static storage or
in the starter's frame, or an element of an array of such records; what is stored there is known where the address is.
An entry that calls pointers in a loop is none of these: it serves what others hand it.  Which calls start threads is
``flow``'s.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, picked, stacked
from sharing.model.given import Given
from sharing.model.image import HELD, HELD_OFFSET_BITS, WORD_HOLDER, AccessKind, ArgKind, Image, SlotKind
from sharing.static.callees import calls_of, function_at
from sharing.static.handovers import Handover, as_elements, handovers
from sharing.static.startobjects import (
    argument_holder,
    function_of,
    functions_handed,
    holder_of,
    is_argument,
    number_of,
    offset_of,
    parts_of,
)
from sharing.static.startwrappers import handed_words

LOW_HALF = (1 << 32) - 1
MAX_RECORD_BYTES = 512  # bytes of a record that are looked at: what a thread is handed is small
MAX_TOLD_ELEMENTS = 256

Words = dict[int, set[int]]  # by bytes into a record, what is stored there as of ``Given.data``
_Data = tuple[int, int] | None  # argument of the function that is called, bytes into the record; None unknown


class _Start(msgspec.Struct, frozen=True):
    """A thread that is started with a record at ``place``, or with one of an array's, so many bytes apart."""

    ip: int
    entry: int  # row of the function
    parameter: int
    place: int  # as of ``Given.data``; 0 unknown
    stride: int


def with_start_records(image: Image, knowledge: Knowledge) -> Image:
    """The image with what started threads call out of their records.

    Calls through pointers are left out of an entry all of whose threads are told apart so: whom each one calls is
    known by who starts it.
    """
    every = handovers(image, knowledge, stacked([image.args, image.behind.args]))
    given = [Given(one.ip, one.entry, one.parameter, 0) for one in every if one.unnamed]
    starts = [one for known in every if known.starts for one in _started(image, known)]
    starts = [one for one in starts if one.entry >= 0]
    if not starts:
        return image
    stored = StoredWords(image)
    called: dict[tuple[int, int], dict[int, _Data]] = {}
    known_data: list[Given] = []
    told: dict[int, list[bool]] = defaultdict(list)
    for one in starts:
        found: list[Given] = []
        if records := stored.records(one):
            key = one.entry, one.parameter
            if key not in called:
                called[key] = _called_once(image, *key)
            found = _functions(image, one, records, called[key])
        known_data += found
        told[one.entry].append(bool(found))
    given += _as_elements(image, known_data)
    if not given:
        return image
    sure = [entry for entry, all_of in told.items() if all(all_of)]
    calls = image.calls
    calls = picked(calls, (calls["callee"] != 0) | ~among(calls["function"], np.array(sure, np.int64)))
    arrays = _arrays(image, given)
    behind = msgspec.structs.replace(image.behind, arrays=(*image.behind.arrays, *arrays))
    return dataclasses.replace(image, calls=calls, given=(*image.given, *given), behind=behind)


def _as_elements(image: Image, given: list[Given]) -> list[Given]:
    """The same, where one function is given several places of one object as elements of an array.

    Of several objects behind pointers nothing says which of them one thread is given.
    """
    handed = [Handover(one.ip, 0, one.entry, 0, (one.data, one.stride), one.parameter, True) for one in given]
    same = [
        msgspec.structs.replace(one, data=told.data[0], stride=told.data[1])
        for one, told in zip(given, as_elements(image, handed), strict=True)
        if told.data is not None
    ]
    objects: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for one in same:
        objects[one.entry, one.parameter].add((one.data, one.stride))
    return [
        msgspec.structs.replace(one, data=0, stride=0)
        if len(objects[one.entry, one.parameter]) > 1
        and any(at & int(HELD) for at, _ in objects[one.entry, one.parameter])
        else one
        for one in same
    ]


def _arrays(image: Image, given: list[Given]) -> Iterator[tuple[int, int, int]]:
    """As of ``Behind.arrays``, of those behind pointers."""
    for one in given:
        row = int(function_at(image, np.array([one.entry], np.uint64))[0])
        if one.stride and one.data & int(HELD) and row >= 0:
            yield holder_of(one.data), row, one.stride


def _started(image: Image, known: Handover) -> Iterator[_Start]:
    """``known``, or where a wrapper hands its own argument on the threads that its callers start."""
    entry = int(function_at(image, np.array([known.entry], np.uint64))[0])
    args = image.args
    low, high = np.searchsorted(args["ip"], [known.ip, known.ip + 1]).tolist()
    if known.data is not None:
        yield _Start(known.given[0] if known.given else known.ip, entry, known.parameter, *known.data)
        return
    own = args[low:high]
    own = picked(own, (own["arg"] == known.argument) & (own["kind"] == ArgKind.PARAM))
    handed = 0
    for function, source, value in zip(*(own[name].tolist() for name in ("function", "source", "value")), strict=True):
        wrapper = image.functions["address"][function]
        for rows in (args, image.behind.args):
            mine = picked(
                rows, (rows["callee"] == wrapper) & (rows["arg"] == source) & (rows["kind"] == ArgKind.ADDRESS)
            )
            handed += len(mine)
            for ip, _, at, _, _, _, apart, _ in mine.tolist():
                yield _Start(ip, entry, known.parameter, at + value, apart)
        if handed == len(calls_of(image, int(wrapper))):
            return
    yield _Start(known.ip, entry, known.parameter, 0, 0)


class StoredWords:
    """What is stored at places that threads may be handed."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._at: dict[int, set[int]] = defaultdict(set)
        for table in (image.behind.framed, image.behind.stored):
            for place, what in zip(table["variable"].tolist(), table["what"].tolist(), strict=True):
                self._at[place].add(what)
        kept = picked(image.kept, image.kept["slot"] == SlotKind.STATIC)
        for value, function, place, arg in zip(
            *(kept[name].tolist() for name in ("value", "function", "where", "arg")), strict=True
        ):
            own = int(HELD) | argument_holder(function, arg) << HELD_OFFSET_BITS
            self._at[place].add(value or own)
        self._places = sorted(self._at)

    def records(self, start: _Start) -> list[Words]:
        """What is in the record, or in the elements of the array one after another."""
        found = []
        size = start.stride or MAX_RECORD_BYTES
        for at in range(MAX_TOLD_ELEMENTS if start.stride else 1):
            words = self.words(start.place + at * size, min(size, MAX_RECORD_BYTES)) if start.place else {}
            if not words:
                break
            found.append(words)
        return found

    def words(self, place: int, size: int) -> Words:
        """What is stored in so many bytes from a place, by the bytes from there."""
        at = place if place & int(HELD) else place & LOW_HALF
        low, high = bisect.bisect_left(self._places, at), bisect.bisect_left(self._places, at + size)
        found = {where - at: set(self._at[where]) for where in self._places[low:high]}
        if not place & int(HELD) and place >= 0:
            words = self._image.code_words
            low, high = np.searchsorted(words["slot"], [place, place + size]).tolist()
            for slot, value in zip(words["slot"][low:high].tolist(), words["value"][low:high].tolist(), strict=True):
                found.setdefault(slot - place, set()).add(value)
        return found


def _called_once(image: Image, entry: int, parameter: int) -> dict[int, _Data]:
    """How far into its record a function that a thread begins with has pointers that it calls, outside of loops, and
    where in it is what it hands over."""
    calls, params, width = image.calls, image.params, image.arch.pointer_size
    found: dict[int, _Data] = {}
    for function, number, begin in parts_of(image, entry, parameter):
        mine = picked(calls, (calls["function"] == function) & (calls["callee"] == 0))
        if not len(mine) or mine["loop_depth"].any():
            continue
        reads = picked(params, (params["function"] == function) & (params["arg"] == number))
        reads = picked(reads, (reads["kind"] == AccessKind.LOAD) & (reads["size"] >= width))
        loaded = {
            at + more
            for at, size in zip(reads["offset"].tolist(), reads["size"].tolist(), strict=True)
            for more in range(0, size, width)
        }
        if (mine["slot"] == SlotKind.RECORD).all():
            loaded &= set(mine["where"].tolist())
        data = sorted(
            (argument, begin + at)
            for ip in mine["ip"].tolist()
            for argument, at in handed_words(image, ip, function, number)
        )
        found |= {begin + at: data[0] if data and len(mine) == 1 else None for at in loaded}
    return found


def _functions(image: Image, start: _Start, records: list[Words], called: dict[int, _Data]) -> list[Given]:
    """Of the words that are called, what the functions are; none where one of them is something else."""
    caller = int(image.functions["address"][start.entry])
    ways: list[Given] = []
    for words in records:
        for at in sorted(words.keys() & called.keys()):
            parameter, where = called[at] or (0, at)
            handed = words.get(where, set()) if where != at else set()
            told = next(iter(handed)) if len(handed) == 1 else 0
            for what in words[at]:
                if not what & int(HELD) and _is_code(image, what):
                    found = [(ip, what) for ip in _given_by(image, start.ip, told)]
                else:
                    found = functions_handed(image, what)
                for by, function in found:
                    data, stride = _handed_by(image, by, told)
                    ways.append(Given(by, function, parameter, data, caller, stride=stride))
    times = Counter((one.ip, one.entry) for one in ways)
    return [
        msgspec.structs.replace(one, alone=bool(start.stride) and times[one.ip, one.entry] == 1)
        for one in dict.fromkeys(ways)
    ]


def _given_by(image: Image, ip: int, what: int) -> list[int]:
    """The calls that say what is in a record: the one that starts the thread, or those of who fills the record."""
    holder = holder_of(what)
    if not what & int(HELD) or not is_argument(holder):
        return [ip]
    callee = image.functions["address"][function_of(holder)]
    callers: list[int] = image.calls["ip"][calls_of(image, int(callee))].tolist()
    return [one for one in callers if _handed_by(image, one, what)[0]] or [ip]


def _handed_by(image: Image, ip: int, what: int) -> tuple[int, int]:
    """(address or place, bytes between elements) of what a record has: of an argument of who fills the record, what the
    call hands over; 0 unknown."""
    holder = holder_of(what)
    if not what & int(HELD) or not is_argument(holder):
        return (what, 0) if not what & int(HELD) or not holder & WORD_HOLDER else (0, 0)
    for rows in (image.args, image.behind.args):
        mine = picked(rows, (rows["ip"] == np.uint64(ip)) & (rows["arg"] == number_of(holder)))
        mine = picked(
            mine,
            (mine["kind"] == ArgKind.ADDRESS) & (mine["callee"] == image.functions["address"][function_of(holder)]),
        )
        if len(mine) == 1:
            return int(mine["value"][0]) + offset_of(what), int(mine["source"][0])
    return 0, 0


def _is_code(image: Image, address: int) -> bool:
    return int(function_at(image, np.array([address], np.uint64))[0]) >= 0
