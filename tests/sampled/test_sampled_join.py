"""What samples do to findings of code: support them, contradict them, or say nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from sharing.judge.sampled.join import Coverage, join, order
from sharing.judge.sampled.verdict import Judged, Outcome, Verdicts
from sharing.model.attribution import Basis, Region
from sharing.model.finding import Confidence, Evidence, Finding, LineRef, Participant, Severity, Verdict
from sharing.model.image import AccessKind
from sharing.rules.sampled.base import SampledLine
from sharing.sampled.interval import Share
from sharing.sampled.lineuse.blame import blame, items_of
from sharing.sampled.lineuse.use import Concurrency, LineUse, Overlap, Provenance, SampledRun, ThreadName, Totals, Touch
from sharing.sampled.speedup.gain import Gain

TOTALS = Totals(10_000, 9_000, 10_000.0, 100.0, "CPU time", 1)
RAN = Coverage(5_000, 0)


def participant(name: str, start: int) -> Participant:
    return Participant(name, "0x4000", 8, ((start, start + 8),), "counter", f"{name}.c:1", writers=(f"use_{name}",))


def finding(
    rule: str,
    names: tuple[str, ...] = ("a", "b"),
    *,
    severity: Severity = Severity.HIGH,
    confidence: Confidence = Confidence.STATIC,
    line: int = 0x4000,
    verdict: Verdict = Verdict.FALSE_SHARING,
    score: float = 1.0,
) -> Finding:
    return Finding(
        id=f"{rule}-{'-'.join(names)}",
        rule=rule,
        severity=severity,
        confidence=confidence,
        verdict=verdict,
        line=LineRef(f"{line:#x}", 64),
        participants=tuple(participant(n, 8 * i) for i, n in enumerate(names)),
        message=f"{rule} speaks",
        evidence=(Evidence(confidence, f"{rule} says so"),),
        remedies=(),
        score=score,
    )


def judged(
    outcome: Outcome, *, cost: float = 2_000.0, threads: int = 1, concurrency: Concurrency = Concurrency.UNKNOWN
) -> Judged:
    touches = tuple(
        Touch(t, 8 * t, 8 * t + 8, AccessKind.RMW, "f", Provenance.SAMPLE, int(cost), cost / threads)
        for t in range(threads)
    )
    use = LineUse(
        0x7000,
        64,
        Region.STATIC,
        touches,
        tuple(ThreadName(1, 10 + t, "w") for t in range(threads)),
        link=0x4000,
        module="/bin/x",
        target=True,
        samples=int(cost),
        cost=cost,
        bases={Basis.DERIVED: int(cost)},
        overlaps={(0, 1): Overlap(concurrency, (500, 500), Share(0, 0, 0), 9, 500.0, 1000)} if threads > 1 else {},
    )
    return Judged(SampledLine(use, blame(use, items_of(use)), ()), (), outcome)


def joined(
    static: Finding,
    sampled: tuple[Finding, ...] = (),
    lines: tuple[Judged, ...] = (),
    coverage: Coverage = RAN,
    totals: Totals = TOTALS,
) -> tuple[list[Finding], dict[str, int]]:
    return join([static], sampled, Verdicts(lines), SampledRun((), totals), lambda names: coverage)


def test_one_line_with_the_same_objects_is_one_finding_with_both_evidences() -> None:
    seen = finding("sampled-false-sharing", severity=Severity.MEDIUM, confidence=Confidence.DERIVED, score=900)
    (both,), counts = joined(finding("independent-writers"), (seen,))
    assert (both.id, both.rule) == ("independent-writers-a-b", "independent-writers"), "baselines keep their names"
    assert (both.severity, both.confidence, both.score) == (Severity.MEDIUM, Confidence.DERIVED, 900)
    assert [e.text for e in both.evidence] == ["sampled-false-sharing says so", "independent-writers says so"]
    assert both.message == "sampled-false-sharing speaks"
    assert counts == {"sampled_joined": 1, "sampled_cleared": 0, "sampled_added": 0}


def test_a_split_access_that_both_know_is_one_finding() -> None:
    known = finding("split-access", ("rec",), severity=Severity.CRITICAL, verdict=Verdict.SPLIT_ACCESS)
    split = finding("sampled-split-access", ("rec",), confidence=Confidence.DERIVED, verdict=Verdict.SPLIT_ACCESS)
    (both,), _ = joined(known, (split,))
    assert (both.rule, both.confidence) == ("split-access", Confidence.DERIVED)
    true = finding("sampled-true-sharing", ("rec",), confidence=Confidence.DERIVED, verdict=Verdict.TRUE_SHARING)
    assert len(joined(known, (true,))[0]) == 2, "who disturbs it is another matter"


def test_true_sharing_that_both_know_is_one_finding_whoever_is_beside_it() -> None:
    known = finding("shared-counter", ("a",), severity=Severity.NOTE, verdict=Verdict.TRUE_SHARING)
    seen = finding("sampled-true-sharing", ("a", "b"), confidence=Confidence.DERIVED, verdict=Verdict.TRUE_SHARING)
    (both,), _ = joined(known, (seen,))
    assert (both.id, both.confidence, len(both.participants)) == ("shared-counter-a", Confidence.DERIVED, 2)
    other = finding("sampled-true-sharing", ("b", "a"), confidence=Confidence.DERIVED, verdict=Verdict.TRUE_SHARING)
    assert len(joined(known, (other,))[0]) == 2, "it is the first whose bytes are shared"
    (alone,), _ = joined(known, lines=(judged(Outcome.ONE_THREAD),))
    assert "one thread alone used the line" in alone.message


def test_other_objects_or_another_line_stay_apart() -> None:
    for other in (
        finding("sampled-false-sharing", ("a", "c"), confidence=Confidence.DERIVED),
        finding("sampled-false-sharing", confidence=Confidence.DERIVED, line=0x4040),
    ):
        findings, counts = joined(finding("independent-writers"), (other,), coverage=Coverage(0, 0))
        assert len(findings) == 2
        assert counts["sampled_added"] == 1


def test_one_object_in_common_does_not_make_two_findings_one() -> None:
    """Who accepts what the code says of a runtime's own table must not accept what was seen of two others with it."""
    alone = finding("packed-thread-slots", ("a",))
    pair = finding("sampled-false-sharing", ("a", "b"), confidence=Confidence.DERIVED)
    findings, counts = joined(alone, (pair,), coverage=Coverage(0, 0))
    assert ({f.id for f in findings}, counts["sampled_joined"]) == ({alone.id, pair.id}, 0)
    itself = finding("sampled-thread-slots", ("a[0]", "a[1]"), confidence=Confidence.DERIVED)
    assert joined(finding("independent-writers"), (itself,), coverage=Coverage(0, 0))[1]["sampled_joined"] == 0
    assert joined(finding("x", ("a", "b", "c")), (pair,))[1]["sampled_joined"] == 1, "the pair is among those named"
    more = finding("sampled-false-sharing", ("a", "b", "d"), confidence=Confidence.DERIVED)
    assert joined(finding("independent-writers"), (more,))[1]["sampled_joined"] == 1, "who else was there is no matter"


