"""Which places of a function are on one way through it: the one may run before the other, or neither in one run.

Owns what the two orders of a function's blocks say.  Of two blocks the one leads to the other only where it comes
before in both; two arms of a branch are ordered differently.  Loops are passed once: what follows a loop comes after.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def _leads(order: Any, mirror: Any, ip: Any) -> Any:
    """Does a place lead to one that is so far behind it in both orders and in bytes?  Of tables; see ``Point``."""
    return ((order > 0) & (mirror > 0)) | ((order == 0) & (ip > 0))


def share_way(order: Any, mirror: Any) -> Any:
    """May one run come to both of two places so far apart in both orders?  Of tables and numbers; see ``Point``."""
    return order * mirror >= 0


class Point(NamedTuple):
    """A place in a function."""

    order: int
    mirror: int
    ip: int

    def leads_to(self, other: Point) -> bool:
        """May one run come to the other after this?"""
        order = other.order - self.order  # as ``_leads`` says it of tables, without their cost
        return (order > 0 and other.mirror > self.mirror) if order else other.ip > self.ip

    def shares_way(self, other: Point) -> bool:
        """May one run of the function come to both?  Not to the arms of a branch."""
        return bool(share_way(self.order - other.order, self.mirror - other.mirror))


class Points(msgspec.Struct, frozen=True):
    """Places in one function."""

    order: Ints
    mirror: Ints
    ip: Ints

    def behind(self, other: Points) -> Bools:
        """Which of these (rows of the result) come after which of the ``other`` (columns) on a way."""
        order, mirror = self.order[:, None] - other.order, self.mirror[:, None] - other.mirror
        result: Bools = _leads(order, mirror, self.ip[:, None] - other.ip)
        return result


def longest(behind: Bools) -> Ints:
    """For each place the longest chain up to it, by which ones (columns) it is behind."""
    length = np.ones(len(behind), np.int64)
    for _ in range(len(behind)):
        length = 1 + np.where(behind, length, 0).max(axis=1, initial=0)
    return length
