"""Thread entries that the call which starts a thread loads: from a static variable, or from a member of a record.

Owns the way back to what is kept there: the first contents of the variable and all that code stores in it, or what
code stores as far behind some pointer.  Source knows by type which member it is.  Elsewhere whose record it is, is not
known: a function that is kept anywhere else is no entry, and where calls load their targets from as far behind pointers
too, and tables do not explain them, nothing is said.  What a function chooses among several, and tables that it reads
at an index, are ``hiddenentries``'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from sharing.model.arrays import among, picked, stacked
from sharing.model.image import HELD, WHOLE_ARGUMENT, WORD_HOLDER, ArgKind, FunctionFlag, Image, SlotKind
from sharing.model.threadwords import is_own_word
from sharing.static import numbers
from sharing.static.pointercalls import KeptFunctions
from sharing.static.slotnumbers import kind_of, place_of, slot_at
from sharing.static.startobjects import holder_of, is_argument, is_frame, offset_of


class StoredEntry(msgspec.Struct, frozen=True):
    """A function that a thread may run which is started there."""

    function: int  # row
    starter: int  # row of the function that starts the thread
    ip: int  # of the call
    looped: bool
    alone: bool  # there are no others


def stored_entries(image: Image, starting: Iterable[tuple[int, int]]) -> Iterator[StoredEntry]:
    """What is loaded for ``starting``: (address of a called function, its argument that is a thread's entry)."""
    wanted = set(starting)
    rows = [row for row in _loaded(image, wanted) if row[0] >= 0]
    if not rows:
        return
    kept = KeptFunctions(image)
    found = _kept_at(image, kept, {slot for slot, *_ in rows})
    taken = image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN != 0
    for slot, starter, ip, looped in rows:
        entries = sorted(row for row in found.get(slot, ()) if taken[row])
        if len(entries) <= numbers.FEW_TARGETS:
            for row in entries:
                yield StoredEntry(row, starter, ip, looped, len(entries) == 1)


def _loaded(image: Image, wanted: set[tuple[int, int]]) -> Iterator[tuple[int, int, int, bool]]:
    """(slot, row of the caller, call, whether in a loop) of wanted arguments that are loaded; slot -1 unknown."""
    callees = np.array(sorted({callee for callee, _ in wanted}), np.uint64)
    behind = stacked([image.behind.args, image.behind.word_args])
    behind = picked(behind, (behind["kind"] == ArgKind.ADDRESS) & (behind["source"] == 0))
    loaded = picked(image.args, image.args["kind"] == ArgKind.LOADED)
    for rows, is_slot in ((behind, False), (loaded, True)):
        caller = rows["function"]
        rows = picked(rows, among(rows["callee"], callees) & (caller >= 0))
        for ip, callee, value, function, arg, _, _, depth in rows.tolist():
            if (callee, arg) in wanted:
                slot = slot_at(SlotKind.RECORD, value) if is_slot else _slot_of(image, value)
                yield slot, function, ip, 0 < depth < numbers.IMPLAUSIBLE_STARTS


def _slot_of(image: Image, value: int) -> int:
    """The slot that a whole word behind a pointer is as a number, -1 where that is none."""
    holder = holder_of(value)
    if not value & int(HELD) or offset_of(value) or is_argument(holder) or is_frame(holder) or is_own_word(holder):
        return -1
    if holder & WORD_HOLDER:
        return slot_at(SlotKind.RECORD, (holder & WHOLE_ARGUMENT) * image.arch.pointer_size)
    return -1 if among(np.array([holder], np.uint64), image.calls["ip"])[0] else slot_at(SlotKind.STATIC, holder)


def _kept_at(image: Image, kept: KeptFunctions, slots: set[int]) -> dict[int, set[int]]:
    """Rows of functions that may be loaded from there."""
    every, by_code = kept.at(slots), kept.at(slots, tables=False)
    called = set(kept.calls()[1].tolist())
    places = kept.only_places()
    found: dict[int, set[int]] = {}
    for slot in slots:
        if kind_of(slot) == SlotKind.STATIC or image.origins:  # source knows members by type
            found[slot] = every.get(slot, set())
        elif slot not in called or every.get(slot, set()) - by_code.get(slot, set()):
            found[slot] = {row for row in by_code.get(slot, ()) if places.get(row) == {place_of(slot)}}
    return found
