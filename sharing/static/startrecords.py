"""What a thread is to do, out of the record that it is handed: ``launch(work, data)`` inlined where it is called.

Owns the way from a call that starts a thread to the function that the thread's entry loads from its record and calls
once.  The record is an object on the heap, in static storage or in the starter's frame, or an element of an array of
such records; what is stored there is known where the address is.  An entry that calls pointers in a loop is none of
these: it serves what others hand it.  Which calls start threads is ``flow``'s.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among
from sharing.model.given import Given
from sharing.model.image import HELD, HELD_OFFSET_BITS, AccessKind, ArgKind, Image, SlotKind
from sharing.static.callees import calls_of, function_at
from sharing.static.handovers import Handover, handovers
from sharing.static.startobjects import argument_holder, functions_handed, parts_of

LOW_HALF = (1 << 32) - 1
MAX_RECORD_BYTES = 512  # bytes of a record that are looked at: what a thread is handed is small
MAX_TOLD_ELEMENTS = 256

Words = dict[int, set[int]]  # by bytes into a record, what is stored there as of ``Given.data``


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
    every = handovers(image, knowledge, np.concatenate([image.args, image.behind.args]))
    starts = [one for known in every if known.starts for one in _started(image, known)]
    starts = [one for one in starts if one.entry >= 0]
    if not starts:
        return image
    stored = _Stored(image)
    called: dict[tuple[int, int], set[int]] = {}
    given: list[Given] = []
    told: dict[int, list[bool]] = defaultdict(list)
    for one in starts:
        found: list[Given] = []
        if records := stored.records(one):
            key = one.entry, one.parameter
            if key not in called:
                called[key] = _called_once(image, *key)
            found = _functions(image, one, [{at: r[at] for at in r if at in called[key]} for r in records])
        given += found
        told[one.entry].append(bool(found))
    if not given:
        return image
    sure = [entry for entry, all_of in told.items() if all(all_of)]
    calls = image.calls
    calls = calls[(calls["callee"] != 0) | ~among(calls["function"], np.array(sure, np.int64))]
    return dataclasses.replace(image, calls=calls, given=(*image.given, *given))


def _started(image: Image, known: Handover) -> Iterator[_Start]:
    """``known``, or where a wrapper hands its own argument on the threads that its callers start."""
    entry = int(function_at(image, np.array([known.entry], np.uint64))[0])
    args = image.args
    low, high = np.searchsorted(args["ip"], [known.ip, known.ip + 1]).tolist()
    if known.data is not None:
        yield _Start(known.given[0] if known.given else known.ip, entry, known.parameter, *known.data)
        return
    own = args[low:high]
    own = own[(own["arg"] == known.argument) & (own["kind"] == ArgKind.PARAM)]
    handed = 0
    for function, source, value in zip(*(own[name].tolist() for name in ("function", "source", "value")), strict=True):
        wrapper = image.functions["address"][function]
        for rows in (args, image.behind.args):
            mine = rows[(rows["callee"] == wrapper) & (rows["arg"] == source) & (rows["kind"] == ArgKind.ADDRESS)]
            handed += len(mine)
            for ip, _, at, _, _, _, apart, _ in mine.tolist():
                yield _Start(ip, entry, known.parameter, at + value, apart)
        if handed == len(calls_of(image, int(wrapper))):
            return
    yield _Start(known.ip, entry, known.parameter, 0, 0)


class _Stored:
    """What is stored at places that threads may be handed."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._at: dict[int, set[int]] = defaultdict(set)
        for table in (image.behind.framed, image.behind.stored):
            for place, what in zip(table["variable"].tolist(), table["what"].tolist(), strict=True):
                self._at[place].add(what)
        kept = image.kept[image.kept["slot"] == SlotKind.STATIC]
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
            words = self._words(start.place + at * size, min(size, MAX_RECORD_BYTES)) if start.place else {}
            if not words:
                break
            found.append(words)
        return found

    def _words(self, place: int, size: int) -> Words:
        at = place if place & int(HELD) else place & LOW_HALF
        low, high = bisect.bisect_left(self._places, at), bisect.bisect_left(self._places, at + size)
        found = {where - at: set(self._at[where]) for where in self._places[low:high]}
        if not place & int(HELD) and place >= 0:
            words = self._image.code_words
            low, high = np.searchsorted(words["slot"], [place, place + size]).tolist()
            for slot, value in zip(words["slot"][low:high].tolist(), words["value"][low:high].tolist(), strict=True):
                found.setdefault(slot - place, set()).add(value)
        return found


def _called_once(image: Image, entry: int, parameter: int) -> set[int]:
    """How far into its record a function that a thread begins with has pointers that it calls, outside of loops."""
    calls, params, width = image.calls, image.params, image.arch.pointer_size
    found: set[int] = set()
    for function, number, begin in parts_of(image, entry, parameter):
        mine = calls[(calls["function"] == function) & (calls["callee"] == 0)]
        if not len(mine) or mine["loop_depth"].any():
            continue
        reads = params[(params["function"] == function) & (params["arg"] == number)]
        reads = reads[(reads["kind"] == AccessKind.LOAD) & (reads["size"] >= width)]
        loaded = {
            at + more
            for at, size in zip(reads["offset"].tolist(), reads["size"].tolist(), strict=True)
            for more in range(0, size, width)
        }
        if (mine["slot"] == SlotKind.RECORD).all():
            loaded &= set(mine["where"].tolist())
        found |= {begin + at for at in loaded}
    return found


def _functions(image: Image, start: _Start, records: list[Words]) -> list[Given]:
    """Of the words that are called, what the functions are; none where one of them is something else."""
    caller = int(image.functions["address"][start.entry])
    ways: list[tuple[int, int]] = []
    for words in records:
        for what in (value for values in words.values() for value in values):
            if not what & int(HELD) and _is_code(image, what):
                ways.append((start.ip, what))
            else:
                ways += functions_handed(image, what)
    times = Counter(ways)
    return [
        Given(ip, function, 0, 0, caller, alone=bool(start.stride) and count == 1)
        for (ip, function), count in times.items()
    ]


def _is_code(image: Image, address: int) -> bool:
    return int(function_at(image, np.array([address], np.uint64))[0]) >= 0
