"""Slots of virtual functions by the family of classes that they are of, where calls are known to be of one.

Owns the numbers of these slots, beside the distances behind the begin of a table: so far behind, and of a family.  A
virtual function is at the distance, and where calls of its family are known at their slot too.  What derives from a
class of which nothing is known may be called by all of them.  So may a function of whose family no call at its distance
is seen: somebody calls it, and nobody knows which call that is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct, positions
from sharing.model.image import Image, SlotKind
from sharing.static.receivers import UNKNOWN, Virtual, calls_through_records, is_folded, receivers
from sharing.static.slotnumbers import HALF_BITS, LOW_HALF, OF_FAMILIES, slot_at

Ints = npt.NDArray[np.int64]


class ClassSlots:
    """Of one image: functions in tables (``rows``), and how far ``behind`` their begin or at which of these slots."""

    def __init__(self, image: Image, virtual: Virtual) -> None:
        self.rows, self.behind = virtual.rows, virtual.behind
        self._image, self._virtual = image, virtual
        self._ips, self._slots = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self._distances = np.zeros(0, np.int64)
        if known := receivers(image, virtual):
            self._set(known)

    def _set(self, known: dict[int, int]) -> None:
        virtual, calls = self._virtual, calls_through_records(self._image)
        distances = calls["where"].astype(np.int64)
        at = positions(np.fromiter(sorted(known), np.uint64, len(known)), calls["ip"])
        of_known = np.array([known[ip] for ip in sorted(known)], np.int64)
        families = np.where(at >= 0, of_known[at], UNKNOWN)
        own = virtual.families << HALF_BITS | virtual.behind
        pairs = families << HALF_BITS | distances
        told = (families >= 0) & among(pairs, own)
        numbered = distinct(pairs[told])  # by number the family, and the distance
        apart = numbered & LOW_HALF
        # Of the calls' own family; what is of no such family may be called by those of each.
        same = positions(numbered, own)
        anyones = (virtual.families < 0) | ((same < 0) & ~among(virtual.behind, distinct(distances[~told])))
        order = np.argsort(apart, kind="stable")
        low, high = (np.searchsorted(apart[order], virtual.behind[anyones], side) for side in ("left", "right"))
        count = high - low
        step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        any_of = order[np.repeat(low, count) + step]
        sure = (same >= 0) & (virtual.families >= 0)
        rows = (self.rows, virtual.rows[sure], np.repeat(virtual.rows[anyones], count))
        places = np.append(same[sure], any_of) + OF_FAMILIES
        self.rows, self.behind = np.concatenate(rows), np.append(self.behind, places)
        self._distances = apart
        chosen = np.flatnonzero(told)[np.argsort(calls["ip"][told], kind="stable")]
        self._ips = calls["ip"][chosen]
        self._slots = positions(numbered, pairs[chosen]) + slot_at(SlotKind.RECORD, OF_FAMILIES)

    @property
    def undecided(self) -> npt.NDArray[np.uint64]:
        """Calls (ip, sorted) where functions of several families are, of which nothing tells the family."""
        virtual = self._virtual
        if is_folded(self._image, virtual):
            return np.zeros(0, np.uint64)
        pairs = distinct(virtual.families + 1 << HALF_BITS | virtual.behind)
        places, count = np.unique(pairs & LOW_HALF, return_counts=True)
        calls = calls_through_records(self._image)
        wanted = among(calls["where"].astype(np.int64), places[count > 1]) & (positions(self._ips, calls["ip"]) < 0)
        return distinct(calls["ip"][wanted])

    def of(self, ips: npt.NDArray[np.uint64], slots: Ints) -> Ints:
        """``slots`` of calls, with their families where these are known."""
        at = positions(self._ips, ips)
        return np.where(at >= 0, self._slots[at], slots) if len(self._ips) else slots

    def distances(self, places: Ints) -> Ints:
        """How far behind the begin of a table places are, of a family or not."""
        # Members in front of a pointer's target have larger places still.
        own = (places >= OF_FAMILIES) & (places < OF_FAMILIES + len(self._distances))
        result = places.copy()
        result[own] = self._distances[places[own] - OF_FAMILIES]
        return result