def test_time_that_is_lost_at_the_same_bytes_contradicts_false_sharing() -> None:
    seen = judged(Outcome.DISTURBED, threads=2, concurrency=Concurrency.CONCURRENT)
    line = replace(seen.line, blame=replace(seen.line.blame, true=2_000.0, false=0.0))
    (lowered,), _ = joined(finding("x"), (), (replace(seen, line=line),))
    assert lowered.severity is Severity.NOTE
    assert "20 % (19–21 %) of CPU time is lost there to threads at the same bytes" in lowered.message
    other = replace(seen.line, blame=replace(seen.line.blame, true=1_000.0, false=1_000.0))
    assert joined(finding("x"), (), (replace(seen, line=other),))[0][0].severity is Severity.HIGH


def test_elements_that_were_seen_belong_to_the_array_that_code_names() -> None:
    seen = finding("sampled-thread-slots", ("hits[0]", "hits[1]"), confidence=Confidence.DERIVED)
    (both,), counts = joined(finding("packed-thread-slots", ("hits",)), (seen,))
    assert [p.name for p in both.participants] == ["hits[0]", "hits[1]"]
    assert counts["sampled_joined"] == 1
    assert len(joined(finding("packed-thread-slots", ("misses",)), (seen,), coverage=Coverage(0, 0))[0]) == 2


