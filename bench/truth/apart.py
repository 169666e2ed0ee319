"""Which of the counted uses of some bytes were made without those of others: what separate lines would spare.

Owns that subtraction.  Who uses two things in one run of a function fetches the line for both, and loses it no more
often than it would lose two lines: what other threads do to the one, they do to it beside the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.counted.weigh import Counted, Floats
from sharing.model.profile import Range
from sharing.model.ways import Points
from sharing.rules.numbers import NEAR_BYTES


@dataclass(frozen=True, slots=True)
class Places:
    """Where each access of a table is, and how often each thread (columns) made it."""

    function: npt.NDArray[Any]
    at: Points
    executions: Floats

    def apart(self, rows: npt.NDArray[Any], others: npt.NDArray[Any]) -> Floats:
        """By thread how often ``rows`` were made and none of ``others`` of the same way through the function was.

        Of two places near each other the one was made with the other as often as the rarer of them was made at all.
        """
        made = self.executions[rows]
        if not len(rows) or not len(others):
            none: Floats = made.sum(axis=0)
            return none
        a, b = self._points(rows), self._points(others)
        order, mirror = a.order[:, None] - b.order, a.mirror[:, None] - b.mirror
        near = (order * mirror >= 0) & (np.abs(a.ip[:, None] - b.ip) <= NEAR_BYTES)
        near &= self.function[rows][:, None] == self.function[others]
        beside = np.where(near[:, :, None], self.executions[others][None, :, :], 0.0).max(axis=1)
        result: Floats = np.maximum(made - beside, 0.0).sum(axis=0)
        return result

    def _points(self, rows: npt.NDArray[Any]) -> Points:
        return Points(self.at.order[rows], self.at.mirror[rows], self.at.ip[rows])


@dataclass(frozen=True, slots=True)
class Pair:
    """Two spans of a line and how often each thread wrote, and used, the one without the other."""

    counted: Counted
    found: dict[Range, tuple[Floats, Floats]]

    def uses(self, span: Range) -> tuple[Floats, Floats]:
        return self.found[span]
