"""The table of predicted against measured gains: what counts for its limits, and from which rounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench import gain as bench_gain
from bench.gaintable import Estimate, Round, Row, rows_of, table

NOTHING = Estimate()


def a_round(
    gain: float, estimate: Estimate | None, *, name: str = "p", disturbed: bool = False, changed: bool = False
) -> Round:
    return Round(name, (gain,) * 4, (1.0,) * 4, estimate, disturbed, changed)


def predicted(ratio: float, severity: str = "high") -> Estimate:
    return Estimate(ratio, 0.9 * ratio, 1.1 * ratio, proposed=True, severity=severity)


def one_row(*rounds: Round) -> Row:
    (row,) = rows_of(rounds)
    return row


def has(lines: Sequence[str], *texts: str) -> bool:
    return any(all(text in line for text in texts) for line in lines)


def test_a_prediction_is_held_against_the_runs_around_its_recording() -> None:
    # The host moved the processors apart: sharing costs more, and the recording says so.
    row = one_row(a_round(1.0, predicted(1.0)), a_round(2.0, predicted(2.2)), a_round(2.0, predicted(2.2)))
    assert row.error == pytest.approx(0.1)
    assert row.inside == 3
    crossed = one_row(a_round(2.0, predicted(1.0)), a_round(1.0, predicted(2.0)))
    assert crossed.single == pytest.approx(0.75)
    assert crossed.inside == 0


def test_errors_of_single_recordings_do_not_cancel() -> None:
    row = one_row(*[a_round(2.0, predicted(ratio)) for ratio in (1.0, 3.0)])
    assert row.error == pytest.approx(0.0)
    assert row.single == pytest.approx(0.5)


def test_one_slow_run_is_no_gain() -> None:
    assert Round("p", (2.0, 2.0, 9.0), (1.0, 1.0, 1.0), None, disturbed=False).gain == pytest.approx(2.0)


def test_rounds_without_a_recording_count_for_nothing() -> None:
    assert one_row(a_round(2.0, predicted(2.0)), a_round(4.0, None)).measured == pytest.approx(2.0)
    assert not rows_of([a_round(4.0, None)]), "nothing was predicted"


@pytest.mark.parametrize("spoilt", ["disturbed", "changed"])
def test_rounds_that_others_or_the_host_spoilt_count_only_where_there_are_no_others(spoilt: str) -> None:
    good = a_round(2.0, predicted(2.0))
    bad = a_round(6.0, predicted(2.0), disturbed=spoilt == "disturbed", changed=spoilt == "changed")
    assert one_row(good, bad).measured == pytest.approx(2.0)
    assert one_row(bad).measured == pytest.approx(6.0)


def test_what_is_not_proposed_counts_for_no_error_and_is_judged_by_what_padding_gives() -> None:
    good = a_round(2.0, predicted(2.0))
    slower = a_round(0.25, NOTHING, name="memory")
    missed = a_round(1.5, NOTHING, name="silent")
    lines = table(rows_of([good, slower, missed]))
    assert has(lines, "largest error of estimates", "held")
    assert has(lines, "memory", "right")
    assert has(lines, "silent", "50% missed")
    assert has(lines, "1 of 2")


def test_a_program_is_proposed_if_most_of_its_recordings_say_so() -> None:
    assert one_row(*[a_round(2.0, predicted(2.0))] * 2, a_round(2.0, NOTHING)).proposed
    assert not one_row(a_round(2.0, predicted(2.0)), a_round(2.0, NOTHING)).proposed


def test_an_error_that_was_said_to_be_possible_counts_for_the_median_alone() -> None:
    good = a_round(2.0, predicted(2.0))
    doubtful = a_round(2.0, Estimate(4.0, 1.0, 9.0, proposed=True, uncertain=True), name="doubtful")
    lines = table(rows_of([good, doubtful]))
    assert has(lines, "largest error of estimates", "held")
    assert has(lines, "median error: 0.50", "MISSED")
    assert has(lines, "doubtful", "uncertain")


def test_the_interval_knows_no_loss() -> None:
    assert one_row(a_round(0.8, Estimate(1.0, 1.0, 1.1, proposed=True))).inside == 1


@pytest.mark.parametrize(
    ("gain", "severity", "text"),
    [
        (1.5, "medium", "1 of 1 recordings of gains of 1.15 and more at medium or above, at least 95%: held"),
        (1.5, "low", "0 of 1 recordings of gains of 1.15 and more at medium or above, at least 95%: MISSED (p)"),
        (1.0, "low", "0 of 1 recordings of gains below 1.05 at medium or above: held"),
        (1.0, "medium", "1 of 1 recordings of gains below 1.05 at medium or above: MISSED (p)"),
        (1.1, "high", "0 of 0 recordings of gains below 1.05 at medium or above: held"),
    ],
)
def test_verdicts_are_counted_by_what_fixing_gained(gain: float, severity: str, text: str) -> None:
    assert has(table(rows_of([a_round(gain, predicted(1.2, severity))])), text)


def test_recordings_that_were_kept_are_judged_by_the_linemate_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [replace(a_round(2.0, predicted(9.0), name=name), profile=f"{name}.0.data") for name in ("here", "lost")]
    (tmp_path / "here.0.data").touch()
    (tmp_path / "rounds.jsonl").write_text("".join(json.dumps(asdict(one)) + "\n" for one in made))
    monkeypatch.setenv("LINEMATE_GAIN_KEEP", str(tmp_path))
    monkeypatch.setattr(
        bench_gain, "predict", lambda program, _profile: predicted(2.0 if program.name == "here" else 0)
    )
    ratios = {one.name: one.estimate.ratio for one in bench_gain.kept(tmp_path, []) if one.estimate}
    assert ratios == {"here": 2.0, "lost": 9.0}
    assert [one.name for one in bench_gain.kept(tmp_path, ["here"])] == ["here"]
