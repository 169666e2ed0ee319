"""Where the sites and calls of an image are in the two orders of their functions' blocks.

Owns looking that up in tables.  What it says of two places is ``sharing.model.ways``'s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.kept import Kept
from sharing.model.image import Image, Table
from sharing.model.ways import Points

Numbers = npt.NDArray[np.uint64]
_ORDER_BITS = np.uint64(16)


def block_of(rows: Table) -> Numbers:
    """A number for each function's block; unknown functions share one that nothing is looked up by."""
    return _key(rows["function"], rows["order"])


def _key(function: npt.NDArray[Any], order: npt.NDArray[Any]) -> Numbers:
    result: Numbers = (function + 1).astype(np.uint64)
    result <<= _ORDER_BITS
    result |= order.astype(np.uint64)
    return result


def _columns_of(blocks: Table) -> tuple[Numbers, npt.NDArray[np.uint16], npt.NDArray[np.uint8], Numbers]:
    """Numbers of blocks, the columns that are looked up by them, and the numbers of the heads of loops."""
    key = block_of(blocks)
    mirror, reached = np.ascontiguousarray(blocks["mirror"]), np.ascontiguousarray(blocks["reached"])
    return key, mirror, reached, key[blocks["head"] != 0]


# Hundreds of lookups ask of one table.
_columns: Kept[tuple[Numbers, npt.NDArray[np.uint16], npt.NDArray[np.uint8], Numbers]] = Kept()


class Mirrors:
    """The places of blocks in the second order of their functions."""

    def __init__(self, image: Image) -> None:
        self._blocks, self._mirror, self._reached, self._heads = _columns.of(
            image.blocks, (), lambda: _columns_of(image.blocks)
        )
        self._stages = image.blocks[["stages", "stage"]]

    def of(self, function: npt.NDArray[Any], order: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
        """Of these blocks; where none is known the two orders are alike."""
        mirror = order.astype(np.uint16)
        if len(self._blocks):
            wanted = _key(function, order)
            at = np.minimum(np.searchsorted(self._blocks, wanted), len(self._blocks) - 1)
            known = self._blocks[at] == wanted
            mirror[known] = self._mirror[at[known]]
        return mirror

    def reached(self, function: npt.NDArray[Any], order: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """The rarity with which the outermost loops around these blocks are come to; 0 where none is known."""
        at, known = self._at(function, order)
        return np.where(known, np.append(self._reached, 0)[at], 0).astype(np.uint8)

    def stages(
        self, function: npt.NDArray[Any], order: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """(how many stages a round of all threads has that pass these blocks, 0 of what is not known, the one as each
        block begins)"""
        at, known = self._at(function, order)
        told = [np.where(known, np.append(self._stages[name], 0)[at], 0) for name in ("stages", "stage")]
        return told[0].astype(np.uint8), told[1].astype(np.uint8)

    def _at(
        self, function: npt.NDArray[Any], order: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """(where each of these blocks is in the table, is it there)"""
        wanted = _key(function, order)
        at = np.searchsorted(self._blocks, wanted)
        known: npt.NDArray[np.bool_] = np.append(self._blocks, 0)[at] == wanted
        return at, known

    def loop(self, function: npt.NDArray[Any], order: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """A number of the outermost loop around each of these blocks, which are in loops."""
        return np.searchsorted(self._heads, _key(function, order), "right").astype(np.int64)

    def loops(self, rows: Table) -> npt.NDArray[np.int64]:
        """The outermost loop around each row that is in one, as a number that no other function's has."""
        found: npt.NDArray[np.int64] = rows["function"].astype(np.int64) << 32 | self.loop(
            rows["function"], rows["order"]
        )
        return found


def in_loops(image: Image, rows: Table) -> npt.NDArray[np.uint8]:
    """How rarely each of these is come to in a round of the outermost loop around it, as ``rarity``."""
    reached = Mirrors(image).reached(rows["function"], rows["order"])
    result: npt.NDArray[np.uint8] = rows["rarity"] - np.minimum(reached, rows["rarity"]).astype(np.uint8)
    return result


def mirrors(image: Image, rows: Table) -> npt.NDArray[np.uint16]:
    """Of each row's block, see ``Mirrors``."""
    return Mirrors(image).of(rows["function"], rows["order"])


def points(image: Image, rows: Table) -> Points:
    """Where rows of sites or calls of one function are in it."""
    order, mirror = rows["order"].astype(np.int64), mirrors(image, rows).astype(np.int64)
    return Points(order, mirror, rows["ip"].astype(np.int64))


def surely_behind(behind: npt.NDArray[np.bool_], ends: Table, places: Table) -> npt.NDArray[np.int64]:
    """How many of some ends (columns of ``behind``) each place (row) has behind it that no way there goes around.

    ``ends`` and ``places`` are their rarities: a branch that leaves out an end goes on behind it, more often than the
    end is come to.
    """
    often = behind @ np.exp2(-ends.astype(np.int64) / shared.RARITY_STEPS)
    least = np.exp2(-(places.astype(np.int64) + 1) / shared.RARITY_STEPS)  # but for rounding
    passed: npt.NDArray[np.int64] = np.floor(often / least).astype(np.int64)
    return passed
