"""By how much the samples of runs vary more than independent samples would.

Owns the factor by which profiles are thinned before they are compared.  The comparison is ``statistics``'.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.statistics import Floats
from sharing.explain.student import student

BLOCKS = 16  # stretches of a run whose counts are compared with each other, or runs
ONE_EACH = "one recording of each; runs of one build differ too"

Counts = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Spread:
    """Counts of one build in BLOCKS columns, a row each: of ``runs`` recordings, or of the stretches of one."""

    counts: Counts
    totals: Counts
    runs: int


def inflation(old: Spread, new: Spread) -> Floats:
    """For each row the variance of its counts over that of independent samples, at least 1.

    Several recordings of a build tell it by what they differ (Pearson's statistic over its degrees of freedom,
    McCullagh and Nelder), the fewer the more cautiously, as Student's t is.  With one recording of each it is what its
    stretches tell, and no less than the floor.
    """
    repeated = [side for side in (old, new) if side.runs > 1]
    if not repeated:
        most = np.maximum(*(_pearson(side)[0] / max(_pearson(side)[1], 1) for side in (old, new)))
        result: Floats = np.maximum(most, numbers.DISPERSION_FLOOR)
        return result
    found = [_pearson(side) for side in repeated]
    free = numbers.FLOOR_WEIGHT + sum(degrees for _, degrees in found)
    told = (numbers.FLOOR_WEIGHT * numbers.DISPERSION_FLOOR + sum(statistic for statistic, _ in found)) / free
    caution = (student(numbers.LEVEL, free) / NormalDist().inv_cdf((1 + numbers.LEVEL) / 2)) ** 2
    out: Floats = np.maximum(told, 1.0) * caution
    return out


def _pearson(side: Spread) -> tuple[Floats, int]:
    """(Pearson's statistic of each row over the columns, its degrees of freedom)."""
    used = side.totals > 0
    degrees = max(int(used.sum()) - 1, 0)
    if not degrees or not len(side.counts):
        return np.zeros(len(side.counts)), degrees
    share = side.counts.sum(axis=1, keepdims=True) / side.totals.sum()
    expected = share * side.totals[used]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (side.counts[:, used] - expected) ** 2 / (expected * (1 - share))
    return np.nan_to_num(terms, nan=0.0, posinf=0.0).sum(axis=1), degrees


def stretches(times: Counts) -> Counts:
    """The stretch of the run that each sample is in: as many samples in each.  All in the first without times."""
    out = np.zeros(len(times), np.int64)
    if len(times) and times.max() > times.min():
        out[np.argsort(times, kind="stable")] = np.arange(len(times)) * BLOCKS // len(times)
    return out
