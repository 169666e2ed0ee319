"""Which calls through pointers may call a function: for what all of them hold.

Owns the ways that a function's address goes, and the calls at their ends.  What is kept in records is called by calls
that load from as far behind a pointer, or from where nobody keeps anything (a record within another); what stands in a
table of records by calls that load from its member; and any may be called by a call of which nothing says whom it
calls.  Calls of what code does not let see, a library's, or of an address that goes out of sight, may hold nothing.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import those_having
from sharing.model.arrays import among, distinct, picked, union
from sharing.model.image import AccessKind, ArgKind, Image, SlotKind, Table
from sharing.static.callees import function_at
from sharing.static.callgraph import CallGraph
from sharing.static.phases import program_point
from sharing.static.pointercalls import KeptFunctions
from sharing.static.slotnumbers import kind_of, place_of

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
MAX_WORDS = 4096  # of a table of records
_EXACT = (SlotKind.STATIC, SlotKind.ARGUMENT)


class PointerCallers:
    """Calls through pointers of code that runs beside others (CALL_DTYPE), but for those with known callees."""

    def __init__(self, image: Image, graph: CallGraph) -> None:
        self._image, self._graph = image, graph
        calls = those_having(image.calls, "callee", 0)
        calls = picked(calls, calls["function"] >= 0)
        self.of_anything: Table = self._running(picked(calls, calls["slot"] == SlotKind.UNKNOWN))

    def _running(self, calls: Table) -> Table:
        every, graph = self._image.calls, self._graph
        caller, named = calls["function"], every["ip"][every["callee"] != 0]
        calls = picked(calls, (graph.mask[caller] != 0) & ~among(calls["ip"], named))
        return calls[~graph.phases.sequential(calls["function"], program_point(self._image, calls))]

    @cached_property
    def _kept(self) -> KeptFunctions:
        return KeptFunctions(self._image)

    @cached_property
    def _known(self) -> tuple[Table, Ints]:
        """The calls that load from a known place, and these places."""
        calls, slots = self._kept.calls()
        chosen = among(calls["ip"], self._running(calls[slots > 0])["ip"])
        return calls[chosen], slots[chosen]

    @property
    def _slots(self) -> Ints:
        return self._known[1]

    def of(self, function: int) -> Table | None:
        """Those that may be of this function, beside calls of anything; None where others may call it, too."""
        if function in self._unseen:
            return None
        chosen = self._unknown.copy()
        for at in self._exact.get(function, ()):
            chosen[at] = True
        places = self._places.get(function)
        records = kind_of(self._slots) == SlotKind.RECORD
        if places is None:
            chosen |= records
        else:
            chosen |= records & (among(place_of(self._slots), np.array(sorted(places), np.int64)) | self._of_nothing)
        found: Table = self._known[0][chosen]
        return found

    @cached_property
    def _exact(self) -> dict[int, list[int]]:
        """By function the calls through static variables and arguments of what is known to be there."""
        found: dict[int, list[int]] = defaultdict(list)
        for at, slot in enumerate(self._slots.tolist()):
            for row in self._targets.get(slot, ()):
                found[row].append(at)
        return found

    @cached_property
    def _targets(self) -> dict[int, set[int]]:
        sure = self._slots[among(kind_of(self._slots), _EXACT)]
        return {slot: rows for slot, rows in self._kept.at(sure.tolist()).items() if rows}

    @cached_property
    def _unknown(self) -> Bools:
        """Calls through a variable or an argument that nobody is seen to give a function."""
        found: Bools = among(kind_of(self._slots), _EXACT)
        return found & ~among(self._slots, np.array(sorted(self._targets), np.int64))

    @cached_property
    def _of_nothing(self) -> Bools:
        """Calls through members where nothing is seen to be kept; of source a member is what it is."""
        if self._image.origins is not None:
            return np.zeros(len(self._slots), bool)
        known = {place for places in self._places.values() if places is not None for place in places}
        known |= set(place_of(self._kept.stored_places()).tolist())
        return ~among(place_of(self._slots), np.array(sorted(known), np.int64))

    @cached_property
    def _unseen(self) -> set[int]:
        """Functions that others may call: handed to a library, or nobody knows whom, or led out of sight."""
        image, args = self._image, self._image.args
        given = picked(args, args["kind"] == ArgKind.ADDRESS)
        row = function_at(image, given["value"].astype(np.uint64))
        away = (row >= 0) & (function_at(image, given["callee"]) < 0)
        found = set(row[away].tolist())
        return found | {row for row, places in self._kept.handed_places().items() if -1 in places}

    @cached_property
    def _places(self) -> dict[int, set[int] | None]:
        """By function how far behind the begin of a record it is kept; None: in any of them."""
        image, kept = self._image, self._image.kept
        found: dict[int, set[int] | None] = defaultdict(set)

        def add(row: int, places: set[int] | None) -> None:
            before = found[row]
            found[row] = before | places if before is not None and places is not None else None

        for row, places in self._kept.handed_places().items():
            add(row, places)
        value, slot = kept["value"], kept["slot"]
        made = kept[(value != 0) & (slot == SlotKind.RECORD)]
        for row, place in zip(function_at(image, made["value"]).tolist(), made["where"].tolist(), strict=True):
            add(row, {place})
        virtual, behind = self._kept.virtual()
        for row, place in zip(virtual.tolist(), behind.tolist(), strict=True):
            add(row, {place})
        for row, members in self._in_tables().items():
            add(row, members)
        for row in self._led_away().tolist():
            add(row, None)
        return found

    def _led_away(self) -> Ints:
        """Functions whose address code takes and neither keeps, compares nor hands on; nor calls something there.

        Where a function calls a pointer of which nothing is known, what it takes is for that call.
        """
        image, kept, args = self._image, self._image.kept, self._image.args
        seen = picked(image.sites, image.sites["kind"] == AccessKind.ADDRESS)[["function", "target"]]
        named = function_at(image, seen["target"])
        handing = args["kind"] == ArgKind.ADDRESS
        by = np.append(kept["function"], args["function"][handing]).astype(np.int64)
        what = np.append(kept["value"], args["value"][handing].astype(np.uint64))
        explained = by << 32 | function_at(image, what) & 0xFFFFFFFF
        pairs = seen["function"].astype(np.int64) << 32 | named & 0xFFFFFFFF
        calling = among(seen["function"], self.of_anything["function"])
        found: Ints = named[(named >= 0) & ~among(pairs, explained) & ~calling]
        return found

    def _in_tables(self) -> dict[int, set[int] | None]:
        """By function that a static record or table has, where in such a record; None: nothing says how long one is."""
        image, kept = self._image, self._image.kept
        rows, slots = self._kept.words()
        value, slot = kept["value"], kept["slot"]
        made = kept[(value != 0) & (slot == SlotKind.STATIC)]
        rows = np.append(rows, function_at(image, made["value"]))
        slots = np.append(slots, made["where"].astype(np.int64))
        variables = image.variables_at(slots.astype(np.uint64))
        found: dict[int, set[int] | None] = {}
        for variable in distinct(variables).tolist():
            ats = np.flatnonzero(variables == variable)
            if variable < 0:
                found.update(dict.fromkeys(rows[ats].tolist()))
                continue
            begin, length = int(image.variables["address"][variable]), int(image.variables["size"][variable])
            offsets = (slots[ats] - begin).tolist()
            size = _record_size(offsets, length, image.arch.pointer_size)
            begins = self._begins(begin, length)
            for row, offset in zip(rows[ats].tolist(), offsets, strict=True):
                members = found.get(row, set())
                here = {(offset - other) % size for other in begins} if size else set()
                found[row] = members | here if here and members is not None else None
        return found

    def _begins(self, begin: int, length: int) -> list[int]:
        """Places in a variable, in bytes, that something leads to, the first one anyhow."""
        inside = [self._addresses.searchsorted(np.uint64(at)) for at in (begin + 1, begin + length)]
        others = self._addresses[inside[0] : inside[1]].astype(np.int64) - begin
        return [0, *others.tolist()]

    @cached_property
    def _addresses(self) -> npt.NDArray[np.uint64]:
        sites = self._image.sites
        taken: npt.NDArray[np.uint64] = union(self._image.pointed, sites["target"][sites["kind"] == AccessKind.ADDRESS])
        return taken


def _record_size(offsets: list[int], size: int, width: int) -> int:
    """Bytes of one of the records of a table of so many bytes with functions at these offsets; 0 unknown.

    Each record has functions at the same places, but that the last ones have none.
    """
    if len(offsets) > MAX_WORDS:
        return 0
    for length in range(width, size + 1, width):
        if size % length:
            continue
        last: dict[int, int] = {}
        for offset in offsets:
            last[offset % length] = max(last.get(offset % length, 0), offset // length)
        if sum(count + 1 for count in last.values()) == len(set(offsets)) and len(set(last.values())) == 1:
            return length
    return 0
