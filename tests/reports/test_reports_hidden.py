"""Which limit hid how many findings."""

from __future__ import annotations

import msgspec
import pytest

from reports.wording import tally
from tests.builders.report import EMPTY


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
