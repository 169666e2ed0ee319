"""Profiles of two builds joined to the layout: the published listings, and table_cache's own comparison."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.explain.contention import kind_of
from sharing.explain.dispersion import BLOCKS, ONE_EACH, stretches
from sharing.explain.samples import Profile, compare_profiles, function_key, together, with_profiles
from sharing.explain.statistics import times
from sharing.model.comparison import CauseKind
from sharing.model.finding import Confidence
from tests.explain.conftest import BuildTableCache, Explain

# LLC_MISSES of the fast and the slow build; the totals follow from the percentages printed beside the counts.
FAST = Profile(
    "LLC_MISSES",
    {
        "/no-vmlinux": 43387,
        "pthread_mutex_lock": 21919,
        "pthread_mutex_unlock": 6986,
        "tc_release_table(TABLE*)": 5427,
        "TABLE::init(THD*, TABLE_LIST*)": 3741,
        "open_tables(THD*, TABLE_LIST*, unsigned int, unsigned int, Prelocking_strategy*)": 3014,
    },
    round(43387 / 0.374148),
)
SLOW = Profile(
    "LLC_MISSES",
    {
        "/no-vmlinux": 43059,
        "pthread_mutex_lock": 20065,
        "tc_release_table(TABLE*)": 5736,
        "pthread_mutex_unlock": 5633,
        "TABLE::init(THD*, TABLE_LIST*)": 3331,
        "open_tables(THD*, TABLE_LIST*, unsigned int, unsigned int, Prelocking_strategy*)": 2913,
    },
    round(43059 / 0.391488),
)
# Oprofile of two versions of a storage engine: the functions that the report calls out, with their totals.
BEFORE = Profile(
    "",
    {
        "(no symbols)": 509411,
        "Record::addRef()": 46598,
        "my_hash_sort_simple": 36387,
        "SyncObject::lock(Sync*, LockType, int)": 30671,
        "SyncObject::unlock(Sync*, LockType)": 19435,
        "Table::fetch(int)": 16090,
        "malloc": 16077,
        "code_state": 14200,
    },
    round(509411 / 0.414194),
)
AFTER = Profile(
    "",
    {
        "(no symbols)": 338705,
        "Record::addRef()": 127634,
        "SyncObject::lock(Sync*, LockType, int)": 113885,
        "SyncObject::unlock(Sync*, LockType)": 84493,
        "Table::fetch(int)": 51897,
        "my_hash_sort_simple": 14938,
        "malloc": 8352,
        "code_state": 8267,
    },
    round(338705 / 0.261383),
)


def test_of_the_functions_listed_twice_the_release_rises_and_the_unlock_falls() -> None:
    found = {f.function: f.change for f in compare_profiles(FAST, SLOW)}
    assert found["tc_release_table"].significant
    assert (
        round(100 * found["tc_release_table"].old_share, 1),
        round(100 * found["tc_release_table"].new_share, 1),
    ) == (
        4.7,
        5.2,
    )
    assert found["pthread_mutex_unlock"].high < 1
    # Six percent less is no more than runs of one build differ by, and each was recorded once.
    assert found["TABLE::init"].low < 1 < found["TABLE::init"].high


def test_locks_and_reference_counts_rise_together_and_are_known_by_name() -> None:
    found = compare_profiles(BEFORE, AFTER)
    rose = {f.function: f.kind for f in found if f.change.significant and f.change.low > 1}
    assert rose == {
        "Record::addRef": "reference count",
        "SyncObject::lock": "lock",
        "SyncObject::unlock": "lock",
        "Table::fetch": "",
    }
    assert found[0].function == "SyncObject::lock"  # 2.5 % to 8.8 %: the largest rise of all


def test_the_end_of_a_listing_is_no_zero() -> None:
    """A function that only one cut listing shows is left out; of complete profiles it counts as not sampled."""
    cut = compare_profiles(Profile("", {"a": 10}, 1000), Profile("", {"a": 10, "b": 500}, 1000))
    assert [f.function for f in cut] == ["a"]
    whole = compare_profiles(Profile("", {"a": 1000}, 1000), Profile("", {"a": 500, "b": 500}, 1000))
    assert [f.function for f in whole if f.change.significant and f.change.low > 1] == ["b"]


@pytest.mark.parametrize(
    ("name", "key", "kind"),
    [
        ("tc_release_table(TABLE*)", "tc_release_table", ""),
        ("Record::addRef()", "Record::addRef", "reference count"),
        ("Record::release()", "Record::release", "reference count"),
        ("SyncObject::unlock(Sync*, LockType)", "SyncObject::unlock", "lock"),
        ("pthread_mutex_lock", "pthread_mutex_lock", "lock"),
        ("feed.part.0", "feed", ""),
    ],
)
def test_names_of_functions(name: str, key: str, kind: str) -> None:
    assert (function_key(name), kind_of(key)) == (key, kind)


def test_a_rise_of_a_function_that_touches_the_pair_confirms_the_layout(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    found = explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))
    before = found.causes[0]
    after = with_profiles(found, FAST, SLOW).causes[0]
    assert (after.kind, after.confidence) == (CauseKind.LAYOUT, Confidence.SAMPLED)
    assert after.strength > before.strength
    assert after.summary.endswith("the share of tc_release_table in LLC_MISSES rose from 4.7% to 5.2%")


def test_no_rise_where_the_pair_is_touched_weakens_the_layout(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))
    weaker = with_profiles(found, FAST, FAST)
    cause = next(c for c in weaker.causes if c.kind is CauseKind.LAYOUT)
    assert (cause.confidence, cause.strength) == (Confidence.SAMPLED, found.causes[0].strength / 2)
    assert any("no function's share rose" in note for note in weaker.coverage.notes)


def test_too_few_samples_say_nothing_against_the_layout(table_cache: BuildTableCache, explained: Explain) -> None:
    """A function that was seen once in a hundred samples may have doubled; one that has nearly all cannot rise."""
    found = explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))
    few = Profile("cycles", {"tc_release_table": 1, "run_worker": 9900}, 10000)
    cause = with_profiles(found, few, few).causes[0]
    assert (cause.strength, cause.confidence) == (found.causes[0].strength, Confidence.STATIC)
    assert cause.evidence[-1].endswith("too few samples, or too large a share, to show a rise")


def recording(seed: int, *, hot: float = 0.1, spread: float = 0.12, bursts: float = 1.0) -> Profile:
    """A second or two of a program: shares wander from run to run, and the kernel comes in bursts."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.4, 0.25, hot, 0.1, 0.02]) * np.exp(rng.normal(0, spread, 5))
    counts: dict[str, int] = {}
    blocks = {}
    names = ("get", "put", "hot", "lock", "log")
    for name, share in zip(names, shares / (shares.sum() + 0.1), strict=True):
        blocks[name] = rng.poisson(share * 500 / BLOCKS, BLOCKS)
    blocks["kernel"] = rng.poisson(2 * np.exp(bursts * rng.normal(0, 1, BLOCKS)))
    counts = {name: int(found.sum()) for name, found in blocks.items()}
    return Profile("cpu-clock", counts, sum(counts.values()), blocks, np.sum([*blocks.values()], axis=0))


