"""Where in a stretch of revisions a step is: the place that fits best, and all that fit nearly as well.

Owns the cost of a place.  Whether there is a step at all is ``steps``'.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers as explain_numbers
from sharing.history import numbers

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def place(part: Floats, weight: Floats, allowed: Ids) -> int:
    """The split of rows that leaves the smallest squares of deviations from the means of both sides.

    ``weight`` says how much each cell counts: those that do not step would only blur the place.  How far off a value is
    is told by the spread on both sides of a first place, that of the smallest deviations from medians.
    """
    first = _best(part, allowed, _deviations(part, allowed, weight))
    return _best(part, allowed, _squares(part, first, allowed, weight))


def possible_places(level: Floats, at: int, allowed: Ids, clearness: float) -> tuple[int, ...]:
    """Those of the ``allowed`` splits of a level that its values do not exclude, where ``at`` fits best.

    Those that cost little more than the best (Siegmund 1988): were the noise normal, the larger of two independent
    exponential variables bounds how much more the true place costs.  Dependence between neighbours widens that.
    """
    costs = _squares(level[:, None], at, allowed, np.ones(1))
    bound = -math.log(1 - math.sqrt(explain_numbers.LEVEL)) / clearness**2
    return tuple(sorted({at, *allowed[costs <= costs.min() + bound].tolist()}))


def _deviations(part: Floats, allowed: Ids, weight: Floats) -> Floats:
    """For each split the sum of deviations from the medians of both sides, in spreads of the cells."""
    scale = weight / _spread(part)
    return np.array(
        [
            sum(float(np.nansum(np.abs(_off(side)) * scale)) for side in (part[:at], part[at:]))
            for at in allowed.tolist()
        ]
    )


def _squares(part: Floats, at: int, allowed: Ids, weight: Floats) -> Floats:
    """For each split half the squares of deviations from the means of both sides, in units of the spread around ``at``.

    Values that are wild there are clipped, so that none weighs more than any that is far off.
    """
    off = np.concatenate([_off(part[:at]), _off(part[at:])])
    spread = np.maximum(numbers.SIGMA * _spread(off), _spread(part) / (100 * numbers.SIGMA))
    level = part - off - np.nanmedian(part, axis=0)
    known = np.isfinite(part)
    values = np.where(known, level / spread + np.clip(off / spread, -numbers.CLIP, numbers.CLIP), 0.0)
    count, total, squares = (np.cumsum(column, axis=0) for column in (known, values, values**2))
    before = allowed - 1
    left = squares[before] - total[before] ** 2 / np.maximum(count[before], 1)
    right = squares[-1] - squares[before] - (total[-1] - total[before]) ** 2 / np.maximum(count[-1] - count[before], 1)
    costs: Floats = ((left + right) / 2 * weight).sum(axis=1)
    return costs


def _best(part: Floats, allowed: Ids, costs: Floats) -> int:
    """The cheapest place; of equals the one nearest to the middle."""
    n = len(part)
    rounded = np.round(costs, 9).tolist()
    _, _, at = min(zip(rounded, np.abs(2 * allowed - n).tolist(), allowed.tolist(), strict=True))
    return int(at)


def _off(side: Floats) -> Floats:
    """Deviations from the median of each cell, NaN where not measured."""
    known = np.isfinite(side).any(axis=0)
    out = np.full_like(side, np.nan)
    out[:, known] = side[:, known] - np.nanmedian(side[:, known], axis=0)
    return out


def _spread(part: Floats) -> Floats:
    """Median deviations of the cells."""
    out: Floats = np.maximum(np.nanmedian(np.abs(part - np.nanmedian(part, axis=0)), axis=0), 1e-9)
    return out
