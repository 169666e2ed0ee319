"""The quantile of Student's t: how much wider an interval is that rests on few repetitions.

Owns this one function, which is all that linemate needs of a library for special functions: scipy takes 140 MB, as
much as linemate and everything else that it needs.  Tests hold it against scipy's.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

_STEPS = 100  # Newton's at most: far more than any level and degrees need (tests), so that no rounding makes it endless


def student(level: float, free: int) -> float:
    """The value that bounds ``level`` of Student's t with ``free`` degrees of freedom on both sides.

    In the angle whose tangent is t / √free, the share within ±t is a finite sum for whole degrees of freedom
    (Abramowitz and Stegun 26.7.3 and 26.7.4).  It grows ever slower with the angle, so that Newton's steps from the
    normal quantile, which is smaller, approach from below and never pass.
    """
    if free < 1 or not 0 < level < 1:
        raise ValueError("a level between 0 and 1 and at least one degree of freedom")
    peak = 2 * math.exp(math.lgamma((free + 1) / 2) - math.lgamma(free / 2)) / math.sqrt(math.pi)
    angle = math.atan(NormalDist().inv_cdf((1 + level) / 2) / math.sqrt(free))
    for _ in range(_STEPS):
        step = (level - _share_within(angle, free)) / (peak * math.cos(angle) ** (free - 1))
        angle += step
        if step < 1e-15 * angle:
            break
    return math.tan(angle) * math.sqrt(free)


def _share_within(angle: float, free: int) -> float:
    """The share of Student's t between ±√free times the angle's tangent."""
    odd = free % 2
    # A term is the one before it times cos² and 1/2, 3/4, 5/6 … for even degrees, 2/3, 4/5, 6/7 … for odd ones.
    below = np.arange(1, (free - odd) // 2, dtype=np.float64) * 2 + odd
    factors = math.cos(angle) ** 2 * (below - 1) / below
    total = 1 + float(np.cumprod(factors).sum())
    if not odd:
        return math.sin(angle) * total
    series = math.sin(angle) * math.cos(angle) * total if free > 1 else 0.0
    return 2 / math.pi * (angle + series)