def test_elements_of_a_member_belong_to_the_member_that_code_names() -> None:
    """Code speaks of the variable and its member, samples of elements: one finding, not two."""
    known = finding("packed-thread-slots", ("stats",))
    known = msgspec.structs.replace(
        known, participants=(msgspec.structs.replace(known.participants[0], member="slots"),)
    )
    seen = finding("sampled-thread-slots", ("stats.slots[0]", "stats.slots[1]"), confidence=Confidence.DERIVED)
    assert len(joined(known, (seen,))[0]) == 1
    other = finding("sampled-thread-slots", ("stats.spare[0]", "stats.spare[1]"), confidence=Confidence.DERIVED)
    assert len(joined(known, (other,), coverage=Coverage(0, 0))[0]) == 2


def test_a_line_of_one_thread_contradicts() -> None:
    (lowered,), counts = joined(finding("independent-writers"), (), (judged(Outcome.ONE_THREAD),))
    assert lowered.severity is Severity.NOTE
    assert lowered.confidence is Confidence.STATIC
    assert "one thread alone used the line (20 %" in lowered.message
    assert lowered.evidence[-1].kind is Confidence.DERIVED
    assert counts["sampled_cleared"] == 1


def test_what_was_a_note_before_is_cleared_as_well_where_its_message_says_so() -> None:
    """As many as are shown with these words, so that a report has one number."""
    (lowered,), counts = joined(finding("x", severity=Severity.NOTE), (), (judged(Outcome.ONE_THREAD),))
    assert "not in this run" in lowered.message
    assert counts["sampled_cleared"] == 1
    (kept,), counts = joined(finding("x", severity=Severity.NOTE), coverage=Coverage(0, 0))
    assert "not in this run" not in kept.message
    assert counts["sampled_cleared"] == 0


def test_turns_contradict() -> None:
    (lowered,), _ = joined(finding("x"), (), (judged(Outcome.PHASED, threads=2, concurrency=Concurrency.PHASED),))
    assert lowered.severity is Severity.NOTE
    assert "one after the other (1000 samples)" in lowered.message


def test_turns_on_one_processor_say_nothing() -> None:
    (kept,), counts = joined(
        finding("x"), (), (judged("on one processor", threads=2, concurrency=Concurrency.TIME_SLICED),)
    )
    assert kept.severity is Severity.HIGH
    assert "take turns on a processor" in kept.evidence[-1].text
    assert counts["sampled_cleared"] == 0


def test_functions_that_ran_without_time_on_the_line_contradict() -> None:
    (lowered,), _ = joined(finding("x"))
    assert lowered.severity is Severity.NOTE
    assert "5000 samples in the functions that access it" in lowered.message


def test_functions_that_did_not_run_are_not_exercised() -> None:
    (kept,), counts = joined(finding("x"), coverage=Coverage(0, 0))
    assert kept.severity is Severity.LOW
    assert kept.evidence[-1].text == (
        "hardly exercised by this load: of 10,000 samples 0 are in the functions that access it, at most 0.04 % of CPU "
        "time; another load may show it"
    )
    assert (kept.message, kept.confidence) == ("x speaks", Confidence.STATIC)
    assert counts["sampled_cleared"] == 0


@pytest.mark.parametrize("severity", [Severity.LOW, Severity.NOTE])
def test_what_did_not_run_is_not_put_below_low(severity: Severity) -> None:
    assert joined(finding("x", severity=severity), coverage=Coverage(0, 0))[0][0].severity is severity


