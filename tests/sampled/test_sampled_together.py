"""Who uses a line together with whom, where samples are few, or fall where code waits and not where it works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.model.attribution import Module, Region, TouchFlag
from sharing.model.finding import Finding, Severity, Verdict
from sharing.model.image import AccessKind, ImageKind
from sharing.model.samples import Event, Field
from sharing.rules.numbers import LARGE_FOOTPRINT
from sharing.rules.sampled.base import SampledLine
from sharing.sampled.lineuse.lines import profile_lines
from tests.builders.recorded import LINE, MS, One, Recorded, attribution, ticks
from tests.sampled.test_sampled_verdicts import judged


@dataclass(frozen=True, slots=True)
class OnlyCode:
    """What the code of ``look`` does to bytes 8–15 of every line, according to the binary."""

    kinds: tuple[AccessKind, ...]

    def touches(self, link: int, size: int) -> list[tuple[int, int, int, AccessKind, bool, frozenset[int]]]:
        return [(1, 8, 16, kind, False, frozenset()) for kind in self.kinds]


def beside_code(kinds: tuple[AccessKind, ...], *, counts: AccessKind) -> SampledLine:
    """A thread that counts, and one with as many samples in ``look``, none of them on the line."""
    recorded = Recorded()
    for time in ticks(400):
        one = One(0, time, at=0, kind=counts, function="count", region=Region.STATIC, link=0x4000)
        recorded.samples.append(one)
    for time in ticks(400, shift=90_000):
        recorded.samples.append(One(1, time, line=LINE + 0x400, function="look", region=Region.STATIC, link=0x4400))
    placed = attribution(recorded, modules=(Module("/bin/x", target=True),))
    verdicts = judge_lines(profile_lines(placed, 64, OnlyCode(kinds)), Names(), 64)
    return next(j.line for j in verdicts.judged if j.line.use.link == 0x4000)


LOAD, STORE, RMW = AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW


@pytest.mark.parametrize(
    ("kinds", "counts", "why", "disturbs"),
    [
        ((LOAD,), RMW, "a load that took the line from a writer would have waited for it, and been sampled", False),
        ((RMW,), RMW, "so would an update", False),
        ((LOAD, STORE), RMW, "of one instruction or of two", False),
        ((STORE,), RMW, "a store waits for nobody", True),
        ((LOAD, STORE), LOAD, "a line that is only read elsewhere is there to be loaded: the store takes it", True),
    ],
)
def test_what_only_code_tells_of_disturbs_where_samples_would_not_show_it(
    kinds: tuple[AccessKind, ...], counts: AccessKind, why: str, disturbs: bool
) -> None:
    line = beside_code(kinds, counts=counts)
    assert (line.blame.false >= 0.5 * line.use.cost) == disturbs, why
    assert disturbs or line.blame.false < 0.01 * line.use.cost


def short_threads(count: int, *, apart_ms: float, alive_ms: float = 0.6) -> Recorded:
    """Threads of two samples each that update one of two members; a thread is first sampled a period after it began."""
    recorded = Recorded()
    for number in range(count):
        started = number * apart_ms
        for at_ms in (started + 0.25, started + 0.5):
            assert at_ms <= started + alive_ms
            one = One(number, round(at_ms * MS) + number, at=8 * (number % 2), kind=AccessKind.RMW, cpu=number % 2)
            recorded.samples.append(one)
    return recorded


def test_many_short_threads_one_after_the_other_do_not_disturb_each_other() -> None:
    findings, verdicts = judged(short_threads(60, apart_ms=0.65))
    assert findings == []
    assert verdicts.counts["sampled lines, phased"] == 1


def test_as_many_short_threads_that_begin_before_others_end_may() -> None:
    (finding,), _ = judged(short_threads(60, apart_ms=0.33))
    assert finding.verdict is Verdict.FALSE_SHARING
    assert "each has too few samples" in " ".join(e.text for e in finding.evidence)


def test_a_counter_of_events_tells_no_time_between_threads() -> None:
    cycles = Event("cycles", Field.TIME | Field.PERIOD | Field.CPU, 0, 0)
    assert judged(short_threads(60, apart_ms=0.65), events=[cycles])[0], "its period is no time"


def along_an_array(
    element: Callable[[int, int], int],
    *,
    lines: int = 12,
    apart: float = 0.0,
    reader: int = -1,
    passes: tuple[int, ...] = (0, 2, 4, 6),
) -> Recorded:
    """Two threads that pass over an array again and again, a few samples to a line: ``element(thread, step)``.

    Each of the ``passes`` that were sampled, of eight, leaves one sample of each thread on each line.
    """
    recorded = Recorded()
    for step in range(8 * lines):
        for thread in (0, 1):
            time = round((step * 0.25 + thread * apart) * 1_000_000) + 90_000 * thread
            at = 8 * element(thread, step)
            kind = AccessKind.LOAD if thread == reader else AccessKind.RMW
            recorded.samples.append(One(thread, time, at=at, line=LINE + 64 * (step % lines), kind=kind))
    recorded.samples = [one for one in recorded.samples if one.time // 250_000 // lines % 8 in passes]
    return recorded


def interleaved(thread: int, step: int) -> int:
    return 2 * (step // 24 % 2) + thread


def test_thin_lines_of_one_array_are_judged_together() -> None:
    (finding,), verdicts = judged(along_an_array(interleaved))
    assert finding.verdict is Verdict.FALSE_SHARING
    assert finding.severity is Severity.MEDIUM, "that they met on one line at one moment is not proven"
    assert any("11 more lines like this one" in e.text for e in finding.evidence)
    assert verdicts.counts == {"sampled lines": 12, "sampled lines, pooled": 12}


def test_many_lines_with_a_sample_of_each_thread_are_enough() -> None:
    (finding,), verdicts = judged(along_an_array(interleaved, lines=40, passes=(0,)))
    assert (finding.verdict, finding.severity) == (Verdict.FALSE_SHARING, Severity.MEDIUM)
    assert verdicts.counts["sampled lines, pooled"] == 40
    findings, verdicts = judged(along_an_array(interleaved, lines=12, passes=(0,)))
    assert (findings, verdicts.counts) == ([], {}), "so few are not looked at"


def with_footprint(recorded: Recorded) -> list[Finding]:
    """Findings where the same instructions touch more lines than padding is good for."""
    run = profile_lines(attribution(recorded), 64)
    run = replace(run, lines=tuple(replace(use, footprint=LARGE_FOOTPRINT) for use in run.lines))
    return findings_of(judge_lines(run, Names(), 64), run.totals, Style(64, ImageKind.PIE))


@pytest.mark.parametrize("passes", [(0, 2, 4, 6), tuple(range(8))], ids=["thin lines", "lines of their own"])
def test_elements_of_a_large_array_that_are_dealt_to_threads_go_side_by_side(passes: tuple[int, ...]) -> None:
    (finding,) = with_footprint(along_an_array(interleaved, passes=passes))
    assert finding.severity.rank >= Severity.MEDIUM.rank
    assert finding.remedies == ()
    assert any("give each thread elements that lie side by side" in e.text for e in finding.evidence)


def test_elements_of_a_large_array_that_all_threads_walk_are_left_as_they_are() -> None:
    walked = along_an_array(lambda thread, step: (thread + step // 12) % 4, passes=tuple(range(8)))
    (finding,) = with_footprint(walked)
    assert finding.severity.rank <= Severity.LOW.rank
    assert "padding is not recommended" in finding.message


@pytest.mark.parametrize(
    ("how", "recorded"),
    [
        ("handed over whole: both threads at the same elements", along_an_array(lambda thread, step: step // 24 % 2)),
        ("one after the other", along_an_array(interleaved, apart=60.0)),
        ("too few lines to be one kind of thing", along_an_array(interleaved, lines=5)),
        ("a queue: one waits for what the other wrote", along_an_array(interleaved, reader=1)),
    ],
)
def test_thin_lines_that_show_less_together_stay_alone(how: str, recorded: Recorded) -> None:
    findings, verdicts = judged(recorded)
    assert findings == [], how
    assert "sampled lines, too few samples" in verdicts.counts


def handed_over(*, one_instruction: bool) -> Recorded:
    """Eight bytes at a time from one thread to another, which waits where a line begins and finds the rest there."""
    recorded = Recorded()
    for step, time in enumerate(ticks(400)):
        put, got = step % 8, 0 if step % 4 else step // 4 % 8
        for thread, place, kind in ((0, put, AccessKind.STORE), (1, got, AccessKind.LOAD)):
            ip = 0x1000 + 0x100 * thread + (0 if one_instruction else place)
            function = ("put", "get")[thread] + ("" if one_instruction else f"_{place}")
            recorded.samples.append(One(thread, time + 90_000 * thread, 8 * place, 8, kind, function=function, ip=ip))
    return recorded


def test_code_that_goes_over_elements_is_at_each_of_them_wherever_it_waits() -> None:
    (queue,), _ = judged(handed_over(one_instruction=True))
    assert (queue.verdict, queue.severity) == (Verdict.TRUE_SHARING, Severity.LOW)
    assert "100 % true sharing (other threads at the same bytes)" in queue.evidence[0].text
    members = judged(handed_over(one_instruction=False))[0][0]
    assert members.verdict is Verdict.FALSE_SHARING, "code of its own for each: members, of which one is read most"


def picked(*, lets_go: bool = False, tries: bool = False) -> Recorded:
    """Two threads each update any of eight words, and store to it to let go of it, or try until they get it."""
    recorded, flags = Recorded(), TouchFlag.ATOMIC | TouchFlag.SPIN_WAITS if tries else TouchFlag.ATOMIC
    for step, time in enumerate(ticks(400)):
        for thread in (0, 1):
            at, now = 8 * ((step * 5 + step // 8 + 3 * thread) % 8), time + 90_000 * thread
            recorded.samples.append(One(thread, now, at, 8, AccessKind.RMW, flags=int(flags)))
            if lets_go:
                recorded.witnesses.append((now, One(thread, now, at, 8, AccessKind.STORE)))
    return recorded


@pytest.mark.parametrize("recorded", [picked(lets_go=True), picked(tries=True)], ids=["lets go", "tries"])
def test_locks_in_a_row_that_threads_pick_may_gain_from_room_between_them(recorded: Recorded) -> None:
    (locks,), _ = judged(recorded)
    assert (locks.verdict, locks.severity) == (Verdict.FALSE_SHARING, Severity.MEDIUM), "half of it, at most"
    assert "50 % is false sharing" in " ".join(e.text for e in locks.evidence)
    assert "each thread takes any of these locks" in locks.message


def test_counters_that_threads_pick_are_true_sharing() -> None:
    (counters,), _ = judged(picked())
    assert (counters.verdict, counters.severity) == (Verdict.TRUE_SHARING, Severity.LOW), "they come once each"


@pytest.mark.parametrize(("together", "verdict"), [(True, Verdict.TRUE_SHARING), (False, Verdict.FALSE_SHARING)])
def test_a_write_that_goes_with_one_to_the_disturbed_bytes_would_wait_there(together: bool, verdict: Verdict) -> None:
    recorded = Recorded()
    for time in ticks(400):
        recorded.samples.append(One(0, time, at=0, kind=AccessKind.RMW, function="push"))
        if together:
            index = One(0, time, at=8, kind=AccessKind.STORE, function="push")
            recorded.witnesses.append((time, index))
        recorded.samples.append(One(1, time + 90_000, at=8, kind=AccessKind.RMW, function="reset"))
    (finding,), _ = judged(recorded)
    assert finding.verdict is verdict


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [(AccessKind.LOAD, Verdict.TRUE_SHARING), (AccessKind.RMW, Verdict.FALSE_SHARING)],
)
def test_a_read_that_goes_with_one_of_the_written_bytes_would_wait_there(kind: AccessKind, verdict: Verdict) -> None:
    """An update does not: it waits for the line to write it, and the read brought it without the right to."""
    recorded = Recorded()
    for time in ticks(400):
        recorded.samples.append(One(0, time, at=0, kind=AccessKind.RMW, function="push"))
        recorded.samples.append(One(1, time + 90_000, at=8, kind=AccessKind.LOAD, function="take"))
        recorded.witnesses.append((time + 90_000, One(1, time + 90_000, at=0, kind=kind, function="take")))
    (finding,), _ = judged(recorded)
    assert finding.verdict is verdict


def test_elements_of_each_thread_stay_its_own() -> None:
    recorded = Recorded()
    for step, time in enumerate(ticks(400)):
        for thread in (0, 1):
            at = 32 * thread + 8 * (step % 4 if step % 3 else 0)
            recorded.samples.append(One(thread, time + 90_000 * thread, at, kind=AccessKind.RMW, function="count"))
    (finding,), _ = judged(recorded)
    assert finding.verdict is Verdict.FALSE_SHARING
    assert "100 % is false sharing (other threads at other bytes)" in " ".join(e.text for e in finding.evidence)
