"""Verdicts on lines made by hand: each with the case that just misses it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.memorynames import nameless
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.model.attribution import Basis, Reason, Region, TouchFlag
from sharing.model.finding import Confidence, Finding, Severity, Verdict
from sharing.model.image import AccessKind, ImageKind
from sharing.model.samples import Event, Field
from sharing.rules import SAMPLED_RULES
from sharing.sampled.lineuse.blame import items_of
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import LineUse, Provenance, ThreadName, Touch
from tests.builders.recorded import CLOCK, LINE, One, Recorded, attribution, ticks

Judged = tuple[list[Finding], Verdicts]


def judged(recorded: Recorded, **how: Any) -> Judged:
    run = profile_lines(attribution(recorded, **how), 64)
    verdicts = judge_lines(run, Names(), 64)
    return findings_of(verdicts, run.totals, Style(64, ImageKind.PIE)), verdicts


def rules_of(recorded: Recorded) -> list[str]:
    return [f.rule for f in judged(recorded)[0]]


def pair(second: int = 8, line: int = LINE, count: int = 400) -> Recorded:
    """Two threads at once, each with a counter of its own."""
    one = Recorded().loop(0, ticks(count), at=0, function="count_in", line=line)
    return one.loop(1, ticks(count, shift=90_000), at=second, function="count_out", line=line)


def test_threads_at_different_bytes_at_the_same_time_share_falsely() -> None:
    (finding,), _ = judged(pair())
    assert (finding.rule, finding.verdict) == ("sampled-false-sharing", Verdict.FALSE_SHARING)
    assert finding.severity is Severity.HIGH
    assert finding.confidence is Confidence.DERIVED
    assert [p.bytes for p in finding.participants] == [((0, 8),), ((8, 16),)]
    assert [p.writers for p in finding.participants] == [("count_in",), ("count_out",)]
    assert "heap 0x5000 bytes 0–7" in finding.message
    assert "worker/100" in finding.message
    assert [r.kind for r in finding.remedies] == ["pad-allocation"]
    said = " ".join(e.text for e in finding.evidence)
    for part in ("800 samples", "100 % (", "of 2 threads", "used at the same time", "near sampled instructions"):
        assert part in said, part


@pytest.mark.parametrize(("strays", "at_ms"), [(1, 60), (2, 60), (6, 1000)])
def test_a_few_strays_do_not_explain_what_one_thread_does(strays: int, at_ms: float) -> None:
    recorded = Recorded().loop(0, ticks(4000), at=0, function="count")
    recorded.loop(1, ticks(strays, start=at_ms), at=8, function="start")
    assert all(f.severity is Severity.NOTE for f in judged(recorded)[0])


def test_a_writer_that_is_seldom_seen_explains_its_share() -> None:
    recorded = Recorded().loop(0, ticks(4000), at=0, writes=False, function="read")
    recorded.loop(1, ticks(40, every=25.0, shift=90_000), at=8, function="publish")
    (finding,) = judged(recorded)[0]
    assert finding.severity is Severity.HIGH


@pytest.mark.parametrize(("strays", "named"), [(3, ("count_in",)), (30, ("count_in", "start"))])
def test_who_was_there_once_is_not_named_as_a_writer(strays: int, named: tuple[str, ...]) -> None:
    recorded = pair().loop(0, ticks(strays, start=101), at=0, function="start")
    (finding,), _ = judged(recorded)
    assert finding.participants[0].writers == named
    assert [name for name in ("count_in", "start") if name in finding.message] == list(named)


def test_of_many_equal_threads_each_is_worth_naming() -> None:
    recorded = Recorded()
    for thread in range(200):
        recorded.loop(thread, ticks(4, shift=thread * 1000), at=8 * (thread % 8), function=f"count_{thread % 8}")
    (finding,), _ = judged(recorded)
    assert all(p.writers for p in finding.participants)


def test_threads_on_two_lines_do_not() -> None:
    recorded = Recorded().loop(0, ticks(400), at=0).loop(1, ticks(400, shift=9), at=64)
    findings, verdicts = judged(recorded)
    assert findings == []
    assert verdicts.counts == {"sampled lines": 2, "sampled lines, one thread": 2}


def test_readers_alone_do_not() -> None:
    recorded = Recorded().loop(0, ticks(400), at=0, writes=False).loop(1, ticks(400, shift=9), at=8, writes=False)
    assert judged(recorded)[1].counts["sampled lines, only read"] == 1


def test_threads_that_take_turns_do_not() -> None:
    recorded = Recorded()
    for phase in range(12):
        recorded.loop(phase % 2, ticks(40, start=phase * 12), at=8 * (phase % 2))
    findings, verdicts = judged(recorded)
    assert findings == []
    assert verdicts.counts["sampled lines, phased"] == 1


def time_sliced(cpu: int) -> Recorded:
    """Two counters of two threads that get a processor for four milliseconds each in turn."""
    recorded = Recorded()
    for turn in range(60):
        for time in ticks(2, start=turn * 4.0, every=2.0):
            recorded.samples.append(One(turn % 2, time, at=8 * (turn % 2), kind=AccessKind.RMW, cpu=cpu))
    return recorded


def test_threads_with_one_processor_between_them_are_time_sliced_and_not_phased() -> None:
    findings, verdicts = judged(time_sliced(0))
    assert findings == []
    assert verdicts.counts == {"sampled lines": 1, "sampled lines, on one processor": 1}


@pytest.mark.parametrize(("phases", "outcome"), [(12, "sampled lines, on one processor"), (2, "sampled lines, phased")])
def test_where_others_left_no_processor_for_each_thread_turns_may_be_the_schedulers(phases: int, outcome: str) -> None:
    recorded = Recorded()
    for phase in range(phases):
        recorded.loop(phase % 2, ticks(40, start=phase * 12), at=8 * (phase % 2))
    verdicts = judge_lines(profile_lines(attribution(recorded), 64, crowded=True), Names(), 64)
    assert verdicts.counts == {"sampled lines": 1, outcome: 1}


def test_the_same_turns_on_a_processor_each_are_a_finding() -> None:
    recorded = Recorded([replace(one, cpu=one.thread) for one in time_sliced(0).samples])
    assert rules_of(recorded) == ["sampled-false-sharing"]


def test_one_that_prepares_and_others_that_read_later_do_not() -> None:
    recorded = Recorded().loop(0, ticks(100), at=0)
    recorded.loop(1, ticks(300, start=30), at=8, writes=False)
    assert judged(recorded)[1].counts["sampled lines, phased"] == 1


def test_bytes_that_are_only_read_are_disturbed_by_a_writer_beside_them() -> None:
    recorded = Recorded().loop(0, ticks(400), at=0, function="count")
    recorded.loop(1, ticks(400, shift=9), at=8, writes=False, function="look")
    (finding,), _ = judged(recorded)
    assert (finding.rule, finding.verdict) == ("sampled-read-mostly", Verdict.READ_MOSTLY_DISTURBED)
    assert finding.message.startswith("heap 0x5000 bytes 8–15, read by look")


def test_readers_that_write_beside_what_they_read_are_disturbed_on_both_sides() -> None:
    """Two objects on one line: each thread reads the limit of its own and counts in it."""
    recorded = Recorded()
    for thread, start in ((0, 0), (1, 16)):
        for time in ticks(400, shift=90_000 * thread):
            recorded.samples.append(One(thread, time, at=start + 8, function="run"))
            recorded.witnesses.append((time, One(thread, time, at=start, kind=AccessKind.RMW, function="run")))
    assert {f.verdict for f in judged(recorded)[0]} == {Verdict.FALSE_SHARING}


def test_the_same_bytes_are_true_sharing_and_padding_is_not_offered() -> None:
    recorded = Recorded().loop(0, ticks(400), at=0).loop(1, ticks(400, shift=9), at=0)
    (finding,), _ = judged(recorded)
    assert (finding.rule, finding.verdict) == ("sampled-true-sharing", Verdict.TRUE_SHARING)
    assert finding.remedies == ()
    assert finding.severity is Severity.LOW
    assert "padding does not help" in finding.message
    assert any("its own copy" in e.text for e in finding.evidence)


@pytest.mark.parametrize(
    ("kind", "uses", "advice"),
    [
        (AccessKind.RMW, 0, "its own copy"),  # a count
        (AccessKind.RMW, 1, "update it less often"),  # a ticket, a count of references
        (AccessKind.STORE, 0, "update it less often"),  # a state
    ],
)
def test_only_what_is_added_up_is_advised_to_be_kept_apart_and_added_up(
    kind: AccessKind, uses: int, advice: str
) -> None:
    recorded = Recorded()
    for thread in (0, 1):
        recorded.samples += [One(thread, t, at=0, kind=kind, uses=uses) for t in ticks(400, shift=thread * 9)]
    (finding,), _ = judged(recorded)
    assert finding.verdict is Verdict.TRUE_SHARING
    assert advice in finding.evidence[-1].text


def test_true_sharing_that_poisons_a_line_mate_says_both() -> None:
    recorded = (
        Recorded().loop(0, ticks(400), at=0, function="count").loop(1, ticks(400, shift=9), at=0, function="count")
    )
    recorded.loop(2, ticks(400, shift=99), at=32, writes=False, function="look")
    (finding,), _ = judged(recorded)
    assert finding.verdict in (Verdict.READ_MOSTLY_DISTURBED, Verdict.FALSE_SHARING)
    assert [p.bytes for p in finding.participants] == [((0, 8),), ((32, 40),)]


def test_members_that_one_function_updates_together_would_not_gain_from_being_apart() -> None:
    recorded = Recorded()
    for thread in (0, 1):
        for time in ticks(400, shift=thread * 9):
            recorded.samples.append(One(thread, time, at=0, kind=AccessKind.RMW))
            recorded.witnesses.append((time, One(thread, time, at=8, kind=AccessKind.RMW)))
    assert rules_of(recorded) == ["sampled-true-sharing"]


def lock(thread: int, times: list[int]) -> list[One]:
    flags = int(TouchFlag.LOCK_CALL | TouchFlag.ATOMIC)
    return [One(thread, t, at=0, size=4, kind=AccessKind.RMW, function="lock", flags=flags) for t in times]


def test_a_lock_that_all_take_is_contention_whatever_the_layout() -> None:
    recorded = Recorded(lock(0, ticks(400)) + lock(1, ticks(400, shift=9)))
    (finding,), _ = judged(recorded)
    assert (finding.rule, finding.verdict) == ("sampled-lock-contention", Verdict.LOCK_CONTENTION)
    assert finding.severity is Severity.LOW, "shown, and nothing that layout is to blame for"
    assert finding.remedies == ()


def test_a_lock_beside_data_of_others_is_false_sharing_of_the_two() -> None:
    recorded = Recorded(lock(0, ticks(200)) + lock(1, ticks(200, shift=9)))
    recorded.loop(0, ticks(200, shift=77), at=48, writes=False, function="scan")
    recorded.loop(1, ticks(200, shift=99), at=48, writes=False, function="scan")
    (finding,), _ = judged(recorded)
    assert finding.rule == "sampled-lock-with-data"
    assert [p.bytes for p in finding.participants] == [((0, 4),), ((48, 56),)]
    assert finding.participants[0].lockers == ("lock",)


@pytest.mark.parametrize(
    ("user", "third", "rule"),
    [
        ("client", False, "sampled-lock-contention"),
        ("other", False, "sampled-lock-with-data"),
        ("client", True, "sampled-lock-with-data"),  # a thread that was never seen at the lock
    ],
)
@pytest.mark.parametrize("sampled", [False, True])
def test_data_of_those_who_take_the_lock_is_its_company(user: str, third: bool, rule: str, sampled: bool) -> None:
    recorded = Recorded(lock(0, ticks(200)) + lock(1, ticks(200, shift=9)))
    for thread in (0, 1):
        for time in ticks(200, shift=9 * thread):
            recorded.witnesses.append((time, One(thread, time, at=0, size=4, function="client")))
            recorded.witnesses.append((time, One(thread, time, at=48, kind=AccessKind.STORE, function=user)))
        if sampled:
            recorded.loop(thread, ticks(200, shift=77 + 9 * thread), at=48, function=user)
    if third:
        recorded.loop(2, ticks(200, shift=999), at=48, function=user)
    assert rules_of(recorded)[0] == rule


SPIN_WAITS, ATOMIC = int(TouchFlag.SPIN_WAITS), int(TouchFlag.ATOMIC)


def tickets(*, release: bool = True, draw: bool = True, spin_waits: bool = True, second: str = "take") -> Recorded:
    """Two threads that draw a number at byte 0 and wait for their turn at byte 4."""
    recorded = Recorded()
    for thread in (0, 1):
        for time in ticks(200, shift=9 * thread):
            wait = One(thread, time, at=4, size=4, function="take", flags=SPIN_WAITS * spin_waits)
            recorded.samples.append(wait)
            one = One(thread, time + 50_000, 0, 4, AccessKind.RMW, function="take" if draw else "count", flags=ATOMIC)
            recorded.samples.append(one)
            if release or thread == 1:
                done = One(thread, time, 4, 4, AccessKind.RMW, function="give", flags=ATOMIC)
                recorded.witnesses.append((time, done))
    return recorded


def test_a_lock_that_the_program_makes_is_known_by_what_threads_do() -> None:
    (finding,), _ = judged(tickets())
    assert (finding.rule, finding.verdict) == ("sampled-lock-contention", Verdict.LOCK_CONTENTION)
    assert finding.severity is Severity.LOW
    assert finding.remedies == ()
    assert "hand-made lock" in finding.message
    assert "only a measurement can show" in finding.message
    assert {p.bytes for p in finding.participants} == {((0, 4),), ((4, 8),)}


@pytest.mark.parametrize(
    ("how", "recorded"),
    [
        ("one thread waits for what the other one alone writes", tickets(release=False)),
        ("the count is another function's", tickets(draw=False)),
        ("the word is read and not waited for", tickets(spin_waits=False)),
    ],
)
def test_what_only_resembles_a_lock_is_none(how: str, recorded: Recorded) -> None:
    findings, _ = judged(recorded)
    assert all(f.verdict is not Verdict.LOCK_CONTENTION for f in findings), how
    assert findings[0].verdict is Verdict.FALSE_SHARING, how


def test_a_word_that_is_tried_with_exchanges_is_a_lock_with_its_data() -> None:
    recorded = Recorded()
    for thread in (0, 1):
        for time in ticks(200, shift=9 * thread):
            flags = SPIN_WAITS | ATOMIC
            recorded.samples.append(One(thread, time, 0, 1, AccessKind.RMW, function="add", flags=flags))
            recorded.samples.append(One(thread, time + 50_000, 8, 8, function="add"))
            recorded.witnesses.append((time, One(thread, time, 8, 8, AccessKind.STORE, function="add")))
            recorded.witnesses.append((time, One(thread, time, 0, 1, AccessKind.STORE, function="add")))
    (finding,), _ = judged(recorded)
    assert finding.verdict is Verdict.LOCK_CONTENTION
    assert [p.bytes for p in finding.participants] == [((0, 1),), ((8, 16),)]


@pytest.mark.parametrize(
    ("written", "waits", "verdict"),
    [
        (True, True, Verdict.TRUE_SHARING),
        (False, True, Verdict.READ_MOSTLY_DISTURBED),  # a switch that nobody turns
        (True, False, Verdict.FALSE_SHARING),  # read on the way to other work
    ],
)
def test_time_that_waits_for_a_value_is_not_its_neighbours(written: bool, waits: bool, verdict: Verdict) -> None:
    recorded = Recorded()
    for time in ticks(400):
        recorded.samples.append(One(0, time, at=0, function="look", flags=SPIN_WAITS * waits))
        keeps = One(1, time + 9, at=8, function="fill")
        recorded.samples.append(keeps)
        for i in range(2):
            store = One(1, time + 9, at=8 - 8 * i, kind=AccessKind.STORE, function="fill" if i == 0 else "publish")
            if i == 0 or (written and time % 1_000_000 == 0):
                recorded.witnesses.append((time + 9, store))
    assert judged(recorded)[0][0].verdict is verdict


def slots(*, stride: int, functions: tuple[str, ...] = ("count",) * 4) -> Recorded:
    recorded = Recorded()
    for i, function in enumerate(functions):
        recorded.loop(i, ticks(200, shift=i * 60_000), at=i * stride, function=function)
    return recorded


def test_equal_steps_of_the_same_code_are_slots_of_threads() -> None:
    (finding,), _ = judged(slots(stride=8))
    assert finding.rule == "sampled-thread-slots"
    assert "4 elements of 8 bytes" in finding.message
    assert any("stride 8 bytes, 8 elements per line" in e.text for e in finding.evidence)


def test_unlike_code_at_equal_steps_is_members() -> None:
    assert rules_of(slots(stride=8, functions=("a", "b", "c", "d"))) == ["sampled-false-sharing"]


def test_slots_of_a_line_each_are_fine() -> None:
    assert rules_of(slots(stride=64)) == []


def test_a_straddling_atomic_is_a_split_access() -> None:
    def at(offset: int) -> Recorded:
        flags = int(TouchFlag.ATOMIC)
        return Recorded([One(0, t, at=offset, kind=AccessKind.RMW, flags=flags) for t in ticks(400)])

    (finding,), _ = judged(at(60))
    assert (finding.rule, finding.verdict) == ("sampled-split-access", Verdict.SPLIT_ACCESS)
    assert "4 bytes before and 4 after" in finding.message
    assert rules_of(at(56)) == []


def test_nodes_of_a_walked_list_are_not_padded_but_taken_apart() -> None:
    recorded = Recorded()
    for step in range(24):
        for i in range(300):
            time = (step * 300 + i) * 20_000
            for thread in (0, 1):
                one = One(thread, time + thread * 7, at=8 * thread, line=LINE + 64 * i, kind=AccessKind.RMW)
                recorded.samples.append(one)
    findings, _ = judged(recorded)
    assert len(findings) == 1, "one finding for all nodes"
    assert findings[0].remedies == ()
    (advice,) = (e.text for e in findings[0].evidence if "give each thread elements that lie side by side" in e.text)
    assert "300 lines" in advice
    assert findings[0].severity is Severity.HIGH


def test_a_line_without_weight_is_said_not_to_be_worth_it() -> None:
    recorded = pair(count=40)
    recorded.loop(0, ticks(8000, start=20), at=0, line=0x9000)
    (finding,), _ = judged(recorded)
    assert finding.severity is Severity.NOTE
    assert "not worth fixing" in finding.message


def test_three_pairs_come_in_the_order_of_their_cost() -> None:
    recorded = Recorded()
    for number, count in enumerate((60, 1000, 250)):
        part = pair(line=LINE + 64 * number, count=count)
        shift = number * 21
        recorded.samples += [replace(o, time=o.time + shift) for o in part.samples]
        recorded.witnesses += [(t + shift, replace(o, time=o.time + shift)) for t, o in part.witnesses]
    findings, _ = judged(recorded)
    assert [f.line.address for f in findings] == [hex(LINE + 64), hex(LINE + 128), hex(LINE)]


def test_sampled_addresses_make_the_statement_sampled() -> None:
    recorded = pair()
    recorded.samples = [replace(o, basis=Basis.ADDRESS) for o in recorded.samples]
    assert judged(recorded)[0][0].confidence is Confidence.SAMPLED


def test_what_was_not_placed_is_said() -> None:
    recorded = pair()
    lost = [One(0, t, basis=Basis.NONE, reason=Reason.OVERWRITTEN) for t in ticks(400, shift=31)]
    nothing = [One(0, t, basis=Basis.NONE, reason=Reason.NO_ACCESS) for t in ticks(800, shift=37)]
    recorded.samples += lost + nothing
    (finding,), _ = judged(recorded)
    assert any("20 % (18–22 %) could not be placed" in e.text for e in finding.evidence)


def test_breakpoints_know_writers_and_cost_nothing() -> None:
    point = Event("mem:0x5000:w", Field.TIME | Field.ADDR, 5, config1=LINE, config2=8, breakpoint_type=2)
    recorded = Recorded().loop(0, ticks(400), at=0, writes=False, function="look")
    recorded.samples += [
        One(1, t, at=8, kind=AccessKind.STORE, event=1, basis=Basis.ADDRESS) for t in ticks(400, shift=9)
    ]
    findings, verdicts = judged(recorded, events=(CLOCK, point))
    assert verdicts.judged[0].line.use.cost == pytest.approx(400)
    assert [f.rule for f in findings] == ["sampled-read-mostly"]


def test_storage_of_a_thread_is_not_judged() -> None:
    recorded = pair()
    recorded.samples = [replace(o, region=Region.TLS) for o in recorded.samples]
    recorded.witnesses = [(t, replace(o, region=Region.TLS)) for t, o in recorded.witnesses]
    assert rules_of(recorded) == []


def test_every_rule_of_samples_is_held_here_or_end_to_end() -> None:
    held = {
        "sampled-split-access",
        "sampled-thread-slots",
        "sampled-lock-with-data",
        "sampled-read-mostly",
        "sampled-false-sharing",
        "sampled-lock-contention",
        "sampled-true-sharing",
    }
    assert held == {rule.id for rule in SAMPLED_RULES}


@pytest.mark.parametrize(
    ("space", "name"),
    [("/dev/zero (deleted)", "anonymous shared memory"), ("/dev/shm/board", "shared memory board")],
    ids=["mapped without a file", "a file"],
)
def test_memory_that_processes_share_is_called_by_its_file(space: str, name: str) -> None:
    touches = tuple(Touch(i, 8 * i, 8 * i + 8, AccessKind.STORE, "f", Provenance.SAMPLE, samples=9) for i in (0, 1))
    line = LineUse(0, 64, Region.SHARED, touches, (ThreadName(1, 1), ThreadName(2, 2)), space=space)
    assert [nameless(item, line).name for item in items_of(line)] == [f"{name} 0x0 bytes 0–7", f"{name} 0x0 bytes 8–15"]
