"""How much of what a revision measures is its neighbour's: noise that lasts looks like steps.

Owns the estimate of that dependence, and by how much it makes a split less clear.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sharing.history import numbers

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def clearness(level: Floats) -> float:
    """What is left of a split's clearness, as a factor: 1 where neighbours are independent.

    Sums of n values with correlation r from one to the next (an autoregressive process) vary as those of
    n (1 - r) / (1 + r) independent ones.  The correlation is that of what the clearest stretch leaves over; leaving it
    out takes some of the correlation with it, which is given back.
    """
    n = len(level)
    if n < numbers.LONG_SERIES:
        return 1.0
    rest = _left_over(level)
    spread = numbers.SIGMA * float(np.median(np.abs(rest)))
    if spread <= 1e-12:
        return 1.0
    rest = np.clip(rest / spread, -numbers.CLIP, numbers.CLIP)
    rest -= rest.mean()
    found = float((rest[1:] * rest[:-1]).sum() / (rest**2).sum())
    if found <= 1 / math.sqrt(n):
        return 1.0
    correlation = min(found + numbers.FITTED_AWAY / n, numbers.MOST_CORRELATION)
    return math.sqrt((1 - correlation) / (1 + correlation))


def less_clear(contrasts: Floats, square: float, factor: float) -> Floats:
    """Contrasts of rows with a sum of squares, made less clear.

    What a split explains is set against what it leaves over, as in Student's t: a contrast cannot exceed the whole.
    """
    left = np.maximum(square - contrasts**2, 1e-12 * square)
    odds = factor * contrasts * np.sqrt(square / left)
    out: Floats = odds / np.sqrt(1 + odds**2 / square)
    return out


def _left_over(level: Floats) -> Floats:
    """The level without its clearest stretch, or without the line through it, whichever leaves less."""
    n = len(level)
    at = np.arange(n)
    sums = np.concatenate([[0.0], np.cumsum(level - level.mean())])
    edges = sorted({0, *clearest_stretch(sums, np.arange(n + 1), numbers.MIN_REVISIONS), n})
    stretch = np.concatenate([level[a:b] - np.median(level[a:b]) for a, b in pairwise(edges)])
    line: Floats = level - np.polyval(np.polyfit(at, level, 1), at)
    return min(stretch, line, key=lambda rest: float(np.abs(rest).sum()))


def stretch_contrasts(sums: Floats, places: Ids, least: int) -> Floats:
    """Of rows of partial sums at some places: the largest contrast to all else of a stretch of ``least`` rows or more.

    A level that comes back hides from a split in two (circular binary segmentation: Olshen and others 2004).
    """
    best = np.zeros(len(sums))
    for gap, scale in _stretches(places, least):
        contrast = np.abs(sums[:, gap:] - sums[:, :-gap])
        contrast *= scale
        np.maximum(best, contrast.max(axis=1), out=best)
    return best


def clearest_stretch(sums: Floats, places: Ids, least: int) -> tuple[int, int]:
    """Where that stretch is in one row of partial sums; all of it, where there is none."""
    best, ends = 0.0, (int(places[0]), int(places[-1]))
    for gap, scale in _stretches(places, least):
        contrast = np.abs(sums[gap:] - sums[:-gap]) * scale
        at = int(contrast.argmax())
        if contrast[at] > best:
            best, ends = float(contrast[at]), (int(places[at]), int(places[at + gap]))
    return ends


def _stretches(places: Ids, least: int) -> Iterator[tuple[int, Floats]]:
    """Lengths of stretches in places, and what makes the sum of each a contrast."""
    total = float(places[-1] - places[0])
    for gap in _gaps(len(places)):
        length = (places[gap:] - places[:-gap]).astype(np.float64)
        square = length * (total - length) / total
        yield gap, np.where((square > 0) & (length >= least), 1 / np.sqrt(np.maximum(square, 1e-12)), 0.0)


def _gaps(count: int) -> list[int]:
    """Lengths of stretches in places: all, or of long series a few dozen."""
    if count <= numbers.ALL_STRETCHES:
        return list(range(1, count))
    return sorted(set(np.geomspace(1, count - 1, numbers.ALL_STRETCHES // 2).astype(int).tolist()))
