"""A series judged: which test it allows, the steps with their size, what stands apart, and what is only suspected.

Owns the choice of what counts as one observation, and the sizes.  Where a step is, is ``steps``'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers as explain_numbers
from sharing.explain.statistics import holm, paired_change
from sharing.explain.tables.base import Labels
from sharing.history import numbers
from sharing.history.normal import normal_step
from sharing.history.place import possible_places
from sharing.history.series import Floats, Ids, Series
from sharing.history.steps import Segmentation, Split, common_level, possible_splits, segment, smallest_chance
from sharing.model.history import Basis, Change, ConditionChange, Contrast, Outlier, Slope, Step

DRAWN = 4000
MOST_COMPARED = 600  # values of a side whose pairs are compared; more are thinned
_SEED = 20081114


@dataclass(frozen=True, slots=True)
class Judged:
    """See ``History`` for the fields of the same names.  Indexes are those of the series' revisions."""

    basis: Basis
    steps: tuple[Step, ...]
    slopes: tuple[Slope, ...]
    outliers: tuple[Outlier, ...]
    best: Step | None
    ends: Change | None
    ends_chance: float | None
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]


def judge(series: Series, alpha: float = explain_numbers.ALPHA, builds: Sequence[int] | None = None) -> Judged:
    """Everything that one series says.

    ``builds`` numbers what was measured, where neighbouring revisions may have one build: steps are between builds, and
    each revision is one observation of its build.  Where these are too few to permute, those of one build are pooled.
    """
    contrasts, plain = _contrasts(series)
    numbered = np.array(builds if builds is not None else range(len(plain.revisions)), np.int64)
    borders = _borders(plain, numbered)
    by_revision = smallest_chance(borders) < alpha
    if not by_revision:
        plain = _pooled(plain, numbered)
        borders = _borders(plain, numbered)
    logs = plain.logs()
    measured = np.flatnonzero(np.isfinite(logs).any(axis=1))
    logs = logs[measured]
    n = len(measured)
    rows, counts = plain.repeated_logs()
    counts = tuple(counts[i] for i in measured)
    notes: tuple[str, ...] = ()
    if by_revision:
        basis, found = Basis.REVISIONS, segment(logs, alpha, np.diff(borders).tolist())
    else:
        basis, found, notes = _of_few(logs, rows, counts, alpha)
    edges = [0, *(s.at for s in found.splits), n]
    # Where repetitions were compared they give the size, too: of two builds there are no more medians than two.
    told = (
        _SizedRows(rows, np.cumsum([0, *counts]))
        if basis is Basis.REPETITIONS
        else _SizedRows(logs, np.arange(n + 1), borders, found.correlation)
    )
    made = [_step(plain, told, measured, edges[i], s, edges[i + 2], basis) for i, s in enumerate(found.splits)]
    best = None
    if not made and found.best is not None and found.best.chance < numbers.BEST_GUESS:
        best = _step(plain, told, measured, 0, found.best, n, basis)
    level = common_level(logs)
    slopes = tuple(
        Slope(int(measured[a]), int(measured[b - 1]), math.expm1(_line_change(level[a:b]))) for a, b in found.slopes
    )
    ends, chance = _ends(logs)
    return Judged(
        basis,
        tuple(made),
        slopes,
        _outliers(level, measured, [*edges, *(e for pair in found.slopes for e in pair)]),
        best,
        ends,
        chance,
        contrasts,
        notes,
    )


