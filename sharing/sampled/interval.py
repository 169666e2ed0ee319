"""Intervals of shares that were counted in samples, and of medians of few runs.

Owns the formulas.  A share without its interval is no evidence: ten samples say little.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sharing.basics import numbers as shared

# Student's t for 90 %, both sides, by degrees of freedom from 1 on; the last one for more.
_T_90 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.645)


@dataclass(frozen=True, slots=True)
class Share:
    """A share of a whole with its 95 % interval, all in [0, 1]."""

    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """``31 % (29–33 %)``."""
        return f"{_percent(self.value)} % ({_percent(self.low)}–{_percent(self.high)} %)"


def wilson(part: float, whole: float) -> Share:
    """Wilson's interval for ``part`` of ``whole`` samples, which may be fractions; anything of nothing."""
    if whole < 1e-9:
        return Share(0.0, 0.0, 1.0)
    p = min(max(part / whole, 0.0), 1.0)
    z2 = shared.Z_95 * shared.Z_95
    middle = (p + z2 / (2 * whole)) / (1 + z2 / whole)
    half = shared.Z_95 / (1 + z2 / whole) * math.sqrt(p * (1 - p) / whole + z2 / (4 * whole * whole))
    return Share(p, min(max(middle - half, 0.0), p), max(min(middle + half, 1.0), p))


def median_within(values: Sequence[float]) -> float:
    """The factor, up or down, within which the true median of positive figures lies with 90 %; 1 where one is known.

    Figures of runs differ by factors, so that their logarithms are taken to be normal.
    """
    logarithms = [math.log(value) for value in values if value > 0]
    if len(logarithms) < 2:
        return 1.0
    of_mean = statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    student = _T_90[min(len(logarithms) - 1, len(_T_90)) - 1]
    return math.exp(student * math.sqrt(math.pi / 2) * of_mean)


def _percent(share: float) -> str:
    percent = 100 * share
    return (
        f"{percent:.0f}" if percent >= 10 or percent == 0 else f"{percent:.1f}" if percent >= 0.1 else f"{percent:.2g}"
    )
