"""Where in a stretch of revisions a step is: the place that fits best, and all that fit nearly as well.

Owns the cost of a place.  Whether there is a step at all is ``steps``'.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers as explain_numbers
from sharing.history import numbers
from sharing.history.fitted import first_share, new_in

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def place(part: Floats, weight: Floats, allowed: Ids, correlation: float = 0.0) -> int:
    """The split of rows that leaves the smallest squares of deviations from the means of both sides.

    ``weight`` says how much each cell counts: those that do not step would only blur the place.  How far off a value is
    is told by the spread on both sides of a first place, that of the smallest deviations from medians.  Of rows that
    depend on their neighbours the squares are of what is new in each.
    """
    first = _best(part, allowed, _deviations(part, allowed, weight))
    return _best(part, allowed, _squares(part, first, allowed, weight, correlation))


def possible_places(level: Floats, at: int, allowed: Ids, correlation: float) -> tuple[int, ...]:
    """Those of the ``allowed`` splits of a level that its values do not exclude, where ``at`` fits best.

    Those that cost little more than the best (Siegmund 1988): were the noise normal, the larger of two independent
    exponential variables bounds how much more the true place costs.
    """
    costs = _squares(level[:, None], at, allowed, np.ones(1), correlation)
    bound = -math.log(1 - math.sqrt(explain_numbers.LEVEL))
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


def _squares(part: Floats, at: int, allowed: Ids, weight: Floats, correlation: float) -> Floats:
    """For each split half the squares of deviations from the means of both sides, in units of the spread around ``at``.

    Values that are wild there are clipped, so that none weighs more than any that is far off.
    """
    off = np.concatenate([_off(part[:at]), _off(part[at:])])
    spread = np.maximum(numbers.SIGMA * _spread(off), _spread(part) / (100 * numbers.SIGMA))
    level = part - off - np.nanmedian(part, axis=0)
    known = np.isfinite(part)
    values = np.where(known, level / spread + np.clip(off / spread, -numbers.CLIP, numbers.CLIP), 0.0)
    if correlation:
        whole = np.concatenate([_whole(values[side], known[side]) for side in (slice(at), slice(at, None))])
        return _summed(_new(whole, allowed, correlation), weight)
    count, total, squares = (np.cumsum(column, axis=0) for column in (known, values, values**2))
    before = allowed - 1
    left = squares[before] - total[before] ** 2 / np.maximum(count[before], 1)
    right = squares[-1] - squares[before] - (total[-1] - total[before]) ** 2 / np.maximum(count[-1] - count[before], 1)
    return _summed(left + right, weight)


def _summed(squares: Floats, weight: Floats) -> Floats:
    """Over the cells."""
    out: Floats = (squares / 2 * weight).sum(axis=1)
    return out


def _whole(side: Floats, known: npt.NDArray[np.bool_]) -> Floats:
    """One side of a step with the means of its cells where they are missing."""
    mean = np.where(known, side, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, side, mean)


def _new(values: Floats, allowed: Ids, correlation: float) -> Floats:
    """For each split and cell the squares of what is new in each row, around the two means that leave least of them.

    By normal equations of two columns: one that all rows have, and one of those behind the split, of which the first
    has the whole step and the others what it does not share with the row before it.
    """
    n, rest, first = len(values), 1 - correlation, first_share(correlation)
    new = new_in(values, correlation)
    behind = n - allowed - 1
    tails = np.concatenate([np.cumsum(new[::-1], axis=0)[::-1], np.zeros((1, values.shape[1]))])
    all_all = first**2 + (n - 1) * rest**2
    all_behind, behind_behind = rest + behind * rest**2, 1 + behind * rest**2
    told, told_behind = first * new[0] + rest * tails[1], new[allowed] + rest * tails[allowed + 1]
    # What the second column explains beyond the first.
    beyond = told_behind - all_behind[:, None] / all_all * told
    explained = told**2 / all_all + beyond**2 / (behind_behind - all_behind**2 / all_all)[:, None]
    costs: Floats = ((new**2).sum(axis=0) - explained) / first**2
    return costs


def _best(part: Floats, allowed: Ids, costs: Floats) -> int:
    """The cheapest place; of equals the one nearest to the middle."""
    n = len(part)
    rounded = np.round(costs, 9).tolist()
    _, _, at = min(zip(rounded, np.abs(2 * allowed - n).tolist(), allowed.tolist(), strict=True))
    return int(at)


def _off(side: Floats) -> Floats:
    """Deviations from the median of each cell, NaN where not measured."""
    if np.isfinite(side).all():
        return side - np.median(side, axis=0)
    known = np.isfinite(side).any(axis=0)
    out = np.full_like(side, np.nan)
    out[:, known] = side[:, known] - np.nanmedian(side[:, known], axis=0)
    return out


def _spread(part: Floats) -> Floats:
    """Median deviations of the cells."""
    out: Floats = np.maximum(np.nanmedian(np.abs(part - np.nanmedian(part, axis=0)), axis=0), 1e-9)
    return out
