"""Published tables as histories: a gain too small to show, a collapse in a log, steps planted in real figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linemate.commands.history import exit_code
from linemate.history.table import TableOptions, from_table
from reports.history import HISTORY_EMITTERS
from reports.history.text import levels
from reports.options import RenderOptions
from sharing.model.errors import LinemateError
from sharing.model.history import Basis, History

DATA = Path(__file__).parent.parent / "explain" / "data"


def history(tmp_path: Path, text: str, **options: object) -> History:
    path = tmp_path / "table.csv"
    path.write_text(text)
    return from_table(TableOptions(str(path), **options))  # type: ignore[arg-type]  # the test names them


def test_two_revisions_gained_a_little_and_nothing_shows_it() -> None:
    found = from_table(TableOptions(str(DATA / "revisions_950_968.txt")))
    assert (found.steps, found.slowdown, found.basis) == ((), False, Basis.CONDITIONS)
    assert found.ends is not None
    assert found.ends.change == pytest.approx(0.0055, abs=1e-4)
    assert found.ends.low == pytest.approx(-0.0048, abs=1e-4)
    assert found.ends.high == pytest.approx(0.0093, abs=1e-4)
    assert found.ends_chance == pytest.approx(0.065, abs=1e-3)
    assert found.best is not None
    assert not any(c.clear for c in found.best.conditions)


def planted(at: int, factor: float) -> str:
    """The cells of revision 950 for 16 revisions with 1 % of noise, and one shift of level from ``at`` on."""
    rows = [
        line.split("|") for line in (DATA / "revisions_950_968.txt").read_text().splitlines() if "|   950 |" in line
    ]
    rng = np.random.default_rng(950)
    lines = ["revision,config,level,tps"]
    for revision in range(950, 966):
        for row in rows:
            value = float(row[4]) * rng.normal(1, 0.01) * (factor if revision >= at else 1)
            lines.append(f"{revision},{row[1].strip()},{row[3].strip()},{value:.2f}")
    return "\n".join(lines)


@pytest.mark.parametrize("at", [953, 958, 963])
def test_a_level_shift_planted_in_that_table_is_found_at_its_revision(tmp_path: Path, at: int) -> None:
    found = history(tmp_path, planted(at, 0.97))
    assert [(found.revisions[s.between[1]].id, s.slower) for s in found.steps] == [(str(at), True)]
    step = found.steps[0]
    assert step.suspects == (step.between[1],)
    assert step.change.low < -0.03 < step.change.high < 0
    assert found.slowdown


def test_the_same_table_without_a_shift_has_no_step(tmp_path: Path) -> None:
    found = history(tmp_path, planted(958, 1.0))
    assert (found.basis, found.steps) == (Basis.REVISIONS, ())


def test_a_gain_is_no_slowdown_unless_less_is_better(tmp_path: Path) -> None:
    assert not history(tmp_path, planted(958, 1.05)).slowdown
    assert history(tmp_path, planted(958, 1.05), less_is_better=True).slowdown
    assert history(tmp_path, planted(958, 1.05).replace("tps", "latency ms")).slowdown


@pytest.mark.parametrize("metric", ["p99_ms", "ns_per_op", "real_time", "rtt", "cycles", "rss_kb"])
def test_a_rise_of_what_costs_is_a_slowdown(tmp_path: Path, metric: str) -> None:
    assert history(tmp_path, planted(958, 1.05).replace("tps", metric)).slowdown


def test_a_step_of_a_metric_that_nobody_knows_is_neither_way(tmp_path: Path) -> None:
    found = history(tmp_path, planted(958, 1.05).replace("tps", "widgets"))
    assert [step.slower for step in found.steps] == [None]
    assert (found.slowdown, exit_code(found, fails=True)) == (False, 3)
    text = HISTORY_EMITTERS["text"].render(found, RenderOptions(width=400))
    assert text.startswith("changed since 958")
    assert "--better more or --better less" in text
    assert not any(word in text for word in ("gain", "slow", "fast"))


def test_the_log_of_changesets_points_at_the_one_that_the_report_names() -> None:
    found = from_table(TableOptions(str(DATA / "changesets.txt")))
    assert found.basis is Basis.NORMAL
    (step,) = found.steps
    assert step.chance == pytest.approx(0.018, abs=0.002)
    suspects = [found.revisions[i].id for i in step.suspects]
    assert suspects[0] == "sp1r-vvaintroub@wva.-20080328064007-14330"
    assert all("-20080328" in name for name in suspects)
    assert len(suspects) == 3
    assert step.slower
    assert any("assumed to be normal noise" in note for note in found.notes)
    first = HISTORY_EMITTERS["text"].render(found, RenderOptions()).splitlines()[0]
    assert first.startswith("slower since one of …a.-20080328064007-14330")


def test_without_its_step_the_log_shows_none(tmp_path: Path) -> None:
    """The near miss: the same spread of results, in an order that has no level."""
    values = [211.5, 57.73, 197.21, 42.69, 85.39, 43.08]
    found = history(tmp_path, "\n".join(["rev,tps", *(f"r{i},{v}" for i, v in enumerate(values))]))
    assert found.steps == ()
    assert not found.slowdown


def test_the_log_says_what_the_suspected_feature_costs() -> None:
    (contrast,) = from_table(TableOptions(str(DATA / "changesets.txt"))).contrasts
    assert contrast.condition == "no supernodes"
    assert len(contrast.revisions) == 2
    assert contrast.change.low > 0.3
    assert contrast.chance < 0.01


def test_repetitions_stand_in_for_revisions_where_these_are_few(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [f"{rev},2,{run},{rng.normal(1000 if rev < 3 else 950, 8):.1f}" for rev in (1, 2, 3) for run in range(6)]
    found = history(tmp_path, "\n".join(["revision,level,repetition,tps", *rows]))
    assert found.basis is Basis.REPETITIONS
    assert [(found.revisions[s.between[1]].id, s.slower) for s in found.steps] == [("3", True)]
    # Without the shift there is none.
    rows = [f"{rev},2,{run},{rng.normal(1000, 8):.1f}" for rev in (1, 2, 3) for run in range(6)]
    assert history(tmp_path, "\n".join(["revision,level,repetition,tps", *rows])).steps == ()


def test_one_wild_revision_is_named_and_no_step(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [f"r{i},{rng.normal(1000, 5) * (0.8 if i == 9 else 1):.1f}" for i in range(20)]
    found = history(tmp_path, "\n".join(["rev,qps", *rows]))
    assert found.steps == ()
    assert [found.revisions[o.revision].id for o in found.outliers] == ["r9"]


def test_numbered_revisions_are_sorted_and_others_keep_their_order(tmp_path: Path) -> None:
    assert [r.id for r in history(tmp_path, "rev,tps\n10,1\n9,2\n11,3").revisions] == ["9", "10", "11"]
    for name in ("version", "release"):
        found = history(tmp_path, f"{name},tps\n1.10,1\n1.9,2\n1.2.1,3\n1.2,4").revisions
        assert [r.id for r in found] == ["1.2", "1.2.1", "1.9", "1.10"]
    text = "commit,tps\nbeef,1\nabad,2\ncafe,3"
    assert [r.id for r in history(tmp_path, text).revisions] == ["beef", "abad", "cafe"]
    assert [r.id for r in history(tmp_path, text, newest_first=True).revisions] == ["cafe", "abad", "beef"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rev,tps\n1,0\n2,5", "not above 0"),
        ("rev,tps\n1,-3\n2,5", "not above 0"),
        ("a,tps\n1,2\nx,3", "names no revisions"),
        ("", "no table"),
        ("rev;tps\n;1\n;2", "says which revision"),
        ("rev,tps\n1,2,3\n2,5", "cells"),
        ("rev,name\n1,x", "no column of measured numbers"),
    ],
)
def test_what_is_no_series_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(LinemateError, match=why):
        history(tmp_path, text)


def test_an_unknown_metric_or_column_names_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="there are tps"):
        history(tmp_path, "rev,tps\n1,2\n2,3", metric="qps")
    with pytest.raises(LinemateError, match="there are rev"):
        history(tmp_path, "rev,tps\n1,2\n2,3", revision="build")


def test_cells_that_are_missing_change_neither_the_size_of_a_step_nor_its_picture(tmp_path: Path) -> None:
    """A fifth less under two of three conditions, which are missing in every third row on both sides of the step."""
    rng = np.random.default_rng(8)
    rows = []
    for revision in range(1, 21):
        left = 0.8 if revision > 10 else 1.0
        cells = [1000, 4000 * left, 8000 * left]
        texts = [f"{cell * np.exp(rng.normal(0, 0.004)):.1f}" for cell in cells]
        rows.append(",".join([str(revision), texts[0], *(texts[1:] if revision % 3 else ["", "NA"])]))
    found = history(tmp_path, "\n".join(["revision,1,4,8", *rows]))
    (step,) = found.steps
    assert found.revisions[step.between[1]].id == "11"
    assert step.change.change == pytest.approx(0.8 ** (2 / 3) - 1, abs=0.01)
    level = [value for value in levels(found) if value is not None]
    assert max(level[10:]) < min(level[:10])
