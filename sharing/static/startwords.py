"""What words of the records lead to that started threads are handed, an element of an array each or one for all.

Owns the way from what code stores in such records before it starts threads (`args[i].pool = pool`) to what the threads
do behind these words: one object for all of them where every record that an entry is started with has the same.  Words
of one record that all are handed are ``handedwords``'s, and those of closures, which begin with a table of functions,
``startobjects``'s.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable

import msgspec
import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, picked, stacked
from sharing.model.image import (
    HELD,
    HELD_OFFSET_BITS,
    WHOLE_ARGUMENT,
    WORD_NUMBER_BITS,
    AccessKind,
    Image,
    SiteFlag,
)
from sharing.static.callees import function_at
from sharing.static.handovers import ADDRESS_MASK, Handover, entered_otherwise, handovers
from sharing.static.startobjects import argument_holder, holder_of, one_of, parts_of, with_words
from sharing.static.startrecords import MAX_RECORD_BYTES

_NOWHERE = -1  # in static storage, in no variable that is known
_WRITES = (AccessKind.STORE, AccessKind.RMW)
_Key = tuple[int, int]  # row of an entry, number of its argument


def with_start_words(image: Image, knowledge: Knowledge) -> Image:
    """The image with what threads do behind words of the records that they are started with."""
    if not len(image.behind.word_sites) and not len(image.behind.word_args):
        return image
    every = [one for one in handovers(image, knowledge, stacked([image.args, image.behind.args])) if one.starts]
    lost = entered_otherwise(image, every) | {one.entry for one in every if one.data is None}
    told = [one for one in every if one.entry not in lost]
    if not told:
        return image
    stored = _Stored(image)
    given: dict[tuple[int, int], set[tuple[int, int] | None]] = defaultdict(set)
    for one in told:
        given[one.entry, one.parameter].add(one.data)
    words: dict[_Key, list[dict[int, int]]] = defaultdict(list)
    for one in told:
        row = int(function_at(image, np.array([one.entry], np.uint64))[0])
        objects = given[one.entry, one.parameter]
        alone = len(objects) == 1 and not any(data and data[1] for data in objects)  # ``handedwords`` knows its words
        if row >= 0 and not alone:
            words[row, one.parameter].append(stored.words(one))
    known: dict[int, int] = {}
    led: dict[tuple[int, int], int] = {}
    for (row, parameter), records in words.items():
        for at, what in _same_in_all(records).items():
            holders = _holders(image, row, parameter, at)
            known |= dict.fromkeys(holders, what)
            if holders and what & int(HELD):
                led.setdefault((holder_of(what), row), at)
    if not known:
        return image
    image = with_words(image, known)
    behind = msgspec.structs.replace(image.behind, led=tuple((holder, row, at) for (holder, row), at in led.items()))
    return dataclasses.replace(image, behind=behind)


def _same_in_all(records: list[dict[int, int]]) -> dict[int, int]:
    first, *others = records
    return {at: what for at, what in first.items() if what and all(more.get(at) == what for more in others)}


def _holders(image: Image, row: int, parameter: int, at: int) -> list[int]:
    """Of the word so many bytes into what the entry is handed, in it and in whom it hands this on to; none where one of
    them writes it."""
    found = []
    params, width = image.params, image.arch.pointer_size
    for function, number, begin in parts_of(image, row, parameter):
        mine = picked(params, (params["function"] == function) & (params["arg"] == number))
        mine = picked(mine, among(mine["kind"], _WRITES) & (mine["offset"] < at - begin + width))
        offset, size = mine["offset"], mine["size"]
        if (offset + size > at - begin).any():
            return []
        word, rest = divmod(at - begin, width)
        if not rest and 0 <= word < WHOLE_ARGUMENT:
            found.append(argument_holder(function, number) & ~WHOLE_ARGUMENT | word)
    return found


class _Stored:
    """What is stored at places that threads may be handed, by the object: exact, and in one element after another."""

    def __init__(self, image: Image) -> None:
        self._image = image
        behind = image.behind
        self._exact: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._spread: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for table in (behind.stored, behind.framed, behind.held):
            for place, what in zip(table["variable"].tolist(), table["what"].tolist(), strict=True):
                self._exact[self._object(place)].append((place, what))
        told = np.concatenate([table["ip"] for table in (behind.stored, behind.framed, behind.held, behind.spread)])
        sites = picked(behind.sites, among(behind.sites["kind"], _WRITES) & ~among(behind.sites["ip"], told))
        self._others = picked(sites, sites["flags"] & SiteFlag.CLEARS == 0)
        for place, what, stride in behind.spread[["variable", "what", "stride"]].tolist():
            self._spread[self._object(place)].append((place, what, stride))

    def _object(self, place: int) -> int:
        """Whose place it is, as a number."""
        return holder_of(place) if place & int(HELD) else _NOWHERE - 1 - self._image.variable_at(place)

    def words(self, start: Handover) -> dict[int, int]:
        """By bytes into the record, or into each element of the array, what is stored there; 0 several things."""
        assert start.data is not None
        place, stride = start.data[0] & ADDRESS_MASK, start.data[1]
        whole = self._object(place)
        # Where nothing tells how far an array goes, what is stored in its first element.
        most = (stride if whole == _NOWHERE else 1 << HELD_OFFSET_BITS) if stride else MAX_RECORD_BYTES
        found: dict[int, set[int]] = defaultdict(set)
        stores = [(at, what, stride) for at, what in self._exact.get(whole, ())]
        stores += [one for one in self._spread.get(whole, ()) if stride]
        stores += [(at, 0, stride) for at in self._stored_otherwise(place)]
        for at, what, apart in stores:
            if 0 <= at - place < most:
                found[(at - place) % stride if stride else at - place].add(what if apart == stride else 0)
        for at, what in self._passed(start):
            found[at].add(what)
        return {at: one_of(self._image, values) for at, values in found.items()}

    def _stored_otherwise(self, place: int) -> list[int]:
        """Where code stores what nothing tells in an object behind a pointer."""
        if not place & int(HELD):
            return []
        targets = self._others["target"]
        found: list[int] = targets[targets >> np.uint64(HELD_OFFSET_BITS) == place >> HELD_OFFSET_BITS].tolist()
        return found

    def _passed(self, start: Handover) -> Iterable[tuple[int, int]]:
        """The words of a record in the frame of who starts the thread, as they are then."""
        ip, argument = start.given or (start.ip, start.argument)
        passed = self._image.behind.passed
        mine = picked(passed, passed["ip"] == np.uint64(ip))
        number = mine["variable"] >> np.uint64(HELD_OFFSET_BITS)
        for word, what in zip(number.tolist(), mine["what"].tolist(), strict=True):
            if word >> WORD_NUMBER_BITS & 7 == argument:
                yield (word & WHOLE_ARGUMENT) * self._image.arch.pointer_size, what
