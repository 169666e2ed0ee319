"""Profiles without registers: what names its memory by itself is placed, the rest says that registers are missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sharing.model.attribution import Reason
from sharing.model.samples import SAMPLE_DTYPE, Event
from sharing.sampled.attribution.sampledcode import Skid, skid_is_known, skids
from sharing.sampled.attribution.unplaced import is_unplaced
from tests.attribution.conftest import Placed, Record

HARDWARE, SOFTWARE, BREAKPOINT = 0, 1, 5


@pytest.mark.parametrize(
    ("event", "skid"),
    [
        (Event("cpu-clock:ppp", type=SOFTWARE, config=0, precise=3), Skid.TIMER),
        (Event("task-clock:pp", type=SOFTWARE, config=1, precise=2), Skid.TIMER),
        (Event("page-faults:pp", type=SOFTWARE, config=2, precise=2), Skid.PRECISE),
        (Event("cycles:ppp", type=HARDWARE, config=0, precise=3), Skid.PRECISE),
        (Event("cycles", type=HARDWARE, config=0), Skid.TIMER),
        (Event("mem:0x4000", type=BREAKPOINT, precise=3), Skid.TRAP),
    ],
)
def test_a_clock_of_the_kernel_cannot_keep_what_it_was_asked_for(event: Event, skid: Skid) -> None:
    assert skids((event,), np.zeros(1, SAMPLE_DTYPE)).tolist() == [skid]


@pytest.mark.parametrize(
    ("event", "known"),
    [
        (Event("cpu-clock", type=SOFTWARE, config=0), True),
        (Event("cpu-clock:u"), True),  # of text, which has no numbers
        (Event("cycles:ppp", type=HARDWARE, precise=3), True),
        (Event("mem:0x4000", type=BREAKPOINT), True),
        (Event("cycles", type=HARDWARE), False),
        (Event("cycles"), False),
    ],
)
def test_how_late_a_counter_interrupts_is_known_of_some(event: Event, known: bool) -> None:
    assert skid_is_known((event,), np.zeros(1, SAMPLE_DTYPE)).tolist() == [known]


@pytest.fixture(scope="module")
def bare(program: Path, record: Record, place: Callable[[Path, Path], Placed]) -> Placed:
    """As plain ``perf record`` asks: the most precise that there is, no registers."""
    return place(record(("-e", "cpu-clock:ppp", "-c", "250000"), str(program)), program)


def test_operands_with_one_address_need_no_registers(bare: Placed) -> None:
    rows = bare.attribution.rows
    look = rows[rows["function"] == bare.attribution.functions.index("look")]
    placed = look[look["reason"] == Reason.NONE]
    assert {bare.variable(row) for row in placed} == {"seen"}
    assert len(placed) > len(look) / 2


def test_an_access_through_a_register_is_no_lack_of_access(bare: Placed) -> None:
    rows = bare.attribution.rows
    add = rows[rows["function"] == bare.attribution.functions.index("add")]
    assert not (add["reason"] == Reason.NONE).any(), "its one operand is a parameter"
    assert not (rows["reason"] == Reason.OVERWRITTEN).any(), "there was nothing to overwrite"
    assert (add["reason"] == Reason.NO_REGISTERS).sum() > len(add) / 2, "time is spent behind the locked addition"


def test_what_has_no_registers_may_have_been_anywhere(bare: Placed) -> None:
    reason, hidden = bare.attribution.rows["reason"], is_unplaced(bare.attribution)
    assert hidden[reason == Reason.NO_REGISTERS].all()
    assert not hidden[(reason == Reason.NO_ACCESS) | (reason == Reason.NONE)].any()
