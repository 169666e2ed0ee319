"""What a finding that is new tells of other new pairs of its line: which, in which order, and in which words."""

from __future__ import annotations

import msgspec
import pytest

from linemate.alongside import telling
from linemate.baseline import only_new
from reports.fingerprint import fingerprint
from sharing.model.finding import ALSO, Confidence, Evidence, Finding, Severity, Verdict
from tests.builders.report import LOCK_BESIDE_LIST, REPORT

COUNTER = msgspec.structs.replace(
    LOCK_BESIDE_LIST.participants[1], name="hits", role="atomic", identity="hits", writers=("serve",), readers=()
)
FLAG = msgspec.structs.replace(COUNTER, name="stop", role="read-mostly data", identity="stop", readers=("loop", "run"))
MESSAGE = "hits (statistics counter), bytes 0-7, and stop (flag that threads poll), bytes 8-11, are on a line"
OTHER = msgspec.structs.replace(
    LOCK_BESIDE_LIST,
    id="written-beside-read-mostly-0123456789",
    rule="written-beside-read-mostly",
    severity=Severity.MEDIUM,
    participants=(COUNTER, FLAG),
    message=MESSAGE,
    evidence=(),
)
SAID = (
    f"{ALSO}medium: hits (statistics counter), written by serve, meets stop (flag that threads poll), read by loop, run"
)


def also(finding: Finding) -> list[str]:
    return [one.text for one in finding.also]


def test_another_new_pair_of_the_line_is_told_in_a_sentence() -> None:
    report = msgspec.structs.replace(REPORT, findings=(LOCK_BESIDE_LIST, shared(OTHER)))
    (finding,) = only_new(report, {}, "x", Severity.LOW, every_pair=True).findings
    assert finding.rule == LOCK_BESIDE_LIST.rule
    assert also(finding) == [SAID.replace("hits (statistics counter), written by serve, meets", OWN)]


def shared(finding: Finding) -> Finding:
    """Of the lock, which is of both pairs, and the flag."""
    return msgspec.structs.replace(finding, participants=(LOCK_BESIDE_LIST.participants[0], FLAG))


OWN = "LOCK_open.m_mutex (mutex), taken by tc_acquire_table, tc_release_table, close_cached_tables and 2 more, meets"


def test_a_known_pair_of_the_line_is_not() -> None:
    report = msgspec.structs.replace(REPORT, findings=(LOCK_BESIDE_LIST, shared(OTHER)))
    known = {fingerprint(shared(OTHER)): Severity.MEDIUM}
    (finding,) = only_new(report, known, "x", Severity.LOW, every_pair=True).findings
    assert also(finding) == []


def test_one_of_another_line_is_a_finding_of_its_own() -> None:
    elsewhere = msgspec.structs.replace(OTHER, line=msgspec.structs.replace(OTHER.line, address="0x2000"))
    report = msgspec.structs.replace(REPORT, findings=(LOCK_BESIDE_LIST, elsewhere))
    found = only_new(report, {}, "x", Severity.LOW, every_pair=True).findings
    assert [also(one) for one in found] == [[], []]


@pytest.mark.parametrize(
    ("change", "least", "said"),
    [
        ({}, Severity.NOTE, [SAID]),
        ({}, Severity.HIGH, []),
        ({"severity": Severity.NOTE}, Severity.NOTE, []),
        ({"verdict": Verdict.FRAGILE}, Severity.NOTE, []),
        (
            {"evidence": (Evidence(Confidence.STATIC, "hits: 9 of 9 accesses under LOCK_open.m_mutex"),)},
            Severity.NOTE,
            [],
        ),
        ({"evidence": (Evidence(Confidence.STATIC, "hits: 9 of 9 accesses under other_lock"),)}, Severity.NOTE, [SAID]),
    ],
)
def test_what_is_worth_a_sentence(change: dict[str, object], least: Severity, said: list[str]) -> None:
    assert also(telling(LOCK_BESIDE_LIST, [msgspec.structs.replace(OTHER, **change)], least)) == said


def test_the_worst_are_told_and_no_more_than_a_report_has_of_one_revision() -> None:
    worse = msgspec.structs.replace(OTHER, severity=Severity.HIGH)
    told = also(telling(LOCK_BESIDE_LIST, [OTHER, OTHER, worse, OTHER], Severity.LOW))
    assert told == [SAID.replace("medium", "high"), SAID, SAID]
