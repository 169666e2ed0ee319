"""Costs of a unit of work: what has nearly all samples in both builds, and became dearer all the same."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from sharing.explain.bench import pace_of
from sharing.explain.compare import ExplainOptions, explain
from sharing.explain.samples import Profile, with_profiles
from sharing.explain.statistics import compare_counts
from sharing.explain.tables.base import Measurement
from sharing.explain.work import Pace, Work, work_of
from sharing.knowledge import default_knowledge
from sharing.model.comparison import Cause, CauseKind, Comparison, LineMates
from sharing.model.finding import Confidence
from tests.builders.image import Builder

HALF = Work("qps", 2.0, 1.9, 2.1)  # a unit of work takes twice as much
SAME = Work("qps", 1.0, 0.95, 1.05)


def cost(old: int, new: int, work: Work | None = None, total: int = 100_000) -> tuple[bool, bool]:
    """(whether it became dearer, whether that is excluded) of what has so many samples of all."""
    change = compare_counts([old], [new], total, total, work=work)[0]
    return change.dearer, change.as_dear


def test_what_has_nearly_all_samples_is_dearer_where_the_same_work_takes_more() -> None:
    assert cost(93_000, 93_100) == (False, True)
    assert cost(93_000, 93_100, HALF) == (True, False)
    assert cost(93_000, 93_100, SAME) == (False, True)


def test_what_became_dearer_with_all_else_is_no_cause() -> None:
    """Another machine, or another clock: a tenth of the samples is a tenth of the loss."""
    assert cost(10_000, 10_000, HALF) == (False, True)
    assert cost(10_000, 40_000, HALF) == (True, False)


def test_a_share_that_rose_because_all_else_became_cheaper_costs_the_same() -> None:
    assert cost(10_000, 20_000)[0]
    assert cost(10_000, 20_000, Work("qps", 0.5, 0.48, 0.52)) == (False, True)


def test_what_is_hardly_any_of_the_loss_explains_none() -> None:
    """From nothing to a hundredth, while a unit of work takes twice as much; the near miss is a fifth of it."""
    assert cost(40, 1_000, HALF)[0] is False
    assert cost(40, 10_000, HALF)[0] is True


def test_few_samples_and_wide_intervals_exclude_nothing() -> None:
    assert cost(9, 9, SAME, total=1000) == (False, False)
    assert cost(93_000, 93_100, Work("qps", 1.1, 0.6, 2.0)) == (False, False)


def test_work_takes_more_where_the_pace_falls_and_processors_are_as_busy() -> None:
    found = work_of(Pace("qps", 0.5, 0.4, 0.625), (2e9, 2e9), (2e9, 2e9))
    assert found is not None
    assert (found.ratio, found.low, found.high) == pytest.approx((2.0, 1.6, 2.5))
    idle = work_of(Pace("qps", 0.5, 0.5, 0.5), (2e9,), (1e9,))
    assert idle is not None
    assert idle.ratio == pytest.approx(1.0)  # half of the work in half of the processor time
    wide = work_of(Pace("qps", 0.5, 0.5, 0.5), (1.8e9, 2.2e9), (1.9e9, 2.1e9))
    assert wide is not None
    assert wide.low < 1.6
    assert wide.high > 2.5


def test_without_a_pace_or_times_no_cost_is_known() -> None:
    assert work_of(None, (1.0,), (1.0,)) is None
    assert work_of(Pace("qps", 0.5, 0.5, 0.5), (1.0,), (0.0,)) is None


def measured(metric: str, values: Sequence[float]) -> list[Measurement]:
    return [Measurement(metric, value) for value in values]


@pytest.mark.parametrize(
    ("metric", "old", "new", "ratio"),
    [
        ("qps", (100, 101, 99, 100), (50, 50, 51, 49), 0.5),
        ("elapsed seconds", (10, 10.1, 9.9, 10), (20, 20.2, 19.8, 20), 0.5),
        ("requests per second", (100, 101, 99, 100), (200, 201, 199, 200), 2.0),
    ],
)
def test_the_pace_is_work_done_or_time_taken_turned_over(
    metric: str, old: Sequence[float], new: Sequence[float], ratio: float
) -> None:
    pace = pace_of(measured(metric, old), measured(metric, new))
    assert pace is not None
    assert (pace.metric, pace.ratio) == (metric, pytest.approx(ratio, rel=0.02))
    assert pace.low <= pace.ratio <= pace.high


def test_no_pace_is_told_by_figures_of_neither_kind_or_by_one_run() -> None:
    assert pace_of(measured("cs", (1, 2, 3)), measured("cs", (2, 3, 4))) is None
    assert pace_of(measured("qps", (100,)), measured("qps", (50,))) is None


def test_two_functions_that_share_all_the_time_do_not_lower_their_pair() -> None:
    """The near miss is where the rest of the program has the samples that it had."""
    found = _with_pair()
    dear = with_profiles(found, _halves(9_000), _halves(9_400)).causes[0]
    assert (dear.confidence, dear.strength > 0.9) == (Confidence.SAMPLED, True)
    assert dear.summary.endswith("the share of left and right in cpu-clock rose from 90.0% to 94.0%")
    same = with_profiles(found, _halves(9_000), _halves(9_010)).causes[0]
    assert same.strength == 0.45


def test_the_same_work_at_half_the_pace_confirms_a_pair_that_always_had_the_samples() -> None:
    found = _with_pair()
    dear = with_profiles(found, _halves(9_400), _halves(9_400), work=HALF).causes[0]
    assert dear.strength > 0.9
    assert "takes 2.00 times as much for the same work" in dear.summary


def test_changed_code_is_raised_by_what_the_same_work_costs() -> None:
    code = Cause(CauseKind.CODE, Confidence.STATIC, 0.4, "other instructions", ("left",))
    found = _with(code)
    busy = Profile("cpu-clock", {"left": 95_000, "rest": 5_000}, 100_000)
    alone, paced = (with_profiles(found, busy, busy, work=work).causes[0].strength for work in (None, HALF))
    assert paced > alone


def _halves(each: int) -> Profile:
    return Profile("cpu-clock", {"left": each, "right": each, "rest": 20_000 - 2 * each}, 20_000)


def _with_pair() -> Comparison:
    pair = LineMates(
        "a", "b", "0x40", 64, (0, 8), (8, 16), functions=("left", "right"), finding="rule", severity="high"
    )
    return _with(Cause(CauseKind.LAYOUT, Confidence.STATIC, 0.9, "a and b", new_line_mates=(pair,)))


def _with(cause: Cause) -> Comparison:
    builder = Builder()
    builder.function("left")
    found = explain(builder.image(), builder.image(), default_knowledge(), ExplainOptions())
    return msgspec.structs.replace(found, causes=(cause,))
