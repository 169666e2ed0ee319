"""Waits for plain stores, which show at later stores of the thread: when they are held against a line, and how far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharing.basics import numbers as shared
from sharing.judge.sampled.verdict import Outcome
from sharing.model.attribution import Basis
from sharing.model.finding import Severity
from sharing.model.image import AccessKind
from sharing.sampled.lineuse.blame import blame, items_of
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.speedup.gain import Gains
from sharing.sampled.speedup.solo import Level
from tests.builders.recorded import LINE, One, Recorded, attribution, ticks
from tests.sampled.test_sampled_verdicts import judged

SAMPLES = 1200  # of a thread
STACK = 0x9000
STORE, BODY = 0x2000, 0x1000
RUN = range(STORE, STORE + 32)  # eight instructions


def looping(recorded: Recorded, thread: int, *, at: int, near: int = 240, stores: int = 12, start: float = 0) -> None:
    """A loop that stores to its own stack again and again, and to the bytes ``at`` of the line.

    Of its samples ``near`` are in the run of the latter store, ``stores`` of them at the store itself.  Of the rest
    two thirds are at stores to the stack, one third at no memory.
    """
    for i, time in enumerate(ticks(SAMPLES, start, shift=thread)):
        if i % (SAMPLES // stores) == 0:
            where = One(thread, time, at, kind=AccessKind.STORE, ip=STORE, sampled=STORE + 4 * (i // 100 % 8))
        elif i % (SAMPLES // near) == 0:
            where = One(thread, time, basis=Basis.NONE, sampled=STORE + 4 * (i // (SAMPLES // near) % 8))
        elif i % 3:
            stack = STACK + 0x1000 * thread
            where = One(thread, time, kind=AccessKind.STORE, line=stack, function="loop", ip=BODY, sampled=BODY)
        else:
            where = One(thread, time, basis=Basis.NONE, sampled=BODY + 4 * (i % 64))
        recorded.samples.append(where)


def two(**other: float) -> Recorded:
    """Two such loops at different bytes of one line; ``other`` is how the second one is not like the first."""
    out = Recorded(runs={STORE: RUN})
    looping(out, 0, at=0)
    looping(out, 1, **{"at": 8, **other})  # type: ignore[arg-type]
    return out


def shared_line(recorded: Recorded) -> LineUse:
    return next(line for line in profile_lines(attribution(recorded), 64).lines if line.address == LINE)


def late(recorded: Recorded) -> float:
    """What other bytes of the line may cost at other memory, in samples."""
    line = shared_line(recorded)
    return blame(line, items_of(line)).late


def test_stores_that_come_faster_than_lines_are_held_against_the_line() -> None:
    line = shared_line(two())
    assert {thread for thread, _ in line.late} == {0, 1}
    assert {function for _, function in line.late} == {"loop"}, "where the time was seen"
    assert late(two()) == pytest.approx(sum(line.late.values()))
    assert 1000 < late(two()) < 2 * SAMPLES * 2 / 3


def test_it_is_expected_and_not_proven() -> None:
    (finding,), _ = judged(two())
    assert finding.severity is Severity.MEDIUM, "of more than half of the time"
    assert any("may be the wait for this line" in one.text for one in finding.evidence)


def test_the_bound_of_the_gain_holds_it() -> None:
    placed = attribution(two())
    lines = profile_lines(placed, 64).lines
    line = next(line for line in lines if line.address == LINE)
    with_it, without = (Gains(Level(placed), [one]).of(one) for one in (line, replace(line, late={})))
    assert with_it is not None
    assert without is not None
    assert without.high < 1.05
    assert with_it.high > 1.5
    assert "later stores" in with_it.how


def test_a_store_that_seldom_runs_is_not_held_against_the_line() -> None:
    out = Recorded(runs={STORE: RUN})
    for thread in (0, 1):
        looping(out, thread, at=8 * thread, near=12)
    assert shared_line(out).late == {}
    assert [f.severity for f in judged(out)[0]] == [Severity.NOTE]


def test_a_line_that_the_other_thread_seldom_comes_to_stays_where_it_is() -> None:
    assert shared_line(two(near=12)).late == {}


def test_stores_to_the_same_bytes_would_wait_in_any_layout() -> None:
    assert shared_line(two(at=0)).late
    assert late(two(at=0)) == 0


def test_threads_one_after_the_other_wait_for_nobody() -> None:
    out = two(start=1000.0)
    assert shared_line(out).late == {}
    findings, verdicts = judged(out)
    assert findings == []
    assert verdicts.counts[Outcome.PHASED.counter] == 1


def test_atomic_updates_wait_themselves() -> None:
    out = two()
    atomic = [replace(one, kind=AccessKind.RMW) if one.line == LINE else one for one in out.samples]
    assert shared_line(replace(out, samples=atomic)).late == {}


def test_what_lines_take_to_travel_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "TRANSFER_NS", shared.INSTRUCTION_NS)
    assert shared_line(two()).late == {}


def test_a_thread_that_was_only_seen_to_store_comes_there_all_the_time() -> None:
    out = two()
    stores = [one for one in out.samples if one.line != LINE or one.sampled != 0]
    stores = [one for one in stores if one.basis is not Basis.NONE]
    near = [replace(one, sampled=STORE + 4 * (i % 8)) for i, one in enumerate(stores)]
    assert {thread for thread, _ in shared_line(replace(out, samples=near)).late} == {0, 1}
