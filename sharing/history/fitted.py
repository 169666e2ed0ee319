"""A level as steps, or as a line, with noise that lasts from one revision to the next: what of the two fits best.

Owns the joint fit, and the gain of several steps at once.  Noise that lasts looks like steps, and steps look like noise
that lasts: neither can be told without the other, so the number of steps, their places and the correlation are fitted
together (Chakar and others 2017), at the price that Zhang and Siegmund (2007) found for a step.  Whether there is a
step is ``steps``'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.history import numbers

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

CORRELATIONS = np.arange(0, 0.96, 0.05)
CHUNK = 1000  # orders at a time, whose sums stay in the cache of a processor
LEAST = 1e-9  # share of the squares: what is left over of an exact fit


@dataclass(frozen=True, slots=True)
class Noise:
    """``correlation`` is that of neighbours in what is left over by fits, of which ``parameters`` were fitted away."""

    correlation: float
    parameters: float


def first_share(correlation: float) -> float:
    """The share of the first row that is new: nothing is known of the one before it."""
    return math.sqrt(1 - correlation**2)


def new_in(rows: Floats, correlation: float) -> Floats:
    """What each row has that it does not keep of the one before it."""
    return np.concatenate([first_share(correlation) * rows[:1], rows[1:] - correlation * rows[:-1]])


def noise(level: Floats) -> Noise:
    """What the steps, or the line, leave over that describe the level best: the mean over all, each by its odds.

    A level that comes back and noise that lasts may be equally good, and a few results more decide between them.
    """
    n = len(level)
    values = _scaled(level)
    edges = _edges(values)
    told = []
    for correlation in CORRELATIONS.tolist():
        sums, cuts = _cheapest(_costs(values, edges, correlation))
        for squares, places in zip(sums, cuts, strict=True):
            cost = _cost(n, squares, correlation, len(places) + 1) + _price(n, edges[places].tolist())
            told.append((cost, correlation, len(places) + 1))
        cost = _cost(n, _line_squares(values, correlation), correlation, 1) + math.log(n)
        told.append((cost, correlation, 2))
    costs, *figures = np.array(told).T
    odds = np.exp((costs.min() - costs) / 2)
    correlation, parameters = (float(odds @ figure / odds.sum()) for figure in figures)
    return Noise(correlation, parameters)


def is_line(part: Floats, cuts: Sequence[int], correlation: float) -> bool:
    """Whether lines describe the cells of some rows better than steps at ``cuts``, by Schwarz' criterion.

    Steps cost their places, which all cells have in common, and their sizes, a line its slope alone.
    """
    price = len(cuts) * math.log(len(part))
    gain = 0.0
    for cell in part.T:
        known = np.isfinite(cell)
        edges = np.array([known[:at].sum() for at in (0, *cuts, len(part))])
        n = int(edges[-1])
        if (np.diff(edges) < numbers.MIN_REVISIONS).any() or float(np.ptp(cell[known])) <= 1e-12:
            continue
        values = _scaled(cell[known])
        steps = float(np.trace(_costs(values, edges, correlation), offset=1))
        gain += _cost(n, _line_squares(values, correlation), correlation, 1)
        gain -= _cost(n, steps, correlation, len(cuts) + 1)
        price += (len(cuts) - 1) * math.log(n)
    return gain < price


def _price(n: int, cuts: Sequence[int]) -> float:
    """What steps must gain: several of short stretches fit noise less easily than those that part a series evenly."""
    lengths = np.diff([0, *cuts, n]) / n
    return numbers.STEP_PRICE * len(cuts) * math.log(n) + float(np.log(lengths).sum())


def _scaled(level: Floats) -> Floats:
    values = _tamed(level)
    out: Floats = (values - values.mean()) / max(float(values.std()), 1e-12)
    return out


def several(rows: Floats, places: Ids, least: int) -> Floats:
    """For each order of rows around 0: what two or more steps at ``places`` gain over none, less what they cost.

    ``places`` begin with 0 and end behind the last row.
    """
    parts = [_explained(rows[at : at + CHUNK], places, least) for at in range(0, len(rows), CHUNK)]
    whole = (rows**2).sum(axis=1)
    out: Floats = _gains(np.concatenate(parts, axis=1), whole, int(places[-1]))[2:].max(axis=0, initial=-np.inf)
    return out


def several_places(row: Floats, places: Ids, least: int) -> tuple[int, ...]:
    """Where these steps are in one order."""
    sums = np.concatenate([[0.0], np.cumsum(row)])[places]
    length = places[None, :] - places[:, None]
    explained = (sums[None, :] - sums[:, None]) ** 2 / np.maximum(length, 1)
    made, cuts = _cheapest(np.where(length >= least, -explained, np.inf))
    gains = _gains(-np.array(made)[:, None], np.array([(row**2).sum()]), int(places[-1]))[2:, 0]
    return tuple(places[cuts[int(gains.argmax()) + 2]].tolist()) if len(gains) else ()


def _explained(rows: Floats, places: Ids, least: int) -> Floats:
    """By number of steps and order of rows: the squares that their levels explain at most."""
    sums = np.concatenate([np.zeros((1, len(rows))), np.cumsum(rows.T, axis=0)])[places]
    reached = np.full((min(numbers.MOST_STEPS, len(places) - 2) + 1, *sums.shape), -np.inf)
    for end in range(1, len(places)):
        length = places[end] - places[:end]
        starts = int((length >= least).sum())
        if not starts:
            continue
        own = (sums[end] - sums[:starts]) ** 2 / length[:starts, None]
        reached[0, end] = own[0]
        for count in range(1, len(reached)):
            reached[count, end] = (reached[count - 1, :starts] + own).max(axis=0)
    out: Floats = reached[:, -1]
    return out


def _gains(explained: Floats, whole: Floats, n: int) -> Floats:
    """Twice the likelihood that steps gain, less their price, by number of steps and order of rows."""
    left = np.maximum(whole - explained, LEAST * np.maximum(whole, 1e-300))
    price = numbers.STEP_PRICE * math.log(n) * np.arange(len(explained))[:, None]
    gains: Floats = n * np.log(np.maximum(whole, 1e-300) / left) - price
    return np.where(np.isfinite(explained), gains, -np.inf)


def _cheapest(costs: Floats) -> tuple[list[float], list[list[int]]]:
    """Stretches from edge to edge that cover all at the least cost, by the number of cuts between them, and the cuts.

    ``costs`` are by first edge and last edge.
    """
    last = len(costs) - 1
    reached, sums = costs[0], [float(costs[0, last])]
    cuts: list[list[int]] = [[]]
    origins: list[Ids] = []
    for count in range(1, min(numbers.MOST_STEPS, last - 1) + 1):
        ways = reached[:, None] + costs
        origins.append(ways.argmin(axis=0))
        reached = ways.min(axis=0)
        sums.append(float(reached[last]))
        found = [last]
        for origin in reversed(origins[:count]):
            found.append(int(origin[found[-1]]))
        cuts.append(found[:0:-1])
    return sums, cuts


def _cost(n: int, squares: float, correlation: float, stretches: int) -> float:
    """Twice the negative logarithm of the likelihood, but for what all fits have in common."""
    if not math.isfinite(squares):
        return math.inf
    return n * math.log(max(squares / n, LEAST)) - stretches * math.log(1 - correlation**2)


def _costs(values: Floats, edges: Ids, correlation: float) -> Floats:
    """By first and last edge: squares of what is new in each revision, around the mean that fits the stretch best.

    Noise of a stretch starts anew, as its first value is far from the noise that the one before it leaves.
    """
    new = np.concatenate([[0.0], values[1:] - correlation * values[:-1]])
    total, square = (np.concatenate([[0.0], np.cumsum(column)]) for column in (new, new**2))
    first, last = edges[:-1, None], edges[None, :]
    rest, rest_square = (sums[last] - sums[first + 1] for sums in (total, square))
    own, others = 1 - correlation**2, 1 - correlation
    length = np.maximum(last - first, 1)
    projected = own * values[first] + others * rest
    weight = own + (length - 1) * others**2
    costs = np.maximum(own * values[first] ** 2 + rest_square - projected**2 / weight, 0.0)
    costs = np.where(last - first >= numbers.MIN_REVISIONS, costs, np.inf)
    return np.concatenate([costs, np.full((1, len(edges)), np.inf)])


def _line_squares(values: Floats, correlation: float) -> float:
    """Squares of what is new in each revision around a line."""
    columns = np.stack([values, np.ones(len(values)), np.linspace(-1, 1, len(values))], axis=1)
    new = new_in(columns, correlation)
    known, wanted = new[:, 1:], new[:, 0]
    left = wanted - known @ np.linalg.lstsq(known, wanted, rcond=None)[0]
    return float((left**2).sum())


def _tamed(level: Floats) -> Floats:
    """The level with values clipped that are far from the median of those around: a step is not, a wild value is."""
    padded = np.pad(level, numbers.AROUND, mode="reflect")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * numbers.AROUND + 1), axis=1)
    off = level - middle
    spread = numbers.SIGMA * float(np.median(np.abs(level - middle)))
    if spread <= 1e-12:
        return level
    bound = 2 * numbers.CLIP * spread
    out: Floats = middle + np.clip(off, -bound, bound)
    return out


def _edges(values: Floats) -> Ids:
    """Where steps may be: everywhere, or in long series at even distances and where neighbours differ most."""
    n = len(values)
    if n <= numbers.ALL_STRETCHES:
        return np.arange(n + 1)
    half = numbers.ALL_STRETCHES // 2
    window = max(numbers.MIN_REVISIONS, n // numbers.ALL_STRETCHES)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(window, n - window + 1)
    contrast = np.abs(sums[at + window] - 2 * sums[at] + sums[at - window])
    clearest = at[np.argsort(-np.round(contrast, 9), kind="stable")[:half]]
    return np.union1d(np.linspace(0, n, half).astype(np.int64), clearest)
