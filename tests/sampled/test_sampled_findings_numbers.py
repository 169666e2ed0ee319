"""The numbers by which drafts become findings: when one moves, another verdict is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sharing.basics import numbers as basics
from sharing.basics.numbers import described
from sharing.judge import numbers
from sharing.judge.sampled.join import Coverage
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Module, Region, TouchFlag
from sharing.model.finding import Finding
from sharing.model.image import AccessKind
from sharing.sampled.lineuse.lines import profile_lines
from sharing.source.merge import assemble
from tests.builders.image import BSS, Builder, threads
from tests.builders.recorded import LINE, One, Recorded, attribution, ticks
from tests.builders.units import LONG, MUTEX, UnitMaker, access, call
from tests.builders.units import lock as take
from tests.sampled import test_sampled_arrays as arrays
from tests.sampled import test_sampled_join as joining
from tests.sampled import test_sampled_measured as measured
from tests.sampled.test_sampled_together import along_an_array, interleaved
from tests.sampled.test_sampled_verdicts import judged, lock
from tests.sharing import test_sharing_remedies as remedies
from tests.source import test_source_judged as sources

Outcome = Callable[[], object]


def worded(findings: tuple[Finding, ...] | list[Finding]) -> object:
    return [(f.rule, f.severity, f.message, [e.text for e in f.evidence]) for f in findings]


def at_positions(head: int, alignment: int) -> object:
    """A lock and a list head of a section that may start at several offsets of a line."""
    parts = sources.bss(("lock", 0, 40), ("head", head, 8), alignment=alignment)
    return worded(sources.judged(sources.image_of(assemble([sources.server().build()]), parts)).findings)


def of_two_units() -> object:
    """A lock of one unit and a list head of another one."""
    owner, user = UnitMaker("/src/owner.c"), UnitMaker("/src/user.c")
    owner.variable("lock", MUTEX)
    owner.function("take", take("lock", loop=1), take("lock", "unlock", loop=1))
    user.variable("head", LONG)
    user.function("spin", access("rmw", "head", size=8, loop=2, atomic=6))
    user.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, name), loop=1) for name in ("take", "spin")))
    parts = sources.bss(("lock", 0, 40)), sources.bss(("head", 0, 8), alignment=8)
    return worded(sources.judged(sources.image_of(assemble([owner.build(), user.build()]), *parts)).findings)


def folded() -> object:
    """Two lines of one array."""
    recorded = Recorded()
    for line in (LINE, LINE + 64):
        for thread in (0, 1):
            times = ticks(300, shift=(thread + 2 * (line != LINE)) * 40_000)
            recorded.loop(thread, times, at=8 * thread, line=line, function=f"handle_{thread}")
    return len(arrays.judged(recorded)[0])


def pooled() -> object:
    """Thin lines of memory without a name that two threads pass over."""
    findings, verdicts = judged(along_an_array(interleaved))
    return worded(findings), verdicts.counts


def lock_of_two_fields() -> object:
    """Calls of a lock's functions touch two words of it; somebody reads between the two."""
    flags = int(TouchFlag.LOCK_CALL | TouchFlag.ATOMIC)
    recorded = Recorded(lock(0, ticks(200)) + lock(1, ticks(200, shift=9)))
    for time in ticks(200, shift=50):
        recorded.samples.append(One(0, time, 12, 4, AccessKind.RMW, function="lock", flags=flags))
        recorded.samples.append(One(1, time + 5, 12, 4, AccessKind.RMW, function="lock", flags=flags))
    return worded(judged(recorded)[0])


def one_of_two_words() -> object:
    """Two threads each write a half of what code touches as a whole."""
    b = Builder()
    threads(b, "left", "right")
    for name in ("left", "right"):
        b.function(name).store("pair", 16, loop=1)
    b.variable("pair", 16, BSS)
    image = b.image()
    actors = judge(image, JudgeOptions(64, 128, edits=False), default_knowledge()).actors
    recorded = Recorded()
    for thread in (0, 1):
        times = ticks(200, shift=90_000 * thread)
        recorded.loop(thread, times, at=8 * thread, function=f"f{thread}", region=Region.STATIC, link=BSS)
    run = profile_lines(attribution(recorded, modules=(Module("/bin/x", target=True),)), 64)
    verdicts = judge_lines(run, Names(image, default_knowledge(), actors), 64)
    return [draft.verdict for one in verdicts.judged for draft in one.drafts]


def cleared(unplaced: int = 0) -> object:
    found, counts = joining.joined(joining.finding("x"), coverage=Coverage(5_000, unplaced))
    return worded(found), counts


def by_function() -> object:
    found, counts = joining.joined(joining.finding("x"), coverage=Coverage(5_000, 5_000, 5_000))
    return worded(found), counts


def wait_together() -> object:
    """Two lines that gain nothing unless both are fixed."""
    return worded(measured.judged(measured.two_pairs(), measured.barrier(1.0))[0])


def moved() -> object:
    """What is moved where there are many objects of a record."""
    return remedies.chosen(remedies.node_pair(192, 64), remedies.node_image(192, 64, more=88))


ROWS: list[tuple[str, float, Outcome]] = [
    ("MAX_POSSIBLE", 0, of_two_units),
    ("SMALLEST_STEP", 32, lambda: at_positions(40, 8)),
    ("ALIKE_LINES", 1000, moved),
    ("LOCK_GAP", 0, lock_of_two_fields),
    ("MAX_TOGETHER", 8, one_of_two_words),
    ("MIN_POOLED", 10_000, pooled),
    ("MIN_NAMED", 3, folded),
    ("MIN_NAMELESS", 100, pooled),
    ("MIN_EXPECTED", 1e6, pooled),
    ("OWN_ELEMENTS", -1.0, pooled),
    ("TOGETHER", 10.0, wait_together),
    ("MIN_TIMED", 100_000, cleared),
    ("MIN_IN_FUNCTIONS", 10_000, cleared),
    ("CLEARED_BELOW", 0.0, cleared),
    ("WEAK_FROM", 0.01, lambda: cleared(400)),
    ("BY_FUNCTION", 1.1, by_function),
]


@pytest.mark.parametrize(("name", "other", "outcome"), ROWS, ids=[row[0] for row in ROWS])
def test_a_number_of_findings_decides_a_verdict(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, outcome: Outcome
) -> None:
    before = outcome()
    monkeypatch.setattr(numbers, name, other)
    assert outcome() != before


@pytest.mark.parametrize(("name", "other", "head", "alignment"), [("LIKELY", 0.6, 40, 32), ("UNLIKELY", 0.3, 56, 8)])
def test_the_share_of_positions_decides_a_verdict(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, head: int, alignment: int
) -> None:
    before = at_positions(head, alignment)
    monkeypatch.setattr(basics, name, other)
    assert at_positions(head, alignment) != before


def test_every_number_of_findings_is_shown_to_decide_something() -> None:
    # tests/sharing/test_sharing_locked_elements.py and tests/check/test_check_compared_heat.py
    of_programs = {"FEW_LOCKED", "MORE_USE"}
    assert set(described(numbers)) == {row[0] for row in ROWS} | of_programs
