"""One instruction to several members: compilers join what code does to neighbours of a record.

Owns the parts of such accesses, one for each member: two counters that are loaded, added to and stored as a vector are
changed both, and two numbers that are compared as one are both read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.image import Image, SiteFlag, Table
from sharing.model.types import TypeTable

_Parts = tuple[tuple[int, int], ...]  # (offset, bytes) of each


def by_member(image: Image, rows: Table, variable: npt.NDArray[np.int64]) -> tuple[Table, npt.NDArray[np.int64]]:
    """The accesses (SITE_DTYPE) in parts, and of which row each is one; ``variable``: the row of each, -1 none.

    What is atomic is one thing.  Of source each member is accessed by its name.
    """
    every = np.arange(len(rows))
    if image.origins or not len(image.variables):
        return rows, every
    of = picked(image.variables, np.maximum(variable, 0))
    chosen = (variable >= 0) & (of["type"] >= 0) & (rows["flags"] & SiteFlag.ATOMIC == 0)
    wide = np.flatnonzero(chosen & (rows["size"] > 1) & (rows["size"] <= image.arch.line_size))
    places = zip(
        of["type"][wide].tolist(),
        (rows["target"][wide] - of["address"][wide]).tolist(),
        rows["size"][wide].tolist(),
        strict=True,
    )
    known: dict[tuple[int, int, int], _Parts] = {}
    of_row: list[int] = []
    parts: list[tuple[int, int]] = []
    for row, place in zip(wide.tolist(), places, strict=True):
        if place not in known:
            known[place] = _parts(image.types, *place)
        if len(known[place]) > 1:
            of_row += [row] * len(known[place])
            parts += ((offset - place[1], size) for offset, size in known[place])
    if not parts:
        return rows, every
    whole = np.ones(len(rows), bool)
    whole[of_row] = False
    split = rows[of_row].copy()
    split["target"] += np.array([begin for begin, _ in parts], np.uint64)
    split["size"] = [size for _, size in parts]
    return np.concatenate([rows[whole], split]), np.concatenate([every[whole], np.array(of_row, np.int64)])


def _parts(types: TypeTable, row: int, offset: int, size: int) -> _Parts:
    """What an access to an object of a type has of each member; none where members overlap or are less than bytes."""
    found: list[tuple[int, int]] = []
    at, end = offset, offset + size
    while at < end:
        leaf = types.leaf(row, at)
        if leaf is None:
            at += 1
            continue
        elements = (at - leaf.offset) // leaf.stride if leaf.stride >= leaf.size > 0 else 0
        begin = leaf.offset + elements * leaf.stride
        if leaf.bit_size or (begin < at and at != offset):
            return ()
        stop = min(begin + max(leaf.size, 1), end)
        found.append((at, stop - at))
        at = stop
    return tuple(found)
