"""Time at instructions that need a value of the line: it counts, a step less, and is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharing.model.attribution import Basis
from sharing.model.finding import Severity
from sharing.sampled.lineuse.blame import blame, items_of
from sharing.sampled.lineuse.lines import profile_lines
from tests.builders.recorded import Recorded, attribution, ticks
from tests.sampled.test_sampled_verdicts import judged


def reading_beside_a_writer(basis: Basis) -> Recorded:
    """One thread reads bytes beside those that another one writes; how the reader's samples are known."""
    out = Recorded().loop(0, ticks(400), at=0, writes=False).loop(1, ticks(400, shift=1), at=8)
    out.samples = [replace(one, basis=basis) if one.thread == 0 else one for one in out.samples]
    return out


def false_of(recorded: Recorded) -> tuple[float, float]:
    """What other bytes cost, and what of it was at instructions that need a value, in samples."""
    (line,) = profile_lines(attribution(recorded), 64).lines
    found = blame(line, items_of(line))
    return found.false, found.awaited


def test_it_is_a_part_of_what_other_bytes_cost() -> None:
    at_access, of_it = false_of(reading_beside_a_writer(Basis.DERIVED))
    assert of_it == 0
    assert false_of(reading_beside_a_writer(Basis.AWAITED)) == pytest.approx((at_access, at_access), rel=0.01)


@pytest.mark.parametrize(("basis", "severity"), [(Basis.DERIVED, Severity.HIGH), (Basis.AWAITED, Severity.MEDIUM)])
def test_it_counts_a_step_less(basis: Basis, severity: Severity) -> None:
    (finding,), _ = judged(reading_beside_a_writer(basis))
    assert finding.severity is severity
    said = any("may have waited for something else" in evidence.text for evidence in finding.evidence)
    assert said == (basis is Basis.AWAITED)
