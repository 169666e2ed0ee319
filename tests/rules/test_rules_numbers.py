"""The numbers that shape a verdict: each is stated with a unit and a source, and moves a verdict when it moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sharing.basics import numbers as shared
from sharing.basics.numbers import described
from sharing.model.attribution import TouchFlag
from sharing.model.finding import Severity
from sharing.model.image import AccessKind
from sharing.rules import numbers
from sharing.rules.sampled.base import measured
from sharing.sampled.speedup.gain import Gain
from tests.builders.recorded import One, Recorded, ticks
from tests.rules.test_rules_cases import CASES, findings
from tests.sampled.test_sampled_verdicts import judged, lock, pair, slots
from tests.source_rules.builder import INT, Unit, array, verdicts

# Another value for each number; the cases of the rules that are judged otherwise then are what it decides.
OF_LINES = {
    "BESIDE_ITS_LOCK": 1.1,
    "CHANGED_WITHOUT": 1.0,
    "NEAR_BYTES": 0,
    "ONE_OBJECT": 1.1,
    "WRITERS_TOGETHER": 0.0,
    "READERS_TOGETHER": 0.0,
    "LOCKS_TOGETHER": 0.0,
    "COMPANION": 1.0,
    "PAIR_TOGETHER": 1.0,
    "WORD_BYTES": 64,
    "LESS": 0,
    "MUCH_LESS": 0,
    "TO_NOTE": 0,
    "MIN_SLOTS": 300,
    "MAX_SLOTS": 2,
    "MAX_SLOTS_BYTES": 8,
}


@pytest.mark.parametrize(("name", "other"), OF_LINES.items())
def test_a_number_of_line_rules_decides_cases(monkeypatch: pytest.MonkeyPatch, name: str, other: float) -> None:
    monkeypatch.setattr(numbers, name, other)
    changed = [f"{file}: {title}" for file, title, case in CASES if _says_otherwise(case)]
    assert changed
    assert len(changed) < len(CASES) / 2


def _says_otherwise(case: dict[str, Any]) -> bool:
    """Of its verdicts, or of the words that it holds them to."""
    try:
        return findings(case) != case.get("expect", {})
    except AssertionError:
        return True


def test_a_number_of_declaration_rules_decides_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit()
    unit.variable("hits", array(INT, 16), align=64, macros=("CACHE_ALIGNED",))
    unit.function("add", ("hits", "rmw", 0, 4))
    assert list(verdicts(unit)) == ["array-aligned-not-element"]
    monkeypatch.setattr(numbers, "NUMBER_BYTES", 5)
    assert not verdicts(unit)


def beside(recorded: Recorded, other: int) -> Recorded:
    """The same in a run that mostly does something else."""
    return recorded.loop(5, ticks(other), at=0, line=0x9000, function="work")


def seldom(writes: int = 30) -> Recorded:
    """Bytes that are read often and written now and then, beside a counter."""
    one = Recorded().loop(0, ticks(400), at=0, function="count")
    one.loop(1, ticks(400, shift=90_000), at=8, writes=False, function="look")
    return one.loop(1, ticks(writes, every=10.0, shift=40_000), at=8, function="set")


def straddling() -> Recorded:
    flags = int(TouchFlag.ATOMIC)
    return Recorded([One(0, t, at=60, kind=AccessKind.RMW, flags=flags) for t in ticks(400)])


def lock_and_company() -> Recorded:
    """A lock, and data that those who take it use."""
    recorded = Recorded(lock(0, ticks(200)) + lock(1, ticks(200, shift=9)))
    for thread in (0, 1):
        for time in ticks(200, shift=9 * thread):
            recorded.witnesses.append((time, One(thread, time, at=0, size=4, function="client")))
            recorded.witnesses.append((time, One(thread, time, at=48, kind=AccessKind.STORE, function="client")))
        recorded.loop(thread, ticks(200, shift=77 + 9 * thread), at=48, function="client")
    return recorded


def lock_and_scan() -> Recorded:
    """A lock, and data that others read beside it."""
    recorded = Recorded(lock(0, ticks(200)) + lock(1, ticks(200, shift=9)))
    recorded.loop(0, ticks(200, shift=77), at=48, writes=False, function="scan")
    return recorded.loop(1, ticks(200, shift=99), at=48, writes=False, function="scan")


def mostly_true(reads: int = 50) -> Recorded:
    """One counter of two threads, and a reader beside it that is seldom there; both little of the run."""
    recorded = (
        Recorded().loop(0, ticks(100), at=0, function="count").loop(1, ticks(100, shift=9), at=0, function="count")
    )
    return beside(recorded.loop(2, ticks(reads, shift=99), at=32, writes=False, function="look"), 10_000)


def three_writers() -> Recorded:
    return slots(stride=8, functions=("a", "b", "c"))


def readers_write() -> Recorded:
    """Data that is read often, now and then by a thread that writes beside it."""
    one = Recorded().loop(0, ticks(400), at=0, function="count")
    one.loop(1, ticks(400, shift=90_000), at=8, writes=False, function="look")
    one.loop(2, ticks(40, shift=50_000), at=8, writes=False, function="mix")
    return one.loop(2, ticks(40, shift=70_000), at=0, function="mix")


def named(recorded: Recorded) -> list[int]:
    return [len(f.participants) for f in judged(recorded)[0]]


def said(recorded: Recorded) -> list[tuple[str, str]]:
    return [(f.rule, f.severity.value) for f in judged(recorded)[0]]


def words(recorded: Recorded) -> list[str]:
    return [f.message for f in judged(recorded)[0]]


OF_SAMPLES: list[tuple[str, float, Callable[[], Recorded], Callable[[Recorded], object]]] = [
    ("HIGH_FROM", 1.1, pair, said),
    ("MEDIUM_FROM", 0.09, lambda: beside(pair(count=100), 2500), said),
    ("FALSE_SHARE", 1.1, mostly_true, said),
    ("LARGE_FOOTPRINT", 0, pair, said),
    ("WORTH_NAMING", 0.2, lambda: pair().loop(0, ticks(30, start=101), at=0, function="start"), words),
    ("WORTH_SAYING", 0.1, lambda: mostly_true(reads=15), words),
    ("READ_ONLY", 10.0, seldom, said),
    ("OWN_DATA", 1.1, lock_and_company, said),
    ("LOCK_AND_DATA", 1.1, lock_and_scan, said),
    ("SLOT_WRITER", 1.1, lambda: slots(stride=8), said),
    ("WORTH_LISTING", 1.1, three_writers, named),
    ("ITSELF_SHARED", 0.0, lambda: pair().loop(2, ticks(60, shift=31_000), at=0, function="late"), words),
    ("READERS_WRITE", 0.0, readers_write, said),
    ("UNNAMED_SLOTS", 9, lambda: slots(stride=8), said),
    ("ATOMIC_FROM", 1.1, straddling, said),
]
SHARED_OF_SAMPLES: list[tuple[str, float, Callable[[], Recorded], Callable[[Recorded], object]]] = [
    ("LOW_FROM", 0.039, lambda: beside(pair(count=100), 5000), words),
    ("SCALAR_BYTES", 4, straddling, said),
]


@pytest.mark.parametrize(("name", "other", "recorded", "verdict"), OF_SAMPLES, ids=[row[0] for row in OF_SAMPLES])
def test_a_number_of_sampled_rules_decides_a_line(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    other: float,
    recorded: Callable[[], Recorded],
    verdict: Callable[[Recorded], object],
) -> None:
    before = verdict(recorded())
    assert before
    monkeypatch.setattr(numbers, name, other)
    assert verdict(recorded()) != before


@pytest.mark.parametrize(
    ("name", "other", "recorded", "verdict"), SHARED_OF_SAMPLES, ids=[row[0] for row in SHARED_OF_SAMPLES]
)
def test_a_number_that_rooms_share_decides_a_line(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    other: float,
    recorded: Callable[[], Recorded],
    verdict: Callable[[Recorded], object],
) -> None:
    before = verdict(recorded())
    monkeypatch.setattr(shared, name, other)
    assert verdict(recorded()) != before


def test_what_a_fix_may_save_with_luck_is_medium_from_a_share_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gain = Gain(1.07, 1.0, 1.2, "measured")
    assert measured(Severity.HIGH, gain) is Severity.MEDIUM
    monkeypatch.setattr(numbers, "MEDIUM_SAVED", 0.1)
    assert measured(Severity.HIGH, gain) is Severity.LOW


def test_every_number_of_rules_is_shown_to_decide_something() -> None:
    shown = {*OF_LINES, "NUMBER_BYTES", "MEDIUM_SAVED", *(row[0] for row in OF_SAMPLES)}
    assert set(described(numbers)) == shown
