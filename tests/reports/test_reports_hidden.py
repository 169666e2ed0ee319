"""Which limit hid how many findings."""

from __future__ import annotations

import msgspec
import pytest

from reports.wording import tally
from tests.builders.report import EMPTY, REPORT


@pytest.mark.parametrize(
    ("hidden", "unsure", "said"),
    [
        (0, 0, ""),
        (3, 0, "; 3 more below --min-severity"),
        (2, 2, "; 2 more below --min-confidence"),
        (1200, 2, "; 1,198 more below --min-severity, 2 below --min-confidence"),
    ],
)
def test_each_limit_is_named_with_what_it_hid(hidden: int, unsure: int, said: str) -> None:
    assert tally(msgspec.structs.replace(EMPTY, hidden=hidden, unsure=unsure)) == "no findings" + said


def test_what_is_told_by_lines_is_counted_by_findings_and_by_lines() -> None:
    many = msgspec.structs.replace(REPORT, hidden=0)
    number = len(many.findings)
    assert number > 1
    assert tally(many, number - 1).startswith(
        f"{number} findings on {'1 line' if number == 2 else f'{number - 1} lines'}: "
    )
    assert tally(many, number) == tally(many)
