"""When a repair counts as flagged and as clean, by the findings before it and after."""

from __future__ import annotations

import msgspec
import pytest

from bench.fixes.fixes import Fix
from bench.fixes.outcome import Outcome, Side
from bench.fixes.page import page
from sharing.model.finding import Severity

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
    assert "3 of them were chosen by what their messages say" in text
    assert "2 were flagged before, 1 of those clean after" in text
    assert "chosen by what" not in page([Outcome(FIX, found, side())])
