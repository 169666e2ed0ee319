"""Whether a difference is more than chance, and how large it is.

Owns the tests: counts of two samples (profiles), repeated measurements of two builds.  Every function is pure and,
where it draws at random, draws the same for the same values.  Sources of the methods stand with each function.

Fisher's test, signed ranks and the corrections are written here, though ``scipy.stats`` has them: it takes a second to
load and 110 MB on disk, and its Fisher test is a hundred times slower a row, of which a profile has thousands.  Tests
hold them against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.work import Work

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

EXACT_LIMIT = 200_000  # arrangements that are enumerated rather than drawn
EXACT_MARGIN = 2000  # samples of one function, up to which all tables are gone through
PERMUTATIONS = 4000
_SEED = 20131214

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class CountChange:
    """One row of two profiles.  ``ratio`` is of the shares, new over old, with its interval at LEVEL.

    ``p`` is the chance of a difference at least as large if the shares were equal; ``adjusted`` is that after
    correction for all rows (Benjamini–Hochberg: of rows called significant at q, a share of q at most is false).
    ``work`` is what a unit of work takes as a whole, where that is known.
    """

    old: int
    new: int
    old_share: float
    new_share: float
    ratio: float
    low: float
    high: float
    p: float
    adjusted: float
    work: Work | None = None

    @property
    def significant(self) -> bool:
        return self.adjusted < numbers.ALPHA

    @property
    def cost(self) -> tuple[float, float]:
        """Between what its cost may have become, new over old: of a unit of work, else per unit of all else.

        What has nearly all samples cannot rise in its share.
        """
        if self.work is None:
            return self._to_all_else(self.low), self._to_all_else(self.high)
        if not 0 < self.ratio < math.inf:
            return self.low * self.work.low, self.high * self.work.high
        below = math.hypot(math.log(self.ratio / self.low), math.log(self.work.ratio / self.work.low))
        above = math.hypot(math.log(self.high / self.ratio), math.log(self.work.high / self.work.ratio))
        middle = self.ratio * self.work.ratio
        return middle * math.exp(-below), middle * math.exp(above)

    @property
    def part_of_loss(self) -> float:
        """How much of what the program lost is here, 0 where that is not known."""
        return self.work.part(self.old_share, self.new_share) if self.work is not None else 0.0

    @property
    def dearer(self) -> bool:
        """Its cost rose by more than RISE and than chance, and not only as that of everything else did."""
        least = numbers.SIDE_PART if self._to_all_else(self.low) > numbers.RISE else numbers.MAIN_PART
        return self.cost[0] > numbers.RISE and (self.work is None or self.part_of_loss >= least)

    @property
    def cheaper(self) -> bool:
        """Its cost fell as clearly."""
        return self.cost[1] < 1 / numbers.RISE

    @property
    def as_dear(self) -> bool:
        """The samples are enough to exclude that it became dearer."""
        if self.cost[1] <= numbers.RISE:
            return True
        with_all_else = self._to_all_else(self.high) <= numbers.RISE and self.part_of_loss < numbers.MAIN_PART
        return self.work is not None and with_all_else

    def _to_all_else(self, ratio: float) -> float:
        left = 1 - ratio * self.old_share
        return ratio * (1 - self.old_share) / left if left > 0 else math.inf


def compare_counts(
    old: Sequence[int],
    new: Sequence[int],
    old_total: int | None = None,
    new_total: int | None = None,
    inflation: Floats | None = None,
    work: Work | None = None,
) -> tuple[CountChange, ...]:
    """Rows of two profiles that changed their share of all samples.

    ``old_total`` and ``new_total`` are all samples of each, where the rows are only the top of a listing.  Samples are
    taken to be independent, unless ``inflation`` says of each row how much more its counts vary: they tell as much as
    so many times fewer.  Raises ValueError for negative counts, unequal lengths, totals below the sums.
    """
    a, b = np.asarray(old, np.int64), np.asarray(new, np.int64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError("both profiles need one count a row")
    if (a < 0).any() or (b < 0).any():
        raise ValueError("counts are not negative")
    n, m = int(a.sum()) if old_total is None else old_total, int(b.sum()) if new_total is None else new_total
    if n < a.sum() or m < b.sum():
        raise ValueError("the rows hold more samples than the total")
    factors = np.ones(len(a)) if inflation is None else inflation
    thin = [tuple(round(v / f) for v in (x, n, y, m)) for x, y, f in zip(a.tolist(), b.tolist(), factors, strict=True)]
    p = np.array([two_proportions(*row) for row in thin], np.float64)
    adjusted = benjamini_hochberg(p)
    out = []
    for x, y, row, chance, q in zip(a.tolist(), b.tolist(), thin, p.tolist(), adjusted.tolist(), strict=True):
        _, low, high = ratio_of_shares(*row)
        ratio = ratio_of_shares(x, n, y, m)[0]
        out.append(CountChange(x, y, x / n if n else 0.0, y / m if m else 0.0, ratio, low, high, chance, q, work))
    return tuple(out)


def times(change: CountChange) -> str:
    """``×1.11 (1.07–1.16)``; of what has no share in one of the profiles, that."""
    if not change.old or not change.new:
        return "new" if change.new else "gone" if change.old else "in neither"
    return f"×{change.ratio:.2f} ({change.low:.2f}–{change.high:.2f})"


def rise_text(what: str, change: CountChange, event: str, verb: str = "rose") -> str:
    """The change of a share; where that says less than the cost of a unit of work, that."""
    cost = change.ratio * change.work.ratio if change.work is not None else 0.0
    if change.work is None or not math.isfinite(cost):
        return (
            f"the share of {what} in {event} {verb} from {100 * change.old_share:.1f}% to {100 * change.new_share:.1f}%"
        )
    low, high = change.cost
    return (
        f"{what} takes {cost:.2f} times as much for the same work ({low:.2f} to {high:.2f}, {event} by "
        f"{change.work.metric}), {100 * change.old_share:.1f}% of the samples and now {100 * change.new_share:.1f}%"
    )


def two_proportions(x: int, n: int, y: int, m: int) -> float:
    """Two-sided chance that x of n and y of m differ as much, or more, with equal proportions.

    Fisher's exact test while the margin is small (all tables with the same margins that are no likelier than the one
    seen), the G test of the 2×2 table beyond (Sokal and Rohlf, Biometry): the two agree where they meet.
    """
    if n <= 0 or m <= 0 or x + y == 0 or x + y == n + m:
        return 1.0
    if x + y <= EXACT_MARGIN:
        return _fisher(x, n, y, m)
    return _chi2_tail(_g_statistic(x, n, y, m))


def _fisher(x: int, n: int, y: int, m: int) -> float:
    """Hypergeometric, in logarithms; sums the tables whose chance does not exceed the one seen."""
    k = x + y
    low, high = max(0, k - m), min(k, n)
    i = np.arange(low, high, dtype=np.float64)
    # From one table to the next by the ratio of their chances.
    logs = np.append(0.0, np.cumsum(np.log((n - i) * (k - i)) - np.log((i + 1) * (m - k + i + 1))))
    logs -= logs.max()
    weights = np.exp(logs)
    seen = logs[x - low]
    return min(1.0, float(weights[logs <= seen + 1e-9].sum() / weights.sum()))


def _g_statistic(x: int, n: int, y: int, m: int) -> float:
    share = (x + y) / (n + m)
    cells = ((x, n * share), (n - x, n * (1 - share)), (y, m * share), (m - y, m * (1 - share)))
    return max(0.0, 2 * sum(seen * math.log(seen / expected) for seen, expected in cells if seen))


def _chi2_tail(value: float) -> float:
    """Chance that chi-squared with one degree of freedom exceeds the value."""
    return math.erfc(math.sqrt(value / 2))


def ratio_of_shares(x: int, n: int, y: int, m: int) -> tuple[float, float, float]:
    """(share of y in m over share of x in n, its interval).

    Katz' logarithmic interval with half a count added to each (Walter's estimator), so that zeros have one, too.
    """
    if n <= 0 or m <= 0:
        return math.nan, 0.0, math.inf
    point = (y / m) / (x / n) if x else (math.inf if y else math.nan)
    centre = math.log((y + 0.5) / (m + 0.5)) - math.log((x + 0.5) / (n + 0.5))
    variance = 1 / (x + 0.5) - 1 / (n + 0.5) + 1 / (y + 0.5) - 1 / (m + 0.5)
    reach = _NORMAL.inv_cdf((1 + numbers.LEVEL) / 2) * math.sqrt(max(variance, 0.0))
    return point, math.exp(centre - reach), math.exp(centre + reach)


def finite(value: float | None) -> float | None:
    """The number, None for what no document can hold: infinite ratios and those of nothing."""
    return value if value is not None and math.isfinite(value) else None


def benjamini_hochberg(p: Floats) -> Floats:
    """Chances adjusted so that among all rows with adjusted < q at most a share q is false (1995)."""
    p = np.asarray(p, np.float64)
    n = len(p)
    if not n:
        return p.copy()
    order = np.argsort(p, kind="stable")
    scaled = p[order] * n / np.arange(1, n + 1)
    out = np.empty(n)
    out[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return out


def holm(p: Floats) -> Floats:
    """Chances adjusted so that any false alarm at all is rarer than the level (Holm 1979)."""
    p = np.asarray(p, np.float64)
    n = len(p)
    if not n:
        return p.copy()
    order = np.argsort(p, kind="stable")
    out = np.empty(n)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * (n - np.arange(n))), 1.0)
    return out


@dataclass(frozen=True, slots=True)
class Effect:
    """Two sets of repeated measurements.  ``change`` is relative, of the medians: -0.05 is 5 % less than before.

    ``low`` and ``high`` bound it at LEVEL; both None where repetitions are too few to tell (fewer than two a side).
    ``p`` is the chance of a difference as large by chance alone, None then.
    """

    old: float
    new: float
    change: float
    low: float | None
    high: float | None
    p: float | None
    repetitions: tuple[int, int]

    @property
    def significant(self) -> bool:
        """Significant by the test, and the interval leaves no change out."""
        known = self.p is not None and self.low is not None and self.high is not None
        return known and self.p < numbers.ALPHA and (self.low > 0 or self.high < 0)  # type: ignore[operator]


def compare_samples(old: Sequence[float], new: Sequence[float]) -> Effect:
    """Repeated measurements of one thing under two builds.  Raises ValueError for empty or non-finite samples.

    The test permutes which measurement belongs to which build (exactly where there are few arrangements); it assumes
    no shape of the noise.  The interval is Hodges' and Lehmann's, from the quantiles of all pairwise ratios that
    belong to the rank-sum test, so it is the set of changes that the data do not refute.
    """
    a, b = np.asarray(old, np.float64), np.asarray(new, np.float64)
    if not len(a) or not len(b) or not np.isfinite(a).all() or not np.isfinite(b).all():
        raise ValueError("each build needs measurements that are numbers")
    before, after = float(np.median(a)), float(np.median(b))
    change = after / before - 1 if before else (0.0 if after == before else math.copysign(math.inf, after - before))
    if len(a) < 2 or len(b) < 2 or not (a > 0).all() or not (b > 0).all():
        return Effect(before, after, change, None, None, None, (len(a), len(b)))
    low, high = _ratio_interval(a, b)
    return Effect(before, after, change, low, high, permutation_test(a, b), (len(a), len(b)))


def permutation_test(a: Floats, b: Floats) -> float:
    """Two-sided chance of a difference of means at least this large if both came from one source."""
    both = np.concatenate([a, b])
    n, total = len(a), len(both)
    seen = abs(float(a.mean() - b.mean()))
    # Sums decide: with a fixed total, the difference of means grows with the sum of one side.
    if math.comb(total, n) <= EXACT_LIMIT:
        sums = _all_sums(both, n)
    else:
        rng = np.random.default_rng(_SEED)
        sums = np.array([float(both[rng.permutation(total)[:n]].sum()) for _ in range(PERMUTATIONS)])
        sums = np.append(sums, float(a.sum()))  # the arrangement seen is one of them (Phipson and Smyth 2010)
    difference = np.abs(sums / n - (both.sum() - sums) / (total - n))
    return float((difference >= seen - 1e-12 * max(seen, 1.0)).mean())


def _all_sums(values: Floats, n: int) -> Floats:
    """The sum of every choice of n of the values."""
    from itertools import combinations

    rows = np.array(list(combinations(range(len(values)), n)), np.int64)
    sums: Floats = values[rows].sum(axis=1)
    return sums


def _ratio_interval(a: Floats, b: Floats) -> tuple[float, float]:
    """Interval of b over a, less one: order statistics of all ratios (Hodges and Lehmann, in logarithms)."""
    ratios = np.sort((np.log(b)[:, None] - np.log(a)[None, :]).ravel())
    count = len(ratios)
    spread = math.sqrt(len(a) * len(b) * (len(a) + len(b) + 1) / 12)
    cut = math.floor(count / 2 - _NORMAL.inv_cdf((1 + numbers.LEVEL) / 2) * spread)
    cut = max(cut, 0)
    return math.expm1(float(ratios[cut])), math.expm1(float(ratios[count - 1 - cut]))


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, ties share their mean."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    result: Floats = (last - (counts - 1) / 2.0)[inverse]
    return result


def paired_change(old: Floats, new: Floats) -> Effect:
    """The change over pairs measured under equal conditions, all positive.

    Wilcoxon's signed ranks of the logarithmic changes, by flipping signs: exactly up to 17 pairs, drawn beyond.  The
    interval is that of the Walsh averages (Hodges and Lehmann).
    """
    change = np.log(new) - np.log(old)
    n = len(change)
    ranks = _ranks(np.abs(change)) * (change != 0)
    seen = abs(float((np.sign(change) * ranks).sum()))
    if 2**n <= EXACT_LIMIT:
        signs = 1 - 2.0 * ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1)
    else:
        signs = np.random.default_rng(_SEED).choice([-1.0, 1.0], (PERMUTATIONS, n))
        signs = np.vstack([signs, np.ones(n) * np.sign(change)])
    p = float((np.abs(signs @ ranks) >= seen - 1e-9).mean())
    i, j = np.triu_indices(n)
    walsh = np.sort((change[i] + change[j]) / 2)
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    cut = max(math.floor(n * (n + 1) / 4 - _NORMAL.inv_cdf((1 + numbers.LEVEL) / 2) * spread), 0)
    middle = math.expm1(float(np.median(walsh)))
    low, high = math.expm1(float(walsh[cut])), math.expm1(float(walsh[len(walsh) - 1 - cut]))
    return Effect(float(np.median(old)), float(np.median(new)), middle, low, high, p, (n, n))
