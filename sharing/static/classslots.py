"""Slots of virtual functions by the family of classes that they are of, where calls are known to be of one.

Owns the numbers of these slots, beside the distances behind the begin of a table: so far behind, and of a family.  A
virtual function is at the distance, and where calls of its family are known at their slot too.  What derives from a
class of which nothing is known may be called by all of them.  So may a function of whose family no call at its distance
is seen: somebody calls it, and nobody knows which call that is.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import those_having
from sharing.model.arrays import among, distinct, picked, positions
from sharing.model.image import Image, SlotKind, Table
from sharing.static.receivers import Virtual, is_folded, receivers
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

    def _calls(self) -> Table:
        calls = those_having(self._image.calls, "callee", 0)
        return picked(calls, (calls["slot"] == SlotKind.RECORD) & (calls["function"] >= 0))

    def _set(self, known: dict[int, int]) -> None:
        virtual = self._virtual
        kept = set(zip(virtual.families.tolist(), virtual.behind.tolist(), strict=True))
        numbers: dict[tuple[int, int], int] = {}
        at: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by distance families of known calls, and their slots
        anyones, told = set[int](), []
        for ip, distance in self._calls()[["ip", "where"]].tolist():
            key = known.get(ip, -1), distance
            if key[0] < 0 or key not in kept:
                anyones.add(distance)
                continue
            if key not in numbers:
                numbers[key] = OF_FAMILIES + len(numbers)
                at[distance].append((key[0], numbers[key]))
            told.append((ip, slot_at(SlotKind.RECORD, numbers[key])))
        fields = (virtual.rows.tolist(), virtual.behind.tolist(), virtual.families.tolist())
        more = [
            (row, slot)
            for row, distance, family in zip(*fields, strict=True)
            for of, slot in at.get(distance, ())
            if of == family or family < 0 or (distance not in anyones and (family, distance) not in numbers)
        ]
        rows, behind = np.array(more, np.int64).reshape(-1, 2).T
        self.rows, self.behind = np.append(self.rows, rows), np.append(self.behind, behind)
        self._distances = np.array([distance for _, distance in numbers], np.int64)
        told.sort()
        self._ips = np.array([ip for ip, _ in told], np.uint64)
        self._slots = np.array([slot for _, slot in told], np.int64)

    @property
    def undecided(self) -> npt.NDArray[np.uint64]:
        """Calls (ip, sorted) where functions of several families are, of which nothing tells the family."""
        virtual = self._virtual
        if is_folded(self._image, virtual):
            return np.zeros(0, np.uint64)
        pairs = distinct(virtual.families + 1 << HALF_BITS | virtual.behind)
        places, count = np.unique(pairs & LOW_HALF, return_counts=True)
        calls = self._calls()
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
