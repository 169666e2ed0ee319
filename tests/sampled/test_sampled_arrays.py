"""Arrays whose elements are structs: one finding, under one identity, whichever members were seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.join import join
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.model.finding import Finding
from sharing.model.image import ImageKind
from sharing.model.profile import Actor
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import LineUse, SampledRun
from tests.builders.recorded import LINE, Recorded, attribution, ticks
from tests.sampled.test_sampled_join import RAN, finding

BASE, STRIDE = 0x4000, 24
MEMBERS = ("gets", "sets", "hits")


class OfStats(Names):
    """All bytes are ``stats``, an array of three counters an element."""

    def actor(self, item: Item, use: LineUse) -> Actor:
        found = super().actor(item, use)
        number, rest = divmod(item.start, STRIDE)
        name = f"stats[{number}].{MEMBERS[rest // 8]}"
        whole = (BASE, BASE + 8 * STRIDE)
        return replace(found, name=name, owner="stats", owner_span=whole, source="m.c:3", sized=True)


def judged(recorded: Recorded) -> tuple[list[Finding], Verdicts, SampledRun]:
    placed = attribution(recorded)
    run = profile_lines(placed, 64)
    static = tuple(replace(use, link=BASE, target=True, module="/bin/x") for use in run.lines)
    run = replace(run, lines=static)
    verdicts = judge_lines(run, OfStats(), 64)
    return findings_of(verdicts, run.totals, Style(64, ImageKind.PIE)), verdicts, run


def updates(*seen: tuple[int, int, int], function: str = "handle") -> Recorded:
    """(thread, element, member): each updates its own in turn."""
    recorded = Recorded()
    for i, (thread, element, member) in enumerate(seen):
        recorded.loop(thread, ticks(300, shift=i * 40_000), at=element * STRIDE + 8 * member, function=function)
    return recorded


def test_members_of_elements_are_slots_of_threads() -> None:
    (found,), _, _ = judged(updates((0, 0, 0), (0, 0, 2), (1, 1, 0)))
    assert found.rule == "sampled-thread-slots"
    assert "stats: 2 elements of 24 bytes" in found.message


@pytest.mark.parametrize(
    "seen",
    [
        [(0, 0, 0), (0, 0, 2), (1, 1, 0), (0, 1, 1)],  # an element of both threads
        [(0, 0, 0), (1, 0, 2)],  # two threads in one element
    ],
)
def test_elements_that_several_threads_write_are_no_slots(seen: list[tuple[int, int, int]]) -> None:
    assert [f.rule for f in judged(updates(*seen))[0]] == ["sampled-false-sharing"]


def test_the_identity_is_the_arrays() -> None:
    ids = {
        judged(updates(*seen))[0][0].id
        for seen in (
            [(0, 0, 0), (1, 1, 0)],
            [(0, 0, 0), (1, 1, 0), (0, 0, 2), (1, 1, 1)],
            [(1, 0, 0), (0, 1, 0)],
        )
    }
    assert len(ids) == 1


def test_code_and_samples_of_one_array_are_one_finding() -> None:
    sampled, verdicts, run = judged(updates((0, 0, 0), (0, 0, 2), (1, 1, 0)))
    known = finding("packed-thread-slots", ("stats",))
    (both,), counts = join([known], sampled, verdicts, run, lambda names: RAN)
    assert (both.id, counts["sampled_joined"]) == (known.id, 1)
    other = finding("packed-thread-slots", ("stat",))
    assert len(join([other], sampled, verdicts, run, lambda names: RAN)[0]) == 2


class OfState(Names):
    """Two lines are one variable ``state``, with members or elements of eight bytes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def actor(self, item: Item, use: LineUse) -> Actor:
        number = (use.link - BASE + item.start) // 8
        found = super().actor(item, use)
        return replace(found, name=self._name.format(number), owner="state", owner_span=(BASE, BASE + 128))


@pytest.mark.parametrize(
    ("name", "findings"),
    [("state.of[{}].hits", 1), ("state[{}]", 1), ("state+{:#x}", 1), ("state.member_{}", 2)],
)
def test_lines_of_one_array_are_folded_and_members_of_one_struct_are_not(name: str, findings: int) -> None:
    recorded = Recorded()
    for line in (LINE, LINE + 64):
        for thread in (0, 1):
            # Unlike functions, so that the elements are no slots of threads.
            times = ticks(300, shift=(thread + 2 * (line != LINE)) * 40_000)
            recorded.loop(thread, times, at=8 * thread, line=line, function=f"handle_{thread}")
    run = profile_lines(attribution(recorded), 64)
    static = tuple(replace(use, link=BASE + use.address - LINE, target=True, module="/bin/x") for use in run.lines)
    run = replace(run, lines=static)
    found = findings_of(judge_lines(run, OfState(name), 64), run.totals, Style(64, ImageKind.PIE))
    assert [f.rule for f in found] == ["sampled-false-sharing"] * findings
    assert any("1 more lines like this one" in e.text for e in found[0].evidence) == (findings == 1)
