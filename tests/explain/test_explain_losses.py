"""What measurements say of a loss: one, none that matters, or nothing; and what each does to a cause."""

from __future__ import annotations

import msgspec
import pytest

from sharing.explain.bench import with_measurements
from sharing.explain.losses import Answer, loss_of
from sharing.explain.statistics import Effect
from sharing.explain.tables.base import Measurement
from sharing.model.comparison import Cause, CauseKind, Comparison, MatchSummary
from sharing.model.finding import Confidence
from tests.explain.conftest import BuildTableCache, Explain
from tests.explain.test_explain_bench import FOUR, repeated, runs


def effect(change: float, low: float, high: float, *, p: float = 0.5) -> Effect:
    return Effect(100.0, 100.0 * (1 + change), change, low, high, p, (8, 8))


@pytest.mark.parametrize(
    ("metric", "change", "answer"),
    [
        ("tps", effect(-0.01, -0.02, 0.01), Answer.NONE),
        ("tps", effect(-0.01, -0.05, 0.03), Answer.INCONCLUSIVE),
        ("tps", effect(0.265, -0.02, 0.51), Answer.NONE),  # a gain, or a loss of two percent
        ("latency (ms)", effect(0.265, -0.02, 0.51), Answer.INCONCLUSIVE),
        ("tps", effect(-0.06, -0.08, -0.04, p=0.001), Answer.LOSS),
        ("latency (ms)", effect(0.06, 0.04, 0.08, p=0.001), Answer.LOSS),
        ("latency (ms)", effect(-0.06, -0.08, -0.04, p=0.001), Answer.NONE),
        ("cs", effect(0.5, 0.4, 0.6, p=0.001), Answer.INCONCLUSIVE),  # nobody knows which way is better
    ],
)
def test_an_interval_excludes_a_loss_or_leaves_it_open(metric: str, change: Effect, answer: Answer) -> None:
    assert loss_of([(metric, metric, change)], 0.03).answer is answer


def test_the_limit_is_what_matters_to_the_user() -> None:
    change = effect(-0.01, -0.05, 0.03)
    assert [loss_of([("tps", "tps", change)], limit).answer for limit in (0.04, 0.06)] == [
        Answer.INCONCLUSIVE,
        Answer.NONE,
    ]


FLAT, UP = effect(0, -0.002, 0.002), effect(0.25, 0.2, 0.3, p=0.001)
CONSTANT = effect(0, 0, 0, p=1.0)


@pytest.mark.parametrize(
    ("given", "answer", "name"),
    [
        ({"qps": FLAT, "p99_ms": UP}, Answer.LOSS, "p99_ms"),
        ({"qps": FLAT, "p99_ms": FLAT}, Answer.NONE, "qps"),
        ({"iterations": CONSTANT, "real_time": UP}, Answer.LOSS, "real_time"),
        ({"tps": CONSTANT}, Answer.UNKNOWN, ""),  # a figure that never varies is no evidence
        ({"qps": FLAT, "widgets": UP}, Answer.INCONCLUSIVE, "widgets"),  # perhaps a loss
        ({"qps": FLAT, "widgets": FLAT}, Answer.NONE, "qps"),
        ({"qps": FLAT, "rss_kb": UP}, Answer.NONE, "qps"),  # memory is not speed
        ({"errors": FLAT}, Answer.UNKNOWN, ""),
    ],
)
def test_each_metric_speaks_for_itself(given: dict[str, Effect], answer: Answer, name: str) -> None:
    found = loss_of([(metric, metric, change) for metric, change in given.items()], 0.03)
    assert (found.answer, found.name) == (answer, name)


def test_one_metric_that_lost_is_a_loss_whatever_others_say() -> None:
    found = loss_of([("tps", "tps", effect(0, -0.01, 0.01)), ("qps", "qps", effect(-0.2, -0.25, -0.15, p=0.001))], 0.03)
    assert (found.answer, found.name) == (Answer.LOSS, "qps")


