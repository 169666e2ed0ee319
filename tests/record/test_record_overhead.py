"""What recording costs: the protocol of turns, the interval, and the figures of a real command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linemate.overhead import interval, overhead_line
from linemate.turns import Turn, background_share, metric_of, take_turns
from pmu.sidecar import read_sidecar, sidecar_of
from sharing.model.errors import LinemateError
from sharing.model.recorded import MeasuredOverhead

Run = Callable[..., tuple[int, str, str]]


def contenders(disturbed: set[int]) -> tuple[list[str], Callable[[], Turn], Callable[[], Turn]]:
    """Two that log their turns; those with these numbers were disturbed."""
    log: list[str] = []

    def turn(name: str) -> Turn:
        log.append(name)
        return Turn((float(len(log)),), 0.5 if len(log) in disturbed else 0.0)

    return log, lambda: turn("a"), lambda: turn("b")


def test_turns_alternate_and_change_their_order() -> None:
    log, a, b = contenders(set())
    rounds = take_turns(a, b, 4)
    assert "".join(log) == "abbaabba"
    assert rounds.first == ((1,), (4,), (5,), (8,))
    assert rounds.second == ((2,), (3,), (6,), (7,))
    assert (rounds.repeated, rounds.disturbed) == (0, 0)


def test_a_disturbed_pair_is_measured_again_and_left_out() -> None:
    log, a, b = contenders({3})
    rounds = take_turns(a, b, 2)
    assert "".join(log) == "abbaab"
    assert rounds.first == ((1,), (5,))
    assert (rounds.repeated, rounds.disturbed) == (1, 0)


def test_but_not_for_ever() -> None:
    log, a, b = contenders(set(range(1000)))
    rounds = take_turns(a, b, 2)
    assert len(log) == 2 * 3 * 2
    assert (rounds.repeated, rounds.disturbed) == (4, 2)


@pytest.mark.parametrize(
    ("background_s", "wall_s", "share"), [(0.02, 1, 0), (0.1, 1, 0.1), (0.1, 0, pytest.approx(3.33, 0.01))]
)
def test_what_others_took_below_the_resolution_is_nothing(background_s: float, wall_s: float, share: float) -> None:
    assert background_share(background_s, wall_s) == share


@pytest.mark.parametrize(
    ("output", "figure"),
    [("ops 5", 5), ("ops=1_000", 1000), ("ops: 1,234.5", 1234.5), ("ops 1\nops 2", 2), ("ops -1e3", -1000)],
)
def test_a_metric_is_the_last_number_behind_the_word(output: str, figure: float) -> None:
    assert metric_of(output, "ops", "x") == figure


@pytest.mark.parametrize("output", ["", "opsx 5", "xops 5", "ops five"])
def test_and_another_word_is_not_it(output: str) -> None:
    with pytest.raises(LinemateError, match="no number"):
        metric_of(output, "ops", "x")


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60))
def test_the_interval_holds_the_median(values: list[float]) -> None:
    low, high = interval(values)
    ordered = sorted(values)
    assert low <= ordered[(len(ordered) - 1) // 2]
    assert ordered[len(ordered) // 2] <= high


@pytest.mark.parametrize(
    ("count", "ranks"), [(1, (1, 1)), (5, (1, 5)), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (30, (10, 21))]
)
def test_its_ranks_are_those_of_the_sign_test(count: int, ranks: tuple[int, int]) -> None:
    """Tables of the confidence interval of a median, 95 %, e.g. Conover, Practical Nonparametric Statistics."""
    assert interval([float(number) for number in range(1, count + 1)]) == ranks


@pytest.mark.parametrize(
    ("cost", "low", "high", "disturbed", "word"),
    [
        (0.01, -0.01, 0.03, 0, "within the spread"),
        (0.02, 0.01, 0.03, 0, "+2.0% (95 %: +1.0% to +3.0%); "),
        (0.02, 0.01, 0.03, 3, "inconclusive"),
        (0.50, 0.40, 0.60, 3, "+50.0% (95 %: +40.0% to +60.0%); "),
    ],
)
def test_how_a_cost_is_worded(cost: float, low: float, high: float, disturbed: int, word: str) -> None:
    row = MeasuredOverhead("ops", True, (5.0,) * 4, (4.9,) * 4, cost, low, high, 0, disturbed)
    assert word in overhead_line(row)


def test_the_overhead_of_a_real_command_is_in_the_sidecar(
    real_perf: str, linemate: Run, program: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p"
    code, printed, said = linemate(
        "record", "-o", out, "--event", real_perf, "--overhead", "--pairs", 2, "--", program, 3_000_000
    )
    assert code == 0, said
    assert printed.count("loops_done") == 1, "only the recording itself prints"
    assert said.count("overhead:") == len(read_sidecar(sidecar_of(out)).overhead)
    for row in read_sidecar(sidecar_of(out)).overhead:
        assert (len(row.without), row.more_is_better) == (2, False)
        assert row.low <= row.cost <= row.high
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "p.json"]


def test_with_a_metric_that_is_what_is_compared(real_perf: str, linemate: Run, program: Path, tmp_path: Path) -> None:
    out = tmp_path / "p"
    line = ("--event", real_perf, "--overhead", "--pairs", 1, "--metric", "loops_done", "--", program, 1_000_000)
    code, _, said = linemate("record", "-o", out, *line)
    assert code == 0, said
    (row,) = read_sidecar(sidecar_of(out)).overhead
    assert (row.figure, row.more_is_better, row.cost) == ("loops_done", True, 0)


def test_a_command_that_fails_has_no_overhead(real_perf: str, linemate: Run, tmp_path: Path) -> None:
    code, _, said = linemate(
        "record", "-o", tmp_path / "p", "--event", real_perf, "--overhead", "--pairs", 1, "--", "false"
    )
    assert code == 2
    assert "ended with 1" in said
    assert not list(tmp_path.iterdir())
