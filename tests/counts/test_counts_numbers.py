"""The numbers of counts: when one moves, another verdict is given on a small program."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.basics.numbers import described
from sharing.counted import numbers
from sharing.counted.join import join
from sharing.counted.shareduse import graded
from sharing.counted.weigh import Counted, weigh
from sharing.judge.passes import run_passes
from sharing.judge.static import JudgeOptions, judge_passes
from sharing.knowledge import default_knowledge
from sharing.model.executions import EXECUTION_DTYPE, CountedThread
from sharing.model.image import SiteFlag
from tests.builders.image import BSS, Builder, threads

OPTIONS = JudgeOptions(64, 128, edits=False)


def said(uses: int = 150, instructions: int = 1_000_000) -> list[tuple[object, ...]]:
    """What is found where two threads count so often in words of their own on one line."""
    b = Builder()
    threads(b, "left", "right")
    b.function("left").rmw("mine", loop=1, flags=SiteFlag.ATOMIC)
    b.function("right").rmw("theirs", loop=1, flags=SiteFlag.ATOMIC)
    b.variable("mine", 8, BSS)
    b.variable("theirs", 8, BSS + 8)
    passes = run_passes(b.image(), default_knowledge(), lambda names: names)
    counts = [(b.functions[name].address, uses, 0, i) for i, name in enumerate(("left", "right"))]
    both = tuple(CountedThread(1, number, instructions) for number in (2, 3))
    weighed = weigh(passes, Counted(np.array(counts, EXECUTION_DTYPE), both))
    of_counts = judge_passes(weighed.passes, OPTIONS, lambda drafts: graded(drafts, weighed)).findings
    findings, _ = join(judge_passes(passes, OPTIONS).findings, of_counts, weighed)
    return [(f.severity, f.confidence, any("between runs" in e.text for e in f.evidence)) for f in findings]


ROWS = [("MIN_TRANSFERS", 200), ("NEGLIGIBLE", 0.5), ("FAINT_PART", 1000.0), ("RUN_TO_RUN", 0.0)]


@pytest.mark.parametrize(("name", "other"), ROWS)
def test_a_number_of_counts_decides_a_verdict(monkeypatch: pytest.MonkeyPatch, name: str, other: float) -> None:
    before = said()
    monkeypatch.setattr(numbers, name, other)
    assert said() != before


def test_every_number_of_counts_is_shown_to_decide_something() -> None:
    assert set(described(numbers)) == {name for name, _ in ROWS}
