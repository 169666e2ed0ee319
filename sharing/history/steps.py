"""Where the level of a series changes for good, over all its conditions together.

Owns the test and its error rate.  A step is a change that at least two revisions on each side bear out: a single
revision that stands apart is an outlier, a level that slides is a slope, and neither is a step.

The statistic is the CUSUM of logarithms, each condition scaled by its median deviation and clipped (Huber), so that
one wild value weighs as much as any other that is far off.  Two views of it are tested together: all conditions in
common, and the single clearest one; and for a level that comes back, the clearest stretch.  The chance is that of whole
permuted revisions (Westfall and Young's min-p over all views and positions), so conditions of one revision may depend
on each other in any way.  Revisions that depend on their neighbours make every split less clear (``dependence``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers as explain_numbers
from sharing.history import numbers
from sharing.history.dependence import clearest_stretch, clearness, less_clear, stretch_contrasts
from sharing.history.place import place

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

RESAMPLES = 4000
FEWEST_RESAMPLES = 400
MOST_WORK = 20_000_000  # values that the resamples of one test hold, in all
CHUNK = 4_000_000
EXACT_ROWS = 7  # 5040 orders are enumerated
PLACES = 60  # positions that are compared for the place of one step
SETTLING = 10  # rounds in which steps are placed between their neighbours; two mostly do
EQUAL = 1e-9  # sums of an order and of its mirror image differ by less, as scores have twelve digits
_SEED = 20081114


@dataclass(frozen=True, slots=True)
class Split:
    """The clearest position of a stretch of rows: ``at`` is the first row behind it.

    ``chance`` is that of a split as clear anywhere in the stretch, in any condition, if the order meant nothing.
    ``cell`` is the one that speaks alone, -1 where all do in common.
    """

    at: int
    chance: float
    cell: int = -1


@dataclass(frozen=True, slots=True)
class Segmentation:
    """``splits`` in order; ``slopes`` are stretches [start, end) that a line fits better than any steps.

    ``best`` is the clearest split of the whole, significant or not; None where the series is too short or flat.
    """

    splits: tuple[Split, ...]
    slopes: tuple[tuple[int, int], ...]
    best: Split | None


def segment(
    logs: Floats,
    alpha: float = explain_numbers.ALPHA,
    groups: Sequence[int] | None = None,
    *,
    repetitions: bool = False,
) -> Segmentation:
    """Steps in rows of logarithms (NaN where not measured), with at most ``alpha`` chance of any false one.

    ``groups`` says how many neighbouring rows have one build: steps are only between groups.  With ``repetitions`` rows
    are runs instead of revisions: one a side is enough, and the null hypothesis is that all rows are of one source.  A
    stretch that was split is searched further at half the level on either side, so that the level holds over all.
    """
    edges = np.cumsum([0, *groups]) if groups is not None else np.arange(len(logs) + 1)
    least, factor = (1, 1.0) if repetitions else (numbers.MIN_REVISIONS, clearness(common_level(logs)))
    search = _Search(logs, edges, least, factor)
    best = search.clearest(0, len(logs))
    found = search.settled(search.all_below(0, len(logs), alpha))
    splits, slopes = (found, []) if repetitions else _without_slopes(logs, found)
    return Segmentation(tuple(splits), tuple(slopes), best)


def possible_splits(edges: Ids, start: int, end: int, least: int) -> Ids:
    """The edges between two rows that leave enough rows on each side."""
    return edges[(edges >= start + least) & (edges <= end - least)]


def smallest_chance(edges: Ids) -> float:
    """The smallest chance that a series can have whose steps are at ``edges``: that of a clean step nearest to the
    middle, and of its mirror image.
    """
    rows = int(edges[-1])
    places = possible_splits(edges, 0, rows, numbers.MIN_REVISIONS)
    if not len(places):
        return 1.0
    middle = int(places[np.abs(2 * places - rows).argmin()])
    return min(1.0, 2 / math.comb(rows, middle))


@dataclass(frozen=True, slots=True)
class _Found:
    """A split with the level that it was accepted at."""

    split: Split
    level: float


@dataclass(frozen=True, slots=True)
class _Search:
    """``edges`` are where steps may be, ``least`` the number of rows on each side of one.

    ``clearness`` is what dependence between neighbours leaves of it.
    """

    logs: Floats
    edges: Ids
    least: int
    clearness: float
    known: dict[tuple[int, int], Split | None] = field(default_factory=dict)

    def clearest(self, start: int, end: int) -> Split | None:
        """The clearest split of rows ``start`` to ``end``, None where none is possible or all are equal."""
        if (start, end) not in self.known:
            self.known[start, end] = self._clearest(start, end)
        return self.known[start, end]

    def _clearest(self, start: int, end: int) -> Split | None:
        allowed = self._allowed(start, end)
        part = self.logs[start:end]
        scores, cells = _scores(part) if len(allowed) else (part, allowed)
        if not len(cells):
            return None
        chance, stretch = _chance(scores, allowed, self.least, self.clearness)
        allowed = np.array(stretch or allowed)
        clear = _cusum(scores, allowed)
        at = place(part[:, cells], np.maximum(clear.max(axis=0) ** 2 - numbers.BLUR, 1.0), _most(clear, allowed))
        alone = _alone(scores, at)
        return Split(start + at, chance, int(cells[alone]) if alone >= 0 else -1)

    def _allowed(self, start: int, end: int) -> Ids:
        return possible_splits(self.edges, start, end, self.least) - start

    def all_below(self, start: int, end: int, alpha: float) -> list[_Found]:
        """What is significant, in order: the clearest split, and those on either side of it at half the level."""
        split = self.clearest(start, end)
        if split is None or split.chance >= alpha:
            return []
        before = self.all_below(start, split.at, alpha / 2)
        return [*before, _Found(split, alpha), *self.all_below(split.at, end, alpha / 2)]

    def settled(self, found: list[_Found]) -> list[Split]:
        """The splits, each at its place between its neighbours; without those that these leave nothing to show.

        The first split of a stretch with several steps is placed as if there were only one: beside a step whose
        opposite follows, the place is off, and the step is found again next to it.
        """
        for _ in range(SETTLING):
            before = [f.split.at for f in found]
            # From the first split down: those of one level always have one of a higher level between them, so that
            # neither direction of time is preferred.
            for level in sorted({f.level for f in found}, reverse=True):
                edges = [0, *(f.split.at for f in found), len(self.logs)]
                settled = [
                    self._between(f, edges[i], edges[i + 2]) if f.level == level else f for i, f in enumerate(found)
                ]
                found = [f for f in settled if f is not None]
            if [f.split.at for f in found] == before:
                break
        return [f.split for f in found]

    def _between(self, found: _Found, start: int, end: int) -> _Found | None:
        """A split among the rows from its neighbour before to the one behind; None where it does not show there."""
        here = self.clearest(start, end)
        if here is None:
            return found
        middle = min(self._allowed(start, end).tolist(), key=lambda at: abs(2 * at - (end - start)))
        if here.chance >= found.level > 2 / math.comb(end - start, middle):
            return None
        # The chance stays that of the search: it is what the level holds for.
        return replace(found, split=replace(here, chance=found.split.chance))


def _scores(part: Floats) -> tuple[Floats, Ids]:
    """(clipped deviations in units of their own spread, which cells they are of); missing values are 0."""
    known = np.isfinite(part)
    cells = np.flatnonzero(known.sum(axis=0) >= 2)
    part, known = part[:, cells], known[:, cells]
    if not len(cells):
        return part, cells
    middle = np.nanmedian(part, axis=0)
    off = np.where(known, part - middle, 0.0)
    spread = numbers.SIGMA * np.nanmedian(np.abs(part - middle), axis=0)
    # Half of the values equal: the mean deviation, which is 0 only where all are equal.
    mean = np.abs(off).sum(axis=0) / known.sum(axis=0)
    spread = np.where(spread > 1e-12, spread, mean)
    moving = spread > 1e-12
    off, cells, known = off[:, moving] / spread[moving], cells[moving], known[:, moving]
    off = np.clip(off, -numbers.CLIP, numbers.CLIP)
    centred = np.where(known, off - off.sum(axis=0) / known.sum(axis=0), 0.0)
    size = np.sqrt((centred**2).mean(axis=0))
    alive = size > 1e-12
    return np.round(centred[:, alive] / size[alive], 12), cells[alive]


def _cusum(rows: Floats, allowed: Ids) -> Floats:
    """Absolute standardised partial sums along the second to last axis, at the allowed positions."""
    n = rows.shape[-2]
    sums = np.cumsum(rows, axis=-2)[..., allowed - 1, :]
    scale = np.sqrt(allowed * (n - allowed) / n)[:, None]
    out: Floats = np.abs(sums / scale)
    return out


def _views(rows: Floats, allowed: Ids, least: int) -> list[Floats]:
    """For each order of the rows: the largest CUSUM of all cells in common, that of the clearest of several, and in
    long series the contrast of the clearest stretch, again of all cells in common.
    """
    common = rows.sum(axis=-1, keepdims=True) / math.sqrt(rows.shape[-1])
    views = [_cusum(common, allowed).max(axis=(-1, -2))]
    if rows.shape[-1] > 1:
        views.append(_cusum(rows, allowed).max(axis=(-1, -2)))
    if rows.shape[-2] >= numbers.LONG_SERIES:
        views.append(stretch_contrasts(*_sums(common, allowed), least))
    return views


def _sums(common: Floats, allowed: Ids) -> tuple[Floats, Ids]:
    """Partial sums in front of the first row, at the allowed positions and behind the last row; and where these are."""
    places = np.array([0, *allowed.tolist(), common.shape[-2]])
    sums = np.cumsum(common[..., 0], axis=-1)[..., places[1:] - 1]
    return np.concatenate([np.zeros((*sums.shape[:-1], 1)), sums], axis=-1), places


def _chance(scores: Floats, allowed: Ids, least: int, factor: float) -> tuple[float, tuple[int, ...]]:
    """Chance of a split as clear in rows of any order; the ends of a stretch, where it is clearer than any split."""
    n, cells = scores.shape
    base = scores if n <= EXACT_ROWS else scores[_plain_order(scores)]
    parts = [_views(base[chunk], allowed, least) for chunk in _orders(n, cells)]
    common = scores.sum(axis=1, keepdims=True) / math.sqrt(cells)
    power = float((common**2).sum())
    squares = (power, float(n), power) if cells > 1 else (power, power)
    views = _views(scores[None], allowed, least)
    seen = [less_clear(own, square, factor) for own, square in zip(views, squares, strict=False)]
    # The order seen is one of those that are possible (Phipson and Smyth 2010); of those enumerated it is the first.
    drawn = [np.concatenate([own, *view]) for own, view in zip(seen, zip(*parts, strict=True), strict=True)]
    if n <= EXACT_ROWS:
        drawn = [values[1:] for values in drawn]
    shares = [_upper_share(values) for values in drawn]
    joint = np.minimum.reduce(shares)
    chance = float((joint <= joint[0] + 1e-12).mean())
    if n < numbers.LONG_SERIES or shares[-1][0] >= min(view[0] for view in shares[:-1]):
        return chance, ()
    stretch = clearest_stretch(*_sums(common, allowed), least)
    ends = tuple(at for at in stretch if 0 < at < n)
    return chance, ends if len(ends) == 2 else ()


def _plain_order(scores: Floats) -> Ids:
    """An order of the rows that depends on neither the direction of time nor the order of the cells.

    What is drawn starts from it, so that the chance of a series and of its mirror image are one number.
    """
    values = np.sort(scores, axis=1)
    out: Ids = np.lexsort((*scores.T[::-1], *values.T[::-1]))
    return out


def _most(clear: Floats, allowed: Ids) -> Ids:
    """The positions at which a split is clearest."""
    if len(allowed) <= PLACES:
        return allowed
    return np.sort(allowed[np.argsort(-np.round(clear.sum(axis=1), 9), kind="stable")[:PLACES]])


def _alone(scores: Floats, at: int) -> int:
    """The cell that holds most of the evidence for a split, -1 where several do."""
    evidence = _cusum(scores, np.array([at]))[0] ** 2
    return int(evidence.argmax()) if len(evidence) > 1 and evidence.max() > numbers.ALONE * evidence.sum() else -1


def _orders(n: int, cells: int) -> list[Ids]:
    """Orders of n rows, in chunks that fit in memory: all of them, or some drawn."""
    if n <= EXACT_ROWS:
        return [np.array(list(permutations(range(n))), np.int64)]
    count = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_WORK // (n * cells)))
    rng = np.random.default_rng(_SEED)
    step = max(1, CHUNK // (n * cells))
    return [rng.permuted(np.tile(np.arange(n), (min(step, count - at), 1)), axis=1) for at in range(0, count, step)]


def _upper_share(values: Floats) -> Floats:
    """For each value the share of all that are at least as large, or but for the rounding of sums."""
    order = np.sort(values)
    out: Floats = (len(values) - np.searchsorted(order, values - EQUAL, "left")) / len(values)
    return out


def _without_slopes(logs: Floats, found: list[Split]) -> tuple[list[Split], list[tuple[int, int]]]:
    """Take out runs of steps in one direction that a straight line fits better for what it costs."""
    level = common_level(logs)
    edges = [0, *(s.at for s in found), len(level)]
    signs = [math.copysign(1, np.median(level[b:c]) - np.median(level[a:b]))
             for a, b, c in zip(edges, edges[1:], edges[2:], strict=False)]  # fmt: skip
    kept: list[Split] = []
    slopes: list[tuple[int, int]] = []
    first = 0
    while first < len(found):
        last = first
        while last + 1 < len(found) and signs[last + 1] == signs[first]:
            last += 1
        start, end = edges[first], edges[last + 2]
        if _is_slope(level[start:end], [s.at - start for s in found[first : last + 1]]):
            slopes.append((start, end))
        else:
            kept += found[first : last + 1]
        first = last + 1
    return kept, slopes


def _is_slope(level: Floats, cuts: list[int]) -> bool:
    """Whether a line (Theil and Sen) describes the stretch better than steps, by Schwarz' criterion."""
    n = len(level)
    if n < 4 * numbers.MIN_REVISIONS:
        return False  # too few to tell a slope from a step
    at = np.arange(n, dtype=np.float64)
    picked = np.linspace(0, n - 1, min(n, 400)).astype(np.int64)
    i, j = np.triu_indices(len(picked), 1)
    slope = float(np.median((level[picked[j]] - level[picked[i]]) / (at[picked[j]] - at[picked[i]])))
    rest = level - slope * at
    line = float(np.abs(rest - np.median(rest)).mean())
    pieces = np.split(level, cuts)
    steps = sum(float(np.abs(piece - np.median(piece)).sum()) for piece in pieces) / n
    if steps <= 1e-12:
        return False
    # A step costs its place and its size, a slope its size alone.
    price = (2 * len(cuts) - 1) * math.log(n) / n
    return line <= 1e-12 or math.log(line) < math.log(steps) + price / 2 - numbers.LINE_MARGIN


def common_level(logs: Floats) -> Floats:
    """One value a row: the mean over its cells of the difference to the cell's median."""
    known = np.isfinite(logs).any(axis=0) if len(logs) else np.zeros(logs.shape[1], bool)
    logs = logs[:, known]
    off = logs - np.nanmedian(logs, axis=0) if known.any() else logs
    known = np.isfinite(off)
    count = known.sum(axis=1)
    out: Floats = np.where(count > 0, np.where(known, off, 0.0).sum(axis=1) / np.maximum(count, 1), 0.0)
    return out
