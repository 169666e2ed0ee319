"""A loss by the number of threads: one that grows with them, one that does not, and what either says of causes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from sharing.explain.bench import with_measurements
from sharing.explain.tables.base import Measurement
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Confidence
from tests.explain.test_explain_heading import weak

FAST = {1: 21000.0, 8: 98000.0, 32: 118000.0}
SPREAD = (0.998, 1.0, 1.001, 0.999, 1.002, 0.9985)


def measured(
    losses: dict[int, float], runs: int = 1, level: str = "threads", metric: str = "qps", fast: dict[int, float] = FAST
) -> Comparison:
    """Causes of every kind with figures of both builds, ``losses`` by level."""
    made = weak()
    kinds = ((CauseKind.LAYOUT, 0.4), (CauseKind.CODE, 0.39), (CauseKind.DEPENDENCY, 0.38), (CauseKind.LAYOUT, 0.2))
    causes = tuple(Cause(kind, Confidence.STATIC, strength, f"{kind} {strength}") for kind, strength in kinds)
    sides = (
        [
            Measurement(metric, fast[at] * (1 - loss * of_new) * part, ((level, str(at)),))
            for at, loss in losses.items()
            for part in SPREAD[:runs]
        ]
        for of_new in (False, True)
    )
    return with_measurements(msgspec.structs.replace(made, causes=causes), *sides)


def strengths(found: Comparison) -> dict[str, float]:
    return {c.summary.partition(";")[0]: c.strength for c in found.causes}


@pytest.mark.parametrize("runs", [1, 6])
def test_a_loss_that_grows_with_threads_speaks_for_what_they_do_to_each_other(runs: int) -> None:
    found = measured({1: -0.005, 8: 0.12, 32: 0.21}, runs)
    assert found.by_level.startswith("the loss grows with threads")
    assert "no likely cause of that kind" not in found.by_level
    assert found.load == "32 threads"
    after = strengths(found)
    assert after["layout 0.4"] > 0.4
    assert after["layout 0.2"] == 0.2  # a trend is no evidence of a pair
    assert after["code 0.39"] < 0.39
    assert after["dependency 0.38"] == 0.38
    assert (after["layout 0.4"] > 0.5) == (runs > 1)


@pytest.mark.parametrize(
    ("losses", "runs", "level"),
    [
        ({1: 0.21, 8: 0.2, 32: 0.21}, 1, "threads"),
        ({1: 0.21, 8: 0.2, 32: 0.21}, 6, "threads"),
        ({1: 0.1, 8: 0.12, 32: 0.21}, 6, "threads"),
        ({1: 0.0, 8: 0.21, 32: 0.12}, 6, "threads"),
        ({1: 0.0, 32: 0.21}, 1, "threads"),
        ({1: 0.0, 8: 0.02, 32: 0.06}, 1, "threads"),
        ({1: 0.0, 8: 0.12, 32: 0.21}, 6, "rows"),
        ({1: 0.0, 8: 0.12, 32: 0.21}, 6, "n"),
        ({32: 0.21}, 6, "threads"),
        ({1: 0.0, 8: -0.12, 32: -0.21}, 6, "threads"),
    ],
    ids=["same", "same, repeated", "most of it at one", "falls back", "two", "small", "rows", "size", "one", "gain"],
)
def test_a_loss_without_a_clear_trend_says_nothing_of_causes(losses: dict[int, float], runs: int, level: str) -> None:
    found = measured(losses, runs, level)
    assert (found.by_level, found.load) == ("", "")
    assert strengths(found)["code 0.39"] >= 0.39


def test_two_levels_are_enough_where_repetitions_tell_them_apart() -> None:
    assert measured({1: 0.0, 32: 0.21}, 6).by_level


def test_of_times_more_is_a_loss() -> None:
    assert measured({1: 0.0, 8: -0.12, 32: -0.21}, 6, metric="seconds").by_level
    assert not measured({1: 0.0, 8: 0.12, 32: 0.21}, 6, metric="seconds").by_level


def test_without_a_likely_cause_of_that_kind_recordings_decide() -> None:
    causes = (Cause(CauseKind.CODE, Confidence.STATIC, 0.25, "code"),)
    sides = (
        [Measurement("tps", value * factor, (("clients", str(at)),)) for at, value, factor in rows]
        for rows in (((1, 100.0, 1), (8, 700.0, 1), (64, 900.0, 1)), ((1, 100.0, 1), (8, 700.0, 0.9), (64, 900.0, 0.7)))
    )
    found = with_measurements(msgspec.structs.replace(weak(), causes=causes), *sides)
    assert found.by_level.endswith("recordings of both builds at 64 clients decide")


def test_the_headline_has_the_loss_at_each_level_and_not_their_mean() -> None:
    found = measured({1: 0.0, 8: 0.12, 32: 0.21}, 6)
    assert found.loss.startswith("qps by threads: +0.0% at 1, -12.0% at 8, -21.0% at 32 (95 %: ")
    assert found.loss_seen == ""
    alone = measured({32: 0.21}, 6)
    assert alone.loss.startswith("qps (threads 32) -21.0% (")
    many = measured(dict.fromkeys(range(1, 9), 0.1) | {8: 0.3}, 4, fast=dict.fromkeys(range(1, 9), 1000.0))
    assert many.loss.startswith("qps -30.0% to -10.0% under 8 conditions (")


def test_a_loss_measured_once_is_said_with_how_many_runs_would_show_it() -> None:
    found = measured({1: 0.0, 8: 0.12, 32: 0.21})
    assert found.loss == ""
    assert found.loss_seen == "qps by threads: +0.0% at 1, -12.0% at 8, -21.0% at 32"
    assert found.runs_needed == 5
    assert measured({1: 0.0, 8: 0.12, 32: 0.21}, found.runs_needed).loss  # and they do
    for near in ({1: 0.0, 8: 0.01, 32: 0.02}, {1: -0.2, 8: -0.2, 32: -0.2}):
        assert (measured(near).loss_seen, measured(near).runs_needed) == ("", 0)


def trend(losses: dict[int, float], runs: int) -> Callable[[], object]:
    def said() -> object:
        found = measured(losses, runs, fast={**FAST, 16: 110000.0})
        return found.by_level, strengths(found)

    return said


# Of ``numbers``: a number of trends, another value of it, and what it decides.  ``test_explain_numbers`` moves each.
NUMBERS: list[tuple[str, float, Callable[[], object]]] = [
    ("GROWS_LEAST", 0.25, trend({1: 0.05, 32: 0.21}, 6)),
    ("GROWS_LEAST_ONCE", 0.25, trend({1: 0.05, 8: 0.12, 32: 0.21}, 1)),
    ("GROWS_LEVELS", 4, trend({1: 0.05, 8: 0.12, 32: 0.21}, 1)),
    ("GROWS_FROM", 0.1, trend({1: 0.05, 32: 0.21}, 6)),
    ("GROWS_SLACK", 0.0, trend({1: 0.05, 8: 0.19, 16: 0.18, 32: 0.21}, 6)),
    ("GROWS_RAISES", 0.0, trend({1: 0.05, 32: 0.21}, 6)),
    ("GROWS_UNSURE", 0.0, trend({1: 0.05, 8: 0.12, 32: 0.21}, 1)),
    ("GROWS_LOWERS", 1.0, trend({1: 0.05, 32: 0.21}, 6)),
]
