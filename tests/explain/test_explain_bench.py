"""Published benchmark tables judged: a steady small gain, a collapse, a step along revisions, and too little to say."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.explain.bench import compare_measurements, over_conditions, paired, with_measurements
from sharing.explain.signature import Reading, medians, read_signature
from sharing.explain.statistics import paired_change
from sharing.explain.tables.base import Measurement, without_builds
from sharing.model.comparison import CauseKind
from tests.explain.conftest import BuildTableCache, Explain
from tests.explain.test_explain_tables import data


def of(measurements: tuple[Measurement, ...], label: str, text: str) -> tuple[Measurement, ...]:
    return tuple(m for m in measurements if m.label(label) == text)


def test_no_cell_of_a_table_measured_once_is_called_significant() -> None:
    found = data("revisions_950_968.txt")
    changes = compare_measurements(of(found, "revno", "950"), of(found, "revno", "968"), ignore=("revno",))
    assert len(changes) == 32
    assert not any(c.effect.significant for c in changes)
    worst = min(changes, key=lambda c: c.effect.change)
    assert dict(worst.labels)["c"] == "4"
    assert worst.effect.change == pytest.approx(1081.72 / 1163.77 - 1, abs=1e-3)


def test_the_table_as_a_whole_gained_half_a_percent_and_chance_may_be_all_of_it() -> None:
    """The text calls it one to two percent over most levels; sixteen cells say how much it may be."""
    found = data("revisions_950_968.txt")
    effect = paired(of(found, "revno", "950"), of(found, "revno", "968"), "tps", ignore=("revno",))
    assert effect is not None
    assert effect.change == pytest.approx(0.0055, abs=1e-4)
    assert effect.low == pytest.approx(-0.0048, abs=1e-4)
    assert effect.high == pytest.approx(0.0093, abs=1e-4)
    assert effect.p == pytest.approx(0.065, abs=1e-3)
    assert not effect.significant


def test_signs_of_few_pairs_are_counted_exactly() -> None:
    effect = paired_change(np.array([1.0, 1.0, 1.0]), np.array([1.1, 1.2, 1.3]))
    assert effect.p == pytest.approx(2 / 8)
    assert effect.change == pytest.approx(0.2, abs=0.01)


def test_repeated_cells_are_tested_with_correction() -> None:
    rng = np.random.default_rng(1)

    def build(loss: float) -> list[Measurement]:
        cells = []
        for threads in ("2", "4", "8", "16"):
            level = 1000.0 * (1 - loss if threads == "16" else 1)
            cells += [Measurement("tps", float(v), (("c", threads),)) for v in rng.normal(level, 8, 8)]
        return cells

    changes = compare_measurements(build(0.0), build(0.1))
    assert [dict(c.labels)["c"] for c in changes if c.effect.significant] == ["16"]


def repeated(level: float, seed: int) -> list[Measurement]:
    return [Measurement("tps", float(v), (("threads", "16"),)) for v in np.random.default_rng(seed).normal(level, 5, 8)]


def test_a_regression_is_noted_with_its_interval(table_cache: BuildTableCache, explained: Explain) -> None:
    found = with_measurements(
        explained(table_cache(), table_cache("-DEXTRA_SYSVAR")), repeated(1000, 1), repeated(940, 2)
    )
    note = next(n for n in found.coverage.notes if n.startswith("tps"))
    assert note.startswith("tps (threads 16): -6.")
    assert "by chance" not in note


def test_no_regression_is_said_to_be_none(table_cache: BuildTableCache, explained: Explain) -> None:
    found = with_measurements(
        explained(table_cache(), table_cache("-DEXTRA_SYSVAR")), repeated(1000, 1), repeated(1000, 3)
    )
    assert "no significant regression: nothing measured changed by more than chance" in found.coverage.notes


def test_sleeping_threads_weaken_the_layout_as_a_cause(table_cache: BuildTableCache, explained: Explain) -> None:
    vmstat = tuple(m for m in data("two_machines.txt") if m.label("under") == "vmstat")
    before = explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))
    after = with_measurements(before, of(vmstat, "build", "1-mysql"), of(vmstat, "build", "1-drizzle"))
    old, new = (next(c for c in x.causes if c.kind is CauseKind.LAYOUT) for x in (before, after))
    assert new.strength == old.strength / 2
    assert any("threads sleep" in text for text in new.evidence)


def test_idle_processors_that_nothing_wakes_speak_against_bouncing_lines() -> None:
    vmstat = tuple(m for m in data("two_machines.txt") if m.label("under") == "vmstat")
    slow, fast = medians(of(vmstat, "build", "1-drizzle")), medians(of(vmstat, "build", "1-mysql"))
    found = read_signature(fast, slow)
    assert found.reading is Reading.AGAINST_BOUNCING
    assert "idle 5 % to 72 %" in found.why
    assert "interrupts 110,000 to 6,000/s" in found.why


def test_busy_processors_that_do_less_are_like_bouncing_lines() -> None:
    fast = {"id": 5.0, "in": 100_000.0, "cs": 200_000.0}
    assert read_signature(fast, {"id": 6.0, "in": 90_000.0, "cs": 210_000.0}).reading is Reading.LIKE_BOUNCING
    assert read_signature(fast, {"id": 40.0, "in": 95_000.0, "cs": 200_000.0}).reading is Reading.UNCLEAR
    assert read_signature(fast, {"id": 40.0}).reading is Reading.UNCLEAR


def runs(values: list[float], metric: str = "tps", **labels: str) -> list[Measurement]:
    return [Measurement(metric, value, tuple(labels.items())) for value in values]


FOUR = [100.0, 101.0, 99.0, 100.5]


def scaled(values: list[float], factor: float) -> list[float]:
    return [value * factor for value in values]


def test_two_conditions_that_lose_a_fifth_are_told_together_though_four_runs_of_one_are_too_few() -> None:
    old = runs(FOUR, threads="1") + runs(scaled(FOUR, 2), threads="2")
    new = runs(scaled(FOUR, 0.8), threads="1") + runs(scaled(FOUR, 1.6), threads="2")
    (whole,) = over_conditions(old, new)
    assert whole.effect.significant
    assert whole.effect.p is not None
    assert whole.effect.p < 0.01
    assert whole.effect.change == pytest.approx(-0.2)
    assert whole.effect.low is not None
    assert whole.effect.high is not None
    assert -0.21 < whole.effect.low < whole.effect.high < -0.19
    cells = compare_measurements(old, new, share=0.5)
    assert [(c.effect.significant, c.needed) for c in cells] == [(False, 5), (False, 5)]


def test_conditions_that_change_in_opposite_ways_are_no_change_of_all() -> None:
    old = runs(FOUR, threads="1") + runs(FOUR, threads="2")
    new = runs(scaled(FOUR, 0.8), threads="1") + runs(scaled(FOUR, 1.25), threads="2")
    assert [c.effect.significant for c in over_conditions(old, new)] == [False]


@pytest.mark.parametrize(("count", "significant", "least"), [(4, True, 0), (3, False, 4), (2, False, 4)])
def test_too_few_repetitions_are_called_too_few(count: int, *, significant: bool, least: int) -> None:
    (cell,) = compare_measurements(runs(FOUR[:count]), runs(scaled(FOUR[:count], 0.5)))
    assert (cell.effect.significant, cell.needed) == (significant, least)


def test_figures_that_never_vary_and_multiples_cost_nothing() -> None:
    """Four runs of one condition: the least chance is 2 of 70, and any correction would be too much."""

    def build(values: list[float]) -> list[Measurement]:
        more = {"queries": 20.0, "reads": 14.0, "writes": 4.0}
        out = runs(values) + runs([0.0] * 4, "errors") + runs([0.81] * 4, "latency min (ms)")
        return out + [m for name, factor in more.items() for m in runs(scaled(values, factor), name)]

    found = {c.metric: c for c in compare_measurements(build(FOUR), build(scaled(FOUR, 0.9)))}
    assert {name for name, c in found.items() if c.effect.significant} == {"tps", "queries", "reads", "writes"}
    assert found["errors"].effect.p == 1.0


def test_noise_of_many_figures_is_corrected_for() -> None:
    """A hundred pairs of equal builds with twenty figures each: a false alarm in about five of them."""
    rng = np.random.default_rng(5)

    def build() -> list[Measurement]:
        return [m for name in map(str, range(20)) for m in runs(rng.normal(100, 1, 6).tolist(), name)]

    alarms = sum(any(c.effect.significant for c in compare_measurements(build(), build())) for _ in range(100))
    assert alarms <= 11


def test_a_numbered_run_is_a_repetition_and_a_named_one_a_condition() -> None:
    old = [Measurement("tps", v, (("run", str(i)),)) for i, v in enumerate(FOUR)]
    new = [Measurement("tps", v * 0.8, (("run", str(i + 4)),)) for i, v in enumerate(FOUR)]
    assert [c.effect.repetitions for c in compare_measurements(old, new)] == [(4, 4)]
    named = [Measurement("tps", v, (("run", name),)) for name in ("cold", "warm") for v in FOUR]
    assert len(compare_measurements(named, named)) == 2


def test_revisions_of_which_each_build_has_its_own_are_repetitions_of_it() -> None:
    """Nightly rows by commit: those before and those after; a commit that is on both sides is a condition."""
    old = [m for commit in "abcd" for m in runs([1000.0 + ord(commit)], commit=commit, threads="4")]
    new = [m for commit in "efgh" for m in runs([800.0 + ord(commit)], commit=commit, threads="4")]
    (change,) = compare_measurements(*without_builds(old, new))
    assert (change.labels, change.effect.repetitions) == ((("threads", "4"),), (4, 4))
    both = without_builds(old, [*new, *runs([850.0], commit="a", threads="4")])
    assert both[0] == tuple(old)


def test_a_note_never_says_that_there_is_no_regression_where_none_could_be_seen(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    found = with_measurements(explained(table_cache(), table_cache()), runs(FOUR[:3]), runs(scaled(FOUR[:3], 0.8)))
    assert "too few repetitions to tell a change from chance: 4 a side are needed" in found.coverage.notes
    assert not any("no significant regression" in note for note in found.coverage.notes)
    assert [m.needed for m in found.measurements] == [4]
    assert found.loss == ""
    more = [value for scale in (1.0, 1.01, 0.99) for value in scaled(FOUR, scale)]
    worse = with_measurements(explained(table_cache(), table_cache()), runs(more), runs(scaled(more, 0.8)))
    assert "-20.0%" in worse.loss
