"""Sums of lines and the test of overlap: what must hold for any profile."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharing.model.attribution import Basis, Module, Region, Space, SpaceKind
from sharing.model.image import AccessKind
from sharing.sampled.interval import wilson
from sharing.sampled.lineuse.blame import blame, items_of
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.merging import merged
from sharing.sampled.lineuse.overlap import overlap
from sharing.sampled.lineuse.use import Concurrency, LineUse, Provenance
from sharing.sampled.numbers import MIN_TESTED
from tests.builders.recorded import LINE, MS, One, Recorded, attribution, ticks

KINDS = (AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW)
samples = st.lists(
    st.builds(
        One,
        thread=st.integers(0, 3),
        time=st.integers(0, 50 * MS),
        at=st.integers(0, 63),
        size=st.sampled_from((1, 4, 8, 16)),
        kind=st.sampled_from(KINDS),
        line=st.sampled_from((LINE, LINE + 64, LINE + 128)),
        function=st.sampled_from(("f", "g")),
        basis=st.sampled_from((Basis.NONE, Basis.DERIVED, Basis.ADDRESS)),
    ),
    min_size=1,
    max_size=120,
    unique_by=lambda one: one.time,
)


@given(samples, st.sampled_from((64, 128)))
@settings(max_examples=150, deadline=None)
def test_every_placed_sample_is_on_one_line_and_every_cost_has_one_cause(ones: list[One], size: int) -> None:
    placed = attribution(Recorded(ones))
    run = profile_lines(placed, size)
    known = [o for o in ones if o.basis is not Basis.NONE]
    assert run.totals.samples == len(ones)
    assert run.totals.attributed == len(known)
    by_line: dict[int, int] = {}
    for one in known:
        start = (one.line + one.at) & -size
        by_line[start] = by_line.get(start, 0) + 1
    assert {u.address: u.samples for u in run.lines} == {k: n for k, n in by_line.items() if n >= 4}
    for use in run.lines:
        assert sum(t.samples for t in use.touches) == use.samples
        assert sum(t.cost for t in use.touches) == pytest.approx(use.cost)
        assert all(0 <= t.start < t.end <= size for t in use.touches)
        items = items_of(use)
        assert all(a.end <= b.start for a, b in pairwise(items))
        result = blame(use, items)
        assert result.cost == pytest.approx(sum(i.cost for i in items))
        assert sum(result.pairs.values()) == pytest.approx(result.true + result.false)
        assert min(result.own, result.true, result.false) >= 0


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_an_interval_holds_its_share(part: float, more: float) -> None:
    share = wilson(part, part + more)
    assert 0 <= share.low <= share.value <= share.high <= 1


def test_ten_samples_say_less_than_a_thousand() -> None:
    few, many = wilson(5, 10), wilson(500, 1000)
    assert few.low < 0.25 < 0.45 < many.low
    assert wilson(0, 0).high == 1


def concurrency(a: list[int], b: list[int], cpu_a: int = 0, cpu_b: int = 1) -> Concurrency:
    first, second = np.array(sorted(a), np.uint64), np.array(sorted(b), np.uint64)
    return overlap(first, second, np.full(len(a), cpu_a), np.full(len(b), cpu_b)).concurrency


class TestOverlap:
    @pytest.mark.parametrize("period_ms", [0.25, 1.0, 4.0, 10.0])
    def test_two_that_run_side_by_side_are_concurrent_at_any_period(self, period_ms: float) -> None:
        a, b = ticks(300, every=period_ms), ticks(300, start=0.1, every=period_ms)
        assert concurrency(a, b) is Concurrency.CONCURRENT

    @pytest.mark.parametrize("period_ms", [0.25, 1.0, 4.0, 10.0])
    def test_two_that_take_turns_are_phased_at_any_period(self, period_ms: float) -> None:
        long = 20 * period_ms
        a = [t for i in range(0, 12, 2) for t in ticks(19, start=i * long, every=period_ms)]
        b = [t for i in range(1, 12, 2) for t in ticks(19, start=i * long, every=period_ms)]
        assert concurrency(a, b) is Concurrency.PHASED

    def test_a_line_that_gets_one_sample_of_fifty_is_judged_all_the_same(self) -> None:
        random = np.random.default_rng(7)
        a = np.cumsum(random.exponential(12 * MS, 200)).astype(int).tolist()
        b = np.cumsum(random.exponential(12 * MS, 200)).astype(int).tolist()
        assert concurrency(a, b) is Concurrency.CONCURRENT

    def test_one_that_is_often_descheduled_is_concurrent_while_it_runs(self) -> None:
        a = [t for i in range(20) for t in ticks(16, start=i * 8.0)]
        assert concurrency(a, ticks(640, start=0.1)) is Concurrency.CONCURRENT

    def test_turns_on_one_processor_are_not_concurrent(self) -> None:
        a = [t for i in range(0, 40, 2) for t in ticks(16, start=i * 4.0)]
        b = [t for i in range(1, 40, 2) for t in ticks(16, start=i * 4.0)]
        assert concurrency(a, b, 0, 0) is not Concurrency.CONCURRENT

    def test_threads_that_hardly_get_a_processor_miss_each_other_by_chance(self) -> None:
        a, b = ticks(12) + ticks(12, start=100), ticks(12, start=40) + ticks(12, start=160)
        assert concurrency(a, b) is Concurrency.UNKNOWN

    def test_few_samples_say_nothing(self) -> None:
        assert concurrency(ticks(MIN_TESTED - 1), ticks(300, start=0.1)) is Concurrency.UNKNOWN
        assert concurrency(ticks(MIN_TESTED * 2), ticks(MIN_TESTED * 2, start=0.1)) is Concurrency.CONCURRENT

    @pytest.mark.parametrize("few", [[0], [0, MS], [112 * MS], [0, 112 * MS]])
    def test_who_was_there_only_before_or_after_all_uses_did_not_meet_them(self, few: list[int]) -> None:
        assert concurrency(few, ticks(400, start=10)) is Concurrency.PHASED

    @pytest.mark.parametrize("few", [[0, 50 * MS], [60 * MS], []])
    def test_who_was_there_once_meanwhile_may_have_met_them(self, few: list[int]) -> None:
        assert concurrency(few, ticks(400, start=10)) is Concurrency.UNKNOWN

    def test_a_short_use_says_little_of_a_sample_long_before(self) -> None:
        assert concurrency([0, MS], ticks(12, start=100)) is Concurrency.UNKNOWN

    def test_without_a_clock_nothing_is_said(self) -> None:
        assert concurrency([0] * 50, [0] * 50) is Concurrency.UNKNOWN
        assert concurrency([0] * 2, [9] * 50) is Concurrency.UNKNOWN


def test_witnesses_say_who_writes_where_samples_fall_on_loads() -> None:
    (use,) = profile_lines(attribution(Recorded().loop(0, ticks(50), at=0)), 64).lines
    assert {(t.kind, t.provenance, t.samples) for t in use.touches} == {
        (AccessKind.LOAD, Provenance.SAMPLE, 50),
        (AccessKind.STORE, Provenance.WITNESS, 50),
    }
    assert sum(t.cost for t in use.touches if t.provenance is Provenance.WITNESS) == 0


class Code:
    """A store that code says ``work`` makes at bytes 8–15 of every line."""

    def touches(self, link: int, size: int) -> list[tuple[int, int, int, AccessKind, bool, frozenset[int]]]:
        return [(0, 8, 16, AccessKind.STORE, False, frozenset())]


def static_line(target: bool) -> LineUse:
    recorded = Recorded().loop(0, ticks(50), at=0, writes=False, region=Region.STATIC, link=0x4000)
    return profile_lines(attribution(recorded, modules=(Module("/bin/x", target=target),)), 64, Code()).lines[0]


def test_code_of_a_sampled_function_says_who_writes_where_nothing_else_does() -> None:
    assert [(t.provenance, t.start) for t in static_line(True).touches if t.writes] == [(Provenance.CODE, 8)]
    assert [t for t in static_line(False).touches if t.writes] == []


def test_samples_of_no_known_function_are_touches_all_the_same() -> None:
    placed = attribution(Recorded().loop(0, ticks(50), at=0, region=Region.STATIC, link=0x4000))
    placed = replace(placed, modules=(Module("/bin/x", target=True),))
    placed.rows["function"] = -1
    (use,) = profile_lines(placed, 64, Code()).lines
    assert {(t.function, t.samples) for t in use.touches if t.reads} == {("?", 50)}


@pytest.mark.parametrize(("samples", "writers"), [(200, {0}), (5, {0, 1})])
@pytest.mark.parametrize("other", [8, 16])
def test_a_thread_that_would_show_at_an_access_and_does_not_takes_another_way_through_the_function(
    samples: int, writers: set[int], other: int
) -> None:
    """Two threads run ``work``; samples see the one at its store to bytes 8–15, the other at another line."""
    recorded = Recorded().loop(0, ticks(200), at=8, region=Region.STATIC, link=0x4000)
    away = ticks(samples, shift=9)
    recorded.loop(1, away, at=other, line=LINE + 0x400, region=Region.STATIC, link=0x4400)
    placed = attribution(recorded, modules=(Module("/bin/x", target=True),))
    use = next(u for u in profile_lines(placed, 64, Code()).lines if u.link == 0x4000)
    assert {t.thread for t in use.touches if t.writes} == writers


@pytest.mark.parametrize(("kind", "threads"), [(SpaceKind.PRIVATE, {0}), (SpaceKind.SHARED, {0, 1})])
def test_code_of_another_process_touches_only_memory_that_both_have(kind: SpaceKind, threads: set[int]) -> None:
    recorded = Recorded().loop(0, ticks(50), at=0, region=Region.STATIC, link=0x4000)
    recorded.loop(1, ticks(50, shift=9), at=0, line=0x77000)
    placed = attribution(recorded, modules=(Module("/bin/x", target=True),))
    placed.threads["pid"][1] = 200  # a child, whose own copy has the same address
    placed = replace(placed, spaces=(Space(kind, 100 if kind is SpaceKind.PRIVATE else -1),))
    use = next(u for u in profile_lines(placed, 64, Code()).lines if u.link == 0x4000)
    assert {t.thread for t in use.touches if t.provenance is Provenance.CODE} == threads


def test_a_pair_of_lines_is_one_line_of_twice_the_size() -> None:
    recorded = Recorded().loop(0, ticks(50), at=0).loop(1, ticks(50, shift=9), at=64)
    assert [u.address for u in profile_lines(attribution(recorded), 64).lines] == [LINE, LINE + 64]
    (both,) = profile_lines(attribution(recorded), 128).lines
    assert (both.size, both.samples, len(both.threads)) == (128, 100, 2)


def test_profiles_join_where_storage_is_static_and_stay_apart_elsewhere() -> None:
    def run(line: int, region: Region, link: int) -> Recorded:
        recorded = Recorded()
        for thread in (0, 1):
            recorded.loop(thread, ticks(50, shift=thread), at=8 * thread, line=line, region=region, link=link)
        return recorded

    def lines(region: Region, link: int) -> list[LineUse]:
        runs = [profile_lines(attribution(run(at, region, link)), 64) for at in (LINE, 0x77000)]
        return list(merged(runs).lines)

    (one,) = lines(Region.STATIC, 0x4000)
    assert (one.samples, len(one.threads), one.link) == (200, 4, 0x4000)
    assert one.overlap(0, 1).concurrency is Concurrency.CONCURRENT
    assert one.overlap(0, 2).concurrency is Concurrency.PHASED, "threads of two runs never meet"
    assert len(lines(Region.HEAP, 0)) == 2


@pytest.mark.parametrize(
    ("elsewhere", "expected"), [("count", Concurrency.UNKNOWN), ("barrier_wait", Concurrency.PHASED)]
)
def test_threads_in_step_are_told_from_threads_in_phases_by_where_they_are_meanwhile(
    elsewhere: str, expected: Concurrency
) -> None:
    """One waits for the line while the other is at another one: of the same code, or of a barrier."""
    recorded = Recorded()
    for turn in range(40):
        times = ticks(6, start=turn * 2.0)
        recorded.loop(turn % 2, times, at=8 * (turn % 2), function="count")
        other = 1 - turn % 2
        recorded.loop(other, [t + 1000 for t in times], at=0, line=LINE + 4096, function=elsewhere)
    (use,) = [one for one in profile_lines(attribution(recorded), 64).lines if one.address == LINE]
    assert use.overlap(0, 1).concurrency is expected
