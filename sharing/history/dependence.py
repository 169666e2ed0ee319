"""How much of what a revision measures is its neighbour's: noise that lasts looks like steps.

Owns the estimate of that dependence, and what steps look like in what is new in each revision.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sharing.history import numbers
from sharing.history.fitted import first_share, new_in, noise

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def lasting(level: Floats) -> float:
    """The correlation of neighbours, 0 where they are independent: that of what the steps leave over that fit best.

    Fitting takes some of the correlation with it, which is given back.
    """
    n = len(level)
    if n < numbers.LONG_SERIES:
        return 0.0
    left = noise(level)
    if left.correlation <= 1 / math.sqrt(n):
        return 0.0
    taken = left.parameters / n
    kept = 1 - numbers.FITTED_AWAY * taken
    return min((left.correlation + taken) / kept, numbers.MOST_CORRELATION) if kept > 0 else numbers.MOST_CORRELATION


def innovations(rows: Floats, correlation: float) -> Floats:
    """What is new in each row, beyond what it keeps of the one before it, around the mean that leaves least of it, in
    units of its own deviation.

    Rows of an autoregressive process are made of these, which do not depend on each other: they can be permuted.
    """
    if not correlation:
        return rows
    n, rest = len(rows), 1 - correlation
    constant = np.full((n, 1), rest)
    constant[0] = first_share(correlation)
    new = new_in(rows, correlation)
    new = new - constant * (constant * new).sum(axis=0) / (constant**2).sum()
    out: Floats = new / np.maximum(np.sqrt((new**2).mean(axis=0)), 1e-12)
    return out


def rebuilt(new: Floats, correlation: float) -> Floats:
    """The rows that are made of these innovations; rows are the second to last axis."""
    if not correlation:
        return new
    rows = np.empty_like(new)
    rows[..., 0, :] = new[..., 0, :] / first_share(correlation)
    for at in range(1, new.shape[-2]):
        rows[..., at, :] = correlation * rows[..., at - 1, :] + new[..., at, :]
    return rows


def steps_in(new: Floats, places: Ids, correlation: float) -> Floats:
    """How much of a step at each of some places is in innovations, beyond a mean; rows are the second to last axis.

    The first row behind a step has all of it, the others what they do not keep of the row before them.
    """
    n, rest = new.shape[-2], 1 - correlation
    tails = np.cumsum(new[..., ::-1, :], axis=-2)[..., ::-1, :]
    tails = np.concatenate([tails, np.zeros_like(tails[..., :1, :])], axis=-2)
    mean = first_share(correlation) * new[..., :1, :] + rest * tails[..., 1:2, :]
    share = _with_mean(n, places, correlation) / _mean_with_mean(n, correlation)
    out: Floats = tails[..., places, :] - correlation * tails[..., places + 1, :] - share[:, None] * mean
    return out


def steps_overlap(n: int, places: Ids, correlation: float) -> Floats:
    """How much steps at two places have in common, beyond a mean: the squares of each on the diagonal."""
    rest = 1 - correlation
    later = np.maximum(places[:, None], places[None, :])
    same = np.eye(len(places), dtype=bool)
    mean = _with_mean(n, places, correlation)
    shared = mean[:, None] * mean[None, :] / _mean_with_mean(n, correlation)
    out: Floats = np.where(same, 1.0, rest) + (n - later - 1) * rest**2 - shared
    return out


def _with_mean(n: int, places: Ids, correlation: float) -> Floats:
    rest = 1 - correlation
    out: Floats = np.asarray(rest + (n - places - 1) * rest**2, np.float64)
    return out


def _mean_with_mean(n: int, correlation: float) -> float:
    return 1 - correlation**2 + (n - 1) * (1 - correlation) ** 2


class Stretches:
    """Stretches of ``least`` rows or more between some places, the ends of the series among them."""

    def __init__(self, n: int, places: Ids, least: int, correlation: float) -> None:
        self.ends = np.array([0, *places.tolist(), n])
        squares = np.zeros((len(self.ends), len(self.ends)))
        squares[1:-1, 1:-1] = steps_overlap(n, places, correlation)
        square = np.diag(squares)[:, None] + np.diag(squares)[None, :] - 2 * squares
        allowed = (square > 1e-9) & (self.ends[None, :] - self.ends[:, None] >= least)
        self._scale = np.where(allowed, 1 / np.sqrt(np.maximum(square, 1e-9)), 0.0)

    def contrasts(self, steps: Floats) -> Floats:
        """The largest contrast to all else of a stretch, in each row of steps at the places.

        A level that comes back hides from a split in two (circular binary segmentation: Olshen and others 2004).
        """
        steps = _between_ends(steps)
        best = np.zeros(len(steps))
        for gap in _gaps(len(self.ends)):
            contrast = np.abs(steps[:, gap:] - steps[:, :-gap])
            contrast *= np.diag(self._scale, gap)
            np.maximum(best, contrast.max(axis=1), out=best)
        return best

    def clearest(self, steps: Floats) -> tuple[int, int]:
        """Where that stretch is in one row of steps; all of it, where there is none."""
        steps = _between_ends(steps[None])[0]
        best, ends = 0.0, (int(self.ends[0]), int(self.ends[-1]))
        for gap in _gaps(len(self.ends)):
            contrast = np.abs(steps[gap:] - steps[:-gap]) * np.diag(self._scale, gap)
            at = int(contrast.argmax())
            if contrast[at] > best:
                best, ends = float(contrast[at]), (int(self.ends[at]), int(self.ends[at + gap]))
        return ends


def _between_ends(steps: Floats) -> Floats:
    """With the ends of the series, where a step is none."""
    return np.pad(steps, ((0, 0), (1, 1)))


def _gaps(count: int) -> list[int]:
    """Lengths of stretches in places: all, or of long series a few dozen."""
    if count <= numbers.ALL_STRETCHES:
        return list(range(1, count))
    return sorted(set(np.geomspace(1, count - 1, numbers.ALL_STRETCHES // 2).astype(int).tolist()))
