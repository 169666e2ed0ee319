"""When a repair counts as flagged and as clean, by the findings before it and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.fixes.fixes import Fix, Recipe
from bench.fixes.outcome import Outcome, Side, side_of
from bench.fixes.page import page
from bench.fixes.trees import flags, units_of
from sharing.model.finding import Severity
from tests.builders.report import REPORT

FIX = Fix("one", "owner/one", "c0ffee", "recipe", "alignment", ("a.c",), ("counter",), "counter and lock")


def side(*about: tuple[Severity, str]) -> Side:
    """Findings about the repair: (severity, verdict), worst first."""
    return Side(True, tuple((severity, "rule", verdict) for severity, verdict in about), 0, 1.0)


@pytest.mark.parametrize(
    ("severity", "flagged"),
    [
        (Severity.CRITICAL, True),
        (Severity.HIGH, True),
        (Severity.MEDIUM, True),
        (Severity.LOW, False),
        (Severity.NOTE, False),
    ],
)
def test_flagged_from_medium_on(severity: Severity, flagged: bool) -> None:
    assert Outcome(FIX, side((severity, "false-sharing")), side()).flagged == flagged


@pytest.mark.parametrize(
    ("severity", "verdict", "clean"),
    [
        (Severity.CRITICAL, "false-sharing", False),
        (Severity.LOW, "false-sharing", False),
        (Severity.LOW, "fragile", True),
        (Severity.NOTE, "false-sharing", True),
    ],
)
def test_clean_below_low_or_where_nothing_shares_yet(severity: Severity, verdict: str, clean: bool) -> None:
    assert Outcome(FIX, side(), side((severity, verdict))).clean == clean


def test_nothing_said_is_neither_flagged_nor_shared() -> None:
    assert not Outcome(FIX, side(), side()).flagged
    assert Outcome(FIX, side(), side()).clean


def test_outcomes_are_kept_as_they_are() -> None:
    one = side((Severity.CRITICAL, "false-sharing"))
    assert msgspec.json.decode(msgspec.json.encode(one), type=Side) == one


def test_the_page_keeps_what_commits_chosen_unseen_came_to_at_first_apart() -> None:
    chosen = [msgspec.structs.replace(FIX, name=first, first=first) for first in ("missed", "flagged", "clean")]
    found = side((Severity.HIGH, "false-sharing"))
    text = page([Outcome(fix, found, side()) for fix in (FIX, *chosen)])
    assert "Of 4 commits 4 parse whole on both sides; 4 are flagged before, 4 of those are clean after." in text
    assert "3 were chosen by what their messages or changes say" in text
    assert "2 were flagged before, 1 of those clean after; today 3 are flagged" in text
    assert "by what their" not in page([Outcome(FIX, found, side())])
    later = page([Outcome(fix, found, side()) for fix in (*chosen, msgspec.structs.replace(chosen[0], batch=2))])
    assert "1 more were chosen by what their" in later


def test_the_page_counts_repairs_of_what_shares_no_line_apart() -> None:
    found, apart = side((Severity.HIGH, "false-sharing")), msgspec.structs.replace(FIX, name="apart", shares=False)
    text = page([Outcome(FIX, found, side()), Outcome(apart, side(), side())])
    assert "Of 1 commits 1 parse whole on both sides; 1 are flagged before" in text
    assert "1 more of the table are not below" in text
    assert "0 are flagged before." in text
    assert "part nothing" not in page([Outcome(FIX, found, side())])


def test_headers_are_made_of_templates_as_a_build_makes_them(tmp_path: Path) -> None:
    (tmp_path / "defs.h.in").write_text("#undef LG_PAGE\n#define NAME @prefix@\n#define VERSION @version@\n")
    words = {"#undef LG_PAGE": "#define LG_PAGE 12", "@prefix@": "je_"}
    flags(Recipe(paths=(), templates={"defs.h": "defs.h.in", "gone.h": "gone.h.in"}, words=words), tmp_path)
    made = tmp_path / "generated-headers"
    assert (made / "defs.h").read_text() == "#define LG_PAGE 12\n#define NAME je_\n#define VERSION 0\n"
    assert (made / "gone.h").read_text() == ""


def test_a_finding_counts_by_its_names_its_rule_and_what_it_is_not_about() -> None:
    def about(**more: Any) -> int:
        return len(side_of(REPORT, {"unused_tables"}, 0.0, **more).about)

    assert about() == 1
    assert about(rules=("hot-lock-shares-line",)) == 1
    assert about(rules=("two-locks-one-line",)) == 0
    assert about(without=frozenset({"m_mutex"})) == 0


def test_the_page_sums_without_what_separates_nothing_that_source_shows() -> None:
    found = side((Severity.HIGH, "false-sharing"))
    true, before = (msgspec.structs.replace(FIX, **one) for one in ({"true_sharing": True}, {"separates": False}))
    text = page([Outcome(FIX, found, side()), Outcome(true, side(), side()), Outcome(before, found, found)])
    assert "2 of them separate nothing that source can show" in text
    assert "Of the other 1 1 is flagged before, 1 of those clean after." in text
    assert "separate nothing" not in page([Outcome(FIX, found, side())])


def test_units_are_named_or_all_of_a_pattern_but_those_left_out(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("b.c", "a.c", "a_test.c", "a.h"):
        (tmp_path / "lib" / name).write_text("")
    assert units_of(tmp_path, ("lib/b.c", "lib/*.c", "!*_test.c")) == ("lib/b.c", "lib/a.c")
    assert units_of(tmp_path, ("lib/gone.c",)) == ("lib/gone.c",)