def test_what_did_not_run_by_name_may_have_run_by_another() -> None:
    """Time on the line, or functions that nobody knows."""
    (kept,), _ = joined(finding("x"), (), (judged(Outcome.ONE_THREAD),), coverage=Coverage(0, 0))
    assert kept.severity is Severity.HIGH
    nobody = msgspec.structs.replace(finding("x"), participants=())
    assert joined(nobody, coverage=Coverage(0, 0))[0][0].severity is Severity.HIGH


@pytest.mark.parametrize(
    ("inside", "timed", "severity"),
    [(24, 2_834.0, "note"), (29, 1_000.0, "high"), (1, 300.0, "note"), (3, 300.0, "high"), (0, 100.0, "high")],
)
def test_all_samples_of_its_functions_bound_what_a_finding_costs(inside: int, timed: float, severity: str) -> None:
    """At 300 samples as at 3,000: by the upper end of the interval, two percent or less."""
    (one,), counts = joined(finding("x"), coverage=Coverage(inside, 0), totals=replace(TOTALS, timed=timed))
    assert one.severity is Severity(severity)
    assert counts["sampled_cleared"] == (severity == "note")
    assert f"of {timed:,.0f} samples {inside} are in the functions that access it" in one.evidence[-1].text


def test_samples_that_could_not_be_placed_may_have_been_there() -> None:
    (kept,), _ = joined(finding("x"), coverage=Coverage(5_000, 400))
    assert kept == finding("x")


@pytest.mark.parametrize("outcome", [Outcome.PHASED, Outcome.ONE_THREAD])
def test_what_is_missing_may_be_the_other_thread(outcome: Outcome) -> None:
    lines = (judged(outcome, threads=2, concurrency=Concurrency.PHASED),)
    (kept,), counts = joined(finding("x"), (), lines, Coverage(5_000, 2_500))
    assert (kept.severity, counts["sampled_cleared"]) == (Severity.HIGH, 0)
    assert "2500 of 5000 samples" in kept.evidence[-1].text
    assert joined(finding("x"), (), lines, Coverage(5_000, 100))[0][0].severity is Severity.NOTE


def little(**more: Any) -> Finding:
    """The same two variables in the samples, with 0.27 % of the time."""
    return finding("s", severity=Severity.NOTE, confidence=Confidence.DERIVED, score=2_700, **more)


@pytest.mark.parametrize(
    ("unplaced", "severity"),
    [
        (7_000, Severity.HIGH),  # the finding's own severity is the highest
        (500, Severity.MEDIUM),
        (300, Severity.LOW),
        (20, Severity.NOTE),
    ],
)
def test_a_finding_falls_no_lower_than_samples_without_a_place_allow(unplaced: int, severity: Severity) -> None:
    (both,), counts = joined(finding("x"), (little(),), coverage=Coverage(9_000, unplaced))
    assert (both.severity, counts["sampled_joined"]) == (severity, 1)
    assert counts["sampled_cleared"] == (severity is Severity.NOTE)
    assert (f"{unplaced} samples in the functions" in both.message) == (severity is not Severity.NOTE)


def test_samples_without_a_place_raise_nothing() -> None:
    (both,), _ = joined(finding("x", severity=Severity.LOW), (little(),), coverage=Coverage(9_000, 7_000))
    assert both.severity is Severity.LOW


def test_doubts_that_are_not_about_cost_stay() -> None:
    seen = finding("s", severity=Severity.LOW, confidence=Confidence.DERIVED, score=300_000)  # of HIGH cost
    (both,), _ = joined(finding("x"), (seen,), coverage=Coverage(9_000, 5_000))
    assert both.severity is Severity.LOW


