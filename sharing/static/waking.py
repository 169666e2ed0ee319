"""Calls that wait for others on an object, and calls that wake who waits there: conditions, semaphores, events.

Owns which objects these are: by their address, as far as it is known where the call is made or where a function is
called that hands on what it was given.  How often anything is done is asked elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, rows_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct, picked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, ImageKind, VariableFlag
from sharing.model.vocabulary import LockKind
from sharing.static import flow, numbers
from sharing.static.callees import calls_of, function_at, names_of_callees
from sharing.static.handovers import ADDRESS_MASK

_ASKS = re.compile(r"^_Z.*\dwait(_for|_until)?I")  # a template, which has the type of the condition
MOST_CALLERS = 256  # of a function that hands its argument on: of more the object is not known

Ints = npt.NDArray[np.int64]


class Place(msgspec.Struct, frozen=True):
    """A call where the object's address is known, or 0, and the kind of the object."""

    address: int
    call: int  # row of the call table
    kind: LockKind


class Objects:
    """The calls of an image that wait, and those that wake, by the objects that they are made of.

    ``waits`` are rows of calls of functions that wait by their names, ``wakes`` are places of all others that use such
    an object, by its address.
    """

    def __init__(self, image: Image, knowledge: Knowledge, entries: Sequence[int]) -> None:
        self._image, self._knowledge = image, knowledge
        self._entries = set(entries)
        self._known: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._given: flow.ByEntry | None = None
        self._handed_on: dict[int, bool] = {}
        self._wakes: dict[int, list[Place]] | None = None
        self._arg_ips = np.ascontiguousarray(image.args["ip"])
        calls = image.calls
        callees = distinct(calls["callee"][calls["callee"] != 0])
        names = names_of_callees(image, callees)
        found = dict(knowledge.handoffs(names))
        self._by_call = {int(callees[at]): does for at, does in found.items()}
        self._waking = callees[[at for at, does in found.items() if not does.waits]]
        # Who is handed a condition asks for that first: the call within is the one that waits.
        waits = [at for at, does in found.items() if does.waits and not _ASKS.search(names[at])]
        waiting = having(calls, "callee", callees[waits])
        self.waits = {
            row: self._by_call[int(calls["callee"][row])]
            for row in np.flatnonzero(waiting & (calls["function"] >= 0)).tolist()
        }

    @property
    def wakes(self) -> dict[int, list[Place]]:
        """By address all calls that may wake someone."""
        if self._wakes is None:
            self._wakes = {}
            for row in rows_having(self._image.calls, "callee", self._waking).tolist():
                for place in self.of(row):
                    self._wakes.setdefault(place.address, []).append(place)
        return self._wakes

    def of(self, row: int) -> list[Place]:
        """The objects of a call that waits or wakes; all wrappers around it are followed to where these are named."""
        does = self._by_call[int(self._image.calls["callee"][row])]
        return [Place(address, call, does.kind) for address, call in self._resolved(row, does.argument, 0)]

    def _resolved(self, row: int, argument: int, depth: int) -> list[tuple[int, int]]:
        """(address or 0, row of the call that names it) of what a call is handed."""
        call = self._image.calls[row]
        ip, callee, function = call["ip"], int(call["callee"]), int(call["function"])
        begin, end = self._arg_ips.searchsorted(ip, "left"), self._arg_ips.searchsorted(ip, "right")
        found: list[tuple[int, int]] = []
        for _, of, value, _, arg, kind, source, _ in self._image.args[begin:end].tolist():
            if arg != argument or of != callee:
                continue
            if kind == ArgKind.ADDRESS:
                found.append((value & ADDRESS_MASK, row))
            elif kind == ArgKind.PARAM and function >= 0 and depth < numbers.LOCK_WRAPPERS:
                for address, at in self._handed_in(function, source, depth + 1):
                    found.append(((address + value) & ADDRESS_MASK if address else 0, at if at >= 0 else row))
        return found or [(0, row)]

    def _handed_in(self, function: int, argument: int, depth: int) -> list[tuple[int, int]]:
        """What a function is handed: by those who call it, and where a thread begins in it."""
        key = function, argument
        if key in self._known:
            return self._known[key]
        self._known[key] = []  # around a cycle
        image = self._image
        found: list[tuple[int, int]] = []
        rows = calls_of(image, int(image.functions["address"][function]))
        if len(rows) > MOST_CALLERS:
            found.append((0, -1))
            rows = rows[:0]
        for row in rows.tolist():
            found += self._resolved(row, argument, depth)
        flags = int(image.functions["flags"][function])
        if function in self._entries:
            if self._given is None:
                self._given = flow.objects_by_entry(image, self._knowledge)
            found += [(data, -1) for data, _ in self._given.get(key, [(0, 0)])]
        elif flags & FunctionFlag.ADDRESS_TAKEN or (image.kind is ImageKind.SHARED and flags & FunctionFlag.EXPORTED):
            found.append((0, -1))
        self._known[key] = found = list(dict.fromkeys(found)) or [(0, -1)]
        return found

    def may_be_handed_on(self, address: int) -> bool:
        """May code that is not known to use it have the object's address?"""
        if address not in self._handed_on:
            self._handed_on[address] = self._escapes(address)
        return self._handed_on[address]

    def _escapes(self, address: int) -> bool:
        image, row = self._image, self._image.variable_at(address)
        begin, end = address, address + 1
        if row >= 0:
            begin = int(image.variables["address"][row])
            end = begin + max(int(image.variables["size"][row]), 1)
            if image.kind is ImageKind.SHARED and not image.variables["flags"][row] & np.uint32(VariableFlag.LOCAL):
                return True
        limits = np.array([begin, end], np.uint64)
        pointed, stored = np.searchsorted(image.pointed, limits), image.behind.stored["what"]
        if pointed[0] < pointed[1] or ((stored >= limits[0]) & (stored < limits[1])).any():
            return True
        args = image.args
        value = args["value"].astype(np.uint64)
        given = picked(args, (args["kind"] == ArgKind.ADDRESS) & (value >= np.uint64(begin)) & (value < np.uint64(end)))
        if any(
            self._keeps(int(callee), int(arg)) for callee, arg in set(map(tuple, given[["callee", "arg"]].tolist()))
        ):
            return True
        sites = image.sites
        inside = (sites["kind"] == AccessKind.ADDRESS) & (sites["target"] >= np.uint64(begin))
        named = picked(sites, inside & (sites["target"] < np.uint64(end)))
        handed = Counter(zip(given["function"].tolist(), given["value"].tolist(), strict=True))
        made = Counter(zip(named["function"].tolist(), named["target"].astype(np.int64).tolist(), strict=True))
        # What is computed more often than it is handed to a call is handed or stored elsewhere.
        return bool(made - handed)

    def _keeps(self, callee: int, argument: int, depth: int = 0) -> bool:
        """May a function keep this argument for later, or hand it to one that may?"""
        function = int(function_at(self._image, np.array([callee], np.uint64))[0]) if callee else -1
        if function < 0 or self._image.functions["flags"][function] & FunctionFlag.STUB:
            name = names_of_callees(self._image, np.array([callee], np.uint64))[0] if callee else ""
            return not (self._knowledge.starts_thread(name) or self._knowledge.lock_calls(name))
        if depth > numbers.LOCK_WRAPPERS:
            return True
        kept = self._image.kept
        if ((kept["function"] == function) & (kept["value"] == 0) & (kept["arg"] == argument)).any():
            return True
        args = self._image.args
        on = picked(
            args, (args["function"] == function) & (args["kind"] == ArgKind.PARAM) & (args["source"] == argument)
        )
        further = set(map(tuple, on[["callee", "arg"]].tolist()))
        return any(self._keeps(int(to), int(arg), depth + 1) for to, arg in further)
