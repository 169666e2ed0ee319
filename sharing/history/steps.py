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
from sharing.history.dependence import Stretches, innovations, lasting, rebuilt, steps_in, steps_overlap
from sharing.history.fitted import is_line, several, several_places
from sharing.history.place import place

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

RESAMPLES = 4000
FEWEST_RESAMPLES = 400
MOST_WORK = 20_000_000  # values that the resamples of one test hold, in all
CHUNK = 4_000_000
EXACT_ROWS = 7  # 5040 orders are enumerated
PLACES = 60  # positions that are compared for the place of one step
LATTICE = 40  # of several at once
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
    ``correlation`` is that of neighbours in the noise.
    """

    splits: tuple[Split, ...]
    slopes: tuple[tuple[int, int], ...]
    best: Split | None
    correlation: float = 0.0


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
    least, correlation = (1, 0.0) if repetitions else (numbers.MIN_REVISIONS, lasting(_middle_level(logs)))
    search = _Search(logs, edges, least, correlation)
    best = search.clearest(0, len(logs))
    found = search.settled(search.all_below(0, len(logs), alpha))
    splits, slopes = (found, []) if repetitions else _without_slopes(logs, found, correlation)
    return Segmentation(tuple(splits), tuple(slopes), best, correlation)


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

    ``correlation`` is that of neighbours.
    """

    logs: Floats
    edges: Ids
    least: int
    correlation: float
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
        sight = _Sight(len(part), allowed, self.least, self.correlation)
        chance, several_at = sight.chance(scores)
        sight = replace(sight, allowed=np.array(several_at or allowed))
        clear = sight.splits(innovations(scores, self.correlation))
        weight = np.maximum(clear.max(axis=0) ** 2 - numbers.BLUR, 1.0)
        at = place(part[:, cells], weight, _most(clear, sight.allowed), self.correlation)
        alone = _alone(clear[sight.allowed == at][0])
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


@dataclass(frozen=True, slots=True)
class _Sight:
    """What of steps at the ``allowed`` positions of ``rows`` rows shows through noise of a ``correlation``.

    Innovations are orders by rows by cells, or those of one order.
    """

    rows: int
    allowed: Ids
    least: int
    correlation: float

    def splits(self, new: Floats) -> Floats:
        """How clear a split at each position is, in standard deviations: the CUSUM, where rows are independent."""
        size = np.diag(steps_overlap(self.rows, self.allowed, self.correlation))
        scale = np.sqrt(np.maximum(size, 1e-12))
        out: Floats = np.abs(steps_in(new, self.allowed, self.correlation)) / scale[:, None]
        return out

    def views(self, new: Floats) -> list[Floats]:
        """For each order: the clearest split of all cells in common, that of the clearest of several cells, and in
        long series the clearest stretch and what several steps gain, again of all cells in common.
        """
        cells = new.shape[-1]
        common = new.sum(axis=-1, keepdims=True) / math.sqrt(cells)
        views = [self.splits(common).max(axis=(-1, -2))]
        if cells > 1:
            views.append(self.splits(new).max(axis=(-1, -2)))
        if self.rows >= numbers.LONG_SERIES:
            views.append(self._stretches().contrasts(steps_in(common, self.allowed, self.correlation)[..., 0]))
            views.append(several(rebuilt(common, self.correlation)[..., 0], self._lattice(), self.least))
        return views

    def _stretches(self) -> Stretches:
        return Stretches(self.rows, self.allowed, self.least, self.correlation)

    def _lattice(self) -> Ids:
        """Positions at which several steps are tried, with both ends: all, or in long series so many, evenly."""
        allowed = self.allowed
        if len(allowed) > LATTICE:
            allowed = allowed[np.linspace(0, len(allowed) - 1, LATTICE).astype(np.int64)]
        return np.concatenate([[0], allowed, [self.rows]]).astype(np.int64)

    def chance(self, scores: Floats) -> tuple[float, tuple[int, ...]]:
        """Chance of steps as clear in any order; the ends of stretches, where these are clearer than any split."""
        n, cells = scores.shape
        new = innovations(scores, self.correlation)
        base = new if n <= EXACT_ROWS else new[_plain_order(new)]
        parts = [self.views(base[chunk]) for chunk in _orders(n, cells)]
        # The order seen is one of those that are possible (Phipson and Smyth 2010); of those enumerated the first.
        seen = self.views(new[None])
        drawn = [np.concatenate([own, *view]) for own, view in zip(seen, zip(*parts, strict=True), strict=True)]
        if n <= EXACT_ROWS:
            drawn = [values[1:] for values in drawn]
        shares = [_upper_share(values) for values in drawn]
        joint = np.minimum.reduce(shares)
        chance = float((joint <= joint[0] + 1e-12).mean())
        if n < numbers.LONG_SERIES:
            return chance, ()
        stretch, steps = (float(share[0]) for share in shares[-2:])
        if min(stretch, steps) >= min(share[0] for share in shares[:-2]):
            return chance, ()
        common = new.sum(axis=1, keepdims=True) / math.sqrt(cells)
        if steps < stretch:
            return chance, several_places(rebuilt(common, self.correlation)[:, 0], self._lattice(), self.least)
        there = self._stretches().clearest(steps_in(common, self.allowed, self.correlation)[:, 0])
        ends = tuple(at for at in there if 0 < at < n)
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


def _alone(clear: Floats) -> int:
    """The cell that holds most of the evidence for a split, -1 where several do."""
    evidence = clear**2
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


def _without_slopes(logs: Floats, found: list[Split], correlation: float) -> tuple[list[Split], list[tuple[int, int]]]:
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
        cuts = [s.at - start for s in found[first : last + 1]]
        if end - start >= numbers.SLOPE_REVISIONS and is_line(logs[start:end], cuts, correlation):
            slopes.append((start, end))
        else:
            kept += found[first : last + 1]
        first = last + 1
    return kept, slopes


def _middle_level(logs: Floats) -> Floats:
    """One value a row: the median over its cells, to which a step of a few cells is nothing."""
    measured = np.isfinite(logs).any(axis=1), np.isfinite(logs).any(axis=0)
    known = logs[np.ix_(*measured)]
    out: Floats = np.nanmedian(known - np.nanmedian(known, axis=0), axis=1) if known.size else np.zeros(0)
    return out


def common_level(logs: Floats) -> Floats:
    """One value a row: the mean over its cells of the difference to the cell's median."""
    known = np.isfinite(logs).any(axis=0) if len(logs) else np.zeros(logs.shape[1], bool)
    logs = logs[:, known]
    off = logs - np.nanmedian(logs, axis=0) if known.any() else logs
    known = np.isfinite(off)
    count = known.sum(axis=1)
    out: Floats = np.where(count > 0, np.where(known, off, 0.0).sum(axis=1) / np.maximum(count, 1), 0.0)
    return out
