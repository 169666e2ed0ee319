"""What heat of the two sides makes of a pair, before anything else is known of them."""

from __future__ import annotations

import pytest

from sharing.model.finding import Severity
from sharing.model.profile import Heat
from sharing.rules.line.base import grade


@pytest.mark.parametrize(
    ("writer", "victim", "severity"),
    [
        (Heat.HOT, Heat.HOT, Severity.HIGH),
        (Heat.HOT, Heat.WARM, Severity.LOW),
        (Heat.WARM, Heat.HOT, Severity.LOW),
        (Heat.WARM, Heat.WARM, Severity.NOTE),
        (Heat.HOT, Heat.COLD, Severity.NOTE),
        (Heat.COLD, Heat.HOT, Severity.NOTE),
    ],
)
def test_only_two_of_the_busiest_of_a_program_are_more_than_low(writer: Heat, victim: Heat, severity: Severity) -> None:
    assert grade(writer, victim) is severity
