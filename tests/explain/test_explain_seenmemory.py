"""Memory that no variable is of: what the new profile shows of it and the old one does not, and what its type was."""

from __future__ import annotations

import pytest

from sharing.explain.records import Record, laid_out_anew, record_named
from sharing.explain.seenmemory import Disturbed, causes_of, disturbed_since
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.model.attribution import Region
from sharing.model.finding import Severity
from sharing.model.types import TypeKind, TypeMember, TypeRecord, TypeTable
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import Totals
from tests.builders.recorded import Recorded, attribution, ticks
from tests.explain.test_explain_seenpairs import APART, built

HERE, THERE = 0x5000, 0x9000
ELSEWHERE = 4096


def profile(*pairs: tuple[int, int, int], idle: int = 0) -> tuple[Verdicts, Totals]:
    """Of each (line, bytes between, samples) two threads write one of two words; ``idle`` samples of a third thread."""
    recorded = Recorded()
    for number, (line, between, samples) in enumerate(pairs):
        for thread in (0, 1):
            times = ticks(samples, shift=90_000 * thread)
            function = f"f{number}{thread}"
            recorded.loop(thread, times, at=0, function=function, line=line + between * thread, region=Region.HEAP)
    if idle:
        recorded.loop(2, ticks(idle), at=0, function="idle", line=0xF000, region=Region.HEAP)
    run = profile_lines(attribution(recorded), 64)
    return judge_lines(run, Names(), 64), run.totals


def since(old: tuple[Verdicts, Totals], new: tuple[Verdicts, Totals]) -> list[tuple[tuple[str, ...], bool]]:
    """The functions of what became worse, and whether it was bad before."""
    return [(one.seen.functions, one.before is not None) for one in disturbed_since(old[0], new[0])]


def test_memory_counts_where_only_the_new_profile_has_it() -> None:
    alone, shared = profile((HERE, ELSEWHERE, 400)), profile((HERE, 8, 400))
    assert since(alone, shared) == [(("f00", "f01"), False)]
    assert since(shared, shared) == []
    assert since(shared, alone) == []


def test_what_costs_more_stands_first() -> None:
    alone = profile((HERE, ELSEWHERE, 100), (THERE, ELSEWHERE, 300))
    both = profile((HERE, 8, 100), (THERE, 8, 300))
    assert [functions for functions, _ in since(alone, both)] == [("f10", "f11"), ("f00", "f01")]


def test_what_was_a_little_before_and_is_much_now_counts_with_both_figures() -> None:
    little, much = profile((HERE, 8, 40), idle=1500), profile((HERE, 8, 400))
    (found,) = disturbed_since(little[0], much[0])
    assert found.before is not None
    (cause,) = causes_of([found], (little[1], much[1]), built(APART, APART), lambda seen: "")
    assert "in the old build 5." in cause.summary
    assert disturbed_since(much[0], little[0]) == ()


def test_a_cause_says_how_its_record_was_laid_out_anew() -> None:
    alone, shared = profile((HERE, ELSEWHERE, 400)), profile((HERE, 8, 400))
    found = disturbed_since(alone[0], shared[0])
    totals = alone[1], shared[1]
    (plain,), (told,) = (causes_of(found, totals, built(APART, APART), lambda seen, w=w: w) for w in ("", "`a` is new"))
    assert plain.summary.startswith("threads take ")
    assert told.summary.startswith("`a` is new; threads take ")
    assert told.strength == {Severity.CRITICAL: 0.95, Severity.HIGH: 0.9}[found[0].seen.draft.severity]


def record(size: int = 64, **members: int) -> Record:
    return Record("session", size, members)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (record(hits=0), record(hits=0), ""),
        (record(hits=0), record(72, hits=0, trace=64), "`trace` is new in `session`, 72 bytes each, before 64"),
        (record(hits=0, name=8), record(8, hits=0), "`name` is gone from `session`, 8 bytes each, before 64"),
        (record(hits=0, lost=8), record(hits=8, lost=0), "`hits` is at byte 8 of `session`, before at byte 0"),
        (record(hits=0), record(128, hits=0), "`session` has another size, 128 bytes each, before 64"),
    ],
)
def test_records_are_compared_by_the_paths_of_their_members(old: Record, new: Record, said: str) -> None:
    assert laid_out_anew(old, new, ["hits"]) == said


def test_a_record_is_found_by_the_name_that_profiles_give_it() -> None:
    count = TypeRecord(TypeKind.BASE, "long", 8, 0, -1, -1, (), -1, 0)
    session = TypeRecord(TypeKind.STRUCT, "session", 8, 0, -1, -1, (TypeMember("hits", 0, 0, 0, False),), -1, 0)
    alias = TypeRecord(TypeKind.TYPEDEF, "session_t", -1, 0, 1, -1, (), -1, 0)
    types = TypeTable([count, session, alias])
    assert record_named([TypeTable(), types], "session_t") == Record("session_t", 8, {"hits": 0})
    assert record_named([types], "long") is None


def test_what_is_the_same_twice_is_told_once() -> None:
    """Two lines of records that the same functions touch."""
    alone = profile((HERE, ELSEWHERE, 400))
    recorded = Recorded()
    for line in (HERE, THERE):
        for thread in (0, 1):
            times = ticks(300, shift=90_000 * thread)
            recorded.loop(thread, times, at=8 * thread, function=f"f0{thread}", line=line, region=Region.HEAP)
    verdicts = judge_lines(profile_lines(attribution(recorded), 64), Names(), 64)
    found = disturbed_since(alone[0], verdicts)
    assert [type(one) for one in found] == [Disturbed]
