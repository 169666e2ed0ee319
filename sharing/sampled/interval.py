"""Intervals of shares that were counted in samples.

Owns the one formula.  A share without its interval is no evidence: ten samples say little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sharing.basics import numbers as shared


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


def _percent(share: float) -> str:
    percent = 100 * share
    return (
        f"{percent:.0f}" if percent >= 10 or percent == 0 else f"{percent:.1f}" if percent >= 0.1 else f"{percent:.2g}"
    )
