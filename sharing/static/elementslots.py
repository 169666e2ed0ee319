"""Pointers to functions in the elements of static arrays: whom a handler's number chooses.

Owns which array code takes such a pointer from, or stores one in, by its access to memory there, and which places are
elements of that.  Where nothing tells how long an array is, it ends where no further pointer is near.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import distinct, picked, positions
from sharing.model.image import AccessKind, Image, SiteFlag, SlotKind, Table
from sharing.static.slotnumbers import LOW_HALF, MOST_STRIDE, element_slots, slot_at, stride_of

Ints = npt.NDArray[np.int64]

MOST_ELEMENTS = 1 << 10
_KINDS = (AccessKind.LOAD, AccessKind.STORE)
MOST_EMPTY = 4  # elements of an unknown array without a function, one behind the other


class StaticElements:
    """Of one image."""

    def __init__(self, image: Image) -> None:
        self._image = image
        size, sites = image.arch.pointer_size, image.sites
        chosen = (sites["flags"] & SiteFlag.INDEXED != 0) & (sites["size"] == size) & (sites["stride"] >= size)
        chosen &= sites["stride"] <= MOST_STRIDE
        self._of_kind = {kind: self._by_ip(picked(sites, chosen & (sites["kind"] == kind))) for kind in _KINDS}
        self._first: dict[int, int] = {}  # address of the element that code names, by slot
        self._pointers: Ints | None = None

    @staticmethod
    def _by_ip(sites: Table) -> Table:
        ordered: Table = sites[np.argsort(sites["ip"], kind="stable")]
        return ordered

    def of(self, ips: Table, kind: AccessKind) -> Ints:
        """The slot, as a number, of the element that each of these instructions accesses; 0 where it is none."""
        sites = self._of_kind[kind]
        at = positions(sites["ip"], ips)
        if not len(sites):
            return np.zeros(len(ips), np.int64)
        found = picked(sites, at)
        slots: Ints = np.where(at >= 0, element_slots(found["target"], found["stride"]), 0)
        self._first.update(zip(slots[at >= 0].tolist(), found["target"][at >= 0].tolist(), strict=True))
        return slots

    def each(self, slot: int) -> list[int]:
        """The same of all elements of the array, as static places."""
        image, first = self._image, self._first[slot]
        stride = stride_of(slot)
        row = image.variable_at(first)
        if row >= 0:
            begin, size = int(image.variables["address"][row]), int(image.variables["size"][row])
            places = range(begin + (first - begin) % stride, begin + size, stride)[:MOST_ELEMENTS]
        else:
            places = range(first, self._end(first, stride), stride)
        return [slot_at(SlotKind.STATIC, place) for place in places]

    def _end(self, first: int, stride: int) -> int:
        """Behind the last element of an array of which only the first one is known."""
        if self._pointers is None:
            kept = self._image.kept
            stored = kept["where"][kept["slot"] == SlotKind.STATIC]
            self._pointers = distinct(
                np.concatenate(
                    [stored.astype(np.int64), (self._image.code_words["slot"] & np.uint64(LOW_HALF)).astype(np.int64)]
                )
            )
        places = np.arange(MOST_ELEMENTS) * stride + (first & LOW_HALF)
        held = np.flatnonzero(positions(self._pointers, places) >= 0)
        gaps = np.diff(held, prepend=-1) > MOST_EMPTY + 1
        last = held[: int(np.argmax(gaps))] if gaps.any() else held
        return first + (int(last[-1]) + 1) * stride if len(last) else first