def changed(old: Profile, new: Profile) -> list[str]:
    return [f.function for f in compare_profiles(old, new) if f.change.significant]


def test_two_recordings_of_one_build_mostly_differ_by_no_more_than_chance() -> None:
    pairs = [(recording(2 * i), recording(2 * i + 1)) for i in range(40)]
    alarms = sum(bool(changed(old, new)) for old, new in pairs)
    assert alarms <= 4
    independent = sum(
        bool(changed(Profile("", old.counts, old.total), Profile("", new.counts, new.total))) for old, new in pairs
    )
    assert independent >= alarms  # the stretches of a run only widen


def test_several_recordings_of_one_build_do_not_differ_either() -> None:
    sides = [together([recording(100 * i + k) for k in range(3)]) for i in range(40)]
    assert sum(bool(changed(old, new)) for old, new in zip(sides[::2], sides[1::2], strict=True)) <= 2


def test_a_share_that_trebles_is_found_and_one_that_rises_by_half_takes_several_recordings() -> None:
    assert "hot" in changed(recording(1), recording(2, hot=0.4))
    assert changed(recording(1, spread=0.02, bursts=0), recording(2, hot=0.15, spread=0.02, bursts=0)) == []
    old = together([recording(10 + k, spread=0.02, bursts=0) for k in range(6)])
    new = together([recording(20 + k, hot=0.15, spread=0.02, bursts=0) for k in range(6)])
    assert "hot" in changed(old, new)


def test_recordings_together_are_their_sum_and_know_how_they_differ() -> None:
    parts = [recording(k) for k in range(3)]
    whole = together(parts)
    assert (whole.runs, whole.total) == (3, sum(p.total for p in parts))
    assert whole.blocks["get"][:4].tolist() == [*(p.counts["get"] for p in parts), 0]
    assert together(parts[:1]) is parts[0]


def test_one_recording_of_each_is_said_to_be_one_and_confirms_less(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    found = explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))
    single = with_profiles(found, FAST, SLOW)
    several = with_profiles(found, together([FAST] * 3), together([SLOW] * 3))
    assert ONE_EACH in single.coverage.notes
    assert ONE_EACH not in several.coverage.notes
    assert found.causes[0].strength < single.causes[0].strength < several.causes[0].strength


def test_what_was_never_sampled_before_is_new_and_not_infinitely_more(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    found = explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))
    old = Profile("cycles", {"run_worker": 10000}, 10000)
    new = Profile("cycles", {"run_worker": 9000, "tc_release_table": 1000}, 10000)
    evidence = with_profiles(found, old, new).causes[0].evidence[0]
    assert evidence == "tc_release_table: 0.00% to 10.00% (new)"
    back = next(f.change for f in compare_profiles(new, old) if f.function == "tc_release_table")
    assert times(back) == "gone"


def test_stretches_hold_as_many_samples_each_and_need_times() -> None:
    order = np.random.default_rng(1).permutation(160)
    assert np.bincount(stretches(order)).tolist() == [10] * BLOCKS
    assert stretches(order)[order.argmin()] == 0
    assert not stretches(np.zeros(5, np.int64)).any()
