"""Steps in series: how often noise is called one, what is found of those that are planted, and what is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sharing.history.judge import judge
from sharing.history.pooled import judged_once
from sharing.history.series import Series
from sharing.history.steps import segment, smallest_chance
from sharing.model.history import Basis

Floats = npt.NDArray[np.float64]


def noise(
    rng: np.random.Generator, revisions: int, cells: int, together: float = 0.0, *, heavy: bool = False
) -> Floats:
    """Logarithms of about 1000 with 1 % of noise; ``together`` is the share that all cells of a revision have."""
    own = rng.standard_t(3, (revisions, cells)) if heavy else rng.normal(size=(revisions, cells))
    both: Floats = np.sqrt(1 - together) * own + np.sqrt(together) * rng.normal(size=(revisions, 1))
    logs: Floats = np.log(1000) + 0.01 * both
    return logs


@pytest.mark.parametrize(
    ("revisions", "cells", "together", "heavy"),
    [(8, 1, 0.0, False), (12, 6, 0.7, False), (16, 1, 0.0, True)],
)
def test_false_alarms_are_as_rare_as_stated(revisions: int, cells: int, together: float, heavy: bool) -> None:
    """100 series each: more than 11 of them have a chance below 0.5 % where 5 % is kept."""
    rng = np.random.default_rng(7)
    alarms = sum(bool(segment(noise(rng, revisions, cells, together, heavy=heavy)).splits) for _ in range(100))
    assert alarms <= 11


def test_false_alarms_of_repetitions_are_as_rare_as_stated() -> None:
    rng = np.random.default_rng(8)
    alarms = sum(bool(segment(noise(rng, 15, 2), groups=(5, 5, 5), repetitions=True).splits) for _ in range(100))
    assert alarms <= 11


@pytest.mark.parametrize(
    ("revisions", "at", "cells", "size", "only", "least"),
    [
        (12, 6, 8, 0.03, None, 0.9),  # three times the noise, in all conditions
        (20, 15, 4, 0.03, None, 0.9),
        (12, 7, 8, 0.06, 3, 0.6),  # in one of eight conditions
    ],
)
def test_planted_steps_are_found_where_they_are(
    revisions: int, at: int, cells: int, size: float, only: int | None, least: float
) -> None:
    rng = np.random.default_rng(9)
    right = 0
    for _ in range(20):
        logs = noise(rng, revisions, cells)
        logs[at:, slice(None) if only is None else only] += np.log(1 - size)
        right += [s.at for s in segment(logs).splits] == [at]
    assert right / 20 >= least


def test_a_step_of_one_condition_names_it_and_one_of_all_names_none() -> None:
    rng = np.random.default_rng(10)
    logs = noise(rng, 14, 6)
    logs[7:, 2] -= 0.2
    assert [(s.at, s.cell) for s in segment(logs).splits] == [(7, 2)]
    logs = noise(rng, 14, 6)
    logs[7:] -= 0.2
    assert [(s.at, s.cell) for s in segment(logs).splits] == [(7, -1)]


def test_two_steps_are_two() -> None:
    logs = noise(np.random.default_rng(11), 30, 4)
    logs[10:] -= 0.1
    logs[20:] += 0.05
    assert [s.at for s in segment(logs).splits] == [10, 20]


def test_a_slowdown_and_its_recovery_are_two_steps_where_they_are() -> None:
    """One split of the whole has half of the slow revisions, or all of them and some behind, on one side."""
    right = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        values = [np.median(rng.normal(900 if 12 <= i < 24 else 1000, 2, 3)) for i in range(36)]
        right += [s.at for s in segment(np.log(np.array(values))[:, None]).splits] == [12, 24]
    assert right >= 27  # each of three level stretches may give a false alarm


@pytest.mark.parametrize("at", [0, 5, 12, 23])
def test_one_wild_revision_is_no_step(at: int) -> None:
    logs = noise(np.random.default_rng(12), 24, 4)
    logs[at] -= 0.5
    assert segment(logs).splits == ()


def test_two_wild_revisions_at_the_end_are_one() -> None:
    """The near miss: what lasts for two is a level."""
    logs = noise(np.random.default_rng(12), 24, 4)
    logs[22:] -= 0.5
    assert [s.at for s in segment(logs).splits] == [22]


def test_a_level_that_slides_is_a_slope_and_a_staircase_is_none() -> None:
    rng = np.random.default_rng(13)
    slide = noise(rng, 40, 3) - np.linspace(0, 0.2, 40)[:, None]
    found = segment(slide)
    assert found.splits == ()
    assert found.slopes == ((0, 40),)
    stairs = noise(rng, 40, 3) - np.repeat([0, 0.1, 0.2, 0.3], 10)[:, None]
    found = segment(stairs)
    assert [s.at for s in found.splits] == [10, 20, 30]
    assert found.slopes == ()


def test_missing_measurements_are_no_figures() -> None:
    logs = noise(np.random.default_rng(14), 16, 4)
    logs[8:] -= 0.1
    logs[3, 1] = logs[9, 2] = logs[12] = np.nan
    assert [s.at for s in segment(logs).splits] == [8]


def test_too_few_revisions_point_and_do_not_show() -> None:
    logs = np.log(np.array([[211.5], [197.2], [57.7], [85.4], [42.7], [43.1]]))
    found = segment(logs)
    assert found.splits == ()
    assert found.best is not None
    assert found.best.at == 2
    assert found.best.chance >= smallest_chance(np.arange(7)) > 0.05


@pytest.mark.parametrize(("revisions", "enough"), [(3, False), (7, False), (8, True)])
def test_the_smallest_chance_says_when_a_series_is_long_enough(revisions: int, enough: bool) -> None:
    assert (smallest_chance(np.arange(revisions + 1)) < 0.05) is enough
    logs = np.log(np.where(np.arange(revisions) < revisions // 2, 100.0, 90.0))[:, None]
    logs += 1e-3 * np.random.default_rng(15).normal(size=logs.shape)
    assert bool(segment(logs).splits) is enough


def test_equal_values_step_nowhere() -> None:
    assert segment(np.zeros((20, 3))).best is None
    assert segment(np.zeros((0, 3))).best is None
    assert segment(np.full((20, 3), np.nan)).best is None


series = (
    st.integers(0, 10_000)
    .map(lambda seed: np.random.default_rng(seed))
    .flatmap(
        lambda rng: st.tuples(st.just(rng), st.integers(4, 14), st.integers(1, 4), st.sampled_from([0.0, 0.03, 0.2]))
    )
)


def drawn(parts: tuple[np.random.Generator, int, int, float]) -> Floats:
    rng, revisions, cells, size = parts
    logs = noise(rng, revisions, cells)
    logs[int(rng.integers(1, revisions)) :] -= size
    return logs


@settings(max_examples=25, deadline=None)
@given(series, st.floats(1e-6, 1e6))
def test_the_unit_does_not_matter(parts: tuple[np.random.Generator, int, int, float], factor: float) -> None:
    logs = drawn(parts)
    one, two = segment(logs), segment(logs + np.log(factor))
    assert [s.at for s in one.splits] == [s.at for s in two.splits]


@settings(max_examples=25, deadline=None)
@given(series)
@example((np.random.default_rng(8031), 9, 1, 0.2))  # a sum between two roundings, which its mirror image was not
def test_backwards_the_steps_are_mirrored(parts: tuple[np.random.Generator, int, int, float]) -> None:
    logs = drawn(parts)
    one, two = segment(logs), segment(logs[::-1])
    assert [s.at for s in one.splits] == [len(logs) - s.at for s in two.splits][::-1]
    assert one.best is None or two.best is None or one.best.chance == pytest.approx(two.best.chance, abs=0.003)


@settings(max_examples=25, deadline=None)
@given(series)
@example((np.random.default_rng(4095), 11, 2, 0.0))  # a chance at the level, which the order of drawing decided
def test_the_order_of_conditions_does_not_matter(parts: tuple[np.random.Generator, int, int, float]) -> None:
    logs = drawn(parts)
    assert [s.at for s in segment(logs).splits] == [s.at for s in segment(logs[:, ::-1]).splits]


def single(values: Sequence[tuple[float, ...]]) -> Series:
    return Series("tps", tuple(f"r{i}" for i in range(len(values))), ((),), tuple((v,) for v in values))


def test_revisions_of_equal_files_are_one_observation() -> None:
    """Four builds that ten revisions share: ten orders of values would look like a step, four cannot."""
    rng = np.random.default_rng(3)
    old, new = rng.normal(1000, 1), rng.normal(950, 1)
    builds = ["a"] * 5 + ["b"] * 5
    values = [(float(old),)] * 5 + [(float(new),)] * 5
    assert judge(single(values)).steps
    judged = judged_once(single(values), builds, builds, 0.05)
    assert judged.steps == ()
    assert "8 revisions load the same bytes as the one before: counted as one build" in judged.notes


def test_a_revision_of_the_same_files_is_no_suspect() -> None:
    rng = np.random.default_rng(4)
    keys = [str(i) for i in range(20)]
    values = [tuple(rng.normal(1000 if i < 10 else 900, 2, 3).tolist()) for i in range(20)]
    keys[10], values[10] = keys[9], values[9]
    (step,) = judged_once(single(values), keys, keys, 0.05).steps
    assert (step.between, step.suspects) == ((9, 11), (11,))


def test_files_that_come_back_share_out_the_rounds() -> None:
    """A change and its revert: both are steps, though the first and the last builds are the same."""
    rng = np.random.default_rng(5)
    keys = [str(i) for i in range(12)] + [f"slow{i}" for i in range(12)] + [str(i) for i in range(12)]
    by_key = {k: tuple(rng.normal(900 if k.startswith("slow") else 1000, 2, 6).tolist()) for k in keys}
    steps = judged_once(single([by_key[k] for k in keys]), keys, keys, 0.05).steps
    assert {(12,), (24,)} <= {s.suspects for s in steps}


def measured(logs: Floats) -> Series:
    return single([(float(np.exp(v)),) for v in logs])


def test_noise_that_lasts_is_rarely_called_a_step() -> None:
    """Correlation of 0.6 from one revision to the next: of such series, permutations alone call every second a step."""
    rng = np.random.default_rng(14)
    alarms = 0
    for _ in range(12):
        level = np.zeros(40)
        for at in range(1, 40):
            level[at] = 0.6 * level[at - 1] + 0.008 * rng.normal()
        alarms += bool(segment(level[:, None]).splits)
    assert alarms <= 4


def test_a_step_far_above_noise_that_lasts_is_found() -> None:
    rng = np.random.default_rng(15)
    level = np.zeros(40)
    for at in range(1, 40):
        level[at] = 0.6 * level[at - 1] + 0.008 * rng.normal()
    level[22:] -= 0.06
    assert [s.at for s in segment(level[:, None]).splits] == [22]


def test_a_loss_that_is_mended_is_two_steps_though_no_split_in_two_shows_it() -> None:
    rng = np.random.default_rng(16)
    found = 0
    for _ in range(5):
        logs = noise(rng, 40, 1)
        logs[14:24] -= 0.04
        found += [s.at for s in segment(logs).splits] == [14, 24]
    assert found >= 3


def test_the_places_that_are_possible_hold_the_true_one_and_are_few_where_the_step_is_clear() -> None:
    rng = np.random.default_rng(17)
    held = 0
    for _ in range(8):
        logs = noise(rng, 30, 1)[:, 0]
        logs[12:] -= 0.045
        held += any(12 in s.places for s in judge(measured(logs)).steps)
    assert held >= 7
    logs[12:] -= 0.1
    assert [s.places for s in judge(measured(logs)).steps] == [(12,)]


def test_builds_that_load_the_same_are_one_build_with_the_figures_of_all() -> None:
    """Two comments make three builds that differ in nothing: no step can stand between them, and none is wasted."""
    rng = np.random.default_rng(18)
    keys = [str(at) for at in range(12)]
    loads = [str(max(at, 8)) if 6 <= at <= 8 else str(at) for at in range(12)]
    values = [tuple(rng.normal(1000 if at < 8 else 930, 2, 2).tolist()) for at in range(12)]
    judged = judged_once(single(values), keys, loads, 0.05)
    assert not {7, 8} & {at for s in judged.steps for at in (*s.suspects, s.between[1])}
    assert "2 revisions load the same bytes as the one before: counted as one build" in judged.notes
    # The first of the three has the six figures of all of them.
    pooled = judged_once(single(values[6:9] * 4), [*keys], ["a"] * 12, 0.05)
    assert pooled.steps == ()
    assert pooled.best is None


def of_few_builds(rng: np.random.Generator, loss: float = 0.0) -> Series:
    """Sixteen revisions of four builds, eight runs each; revisions differ by 0.8 %, runs of one by a fifth of that."""
    level = np.exp(np.log(1000) + rng.normal(0, 0.008, 16) - np.where(np.arange(16) >= 9, loss, 0.0))
    return single([tuple((value * np.exp(rng.normal(0, 0.0016, 8))).tolist()) for value in level])


FEW_BUILDS = [0] * 6 + [1] + [2] * 2 + [3] * 7


def test_revisions_of_one_build_are_permuted_whole() -> None:
    """Their runs agree with each other better than with those of other revisions, whose builds load the same."""
    rng = np.random.default_rng(20)
    alarms = sum(bool(judge(of_few_builds(rng), builds=FEW_BUILDS).steps) for _ in range(25))
    assert alarms <= 3
    found = judge(of_few_builds(rng, loss=0.04), builds=FEW_BUILDS)
    assert found.basis is Basis.REVISIONS
    assert [(s.between, s.places) for s in found.steps] == [((8, 9), (9,))]


def test_two_revisions_on_a_side_are_enough_to_permute_and_one_is_not() -> None:
    """Runs of one revision, however many, then say that builds differ, not that a level lasts."""
    values = [(1000.0, 1001.0, 999.0)] * 9 + [(900.0, 901.0, 899.0)] * 2
    for revisions, basis in ((11, Basis.REVISIONS), (10, Basis.REPETITIONS)):
        found = judge(single(values[:revisions]), builds=[0] * 9 + [1] * (revisions - 9))
        assert (found.basis, [s.between[1] for s in found.steps]) == (basis, [9])


def test_a_failed_build_between_two_that_load_the_same_parts_nothing() -> None:
    rng = np.random.default_rng(19)
    values = [tuple(rng.normal(1000, 2, 3).tolist()) for _ in range(10)]
    values[5] = ()
    loads = [str(at) for at in range(10)]
    loads[6] = loads[4]
    judged = judged_once(single(values), [str(at) for at in range(10)], loads, 0.05)
    assert any(note.startswith("1 revision loads the same bytes") for note in judged.notes)
