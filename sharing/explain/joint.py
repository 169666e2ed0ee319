"""Many repeated measurements tested together, so that what moves together is not paid for twice.

Owns the permutations of whole runs: figures of one run (throughput, latency) change builds together, runs under other
conditions for themselves (Westfall and Young, Resampling-Based Multiple Testing, 1993).  One comparison alone is
``statistics``'.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.statistics import Effect, Floats
from sharing.explain.student import student

EXACT = 5000  # arrangements that are enumerated
DRAWN = 4000
MOST = 2000  # cells; of more, each is corrected for all
_CHUNK = 4_000_000  # numbers at a time
_SEED = 20131214

Pair = tuple[Floats, Floats]


def adjusted(strata: Sequence[Hashable], pairs: Sequence[Pair]) -> Floats:
    """For each cell the chance that any cell differs as clearly by chance, the clearer ones aside (step-down).

    Cells of one stratum come from the same runs.  Each side needs two values or more, that are not all the same.
    """
    groups: dict[Hashable, list[int]] = {}
    for at, (stratum, (a, b)) in enumerate(zip(strata, pairs, strict=True)):
        groups.setdefault((stratum, len(a), len(b)), []).append(at)
    seen = np.zeros(len(pairs))
    drawn = []
    for cells in groups.values():
        scores = _scores([pairs[at] for at in cells])
        seen[cells] = scores[:, 0]
        # Least clear first: the row of a cell is then the clearest of it and of all that are less clear.
        order = np.argsort(scores[:, 0], kind="stable")
        drawn.append(np.sort(np.maximum.accumulate(scores[order], axis=0), axis=1))
    left = [len(cells) for cells in groups.values()]
    group_of = {at: g for g, cells in enumerate(groups.values()) for at in cells}
    out = np.zeros(len(pairs))
    worst = 0.0
    for at in np.argsort(-seen, kind="stable").tolist():
        none = 1.0
        for rows, rest in zip(drawn, left, strict=True):
            if rest:
                row = rows[rest - 1]
                none *= 1 - (len(row) - int(np.searchsorted(row, seen[at] - 1e-9))) / len(row)
        worst = max(worst, 1 - none)
        out[at] = worst
        left[group_of[at]] -= 1
    return out


def _scores(pairs: Sequence[Pair]) -> Floats:
    """Cells by arrangements, the first as it was: how far apart the sides are, as a normal deviate (Wallace 1959)."""
    n, m = len(pairs[0][0]), len(pairs[0][1])
    values = np.array([np.concatenate(pair) for pair in pairs])
    values = values - values.mean(axis=1, keepdims=True)
    total = (values**2).sum(axis=1, keepdims=True)
    free = n + m - 2
    out = []
    for chosen in _arrangements(n, m, np.random.default_rng(_SEED)):
        # Of values around zero, the sums of both sides are opposite: one tells the difference of the means.
        between = (values @ chosen.T) ** 2 * (1 / n + 1 / m)
        within = np.maximum(total - between, 1e-12 * total)
        out.append(np.sqrt(free * np.log1p(between / within)) * (8 * free + 1) / (8 * free + 3))
    return np.concatenate(out, axis=1)


def _arrangements(n: int, m: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Rows of zeros and ones: which values are of the first side.  The one that was seen comes first."""
    rows = max(1, _CHUNK // (n + m))
    if math.comb(n + m, n) <= EXACT:
        index = np.array(list(combinations(range(n + m), n)), np.int64)  # in order: 0 to n - 1 is the first
        chosen = np.zeros((len(index), n + m))
        np.put_along_axis(chosen, index, 1.0, axis=1)
        yield chosen
        return
    first = np.concatenate([np.ones(n), np.zeros(m)])
    yield first[None, :]
    for start in range(0, DRAWN, rows):
        yield rng.permuted(np.tile(first, (min(rows, DRAWN - start), 1)), axis=1)


def overall(metrics: Sequence[Sequence[tuple[Hashable, Pair]]]) -> list[Effect | None]:
    """For each metric its change over all its cells together: the mean of the logarithmic changes.

    Runs change builds within their condition.  ``p`` is corrected for all metrics, of which those of one run change
    builds together; None for a metric that has one cell, or too few arrangements to show anything.
    """
    masks: dict[Hashable, npt.NDArray[np.bool_]] = {}
    effects = [
        _mean_change([pair for _, pair in cells]) if len(cells) > 1 and _tells(cells) else None for cells in metrics
    ]
    rows = []
    for cells, effect in zip(metrics, effects, strict=True):
        row = np.zeros(DRAWN + 1)
        for stratum, (a, b) in cells if effect is not None else ():
            key = (stratum, len(a), len(b))
            if key not in masks:
                seed = np.random.default_rng([_SEED, len(masks)])
                first = np.concatenate([np.ones(len(a)), np.zeros(len(b))])
                drawn = seed.permuted(np.tile(first, (DRAWN, 1)), axis=1)
                masks[key] = np.vstack([first, drawn]) > 0
            both = np.log(np.concatenate([a, b]))
            both = both - both.mean()
            row += (masks[key] @ both) * (1 / len(a) + 1 / len(b))
        spread = row[1:].std()
        rows.append(np.abs(row) / spread if spread > 0 else np.zeros(DRAWN + 1))
    tested = [at for at, effect in enumerate(effects) if effect is not None]
    tested.sort(key=lambda at: rows[at][0])
    clearest = np.zeros(DRAWN + 1)
    chances: dict[int, float] = {}
    for at in tested:
        clearest = np.maximum(clearest, rows[at])
        chances[at] = float((clearest >= rows[at][0] - 1e-9).mean())
    worst = 0.0
    for at in reversed(tested):
        worst = max(worst, chances[at])
        found = effects[at]
        assert found is not None
        effects[at] = Effect(found.old, found.new, found.change, found.low, found.high, worst, found.repetitions)
    return effects


def _tells(cells: Sequence[tuple[Hashable, Pair]]) -> bool:
    ways = math.prod(math.comb(len(a) + len(b), len(a)) for _, (a, b) in cells)
    return 2 / ways < numbers.ALPHA and any(len(a) > 1 and len(b) > 1 for _, (a, b) in cells)


def _mean_change(pairs: Sequence[Pair]) -> Effect:
    """The mean change over conditions, bounded by what repetitions under one condition vary (Student's t)."""
    shift, variance, free = 0.0, 0.0, 0
    for a, b in pairs:
        x, y = np.log(a), np.log(b)
        shift += float(y.mean() - x.mean())
        for side in (x, y):
            if len(side) > 1:
                variance += float(side.var(ddof=1)) / len(side)
                free += len(side) - 1
    shift /= len(pairs)
    reach = student(numbers.LEVEL, max(free, 1)) * math.sqrt(variance) / len(pairs)
    old, new = (float(np.median([np.median(pair[side]) for pair in pairs])) for side in (0, 1))
    counts = (sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs))
    return Effect(old, new, math.expm1(shift), math.expm1(shift - reach), math.expm1(shift + reach), None, counts)


def least_chance(n: int, m: int) -> float:
    """The smallest chance that the permutations of n and m values have."""
    return (2 if n == m else 1) / math.comb(n + m, n)


def needed(conditions: int, share: float) -> int:
    """How many values a side can show a change under each of so many conditions, at that share of the level."""
    count = 2
    while 1 - (1 - least_chance(count, count)) ** conditions >= numbers.ALPHA * share:
        count += 1
    return count
