"""Which functions use which bytes of the variables of a build.

Owns the one walk from accesses to the functions that make them.  Who is the same function in both builds is
``match``'s; what functions do otherwise than before is ``uses``'.
"""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum
from functools import cached_property

import numpy as np

from sharing.explain.identity import Ids, base_name
from sharing.model.arrays import picked
from sharing.model.image import AccessKind, Image
from sharing.static.callees import function_name

_WRITING = (AccessKind.STORE, AccessKind.RMW)


class _How(IntEnum):
    HANDS_ON = 0
    READS = 1
    WRITES = 2


class Users:
    """Functions by the variables of one image; who only hands an address on counts where that is said."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._in_type: dict[int, dict[int, set[str]]] = {}

    def functions(self) -> Ids:
        """(row of a variable, row of a function that uses it or hands on where it is), each once."""
        return np.unique(self._table[:, [0, 2]], axis=0)

    def at(self, row: int, start: int, end: int) -> dict[str, bool]:
        """The functions that read or write bytes of a variable, by linkage names, and whether they write them."""
        first, stop = np.searchsorted(self._table[:, 0], [row, row + 1]).tolist()
        found: dict[str, bool] = {}
        for _, offset, function, how in self._table[first:stop].tolist():
            if start <= offset < end and how != _How.HANDS_ON:
                name = self._name(function)
                found[name] = found.get(name, False) or how == _How.WRITES
        return found

    def in_type(self, kind: int, start: int, end: int) -> frozenset[str]:
        """The functions that use these bytes of any variable of a type, or hand on where they are."""
        if kind not in self._in_type:
            users = defaultdict[int, set[str]](set)
            mine = self._table[self._image.variables["type"][self._table[:, 0]] == kind]
            for offset, function in np.unique(mine[:, 1:3], axis=0).tolist():
                users[offset].add(self._name(function))
            self._in_type[kind] = users
        names = (names for offset, names in self._in_type[kind].items() if start <= offset < end)
        return frozenset().union(*names)

    @cached_property
    def _table(self) -> Ids:
        """(row of the variable, offset in it, row of the function, what it does), ordered, each once."""
        sites = picked(self._image.sites, self._image.sites["function"] >= 0)
        row = self._image.variables_at(sites["target"])
        sites, row = sites[row >= 0], row[row >= 0]
        if not len(sites):
            return np.zeros((0, 4), np.int64)
        target, start = sites["target"], self._image.variables["address"][row]
        offset = (target - start).astype(np.int64)
        how = np.where(sites["kind"] == AccessKind.ADDRESS, _How.HANDS_ON, _How.READS)
        how[np.isin(sites["kind"], _WRITING)] = _How.WRITES
        table: Ids = np.unique(np.stack([row, offset, sites["function"].astype(np.int64), how], axis=1), axis=0)
        return table

    def _name(self, function: int) -> str:
        return base_name(function_name(self._image, function))
