"""What is said beside the steps of a history contradicts none of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reports.history.wording import remarks
from sharing.model.history import Outlier
from tests.saved.documents import history


@pytest.mark.parametrize(
    ("revision", "change", "said"),
    [
        (2, 0.054, "r2 subject is the first behind a step, and its result is 5.4 % above the level after the step"),
        (3, -0.054, "r3 subject is an outlier, its result is 5.4 % below the level around it: not counted as a step"),
    ],
)
def test_the_first_result_behind_a_step_is_not_denied_to_be_one(revision: int, change: float, said: str) -> None:
    told = list(remarks(replace(history(), outliers=(Outlier(revision, change),), slopes=())))
    assert said in told
    assert any("not counted" in text for text in told) == ("not counted" in said)