def _of_few(
    logs: Floats, rows: Floats, counts: Sequence[int], alpha: float
) -> tuple[Basis, Segmentation, tuple[str, ...]]:
    """What revisions that are too few to permute can show, on which basis, and what that means.

    ``rows`` are the repetitions of all, ``counts`` how many of each.
    """
    n = len(logs)
    if n >= 2 and min(counts) >= 2:
        found = _by_revision(segment(rows, alpha, counts, repetitions=True), counts)
        why = (
            f"{n} revisions are too few to distinguish a lasting change from variation between builds: repetitions "
            "were compared instead, which shows only that builds differ"
        )
        return Basis.REPETITIONS, found, (why,)
    if n >= 2 and _complete(logs) >= explain_numbers.MIN_PAIRS:
        why = (
            "each condition was measured once per revision: neighbouring revisions were compared over all conditions "
            "together, so a change of the machine that affects all conditions looks like a step"
        )
        return Basis.CONDITIONS, _by_conditions(logs, alpha), (why,)
    if n >= numbers.FEWEST_RESULTS:
        why = (
            f"{n} revisions are too few for a permutation test: the step was compared with the spread of the results "
            "around it, assumed to be normal noise; a machine with two states can look like a step"
        )
        return Basis.NORMAL, _by_spread(logs, alpha), (why,)
    least = next(k for k in range(2, 1000) if smallest_chance(np.arange(k + 1)) < alpha)
    why = (
        f"{n} measured revisions cannot show a step at the level of {100 * alpha:g} %: at least {least} are "
        "needed, or repetitions of each"
    )
    return (
        Basis.NONE,
        Segmentation((), (), segment(logs, alpha).best if n >= 2 * numbers.MIN_REVISIONS else None),
        (why,),
    )


def _borders(series: Series, builds: Ids) -> Ids:
    """Where in the measured revisions another build begins, and their ends."""
    measured = np.array([at for at, row in enumerate(series.values) if any(row)], np.int64)
    changes = np.flatnonzero(np.diff(builds[measured])) + 1
    return np.concatenate([[0], changes, [len(measured)]]).astype(np.int64)


def _pooled(series: Series, builds: Ids) -> Series:
    """The first measured revision of each build with the figures of all of them."""
    cells = range(len(series.cells))
    values: list[tuple[tuple[float, ...], ...]] = [()] * len(series.values)
    first: dict[int, int] = {}
    for at, row in enumerate(series.values):
        if not any(row):
            continue
        there = first.setdefault(int(builds[at]), at)
        values[there] = tuple((values[there][cell] if values[there] else ()) + row[cell] for cell in cells)
    return replace(series, values=tuple(row or ((),) * len(cells) for row in values))


def _by_revision(found: Segmentation, counts: Sequence[int]) -> Segmentation:
    """Rows of repetitions as numbers of revisions."""
    place = {int(edge): i for i, edge in enumerate(np.cumsum([0, *counts]))}
    splits = tuple(Split(place[s.at], s.chance, s.cell) for s in found.splits)
    best = Split(place[found.best.at], found.best.chance, found.best.cell) if found.best is not None else None
    return Segmentation(splits, (), best)


def _complete(logs: Floats) -> int:
    return int(np.isfinite(logs).all(axis=0).sum())


def _by_conditions(logs: Floats, alpha: float) -> Segmentation:
    """Neighbouring revisions, each two compared over the conditions that all revisions have."""
    values = np.exp(logs[:, np.isfinite(logs).all(axis=0)])
    effects = [paired_change(values[i], values[i + 1]) for i in range(len(values) - 1)]
    chances = holm(np.array([e.p for e in effects], np.float64)).tolist()
    splits = [Split(i + 1, p) for i, p in enumerate(chances)]
    significant = tuple(
        s for s, e in zip(splits, effects, strict=True) if s.chance < alpha and e.low is not None and e.high is not None
        and (e.low > 0 or e.high < 0)
    )  # fmt: skip
    return Segmentation(significant, (), min(splits, key=lambda s: s.chance))


def _by_spread(logs: Floats, alpha: float) -> Segmentation:
    """One step at most, of the level that all conditions have in common."""
    split = normal_step(common_level(logs))
    return Segmentation((split,) if split is not None and split.chance < alpha else (), (), split)


@dataclass(frozen=True, slots=True)
class _SizedRows:
    """Rows of logarithms that tell the size of a step; ``first`` is the first row of each revision, and the end.

    ``borders`` are where another build begins, where rows are revisions, and ``correlation`` is that of their noise.
    """

    logs: Floats
    first: Ids
    borders: Ids | None = None
    correlation: float = 0.0


