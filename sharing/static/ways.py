"""Which places of a function are on one way through it: the one may run before the other, or neither in one run.

Owns the two orders of a function's blocks.  Of two blocks the one leads to the other only where it comes before in
both; two arms of a branch are ordered differently.  Loops are passed once: what follows a loop comes after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.image import Image, Table

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


def block_of(rows: Table) -> Numbers:
    """A number for each function's block; unknown functions share one that nothing is looked up by."""
    return _key(rows["function"], rows["order"])


def _key(function: npt.NDArray[Any], order: npt.NDArray[Any]) -> Numbers:
    result: Numbers = (function.astype(np.int64) + 1).astype(np.uint64) << np.uint64(16)
    return result | order.astype(np.uint64)


class Mirrors:
    """The places of blocks in the second order of their functions."""

    def __init__(self, image: Image) -> None:
        self._blocks = block_of(image.blocks)
        self._mirror = image.blocks["mirror"]

    def of(self, function: npt.NDArray[Any], order: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
        """Of these blocks; where none is known the two orders are alike."""
        mirror = order.astype(np.uint16)
        if len(self._blocks):
            wanted = _key(function, order)
            at = np.minimum(np.searchsorted(self._blocks, wanted), len(self._blocks) - 1)
            known = self._blocks[at] == wanted
            mirror[known] = self._mirror[at[known]]
        return mirror


def mirrors(image: Image, rows: Table) -> npt.NDArray[np.uint16]:
    """Of each row's block, see ``Mirrors``."""
    return Mirrors(image).of(rows["function"], rows["order"])


@dataclass(frozen=True, slots=True)
class Places:
    """Where rows of sites or calls of one function are in it."""

    order: Ints
    mirror: Ints
    ip: Numbers

    @staticmethod
    def of(image: Image, rows: Table) -> Places:
        return Places(rows["order"].astype(np.int64), mirrors(image, rows).astype(np.int64), rows["ip"])

    def behind(self, other: Places) -> Bools:
        """Which of these (rows of the result) come after which of the ``other`` (columns) on a way."""
        order, mirror = self.order[:, None] - other.order, self.mirror[:, None] - other.mirror
        result: Bools = ((order > 0) & (mirror > 0)) | ((order == 0) & (self.ip[:, None] > other.ip))
        return result
