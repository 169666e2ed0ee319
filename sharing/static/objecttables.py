"""Virtual calls of objects that a static pointer leads to, as calls of the functions that these objects have.

Owns which tables of virtual functions the object behind such a pointer may have: those that are stored in all objects
that the pointer is ever set to, where each of these is known with its table.  Tables of unrelated classes have
functions at the same distance: by distance alone a call through one would be a call of them all.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import having, those_having
from sharing.model.arrays import among, picked
from sharing.model.image import HELD, AccessKind, ArgKind, Image, ImageKind, SiteFlag, SlotKind, Table
from sharing.static.callees import function_at
from sharing.static.slotcalls import as_called, joined_calls
from sharing.static.startobjects import holder_of, offset_of

CHANGES = (AccessKind.STORE, AccessKind.RMW)


def with_object_calls(image: Image) -> Image:
    """The image with these calls beside those through the pointer, as of ``slotcalls``."""
    if image.origins or image.kind is ImageKind.SHARED or not len(image.virtual_tables):
        return image
    calls = image.calls
    through = (calls["callee"] == 0) & (calls["slot"] == SlotKind.RECORD) & (calls["function"] >= 0)
    pointers = _pointers(image, calls["ip"][through])
    through &= having(calls, "ip", np.array(list(pointers), np.uint64))
    tables = _Tables(image, np.array(sorted(set(pointers.values())), np.uint64))
    rows, targets = [], []
    for at in np.flatnonzero(through).tolist():
        found = tables.functions(pointers[int(calls["ip"][at])], int(calls["where"][at]))
        rows += [at] * len(found)
        targets += found
    if not rows:
        return image
    made = calls[np.array(rows)]
    made["callee"] = np.array(targets, np.uint64)
    made["slot"] = made["where"] = 0
    several = np.bincount(rows)[rows]
    made["rarity"] += np.round(shared.RARITY_STEPS * np.log2(several)).astype(np.uint16)
    args = joined_calls(image.args, as_called(image, made))
    return dataclasses.replace(image, calls=joined_calls(calls, made), args=args)


def _pointers(image: Image, ips: Table) -> dict[int, int]:
    """By call, of these, the static variable whose object it is handed first."""
    args = image.behind.args
    args = args[among(args["ip"], ips)]
    args = picked(
        args, (args["callee"] == 0) & (args["arg"] == 0) & (args["kind"] == ArgKind.ADDRESS) & (args["source"] == 0)
    )
    rows = args[["ip", "value"]].tolist()
    return {ip: holder_of(value) for ip, value in rows if not offset_of(value) and value & int(HELD)}


class _Tables:
    """What objects of static pointers have."""

    def __init__(self, image: Image, pointers: npt.NDArray[np.uint64]) -> None:
        """``pointers``: all that will be asked for; tables are looked through once for all of them."""
        self._image = image
        self._sites = image.sites[among(image.sites["target"], pointers)]
        self._held = image.behind.held[among(image.behind.held["variable"], pointers)]
        values = image.args["value"]
        self._handed = set(values[among(values, pointers.astype(values.dtype))].tolist())
        self._tables = set(image.virtual_tables.tolist())
        self._known: dict[int, set[int] | None] = {}
        self._stored: dict[int, set[int]] = defaultdict(set)
        for place, what in image.behind.stored[["variable", "what"]].tolist():
            self._stored[place].add(what)
        words = image.code_words
        slots, code = words["slot"], words["value"]
        self._code = dict(zip(slots.tolist(), code.tolist(), strict=True))

    def functions(self, pointer: int, behind: int) -> list[int]:
        """Addresses of what stands so far behind the begin of the tables of its objects; none where one is unknown."""
        if pointer not in self._known:
            self._known[pointer] = self._of(pointer)
        tables = self._known[pointer] or set()
        found = {self._code.get(table + behind, 0) for table in tables}
        return sorted(found) if 0 not in found else []

    def _of(self, pointer: int) -> set[int] | None:
        sites = picked(self._sites, self._sites["target"] == pointer)
        held = picked(self._held, self._held["variable"] == pointer)
        clears = (sites["flags"] & SiteFlag.CLEARS != 0) & (sites["kind"] == AccessKind.STORE)
        sets = among(sites["kind"], np.array(CHANGES, np.uint8)) & ~clears
        is_taken = (sites["kind"] == AccessKind.ADDRESS).any() or pointer in self._handed
        if is_taken or not len(held) or not among(sites["ip"][sets], held["ip"]).all():
            return None
        found: set[int] = set()
        for what in held["what"].tolist():
            tables = self._object(what)
            if not tables:
                return None
            found |= tables
        return found

    def _object(self, what: int) -> set[int]:
        """The tables that a new object has: stored where it is made, or by a function that is handed it first."""
        if not among(np.array([holder_of(what)], np.uint64), self._image.calls["ip"])[0] or offset_of(what):
            return set()
        if stored := self._stored.get(what, set()):
            return stored if stored <= self._tables else set()
        image = self._image
        args = picked(image.behind.args, (image.behind.args["value"] == what) & (image.behind.args["arg"] == 0))
        makers = function_at(image, args["callee"][args["callee"] != 0])
        params = those_having(image.params, "function", makers[makers >= 0])
        params = picked(params, (params["arg"] == 0) & (params["offset"] == 0) & (params["kind"] == AccessKind.STORE))
        sites = image.sites[among(image.sites["function"], params["function"])]
        taken = sites["kind"] == AccessKind.ADDRESS
        return self._tables & set(sites["target"][taken].tolist())
