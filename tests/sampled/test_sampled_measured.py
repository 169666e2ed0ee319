"""A measured gain decides how severe a sampled line is; lines that wait for each other are judged together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.judge.sampled.waiting import Gains
from sharing.model.finding import Finding, Severity
from sharing.model.image import ImageKind
from sharing.rules.sampled.base import SampledLine, measured, subject
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.speedup.gain import Gain
from tests.builders.recorded import LINE, Recorded, attribution, ticks
from tests.sampled.test_sampled_verdicts import pair


def judged(recorded: Recorded, gains: Gains) -> tuple[list[Finding], Verdicts]:
    run = profile_lines(attribution(recorded), 64)
    verdicts = judge_lines(run, Names(), 64, gains=gains)
    return findings_of(verdicts, run.totals, Style(64, ImageKind.PIE)), verdicts


def found(gain: Gain | None, *, costly: bool = True) -> Finding:
    """The one finding of two counters on a line, which took all of the time or 2 %."""
    recorded = pair()
    if not costly:
        recorded.loop(0, ticks(40_000, start=110), at=0, line=0x9000)
    (finding,) = judged(recorded, lambda lines: gain)[0]
    return finding


@pytest.mark.parametrize(
    ("low", "ratio", "high", "least", "most"),
    [
        (3.40, 5.0, 9.0, "high", "high"),
        (1.12, 1.2, 1.5, "high", "high"),
        (1.05, 1.1, 1.2, "medium", "high"),
        (1.03, 1.03, 1.04, "low", "low"),
        (1.01, 1.2, 1.5, "medium", "medium"),  # expected, and not proven
        (1.00, 1.07, 1.2, "low", "medium"),
        (1.00, 1.04, 1.2, "note", "low"),  # so little, and not proven
        (1.00, 1.00, 1.50, "note", "low"),  # expected to be nothing
        (1.00, 1.00, 1.03, "note", "low"),
        (1.00, 1.00, 1.02, "note", "note"),
    ],
)
def test_severity_lies_within_what_was_measured(low: float, ratio: float, high: float, least: str, most: str) -> None:
    gain = Gain(ratio, low, high, "measured")
    assert measured(Severity.NOTE, gain) is Severity(least)
    assert measured(Severity.HIGH, gain) is Severity(most)


def test_a_bound_only_lowers() -> None:
    assert measured(Severity.NOTE, Gain(None, 1.0, 2.9, "bound")) is Severity.NOTE
    assert measured(Severity.HIGH, Gain(None, 1.0, 2.9, "bound")) is Severity.HIGH
    assert measured(Severity.HIGH, Gain(None, 1.0, 1.01, "bound")) is Severity.NOTE
    assert measured(Severity.HIGH, None) is Severity.HIGH


def test_a_line_with_few_samples_that_cost_much_is_worth_fixing() -> None:
    """The wait for plain stores is sampled elsewhere: the run on one processor knows of it."""
    finding = found(Gain(5.0, 3.4, 9.0, "measured"), costly=False)
    assert finding.severity is Severity.HIGH
    assert "not worth fixing" not in finding.message
    assert "estimated speed-up 5.00× (3.40–9.00×)" in finding.message
    unknown = found(None, costly=False)
    assert (unknown.severity, "not worth fixing" in unknown.message) == (Severity.NOTE, True)


def test_time_at_the_accesses_is_said_to_be_a_bound_where_nothing_was_measured() -> None:
    assert ": at most 100 % (" in found(None).message
    assert ": at most 100 % (" in found(Gain(None, 1.0, 2.5, "bound")).message
    assert ": 100 % (" in found(Gain(1.5, 1.4, 1.6, "measured")).message


def truly_shared(gain: Gain | None, *, neighbour: bool) -> Finding:
    """Two threads write one word; one of them now and then a second beside it."""
    recorded = pair(second=0)
    if neighbour:
        recorded.loop(0, ticks(25, shift=40_000, every=4.0), at=16, function="count_in")
    (finding,) = judged(recorded, lambda lines: gain)[0]
    assert finding.rule == "sampled-true-sharing"
    return finding


def test_what_is_said_of_padding_is_no_more_than_what_was_measured() -> None:
    assert "; padding does not help" in truly_shared(None, neighbour=False).message
    nothing = truly_shared(Gain(1.0, 1.0, 1.01, "measured"), neighbour=True)
    assert ("; padding does not help" in nothing.message, nothing.remedies) == (True, ())
    perhaps = truly_shared(Gain(1.1, 1.0, 1.4, "measured"), neighbour=True)
    assert ("may help or not" in perhaps.message, perhaps.remedies) == (True, ())
    assert (nothing.severity, perhaps.severity) == (Severity.NOTE, Severity.LOW)
    surely = truly_shared(Gain(1.38, 1.2, 1.5, "measured"), neighbour=True)
    assert "keeping the line's other bytes apart helps" in surely.message
    assert (surely.severity, len(surely.remedies)) == (Severity.HIGH, 1)


def test_what_no_sample_parts_is_parted_where_that_was_measured_to_help() -> None:
    """A lock and the list that it guards: by the samples each thread that comes there needs both."""
    recorded = pair(second=0)
    recorded.witnesses += [(one.time, replace(one, at=16)) for one in recorded.samples]
    gain = Gain(1.88, 1.03, 2.57, "measured")
    (finding,) = judged(recorded, lambda lines: gain)[0]
    assert (finding.rule, finding.severity) == ("sampled-true-sharing", Severity.MEDIUM)
    assert [len(finding.participants), len(finding.remedies)] == [2, 1]
    (alone,) = judged(pair(second=0), lambda lines: gain)[0]
    assert alone.remedies == ()


def two_pairs() -> Recorded:
    recorded = pair()
    second = pair(line=LINE + 64)
    recorded.samples += second.samples
    recorded.witnesses += second.witnesses
    return recorded


def barrier(alone: float) -> Gains:
    """Two lines of which both must be fixed for more than ``alone``."""

    def gains(lines: Sequence[object]) -> Gain:
        ratio = 4.0 if len(lines) > 1 else alone
        return Gain(ratio, ratio * 0.9 if ratio > 1 else 1.0, ratio * 1.1 if ratio > 1 else 1.0, "measured")

    return gains


def test_lines_that_gain_only_together_are_all_worth_fixing() -> None:
    findings, verdicts = judged(two_pairs(), barrier(1.0))
    assert [f.severity for f in findings] == [Severity.HIGH, Severity.HIGH]
    for finding in findings:
        assert "estimated speed-up 4.00× (3.60–4.40×) with 1 other line that it waits beside fixed" in finding.message
        assert "alone 1.00× (1.00–1.00×)" in finding.message
    assert verdicts.together is not None
    assert verdicts.together.text == "4.00× (3.60–4.40×) for 2 lines at once"


def test_lines_that_gain_each_for_itself_do_not_speak_of_others() -> None:
    findings, verdicts = judged(two_pairs(), barrier(2.0))
    assert [f.severity for f in findings] == [Severity.HIGH, Severity.HIGH]
    assert not any("waits beside" in f.message for f in findings)
    assert verdicts.together is not None, "what all gain is said all the same"


def test_one_line_has_nobody_to_wait_beside() -> None:
    assert judged(pair(), barrier(1.3))[1].together is None


@pytest.mark.parametrize(
    ("name", "said"), [("LOCK", "LOCK (mutex), bytes 0–15, "), ("bss+0x40 (mutex)", "bss+0x40 (mutex), bytes 0–15, ")]
)
def test_the_kind_of_a_lock_is_said_once(name: str, said: str) -> None:
    item, actor = SimpleNamespace(start=0, end=16, touches=()), SimpleNamespace(name=name, kind="mutex", is_lock=True)
    line = SimpleNamespace(items=[item], actors=[actor])
    assert subject(0, cast(SampledLine, line)).startswith(said)