def _step(series: Series, told: _SizedRows, measured: Ids, start: int, split: Split, end: int, basis: Basis) -> Step:
    before, after = int(measured[split.at - 1]), int(measured[split.at])
    logs = told.logs
    start, at, end = (int(told.first[edge]) for edge in (start, split.at, end))
    conditions = tuple(
        made
        for j, labels in enumerate(series.cells)
        if (made := _condition(labels, logs[start:at, j], logs[at:end, j])) is not None
    )
    if split.cell >= 0:
        level = logs[start:end, split.cell]
    else:
        cells = _both_sides(logs, start, at, end)
        level = common_level(np.concatenate([_filled(logs[start:at, cells]), _filled(logs[at:end, cells])]))
    cut = at - start
    if basis is Basis.CONDITIONS:
        change = _over_conditions(logs[at - 1], logs[at])[0]
    else:
        change = difference(level[:cut], level[cut:])
    change = change or Change(0.0, 0.0, 0.0, 0.0)
    slower = is_slower(change, series.less_is_better)
    suspects = tuple(range(before + 1, after + 1))
    places: tuple[int, ...] = ()
    if basis is Basis.REVISIONS and told.borders is not None:
        allowed = possible_splits(told.borders, start, end, numbers.MIN_REVISIONS) - start
        left = possible_places(level, cut, allowed, told.correlation)
        places = tuple(int(measured[start + row]) for row in left)
    return Step((before, after), suspects, split.chance, slower, change, conditions, places=places)


def is_slower(change: Change, less_is_better: bool | None) -> bool | None:
    """Whether a change is for the worse; None where nobody knows which way is better."""
    if less_is_better is None:
        return None
    return change.change > 0 if less_is_better else change.change < 0


def _both_sides(logs: Floats, start: int, at: int, end: int) -> npt.NDArray[np.bool_]:
    known = np.isfinite(logs)
    return np.logical_and(known[start:at].any(axis=0), known[at:end].any(axis=0))


def _filled(side: Floats) -> Floats:
    """One side of a step with its medians where cells are missing: what was not measured is no change of level."""
    filled: Floats = np.where(np.isfinite(side), side, np.nanmedian(side, axis=0))
    return filled


def _condition(labels: Labels, before: Floats, after: Floats) -> ConditionChange | None:
    change = difference(before, after)
    if change is None:
        return None
    return ConditionChange(
        labels,
        math.exp(float(np.nanmedian(before))),
        math.exp(float(np.nanmedian(after))),
        change,
        change.level >= explain_numbers.LEVEL - 1e-9 and (change.low > 0 or change.high < 0),
    )


def difference(before: Floats, after: Floats) -> Change | None:
    """The shift between two samples of logarithms as a relative change (Hodges and Lehmann), None without values.

    Few values bound less: the level of the interval of all differences of n and m values is 1 - 2 / (n + m over n).
    """
    a, b = before[np.isfinite(before)], after[np.isfinite(after)]
    if not len(a) or not len(b):
        return None
    a, b = _thinned(a), _thinned(b)
    shifts = np.sort((b[:, None] - a[None, :]).ravel())
    spread = math.sqrt(len(a) * len(b) * (len(a) + len(b) + 1) / 12)
    cut = max(math.floor(len(shifts) / 2 - NormalDist().inv_cdf((1 + explain_numbers.LEVEL) / 2) * spread), 0)
    level = min(explain_numbers.LEVEL, 1 - 2 / math.comb(len(a) + len(b), len(a)))
    low, high = float(shifts[cut]), float(shifts[len(shifts) - 1 - cut])
    change, low, high = (round(math.expm1(v), 6) for v in (float(np.median(shifts)), low, high))
    return Change(change, low, high, round(max(level, 0.0), 4))


def _thinned(values: Floats) -> Floats:
    """At most so many, evenly taken in order of size: all pairs of them are compared."""
    if len(values) <= MOST_COMPARED:
        return values
    return np.sort(values)[np.linspace(0, len(values) - 1, MOST_COMPARED).astype(np.int64)]


