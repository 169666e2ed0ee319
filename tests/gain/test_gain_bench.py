"""The table of predicted against measured gains: what counts for its limits, and from which rounds."""

from __future__ import annotations

import pytest

from bench.gain import Estimate, Round, rows_of, table

NOTHING = Estimate()


def a_round(
    before: tuple[float, ...],
    after: tuple[float, ...],
    estimate: Estimate | None,
    *,
    name: str = "p",
    disturbed: bool = False,
) -> Round:
    return Round(name, before, after, estimate, disturbed)


def predicted(ratio: float) -> Estimate:
    return Estimate(ratio, 0.9 * ratio, 1.1 * ratio, proposed=True)


def test_the_error_is_that_of_the_prediction_against_all_runs_of_both_builds() -> None:
    (row,) = rows_of([a_round((2.0, 9.0), (1.0, 1.0), predicted(2.4)), a_round((2.0,), (1.0,), predicted(2.0))])
    assert row.measured == pytest.approx(2.0), "one slow run is no gain"
    assert row.predicted.ratio == pytest.approx(2.2)
    assert row.error == pytest.approx(0.1)


def test_errors_of_single_recordings_do_not_cancel() -> None:
    (row,) = rows_of([a_round((2.0,), (1.0,), predicted(ratio)) for ratio in (1.0, 3.0)])
    assert row.error == pytest.approx(0.0)
    assert row.single == pytest.approx(0.5)


def test_rounds_without_a_recording_count_for_what_is_measured_alone() -> None:
    (row,) = rows_of([a_round((2.0,), (1.0,), predicted(2.0)), *[a_round((4.0,), (1.0,), None)] * 2])
    assert row.measured == pytest.approx(4.0)
    assert row.predicted.ratio == pytest.approx(2.0)
    assert not rows_of([a_round((4.0,), (1.0,), None)]), "nothing was predicted"


def test_quiet_rounds_without_a_recording_do_not_replace_the_one_that_has_it() -> None:
    recorded = a_round((6.0,), (1.0,), predicted(2.0), disturbed=True)
    (row,) = rows_of([recorded, a_round((2.0,), (1.0,), None)])
    assert len(row.rounds) == 2


def test_rounds_that_others_disturbed_count_only_where_there_are_no_others() -> None:
    quiet, noisy = (a_round((s,), (1.0,), predicted(2.0), disturbed=s > 2) for s in (2.0, 6.0))
    assert rows_of([quiet, noisy])[0].measured == pytest.approx(2.0)
    assert rows_of([noisy])[0].measured == pytest.approx(6.0)


def test_what_is_not_proposed_counts_for_no_limit_and_is_judged_by_what_padding_gives() -> None:
    good = a_round((2.0,), (1.0,), predicted(2.0))
    slower = a_round((1.0,), (4.0,), NOTHING, name="memory")
    missed = a_round((3.0,), (2.0,), NOTHING, name="silent")
    lines = table(rows_of([good, slower, missed]))
    assert any("largest error of estimates" in line and "held" in line for line in lines)
    assert any(line.split()[0] == "memory" and "right" in line for line in lines)
    assert any(line.split()[0] == "silent" and "50% missed" in line for line in lines)
    assert any("1 of 2" in line for line in lines)


def test_an_error_that_was_said_to_be_possible_counts_for_the_median_alone() -> None:
    good = a_round((2.0,), (1.0,), predicted(2.0))
    doubtful = a_round((2.0,), (1.0,), Estimate(4.0, 1.0, 9.0, proposed=True, uncertain=True), name="doubtful")
    lines = table(rows_of([good, doubtful]))
    assert any("largest error of estimates" in line and "held" in line for line in lines)
    assert any("median error: 0.50" in line and "MISSED" in line for line in lines)
    assert any(line.split()[0] == "doubtful" and "uncertain" in line for line in lines)