@pytest.mark.parametrize(("timed", "severity"), [(20, Severity.HIGH), (60, Severity.MEDIUM), (200, Severity.LOW)])
def test_a_short_run_lowers_no_further_than_its_samples_allow(timed: int, severity: Severity) -> None:
    few = Totals(timed, timed, float(timed), 0.0, "CPU time", 1)
    (both,), _ = join([finding("x")], (little(),), Verdicts(()), SampledRun((), few), lambda names: RAN)
    assert both.severity is severity
    assert f"{timed} samples leave up to " in both.message


@pytest.mark.parametrize(
    ("severity", "confidence"), [(Severity.NOTE, Confidence.STATIC), (Severity.LOW, Confidence.DERIVED)]
)
def test_what_only_code_makes_severe_is_not_called_sampled(severity: Severity, confidence: Confidence) -> None:
    few = Totals(200, 200, 200.0, 0.0, "CPU time", 1)
    known = finding("x", verdict=Verdict.READ_MOSTLY_DISTURBED)
    seen = finding("s", severity=severity, confidence=Confidence.DERIVED, score=30_000)
    (both,), counts = join([known], (seen,), Verdicts(()), SampledRun((), few), lambda names: RAN)
    assert (both.severity, both.confidence) == (Severity.MEDIUM, confidence)
    assert both.verdict is (Verdict.READ_MOSTLY_DISTURBED if severity is Severity.NOTE else seen.verdict)
    assert [e.text for e in both.evidence[:2]] == ["s says so", "x says so"], "what was seen is said all the same"
    assert counts["sampled_joined"] == 1


def test_a_measured_gain_is_not_held_up_by_what_the_code_says() -> None:
    """Its interval has the samples without a place in it."""
    known = finding("x")
    seen = finding("s", severity=Severity.MEDIUM, confidence=Confidence.DERIVED, score=900)
    unplaced = Coverage(5_000, 4_000)
    line = judged(Outcome.ONE_THREAD)
    assert joined(known, (seen,), (line,), unplaced)[0][0].severity is Severity.HIGH
    for gain, severity in (
        (Gain(1.08, 1.0, 1.15, "measured"), Severity.MEDIUM),
        (Gain(None, 1.0, 2.9, "a bound"), Severity.HIGH),
    ):
        told = replace(line, line=replace(line.line, gain=gain))
        (both,), _ = joined(known, (seen,), (told,), unplaced)
        assert both.severity is severity


def test_samples_by_function_alone_are_said_and_clear_nothing() -> None:
    (kept,), _ = joined(finding("x"), coverage=Coverage(5_000, 5_000, 5_000))
    assert kept.severity is Severity.HIGH
    assert kept.confidence is Confidence.STATIC
    assert kept.evidence[-1].text.startswith("by function: 50 % (49–51 %) of CPU time")


def test_a_short_run_clears_nothing() -> None:
    few = Totals(200, 200, 200.0, 0.0, "CPU time", 1)
    (kept,), _ = join([finding("x")], (), Verdicts(()), SampledRun((), few), lambda names: RAN)
    assert kept == finding("x")


def test_what_no_samples_can_show_is_left() -> None:
    fragile = finding("safe-by-luck", verdict=Verdict.FRAGILE, severity=Severity.LOW)
    assert joined(fragile)[0] == [fragile]


@pytest.mark.parametrize(("samples", "severity"), [(0, "low"), (30, "note"), (5_000, "high")])
def test_a_split_access_costs_no_more_than_its_functions(samples: int, severity: str) -> None:
    split = finding("split-access", verdict=Verdict.SPLIT_ACCESS)
    (kept,), _ = joined(split, coverage=Coverage(samples, 0))
    assert kept.severity.value == severity
    assert (kept == split) is (samples == 5_000)


def test_order_is_severity_then_sampled_then_cost() -> None:
    dear = finding("s1", confidence=Confidence.DERIVED, score=10)
    cheap = finding("s2", confidence=Confidence.DERIVED, score=2)
    code = finding("c1", score=1e9)
    low = finding("s3", confidence=Confidence.SAMPLED, severity=Severity.LOW, score=99)
    assert [f.rule for f in order([low, code, cheap, dear])] == ["s1", "s2", "c1", "s3"]
