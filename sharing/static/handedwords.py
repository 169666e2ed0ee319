"""Objects that words of handed objects lead to: a ring behind a member of the record that all threads are started with.

Owns which words of arguments lead to one object: those of functions that are handed one object by all who start them,
and of the functions that these hand it on to, where none of them writes the word.  Which functions are handed one
object is ``handedobjects``'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec
import numpy as np

from sharing.basics.columns import those_having
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import (
    HELD,
    HELD_ADDRESS_BITS,
    HELD_OFFSET_BITS,
    WHOLE_ARGUMENT,
    AccessKind,
    ArgKind,
    Image,
    Table,
)
from sharing.static.startobjects import argument_holder, parts_of

_WRITES = (AccessKind.STORE, AccessKind.RMW)
_HOLDERS = np.uint64((1 << HELD_ADDRESS_BITS) - 1)
_OFFSETS = np.uint64((1 << HELD_OFFSET_BITS) - 1)


class Word(msgspec.Struct, frozen=True):
    """A word that leads to one object: ``offset`` bytes behind what the function ``entry`` (a row) is handed.

    ``argument``: as which of its arguments.
    """

    entry: int
    offset: int
    argument: int = 0


class Words(msgspec.Struct, frozen=True):
    """What is done behind words that lead to one object (``sites``, ``args`` as of ``Behind``), and these words.

    ``found``: by the holder that stands for each; a word in static storage is a static pointer, and none of these.
    """

    sites: Table
    args: Table
    found: dict[int, Word]


def behind_words(image: Image, handed: Iterable[tuple[int, int, int]]) -> Words:
    """``handed``: (row of a function, its argument, the one object that it is handed, as of ``Given.data``)."""
    sites, args = image.behind.word_sites, image.behind.word_args
    present = distinct(np.concatenate([_holder(sites["target"]), _holder(args["value"])]))
    places: dict[int, set[int]] = defaultdict(set)  # by holder of a word: where the word is
    entry_of: dict[int, Word] = {}
    written: set[int] = set()
    width = image.arch.pointer_size
    stores = picked(image.params, among(image.params["kind"], _WRITES))
    for entry, argument, data in handed:
        for function, number, begin in parts_of(image, entry, argument):
            first = argument_holder(function, number) & ~WHOLE_ARGUMENT
            low, high = np.searchsorted(present, [first, first | WHOLE_ARGUMENT]).tolist()
            for holder in present[low:high].tolist():
                at = begin + (holder & WHOLE_ARGUMENT) * width
                places[holder].add(data + at)
                entry_of.setdefault(data + at, Word(entry, at, argument))
            mine = those_having(stores, "function", function)
            mine = picked(mine, mine["arg"] == number)
            written.update((mine["offset"] + (data + begin)).tolist())
    known: dict[int, int] = {}
    found: dict[int, Word] = {}
    stands: dict[int, int] = {}
    for holder, where in sorted(places.items()):
        (place, *more) = where
        if more or place in written:
            continue
        if place & int(HELD):
            known[holder] = stands.setdefault(place, holder)
            found[known[holder]] = entry_of[place]
        else:
            known[holder] = place
    behind_them, handed_on = _placed(sites, "target", known), _placed(args, "value", known)
    handed_on["kind"] = ArgKind.ADDRESS
    return Words(behind_them, handed_on, found)


def _holder(targets: Table) -> Table:
    return targets.astype(np.uint64) >> np.uint64(HELD_OFFSET_BITS) & _HOLDERS


def _placed(rows: Table, field: str, known: dict[int, int]) -> Table:
    holders = _holder(rows[field])
    keys = np.array(sorted(known), np.uint64)
    chosen = among(holders, keys)
    out: Table = rows[chosen].copy()
    stand = np.array([known[key] for key in holders[chosen].tolist()], np.uint64)
    column = out[field]
    values = HELD | stand << np.uint64(HELD_OFFSET_BITS) | column.astype(np.uint64) & _OFFSETS
    column[:] = values.astype(column.dtype)
    return out
