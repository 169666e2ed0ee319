"""How often is sampled: enough for the time that is known, never more than was asked for or is allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linemate.recording.choice import frequency_of
from linemate.recording.options import RecordOptions
from linemate.sampled.notes import few_samples
from pmu.events import EVENT_CHOICES
from pmu.machine import read_machine

(CLOCK,) = (choice for choice in EVENT_CHOICES if choice.name == "cpu-clock")


@pytest.mark.parametrize(
    ("options", "hz"),
    [
        ({}, 499),
        ({"duration_s": 60.0}, 499),
        ({"duration_s": 2.4}, 500),
        ({"duration_s": 1.0}, 1200),
        ({"duration_s": 0.01}, 3989),
        ({"duration_s": 1.0, "frequency_hz": 99}, 99),
    ],
)
def test_a_short_time_is_sampled_more_often(options: dict[str, Any], hz: int) -> None:
    machine = replace(read_machine(), most_samples_per_s=0)
    assert frequency_of(RecordOptions(Path("p"), **options), CLOCK, machine) == hz


@pytest.mark.parametrize(("busy_s", "hz"), [(0.0, 3989), (0.5, 2400), (60.0, 499)])
def test_a_trial_tells_how_long_a_command_is_busy(busy_s: float, hz: int) -> None:
    machine = replace(read_machine(), most_samples_per_s=0)
    assert frequency_of(RecordOptions(Path("p")), CLOCK, machine, busy_s) == hz


def test_the_kernel_has_the_last_word() -> None:
    machine = replace(read_machine(), most_samples_per_s=1000)
    assert frequency_of(RecordOptions(Path("p"), duration_s=0.1), CLOCK, machine) == 1000


@pytest.mark.parametrize(
    ("number", "hz", "how"),
    [
        (250, 499, "with --frequency 2400"),
        (999, 499, "with --frequency 600"),
        (3, 499, "with a higher --frequency"),  # 200,000 a second is no advice
        (250, 0, "with a higher --frequency"),
    ],
)
def test_a_recording_with_few_samples_says_what_it_needs(number: int, hz: int, how: str) -> None:
    assert few_samples(number, hz).endswith(f"record for longer, or {how}")
