"""Contention as a cause: locks and counts that rose in profiles, processors that wait; and what is none."""

from __future__ import annotations

import pytest

from sharing.explain.bench import with_measurements
from sharing.explain.contention import kind_of
from sharing.explain.samples import Profile, function_key, with_profiles
from sharing.explain.tables.base import Measurement
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Confidence
from tests.explain.conftest import BuildTableCache, Explain

OLD = Profile("cycles", {"pthread_mutex_lock": 300, "take_job": 500, "work": 9200}, 10000)
NEW = Profile("cycles", {"pthread_mutex_lock": 3000, "take_job": 1500, "work": 5500}, 10000)


@pytest.fixture(scope="module")
def same(table_cache: BuildTableCache, explained: Explain) -> Comparison:
    """Two builds that differ in nothing."""
    return explained(table_cache(), table_cache())


def contention(found: Comparison) -> list[Cause]:
    return [c for c in found.causes if c.kind is CauseKind.CONTENTION]


def test_a_lock_that_rose_is_the_headline_with_those_that_rose_with_it(same: Comparison) -> None:
    found = with_profiles(same, OLD, NEW)
    (cause,) = found.causes
    assert (cause.kind, cause.confidence) == (CauseKind.CONTENTION, Confidence.SAMPLED)
    assert "`pthread_mutex_lock` rose from 3.0% to 30.0% of the samples of cycles" in cause.summary
    assert "with it rose `take_job`" in cause.summary
    assert "which no padding cures" in cause.summary
    assert cause.symbols == ("pthread_mutex_lock", "take_job")


def test_a_lock_that_hardly_counts_is_no_cause(same: Comparison) -> None:
    old = Profile("cycles", {"pthread_mutex_lock": 100, "work": 99900}, 100_000)
    new = Profile("cycles", {"pthread_mutex_lock": 2000, "work": 98000}, 100_000)
    assert contention(with_profiles(same, old, new)) == []


def test_work_that_rose_is_no_contention(same: Comparison) -> None:
    old = Profile("cycles", {"block_write": 300, "work": 9700}, 10000)
    new = Profile("cycles", {"block_write": 4000, "work": 6000}, 10000)
    assert contention(with_profiles(same, old, new)) == []


def test_a_pair_that_met_explains_the_lock_better(table_cache: BuildTableCache, explained: Explain) -> None:
    found = with_profiles(explained(table_cache(), table_cache("-DEXTRA_SYSVAR")), OLD, NEW)
    assert found.causes[0].kind is CauseKind.LAYOUT
    assert contention(found) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("__lll_lock_wait", "lock"),
        ("native_queued_spin_lock_slowpath", "lock"),
        ("futex_wait", "lock"),
        ("LOCK_open_take", "lock"),
        ("block_write", ""),
        ("clock_gettime", ""),
        ("addRef", "reference count"),
    ],
)
def test_locks_are_known_by_their_names_and_blocks_are_none(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def machine(idle: float, switches: float) -> list[Measurement]:
    return [Measurement("id", idle), Measurement("in", 50_000.0), Measurement("cs", switches)]


def test_idle_processors_and_more_switches_are_contention(same: Comparison) -> None:
    (cause,) = with_measurements(same, machine(5, 100_000), machine(30, 180_000)).causes
    assert cause.kind is CauseKind.CONTENTION
    assert "idle 5 % to 30 %" in cause.summary
    assert "context switches 100,000 to 180,000/s" in cause.summary


def test_more_switches_of_busy_processors_are_none(same: Comparison) -> None:
    assert contention(with_measurements(same, machine(5, 100_000), machine(6, 180_000))) == []


def test_changed_code_is_named_by_the_samples_of_each_function(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    """What the estimate holds for busy comes behind what the profile shows to be."""
    found = explained(table_cache(), table_cache(flags="-O1 -g"))
    before = next(c for c in found.causes if c.kind is CauseKind.CODE)
    heavy = next(name for name in reversed(before.symbols) if function_key(name) == name)
    profile = Profile("cycles", {heavy: 6900, "other": 3100}, 10000)
    after = next(c for c in with_profiles(found, profile, profile).causes if c.kind is CauseKind.CODE)
    assert after.symbols[0] == heavy
    assert f"of the samples of cycles: `{heavy}` 69.0%" in after.summary
    assert 0.65 * 0.69 - 0.001 <= after.strength < 0.35 + 0.3 * 0.69  # it costs what it did
