"""The tests of differences, held by what they promise: level under no difference, power under one, exact small cases.

Simulations draw from fixed seeds; the limits leave room of four standard errors, so that a correct method passes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sharing.explain.numbers import ALPHA
from sharing.explain.statistics import (
    benjamini_hochberg,
    compare_counts,
    compare_samples,
    holm,
    paired_change,
    permutation_test,
    ratio_of_shares,
    two_proportions,
)
from sharing.explain.student import student
from sharing.sampled.interval import wilson


def exact_fisher(x: int, n: int, y: int, m: int) -> float:
    """The textbook's sum, in fractions."""
    k = x + y
    weights = {i: math.comb(n, i) * math.comb(m, k - i) for i in range(max(0, k - m), min(k, n) + 1)}
    total = sum(weights.values())
    return float(Fraction(sum(w for w in weights.values() if w <= weights[x]), total))


@given(st.integers(1, 30), st.integers(1, 30), st.data())
@settings(deadline=None)
def test_small_counts_are_tested_exactly(n: int, m: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    expected = exact_fisher(x, n, y, m) if 0 < x + y < n + m else 1.0
    assert two_proportions(x, n, y, m) == pytest.approx(expected, rel=1e-6)
    assert two_proportions(x, n, y, m) == pytest.approx(two_proportions(y, m, x, n), rel=1e-9)


@given(st.integers(1, 60_000), st.integers(1, 60_000), st.integers(0, 900), st.integers(0, 900))
@settings(deadline=None, max_examples=25)
def test_fisher_is_that_of_scipy(n: int, m: int, x: int, y: int) -> None:
    x, y = min(x, n), min(y, m)
    expected = scipy.stats.fisher_exact([[x, n - x], [y, m - y]]).pvalue
    assert two_proportions(x, n, y, m) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
@settings(deadline=None)
def test_the_correction_for_many_rows_is_that_of_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(np.array(p)) == pytest.approx(scipy.stats.false_discovery_control(p))


@pytest.mark.parametrize("pairs", [3, 6, 12])
def test_signed_ranks_are_those_of_scipy(pairs: int) -> None:
    rng = np.random.default_rng(pairs)
    old, new = rng.lognormal(0, 0.1, pairs), rng.lognormal(0.05, 0.1, pairs)
    expected = scipy.stats.wilcoxon(np.log(new) - np.log(old), method="exact").pvalue
    assert paired_change(old, new).p == pytest.approx(expected)


@pytest.mark.parametrize(("free", "bound"), [(1, 12.706), (2, 4.303), (3, 3.182), (10, 2.228), (1000, 1.962)])
def test_the_bounds_of_few_repetitions_are_those_of_the_tables(free: int, bound: float) -> None:
    """A series in the degrees of freedom gave 4.17 for two and 9.71 for one."""
    assert student(0.95, free) == pytest.approx(bound, abs=5e-4)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_of_student_are_those_of_scipy(level: float) -> None:
    degrees = np.array([*range(1, 60), *range(60, 10_000, 331), 9_999, 10_000])
    expected = scipy.special.stdtrit(degrees.astype(float), (1 + level) / 2)
    assert np.array([student(level, int(free)) for free in degrees]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("level", "free"), [(0.0, 3), (1.0, 3), (0.95, 0)])
def test_no_interval_bounds_nothing_or_all(level: float, free: int) -> None:
    with pytest.raises(ValueError, match="degree"):
        student(level, free)


@given(st.integers(0, 2000), st.integers(1, 2000))
@settings(deadline=None, max_examples=40)
def test_intervals_of_shares_are_those_of_scipy(part: int, whole: int) -> None:
    part = min(part, whole)
    expected = scipy.stats.binomtest(part, whole).proportion_ci(method="wilson")
    share = wilson(part, whole)
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_both_methods_agree_where_they_meet() -> None:
    below, above = two_proportions(960, 100_000, 1040, 100_000), two_proportions(961, 100_000, 1041, 100_000)
    assert below == pytest.approx(above, rel=0.1)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), min_size=1, max_size=20))
@settings(deadline=None, max_examples=60)
def test_a_profile_against_itself_shows_nothing(rows: list[tuple[int, int]]) -> None:
    counts = [a for a, _ in rows]
    for change in compare_counts(counts, counts):
        assert not change.significant
        assert change.low <= 1.0 <= change.high


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), min_size=1, max_size=12))
@settings(deadline=None, max_examples=60)
def test_swapped_profiles_mirror(rows: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in rows], [y for _, y in rows]
    for there, back in zip(compare_counts(a, b), compare_counts(b, a), strict=True):
        assert there.p == pytest.approx(back.p, rel=1e-6, abs=1e-12)
        assert there.low == pytest.approx(1 / back.high)


def test_among_rows_that_did_not_change_few_are_called_changed() -> None:
    """200 pairs of profiles of 30 functions from one distribution: any false alarm in at most ALPHA of them."""
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(30, 0.5))
    alarms = 0
    for _ in range(200):
        a, b = rng.multinomial(8_000, shares), rng.multinomial(12_000, shares)
        alarms += any(c.significant for c in compare_counts(a.tolist(), b.tolist()))
    assert alarms / 200 < ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / 200)


