"""The numbers of samples and of gains: when one moves, something else is said of a small run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest

from linemate.sampled.sidecars import Sidecar
from sharing.basics import numbers as shared
from sharing.basics.numbers import described
from sharing.model.attribution import Module, Region
from sharing.model.image import AccessKind
from sharing.model.operands import WordSet
from sharing.sampled import numbers
from sharing.sampled.interval import wilson
from sharing.sampled.lineuse.blame import blame, items_of
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.overlap import may_be_step, overlap
from sharing.sampled.speedup.gain import Gain, Gains
from tests.attribution.test_attribution_carried import found, lost, told, two_accesses
from tests.builders.levels import LINE as SHARED_LINE
from tests.builders.levels import Spent, level, lines_of
from tests.builders.recorded import LINE, One, Recorded, attribution, ticks
from tests.builders.recordings import recording
from tests.gain.test_gain_estimate import Code as WaitingCode
from tests.gain.test_gain_estimate import gain_of, slots, two_counters, while_lines_took
from tests.gain.test_gain_latency import floor_of
from tests.gain.test_gain_timeline import run
from tests.sampled.test_sampled_lines import Code
from tests.sampled.test_sampled_together import along_an_array, interleaved, short_threads
from tests.sampled.test_sampled_verdicts import judged, pair

Outcome = Callable[[], object]
Row = tuple[str, float, Outcome]


def said(recorded: Recorded) -> object:
    """Rule, severity and message of each finding, and what became of the lines."""
    findings, verdicts = judged(recorded)
    return [(f.rule, f.severity, f.message) for f in findings], verdicts.counts


def overlapping(a: list[int], b: list[int]) -> object:
    """Whether two threads use a line at one time, and whether they may do so in steps."""
    result = overlap(np.array(a, np.uint64), np.array(b, np.uint64), np.zeros(len(a)), np.ones(len(b)))
    return result.concurrency, may_be_step(result)


def beside(samples: int = 300) -> object:
    return overlapping(ticks(samples), ticks(samples, start=0.1))


def in_turns() -> object:
    first, second = ([t for i in range(n, 12, 2) for t in ticks(19, start=5 * i)] for n in (0, 1))
    return overlapping(first, second)


def now_and_then() -> object:
    return overlapping(ticks(12) + ticks(12, start=100), ticks(12, start=40) + ticks(12, start=160))


def turns() -> Recorded:
    recorded = Recorded()
    for phase in range(12):
        recorded.loop(phase % 2, ticks(40, start=phase * 12), at=8 * (phase % 2))
    return recorded


def nodes() -> Recorded:
    """The same code at many lines, one after the other."""
    recorded = Recorded()
    for step in range(6):
        for i in range(300):
            for thread in (0, 1):
                time = (step * 300 + i) * 20_000 + thread * 7
                recorded.samples.append(
                    One(thread, time, at=8 * ((thread + step) % 2), line=LINE + 64 * i, kind=AccessKind.RMW)
                )
    return recorded


def seldom() -> Recorded:
    """A thread that writes beside the bytes of another one, and is hardly ever seen."""
    recorded = Recorded().loop(0, ticks(4000), at=0, function="count")
    return recorded.loop(1, ticks(2, start=60), at=8, function="start")


def two_lines() -> Recorded:
    recorded = pair(count=100)
    return recorded.loop(0, ticks(60, start=100), at=0, line=0x9000).loop(1, ticks(60, start=100.1), at=8, line=0x9000)


def another_way() -> object:
    """Who writes, where code says that both threads may and samples of one of them show it elsewhere."""
    recorded = Recorded().loop(0, ticks(200), at=8, region=Region.STATIC, link=0x4000)
    recorded.loop(1, ticks(200, shift=9), at=16, line=LINE + 0x400, region=Region.STATIC, link=0x4400)
    placed = attribution(recorded, modules=(Module("/bin/x", target=True),))
    use = next(u for u in profile_lines(placed, 64, Code()).lines if u.link == 0x4000)
    return {t.thread for t in use.touches if t.writes}


def by_code() -> object:
    """Whose writes cost a thread what, where a part of them is only said by code."""
    recorded = Recorded().loop(1, ticks(400), at=16, function="work", region=Region.STATIC, link=0x4000)
    recorded.loop(0, ticks(400, shift=90_000), at=0, function="count", region=Region.STATIC, link=0x4000)
    placed = attribution(recorded, modules=(Module("/bin/x", target=True),))
    (use,) = profile_lines(placed, 64, Code()).lines
    return {pair: round(cost) for pair, cost in blame(use, items_of(use)).pairs.items()}


def gain(stalled_s: float = 0.55) -> object:
    return gain_of(two_counters(stalled_s), two_counters(0.05)).text


def partly_shared() -> object:
    """Two threads share one counter, and one of them has another beside it."""

    def program(stalled_s: float, own_s: float) -> list[Spent]:
        return [
            *two_counters(stalled_s, second=0),
            Spent(1, "count", 0x1020, own_s, SHARED_LINE + 8),
        ]

    return gain_of(program(0.4, 0.5), program(0.05, 0.01)).text


def told_by_code() -> object:
    """Only code says who disturbs the writer."""

    def program(stalled_s: float) -> list[Spent]:
        return [
            Spent(1, "read", 0x1000, 0.5),
            Spent(2, "count", 0x2000, 0.3),
            Spent(2, "count", 0x2010, stalled_s, SHARED_LINE + 8),
        ]

    one = level(program(0.6))
    lines = profile_lines(one.attribution, 64, WaitingCode(one)).lines
    found = Gains(one, lines, level(program(0.02), solo=True)).of(lines[0])
    return found and found.text


def uneven() -> object:
    """Of two threads of the same code only the one that works less waits."""

    def program(stalled_s: float) -> list[Spent]:
        return [
            Spent(1, "count", 0x1000, 0.4),
            Spent(1, "count", 0x1010, stalled_s, SHARED_LINE),
            Spent(2, "count", 0x1000, 0.6),
            Spent(2, "count", 0x1010, 0.05, SHARED_LINE + 8),
        ]

    return gain_of(program(0.6), program(0.05)).text


def pool() -> object:
    """Alone, the first thread takes nearly all of the work."""
    solo = [
        Spent(thread, "count", 0x1000 + 16 * waits, share * (0.1 if waits else 1.0), waits and SHARED_LINE + 8 * at)
        for thread, at, share in ((1, 0, 0.9), (2, 1, 0.1))
        for waits in (0, 1)
    ]
    return gain_of([*two_counters(0.55), Spent(2, "other", 0x5000, 0.05)], solo).text


def fixed_time(anchor_s: float = 0.0) -> object:
    """Both levels ran for a second; the threads may have done other work as well."""
    anchors = [Spent(t, "compute", 0x3000, anchor_s) for t in (0, 1)]
    alone = [Spent(t, "compute", 0x3000, anchor_s / 2) for t in (0, 1)]
    seconds = 1.0 - anchor_s
    return gain_of([*slots(seconds), *anchors], [*slots(seconds / 2), *alone], wall_s=1.0).text


def by_chance() -> object:
    return gain_of(two_counters(0.55), two_counters(0.025), wall_s=1.05).text


def by_metric(*metrics: float) -> object:
    """Runs of one level that did so much work a second; without any, nothing is known of the runs."""
    spread, solo = level(slots(1.0)), level(slots(0.5), solo=True, wall_s=1.0)
    one, other = (
        replace(made, runs=tuple(msgspec.structs.replace(made.runs[0], metric=metric) for metric in metrics))
        for made in (spread, solo)
    )
    lines = lines_of(one).lines
    found = Gains(one, lines, other).of(lines[0])
    return found and found.text


@cache
def usual(outcome: Outcome) -> object:
    """What is said with all numbers as they are."""
    return outcome()


OF_SAMPLES: list[Row] = [
    ("MIN_ON_LINE", 1000, lambda: said(pair(count=100))),
    ("FEW_SAMPLES", 1000, lambda: said(pair(count=100))),
    ("MIN_SHARE", 1.1, lambda: said(pair(count=100))),
    ("MANY_THIN", 1000, lambda: said(along_an_array(interleaved, lines=40, passes=(0,)))),
    ("MAX_LINES", 1, lambda: said(two_lines())),
    ("MAX_THREADS", 1, lambda: said(turns())),
    ("WOULD_SHOW", 1000.0, another_way),
    ("SEVERAL", 100, lambda: said(short_threads(60, apart_ms=0.65))),
    ("MAX_SITES", 0, lambda: said(nodes())),
    ("SITES_SHARE", 2.0, lambda: said(nodes())),
    ("MIN_TESTED", 20, lambda: beside(10)),
    ("GAPS", 0.1, beside),
    ("CONCURRENT_FROM", 1.1, beside),
    ("PHASED_TO", 0.0, in_turns),
    ("PHASED_SHARE", -1.0, in_turns),
    ("ALTERNATE", 1000.0, beside),
    ("CLEAR_PHASES", 0.0, in_turns),
    ("BY_CHANCE", 1.0, now_and_then),
    ("CROWDED", 3.0, lambda: Sidecar("p.data", recording()).crowded),
    ("CLOSE", 100.0, lambda: said(short_threads(60, apart_ms=0.65))),
    ("CODE_WEIGHT", 1e6, by_code),
    ("CODE_SHARE", 0.001, by_code),
    ("WAITS_PER_USE", 1e6, lambda: said(seldom())),
    ("MIN_LATENCIES", 100, lambda: floor_of([(100, AccessKind.LOAD, False)] * 10, [(9, AccessKind.LOAD, False)] * 40)),
    ("USUAL_CYCLES", 50.0, lambda: floor_of([(100, AccessKind.LOAD, False)] * 10, [])),
    ("USUAL_ATOMIC_CYCLES", 50.0, lambda: floor_of([(100, AccessKind.RMW, True)] * 10, [])),
    ("TELLING", 1.5, lambda: Gain(None, 1.0, 2.0, "").text),
    ("WORTH_FIXING", 1.2, lambda: Gain(1.05, 1.0, 1.1, "").worth_fixing),
    ("UNCERTAIN", 1.01, lambda: Gain(1.2, 1.1, 1.3, "", doubt="a reason").sentence),
    ("LEAST_SPREAD", 0.5, gain),
    ("FARTHER", 10.0, lambda: while_lines_took(25.0, seen_ns=(25.0, 150.0))),
    ("MORE_RUNS", 100, lambda: by_metric(1.0, 1.0, 1.0)),
    ("MIN_CARRIED", 4, lambda: tuple(found(two_accesses(), [lost(), told(), told(), told()]))),
    ("MIN_REPEATED", 17, lambda: tuple(found(two_accesses(kept=WordSet.REPEATED), [lost(), *[told()] * 16]))),
    ("ODDS", 1.0, partly_shared),
    ("MIN_ALONE", 10_000, partly_shared),
    ("UNKNOWN_REMAINS", 1.0, told_by_code),
    ("UNSEEN_RATE", 1000.0, gain),
    ("QUIET_ODDS", 100.0, partly_shared),
    ("STEP_SAMPLES", 1000.0, lambda: run((1, 0, 0.5, 0.5), (1, 0.5, 1, 1.0), (2, 0, 0.5, 1.0), (2, 0.5, 1, 0.5))),
    ("SHORT_PHASE", 10_000, lambda: run((1, 0, 1, 0.2), (2, 0, 1, 0.8), (3, 1, 2, 0.6), (4, 1, 2, 0.1))),
    ("USUAL_PART", 0.99, by_chance),
    ("FEW_TIME", 0.9, uneven),
    ("FASTER", 0.01, uneven),
    ("ALIKE_TIME", 1.1, uneven),
    ("EVEN", 0.0, pool),
    ("UNEVEN", 100.0, pool),
    ("SAME_WALL", -1.0, fixed_time),
    ("SAME_WALL_S", -1.0, fixed_time),
    ("RUNS_APART", 0, fixed_time),
    ("BUSY", 10.0, fixed_time),
    ("SPREADS", 10.0, fixed_time),
    ("LEAST_USUAL", 1.2, by_chance),
    ("MOST_USUAL", 100.0, fixed_time),
    ("MIN_ANCHOR_S", 100.0, lambda: fixed_time(0.3)),
    ("METRIC_DOUBT", 0.0, lambda: by_metric(100.0, 150.0)),
    ("ONE_RUN_DOUBT", 0.5, by_metric),
    ("ANCHOR_DOUBT", 0.5, lambda: fixed_time(0.3)),
]


@pytest.mark.parametrize(("name", "other", "outcome"), OF_SAMPLES, ids=[row[0] for row in OF_SAMPLES])
def test_a_number_of_samples_decides_what_is_said(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, outcome: Outcome
) -> None:
    before = usual(outcome)
    monkeypatch.setattr(numbers, name, other)
    assert outcome() != before


def test_the_width_of_intervals_decides_how_sure_a_share_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before = wilson(5, 10).low
    monkeypatch.setattr(shared, "Z_95", 0.1)
    assert wilson(5, 10).low > before


def test_every_number_of_samples_is_shown_to_decide_something() -> None:
    assert set(described(numbers)) == {row[0] for row in OF_SAMPLES}
