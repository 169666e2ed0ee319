"""Words of data that are addresses of functions: whom a call finds there.

Owns the tables of functions and of virtual functions that a file begins with, by how far behind a begin that code
takes each of their functions stands.  What instructions store is not here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, picked, union
from sharing.model.image import AccessKind, Image, SlotKind
from sharing.static.callees import function_at
from sharing.static.classslots import ClassSlots
from sharing.static.elementslots import MOST_ELEMENTS
from sharing.static.receivers import Virtual
from sharing.static.slotnumbers import LOW_HALF, kind_of, place_of

Ints = npt.NDArray[np.int64]
_MOST_BEGINS = 1 << 20


class FunctionWords:
    """Functions that words of data lead to."""

    def __init__(self, image: Image) -> None:
        words, size = image.code_words, image.arch.pointer_size
        row, slot = function_at(image, words["value"]), words["slot"].astype(np.int64)
        taken = image.sites["target"][image.sites["kind"] == AccessKind.ADDRESS]
        # The first of words that follow each other without a gap: a table of virtual functions has no other begin.
        first = np.flatnonzero(np.diff(slot, prepend=-1) != size)
        run = slot[first[np.searchsorted(first, np.arange(len(slot)), "right") - 1]] if len(slot) else slot
        virtual = among(run, image.virtual_tables.astype(np.int64))
        self._static = row, slot & LOW_HALF
        of = image.classes.tables
        families = np.array([of.get(table, -1) for table in run[virtual].tolist()], np.int64)
        own = row[virtual] >= 0
        self.classes = ClassSlots(image, Virtual(row[virtual][own], (slot - run)[virtual][own], families[own]))
        self._virtual = self.classes.rows, self.classes.behind
        self._tables = row[~virtual], slot[~virtual]
        begins = union(image.pointed, taken).astype(np.int64)
        further = _further_begins(image, begins, slot[~virtual])
        self._begins = np.append(union(begins, further), -1)  # behind all others none

    @property
    def virtual(self) -> tuple[Ints, Ints]:
        """Rows of functions in tables of virtual functions, and how far behind the begin of these, or of a family."""
        return self._virtual

    @property
    def tables(self) -> tuple[Ints, Ints]:
        """Rows of functions in other words, -1 none, and the addresses of these words."""
        return self._tables

    @property
    def elsewhere(self) -> Ints:
        """Rows of functions in other words; -1 none."""
        return self._tables[0]

    def at(self, slot: int) -> Ints:
        """Rows of functions in a static variable, or so far behind the begin of a table."""
        kind, where = kind_of(slot), place_of(slot)
        if kind == SlotKind.STATIC:
            row, address = self._static
            found = row[address == where]
        elif kind == SlotKind.RECORD:
            row, behind = self._virtual
            others, address = self._tables
            begin = np.searchsorted(self._begins[:-1], address - where)
            is_begin = self._begins[begin] == address - where
            found = np.append(row[behind == where], others[is_begin])
        else:
            found = np.zeros(0, np.int64)
        result: Ints = found[found >= 0]
        return result


def _further_begins(image: Image, begins: Ints, words: Ints) -> Ints:
    """The elements of arrays of records which have such words: who takes an array's address may add to it what chooses
    one.

    Of all arrays no more than ``_MOST_BEGINS``: in a hostile file they may be many, and overlap.
    """
    rows = np.unique(image.variables_at(words.astype(np.uint64)))
    arrays = picked(image.variables, rows[rows >= 0])
    arrays = picked(arrays, among(arrays["address"].astype(np.int64), begins))
    address = arrays["address"].astype(np.int64)  # those of a kernel are negative numbers here, as in ``begins``
    found, room = [np.zeros(0, np.int64)], _MOST_BEGINS
    for begin, (size, kind) in zip(address, arrays[["size", "type"]].tolist(), strict=True):
        if (step := image.types.record_step(kind)) > 0:
            count = min(-(-size // step), MOST_ELEMENTS, room)
            found.append(begin + np.arange(count, dtype=np.int64) * step)
            room -= count
    return np.concatenate(found)
