"""Findings of code that a profile did not come to stand behind those that it speaks of."""

from __future__ import annotations

from msgspec.structs import replace

from reports import EMITTERS
from reports.options import RenderOptions
from sharing.model.finding import NOT_EXERCISED, Confidence, Evidence, Finding, LineRef, Severity
from tests.builders.report import REPORT

OPTIONS = RenderOptions(color=False, width=200, details=False)
HEADING = f"{NOT_EXERCISED}, so from code alone:"
SEEN = REPORT.findings[0]


def idle(of: Finding) -> Finding:
    """A worse finding of another line, of code in which there was no sample."""
    none = Evidence(Confidence.SAMPLED, f"{NOT_EXERCISED}: of 1,000 samples 0 are in the functions that access it")
    return replace(of, id="idle-0123456789", line=LineRef("0x990000", 64), evidence=(*of.evidence, none))


def text(*findings: Finding) -> str:
    return EMITTERS["text"].render(replace(REPORT, findings=findings), OPTIONS)


def test_what_the_load_came_to_is_first_and_alone_has_a_block() -> None:
    table, _, blocks = text(idle(SEEN), SEEN).partition("\n\n1  ")[2].partition("\n\n1  ")
    first, heading, second = (line for line in table.splitlines() if line)
    assert SEEN.id in first
    assert heading == HEADING
    assert second.startswith("2  ")
    assert "idle-0123456789" in second
    assert SEEN.id in blocks
    assert "idle-0123456789" not in blocks


def test_alone_they_have_neither_pictures_nor_their_key() -> None:
    said = text(idle(SEEN))
    assert f"\n{HEADING}\n1  " in said
    assert "pictures:" not in said
    assert "show idle-0123456789" in said


def test_without_any_nothing_is_said_of_a_load() -> None:
    assert NOT_EXERCISED not in text(SEEN)
    assert "pictures:" in text(SEEN)


def test_what_a_profile_saw_is_no_footnote_of_what_code_alone_holds_for_worse() -> None:
    code = replace(SEEN, id="code-0123456789", severity=Severity.HIGH, confidence=Confidence.STATIC)
    seen = replace(SEEN, id="seen-0123456789", severity=Severity.MEDIUM, confidence=Confidence.DERIVED)
    told = text(code, seen)
    assert "also seen-0123456789" not in told
    assert told.count(f"line {SEEN.line.address}") >= 2  # each has its block
    # What code says besides is a footnote still.
    assert "also code-0123456789" in text(replace(code, severity=Severity.LOW), seen)


def test_with_a_profile_at_hand_none_is_asked_for() -> None:
    code = replace(SEEN, rule="hot-lock-shares-line", confidence=Confidence.STATIC)
    counts = replace(REPORT.coverage, counts={**REPORT.coverage.counts, "samples": 992})
    told = EMITTERS["text"].render(replace(REPORT, findings=(code,), coverage=counts), OPTIONS)
    assert "the profile has too little of it to decide: record for longer" in told
    assert "then audit --samples" not in told
    assert "then audit --samples" in text(code)
