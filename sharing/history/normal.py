"""A step in a series too short for its order to show one: the size of the step against the spread around it.

Owns the test of six or seven results without repetitions.  Their orders are too few for a chance below 5 %, so that
the shape of the noise has to be assumed: normal, of one spread.  Simulated noise with heavy or skewed tails keeps the
level; a machine that jumps between two states does not, at up to one false alarm in ten, and no test of so few
results can tell its states from steps.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sharing.history import numbers
from sharing.history.steps import Split

Floats = npt.NDArray[np.float64]

DRAWN = 40_000
_SEED = 20080328


def normal_step(level: Floats) -> Split | None:
    """The clearest step of a series, with the chance of one as clear anywhere in normal noise.

    The largest of Student's t over all positions, at least two results a side (Worsley 1979); its distribution has no
    closed form and is drawn.  None for series that are too short or without spread.
    """
    if len(level) < numbers.FEWEST_RESULTS or not np.isfinite(level).all() or float(np.ptp(level)) <= 1e-12:
        return None
    found = _t(level[None, :])[0]
    at = int(found.argmax())
    chance = float((1 + (_null(len(level)) >= found[at] - 1e-12).sum()) / (DRAWN + 1))
    return Split(at + numbers.MIN_REVISIONS, chance)


def _t(rows: Floats) -> Floats:
    """Absolute t of a step, by row and position; positions from MIN_REVISIONS on."""
    n = rows.shape[1]
    out = np.zeros((len(rows), n - 2 * numbers.MIN_REVISIONS + 1))
    for k in range(numbers.MIN_REVISIONS, n - numbers.MIN_REVISIONS + 1):
        before, after = rows[:, :k], rows[:, k:]
        left = before.var(axis=1) * k + after.var(axis=1) * (n - k)
        scale = np.sqrt(np.maximum(left, 1e-24) / (n - 2) * (1 / k + 1 / (n - k)))
        out[:, k - numbers.MIN_REVISIONS] = np.abs(after.mean(axis=1) - before.mean(axis=1)) / scale
    return out


@lru_cache(maxsize=16)
def _null(n: int) -> Floats:
    """The largest t of rows of normal noise."""
    drawn: Floats = _t(np.random.default_rng(_SEED).normal(size=(DRAWN, n))).max(axis=1)
    return drawn