def _line_change(level: Floats) -> float:
    """How far a line through the values goes from the first to the last (Theil and Sen)."""
    at = np.linspace(0, len(level) - 1, min(len(level), MOST_COMPARED)).astype(np.int64)
    i, j = np.triu_indices(len(at), 1)
    return float(np.median((level[at[j]] - level[at[i]]) / (at[j] - at[i]))) * (len(level) - 1)


def _outliers(level: Floats, measured: Ids, edges: Sequence[int]) -> tuple[Outlier, ...]:
    """Revisions far from the median of the stretch between steps that they are in."""
    bounds = sorted(set(edges))
    if not len(level):
        return ()
    rest = np.concatenate([level[a:b] - np.median(level[a:b]) for a, b in pairwise(bounds)])
    if len(rest) < numbers.FEWEST_AROUND:
        return ()
    spread = numbers.SIGMA * float(np.median(np.abs(rest)))
    if spread <= 1e-9:
        return ()
    return tuple(
        Outlier(int(measured[i]), round(math.expm1(float(rest[i])), 6))
        for i in np.flatnonzero(np.abs(rest) > max(numbers.FAR * spread, numbers.FAR_LEAST))
    )


def _ends(logs: Floats) -> tuple[Change | None, float | None]:
    """From the first to the last revision."""
    return _over_conditions(logs[0], logs[-1]) if len(logs) >= 2 else (None, None)


def _over_conditions(before: Floats, after: Floats) -> tuple[Change | None, float | None]:
    """Between two revisions, over the conditions that both have; the chance where there are several."""
    both = np.isfinite(before) & np.isfinite(after)
    if both.sum() < 2:
        return difference(before[both], after[both]), None
    effect = paired_change(np.exp(before[both]), np.exp(after[both]))
    level = min(explain_numbers.LEVEL, 1 - 2 / 2 ** int(both.sum()))
    low, high = effect.low or 0.0, effect.high or 0.0
    return Change(round(effect.change, 6), round(low, 6), round(high, 6), round(level, 4)), effect.p


def _contrasts(series: Series) -> tuple[tuple[Contrast, ...], Series]:
    """Conditions that a log notes for some of its runs, against the same revisions without; and the series without."""
    noted = [labels for labels in series.cells if any(k == "condition" for k, _ in labels)]
    if not noted:
        return (), series
    out = []
    for labels in noted:
        without = tuple(pair for pair in labels if pair[0] != "condition")
        if without in series.cells:
            on, off = series.cells.index(labels), series.cells.index(without)
            rows = [i for i, row in enumerate(series.values) if row[on] and row[off]]
            made = _contrast(dict(labels)["condition"], series, rows, off, on)
            if made is not None:
                out.append(made)
    plain = [j for j, labels in enumerate(series.cells) if labels not in noted]
    values = tuple(tuple(row[j] for j in plain) for row in series.values)
    cells = tuple(series.cells[j] for j in plain)
    return tuple(out), Series(series.metric, series.revisions, cells, values, series.less_is_better)


def _contrast(condition: str, series: Series, rows: Sequence[int], off: int, on: int) -> Contrast | None:
    """Permutes which run had the condition, within each revision."""
    pairs = [(np.log(series.values[i][off]), np.log(series.values[i][on])) for i in rows]
    if not pairs:
        return None
    change = difference(
        np.concatenate([a - np.median(a) for a, _ in pairs]),
        np.concatenate([b - np.median(a) for a, b in pairs]),
    )
    rng = np.random.default_rng(_SEED)
    total = np.zeros(DRAWN)
    seen = 0.0
    for a, b in pairs:
        both = np.concatenate([a, b])
        drawn = rng.permuted(np.tile(both, (DRAWN, 1)), axis=1)
        total += drawn[:, : len(a)].mean(axis=1) - drawn[:, len(a) :].mean(axis=1)
        seen += float(a.mean() - b.mean())
    chance = (1 + int((np.abs(total) >= abs(seen) - 1e-9).sum())) / (DRAWN + 1)
    return Contrast(condition, tuple(rows), change, chance) if change is not None else None
