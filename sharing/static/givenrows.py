"""Rows of an array of arrays: ``histogram[thread][kind]``, where threads are handed the number of the row.

Owns whose the steps of such an access are.  In what a thread begins with, whatever it is handed chooses the thread's
row and the other index a place in it: two threads are a row apart.  In other functions either index may be the
thread's, and as ever neighbours are taken to be what threads have; but not where the function stores to another place
of such rows as well, plain data under no lock: that would race if threads shared rows.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, copied, distinct
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.static.callees import names_of_callees
from sharing.static.callgraph import CallGraph

_WRITES = np.array([AccessKind.STORE, AccessKind.RMW], np.uint8)

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def with_given_rows(image: Image, calls: CallGraph, knowledge: Knowledge) -> Image:
    """The image whose strides are of rows only where threads have rows; ``ROW`` is gone, ``within_rows`` has these."""
    if image.origins:
        return image
    rows = image.sites["flags"] & SiteFlag.ROW != 0
    own, length = _in_own_rows(image, knowledge)
    if not rows.any() and not own.any():
        return image
    sites = copied(image.sites)
    entries = [root.function for root in calls.roots if root.function >= 0 and root.name != "main"]
    elsewhere = rows & ~own & ~among(sites["function"], np.array(entries, sites["function"].dtype))
    size, stride = sites["size"], sites["stride"]
    stride[elsewhere] = np.minimum(size[elsewhere], stride[elsewhere])
    stride[own] = length[own]
    sites["flags"][rows] &= np.uint8(255 - SiteFlag.ROW)
    return dataclasses.replace(image, sites=sites, within_rows=distinct(sites["ip"][(rows & ~elsewhere) | own]))


def _in_own_rows(image: Image, knowledge: Knowledge) -> tuple[Bools, Ints]:
    """Which sites choose a place in a row that is the thread's, by what else their functions store to; its length.

    What goes by smaller steps through an array of such rows does so in one of them.
    """
    sites, line = image.sites, image.arch.line_size
    indexed = sites["flags"] & SiteFlag.INDEXED != 0
    plain = indexed & among(sites["kind"], _WRITES) & (sites["stride"] >= line)
    plain &= sites["flags"] & (SiteFlag.ATOMIC | SiteFlag.ROW) == 0
    none = np.zeros(len(sites), bool), np.zeros(len(sites), np.int64)
    if not plain.any() or not len(image.variables):
        return none
    callees = distinct_in(image.calls, "callee")
    locks = callees[sorted(knowledge.lock_callees(names_of_callees(image, callees)))]
    locking = distinct(image.calls["function"][among(image.calls["callee"], locks)])
    places = _places(image, np.flatnonzero(plain & ~among(sites["function"], locking)))
    known: dict[tuple[int, int], set[int]] = {}
    for place, at in places.items():
        known[place] = set(sites["stride"][at].tolist())
    chosen, length = none
    small = indexed & (sites["stride"] > 0) & ((sites["stride"] < line) | (sites["flags"] & SiteFlag.ROW != 0))
    small &= among(sites["function"], np.array(sorted({function for function, _ in known}), sites["function"].dtype))
    for place, at in _places(image, np.flatnonzero(small)).items():
        strides = known.get(place, set())
        if len(strides) == 1:
            chosen[at], length[at] = True, next(iter(strides))
    return chosen, length


def _places(image: Image, rows: Ints) -> dict[tuple[int, int], Ints]:
    """These sites by their function and variable, those of variables."""
    sites = image.sites[rows]
    variable = image.variables_at(sites["target"])
    found: dict[tuple[int, int], list[int]] = {}
    for at, function, of in zip(rows.tolist(), sites["function"].tolist(), variable.tolist(), strict=True):
        if function >= 0 and of >= 0:
            found.setdefault((function, of), []).append(at)
    return {place: np.array(found[place], np.int64) for place in found}