def test_a_share_that_grew_by_a_tenth_is_found_in_large_profiles() -> None:
    rng = np.random.default_rng(2)
    old = np.array([0.05, 0.20, 0.75])
    new = np.array([0.055, 0.20, 0.745])
    found = [
        compare_counts(rng.multinomial(200_000, old).tolist(), rng.multinomial(200_000, new).tolist())
        for _ in range(50)
    ]
    assert sum(f[0].significant for f in found) == 50
    assert sum(f[1].significant for f in found) <= 8


def test_the_interval_of_a_ratio_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1000):
        _, low, high = ratio_of_shares(int(rng.binomial(4000, 0.02)), 4000, int(rng.binomial(6000, 0.03)), 6000)
        covered += low <= 1.5 <= high
    assert covered / 1000 > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 1000)


@pytest.mark.parametrize("broken", [([-1], [1]), ([1, 2], [1])])
def test_what_is_no_profile_is_refused(broken: tuple[list[int], list[int]]) -> None:
    with pytest.raises(ValueError, match="count"):
        compare_counts(*broken)


def test_totals_below_the_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="total"):
        compare_counts([5], [5], old_total=4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_corrections_only_raise_and_keep_the_order(p: list[float]) -> None:
    raw = np.array(p)
    for adjusted in (benjamini_hochberg(raw), holm(raw)):
        assert (adjusted >= raw - 1e-12).all()
        assert (adjusted <= 1).all()
        order = np.argsort(raw, kind="stable")
        assert (np.diff(adjusted[order]) >= -1e-12).all()
    assert (holm(raw) >= benjamini_hochberg(raw) - 1e-12).all()


def test_corrections_of_a_known_example() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert benjamini_hochberg(p).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert holm(p).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_permutations_of_few_values_are_counted_exactly() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([7.0, 8.0, 9.0, 10.0])
    both = np.concatenate([a, b])
    differences = [
        abs(both[list(c)].mean() - np.delete(both, list(c)).mean()) for c in combinations(range(len(both)), len(a))
    ]
    seen = abs(a.mean() - b.mean())
    assert permutation_test(a, b) == pytest.approx(np.mean([d >= seen - 1e-12 for d in differences]))


def test_repetitions_of_one_speed_rarely_differ() -> None:
    rng = np.random.default_rng(4)
    alarms = sum(
        compare_samples(rng.normal(1000, 20, 6).tolist(), rng.normal(1000, 20, 6).tolist()).significant
        for _ in range(400)
    )
    assert alarms / 400 < ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / 400)


def test_a_loss_of_five_percent_is_found_and_its_interval_holds_it() -> None:
    rng = np.random.default_rng(5)
    effects = [compare_samples(rng.normal(1000, 12, 8).tolist(), rng.normal(950, 12, 8).tolist()) for _ in range(200)]
    assert sum(e.significant and e.change < 0 for e in effects) > 190
    covered = sum(e.low is not None and e.high is not None and e.low <= -0.05 <= e.high for e in effects)
    assert covered / 200 > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 200)


def test_one_measurement_a_side_is_no_test() -> None:
    """The figures of the report: 164,650 queries a second, then 155,442."""
    effect = compare_samples([164_650], [155_442])
    assert effect.change == pytest.approx(-0.0559, abs=1e-4)
    assert (effect.low, effect.high, effect.p, effect.significant) == (None, None, None, False)


@pytest.mark.parametrize("broken", [([], [1.0]), ([1.0], []), ([math.nan], [1.0]), ([1.0], [math.inf])])
def test_what_is_no_measurement_is_refused(broken: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError, match="numbers"):
        compare_samples(*broken)


# Samples of each build's listing (LLC_MISSES), tc_release_table first; the totals follow from the shares.
FAST = {
    "tc_release_table": 5427,
    "pthread_mutex_lock": 21919,
    "pthread_mutex_unlock": 6986,
    "pthread_rwlock_unlock": 2199,
}
SLOW = {
    "tc_release_table": 5736,
    "pthread_mutex_lock": 20065,
    "pthread_mutex_unlock": 5633,
    "pthread_rwlock_unlock": 2198,
}
FAST_TOTAL, SLOW_TOTAL = round(5427 / 0.046800), round(5736 / 0.052151)


def test_the_release_function_of_the_slow_build_misses_more() -> None:
    found = dict(
        zip(FAST, compare_counts(list(FAST.values()), list(SLOW.values()), FAST_TOTAL, SLOW_TOTAL), strict=True)
    )
    release = found["tc_release_table"]
    assert release.significant
    assert (round(100 * release.old_share, 1), round(100 * release.new_share, 1)) == (4.7, 5.2)
    assert release.low > 1
    assert found["pthread_mutex_unlock"].high < 1  # its share fell
    assert found["pthread_rwlock_unlock"].ratio == pytest.approx(1.0539, abs=1e-3)