def test_nothing_that_was_repeated_says_nothing() -> None:
    once = Effect(100.0, 80.0, -0.2, None, None, None, (1, 1))
    assert loss_of([("tps", "tps", once)], 0.03).answer is Answer.UNKNOWN


@pytest.fixture(scope="module")
def moved(table_cache: BuildTableCache, explained: Explain) -> Comparison:
    return explained(table_cache(), table_cache("-DEXTRA_SYSVAR"))


def test_measurements_that_exclude_a_loss_lower_the_layout(moved: Comparison) -> None:
    after = with_measurements(moved, repeated(1000, 1), repeated(1000, 3)).causes[0]
    assert after.strength == pytest.approx(moved.causes[0].strength / 2)
    assert "a loss of" in after.summary
    faster = with_measurements(moved, repeated(1000, 1), repeated(2000, 3)).causes[0]
    assert "a loss of any size is excluded" in faster.summary


def test_measurements_that_leave_a_loss_open_lower_nothing_and_say_so(moved: Comparison) -> None:
    """Four runs that vary by a third."""
    old, new = runs([100.0, 130.0, 90.0, 120.0]), runs([95.0, 140.0, 85.0, 118.0])
    found = with_measurements(moved, old, new)
    assert found.causes[0].strength == moved.causes[0].strength
    assert any(note.startswith("inconclusive: a loss of up to") for note in found.coverage.notes)
    assert not any("no significant regression" in note for note in found.coverage.notes)


def test_a_change_of_a_figure_that_may_be_better_either_way_is_no_loss_and_not_open(moved: Comparison) -> None:
    old, new = ([Measurement("value", m.value) for m in repeated(level, seed)] for level, seed in ((1000, 1), (800, 2)))
    found = with_measurements(moved, old, new)
    assert found.causes[0].strength == moved.causes[0].strength
    assert any("does not say whether more of it is better" in note for note in found.coverage.notes)
    assert not any(note.startswith("inconclusive") for note in found.coverage.notes)


def test_a_sure_loss_raises_the_one_cause_that_is_left(moved: Comparison) -> None:
    assert [c.kind for c in moved.causes if c.strength >= 0.3 and not c.improves] == [CauseKind.LAYOUT]
    after = with_measurements(moved, repeated(1000, 1), repeated(800, 2)).causes[0]
    assert after.strength > moved.causes[0].strength
    assert "and no other cause is left" in after.summary


def test_a_sure_loss_raises_nothing_where_many_functions_are_unknown(moved: Comparison) -> None:
    """What was not recognised may be what costs: nobody can say that no other cause is left."""
    for matched, raised in ((95, True), (94, False)):
        known = msgspec.structs.replace(moved, functions=MatchSummary(100, 100, matched, {}))
        after = with_measurements(known, repeated(1000, 1), repeated(800, 2)).causes[0]
        assert (after.strength > moved.causes[0].strength) == raised
        assert ("no other cause is left" in after.summary) == raised


def test_a_loss_of_one_build_against_itself_is_not_due_to_the_files(moved: Comparison) -> None:
    none = Cause(CauseKind.NONE, Confidence.LAYOUT, 0.0, "the same build: all that runs is the same, byte for byte")
    same = msgspec.structs.replace(moved, causes=(none,))
    slower = with_measurements(same, repeated(1000, 1), repeated(800, 2)).causes[0]
    assert slower.summary.endswith("%, which is not due to these files")
    assert with_measurements(same, repeated(1000, 1), repeated(1000, 2)).causes == (none,)


def test_a_sure_loss_raises_none_of_several(moved: Comparison) -> None:
    library = Cause(CauseKind.DEPENDENCY, Confidence.STATIC, 0.5, "another library")
    several = msgspec.structs.replace(moved, causes=(*moved.causes, library))
    after = with_measurements(several, repeated(1000, 1), repeated(800, 2))
    assert [c.strength for c in after.causes] == [c.strength for c in several.causes]


def test_a_measurement_decides_beside_a_profile_too(moved: Comparison) -> None:
    metrics = [Measurement("requests per second", value) for value in FOUR]
    assert with_measurements(moved, metrics, metrics).causes[0].strength < moved.causes[0].strength
