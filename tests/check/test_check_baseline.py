"""The file of accepted findings: what it holds, how it is read, and by what a finding is recognised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from linemate.baseline import (
    SCHEMA,
    known_findings,
    only_new,
    read_baseline,
    renamed_findings,
    without_improved,
    write_baseline,
)
from reports.fingerprint import fingerprint
from sharing.model import LinemateError, Severity, Verdict
from tests.builders.report import BIG_LINE, CHECKED, EMPTY, FROM_SOURCE, LOCK_BESIDE_LIST, REPORT


def test_the_file_is_sorted_and_says_what_it_accepts(tmp_path: Path) -> None:
    path = tmp_path / "accepted.json"
    write_baseline(str(path), REPORT)
    document = json.loads(path.read_text())
    assert document["schema"] == SCHEMA
    rows = document["findings"]
    assert len(rows) == len(REPORT.findings)
    assert rows == sorted(rows, key=lambda row: (row["rule"], row["names"], row["id"]))
    (lock,) = [row for row in rows if row["rule"] == LOCK_BESIDE_LIST.rule]
    assert (lock["severity"], lock["names"]) == ("critical", ["LOCK_open.m_mutex", "unused_tables"])


def test_equal_findings_give_equal_bytes_in_any_order(tmp_path: Path) -> None:
    turned = msgspec.structs.replace(REPORT, findings=REPORT.findings[::-1])
    write_baseline(str(tmp_path / "a"), REPORT)
    write_baseline(str(tmp_path / "b"), turned)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_written_is_known_when_read(tmp_path: Path) -> None:
    path = str(tmp_path / "accepted.json")
    write_baseline(path, REPORT)
    assert read_baseline(path) == known_findings(REPORT)
    assert only_new(REPORT, read_baseline(path), "x", Severity.NOTE).findings == ()


@pytest.mark.parametrize(("least", "counts"), [(Severity.NOTE, (1, 3, 0)), (Severity.LOW, (0, 3, 1))])
def test_only_what_was_asked_for_is_shown_and_counted(least: Severity, counts: tuple[int, int, int]) -> None:
    """Of the shared report all but the note is known."""
    known = known_findings(msgspec.structs.replace(REPORT, findings=REPORT.findings[1:]))
    made = only_new(msgspec.structs.replace(REPORT, hidden=0), known, "x", least)
    assert (len(made.findings), made.known, made.hidden) == counts


def test_known_notes_are_not_counted_where_nobody_asked_for_notes() -> None:
    made = only_new(REPORT, known_findings(REPORT), "x", Severity.HIGH)
    assert (made.findings, made.known, made.hidden, made.baseline) == ((), 2, REPORT.hidden, "x")


def test_an_empty_baseline_accepts_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "accepted.json")
    write_baseline(path, EMPTY)
    assert only_new(REPORT, read_baseline(path), "x", Severity.NOTE).findings == REPORT.findings


def named(finding_id: str) -> Any:
    return msgspec.structs.replace(FROM_SOURCE, id=finding_id)


def test_the_id_of_the_file_is_that_of_every_report(tmp_path: Path) -> None:
    path = tmp_path / "accepted.json"
    write_baseline(str(path), REPORT)
    assert {row["id"] for row in json.loads(path.read_text())["findings"]} == {f.id for f in REPORT.findings}


def test_a_finding_is_known_again_wherever_it_lies() -> None:
    moved = msgspec.structs.replace(FROM_SOURCE, line=BIG_LINE.line, message="elsewhere", severity=Severity.LOW)
    assert fingerprint(moved) == fingerprint(FROM_SOURCE)


def test_which_of_two_equal_names_comes_first_does_not_matter() -> None:
    """Only the linker decides which of them is numbered."""
    first, second = named("two-locks-one-line-0123456789"), named("two-locks-one-line-0123456789-2")
    assert fingerprint(second) == fingerprint(first)
    assert fingerprint(named("two-locks-one-line-0123456780")) != fingerprint(first)
    assert fingerprint(named("hot-lock-shares-line-0123456789")) != fingerprint(first)


def test_the_worst_of_equal_findings_is_accepted() -> None:
    mild = msgspec.structs.replace(FROM_SOURCE, severity=Severity.NOTE)
    for order in ((mild, FROM_SOURCE), (FROM_SOURCE, mild)):
        report = msgspec.structs.replace(CHECKED, findings=order)
        assert list(known_findings(report).values()) == [FROM_SOURCE.severity]


def under_another_name(**changes: Any) -> Any:
    """The lock of ``LOCK_BESIDE_LIST`` in a variable of another name, or more than that."""
    lock, others = LOCK_BESIDE_LIST.participants
    lock = msgspec.structs.replace(lock, **{"name": "tables", "member": "lock", "identity": "c:tables", **changes})
    others = msgspec.structs.replace(others, identity="c:unused")
    return msgspec.structs.replace(LOCK_BESIDE_LIST, id="hot-lock-shares-line-1", participants=(lock, others))


def test_the_same_bytes_under_another_name_are_known() -> None:
    was = msgspec.structs.replace(REPORT, findings=(under_another_name(name="LOCK_open", identity="c:LOCK_open"),))
    was = msgspec.structs.replace(
        was, findings=(msgspec.structs.replace(was.findings[0], id="hot-lock-shares-line-0"),)
    )

    def known(**changes: Any) -> dict[str, Severity]:
        now = under_another_name(**changes)
        return renamed_findings(msgspec.structs.replace(REPORT, findings=(now,)), was)

    assert known() == {"hot-lock-shares-line-1": Severity.CRITICAL}
    assert not known(hot=((8, 24),))  # it lies elsewhere
    assert not known(role="spinlock")
    assert not known(lockers=("another",))  # neither the variable nor who uses it is the same
    assert known(lockers=("another",), identity="c:LOCK_open")
    both = msgspec.structs.replace(REPORT, findings=(under_another_name(), *was.findings))
    assert not renamed_findings(both, was)  # the old one is there as well


ROW = {"id": "a", "rule": "r", "severity": "high", "names": ["x"]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a baseline"),
        (b"\xff\xfe", "not a baseline"),
        (b"[]", "not a baseline"),
        (b'{"schema": 3}', "not a baseline"),
        (b'{"findings": []}', "not a baseline"),
        (b'{"schema": "linemate-baseline-1", "findings": []}', "schema 'linemate-baseline-1'"),
        (b"[" * 100_000, "not a baseline"),
        (b'{"schema": "linemate-baseline-2", "findings": [], "x": ' + b"[" * 100_000, "not a baseline"),
        (json.dumps({"schema": SCHEMA, "findings": [ROW, ROW]}).encode(), "'a' is there twice"),
        (json.dumps({"schema": SCHEMA, "findings": [{**ROW, "severity": "bad"}]}).encode(), "not a baseline"),
        (json.dumps({"schema": SCHEMA, "findings": [{**ROW, "names": 3}]}).encode(), "not a baseline"),
        (b'{"schema": "linemate-baseline-2", "findings": [{"id": "\\ud800"}]}', "not a baseline"),
    ],
    ids=range(12),
)
def test_what_is_no_baseline_is_refused_with_its_name(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "accepted.json"
    path.write_bytes(content)
    with pytest.raises(LinemateError, match=why) as refused:
        read_baseline(str(path))
    assert str(path) in str(refused.value)


def test_later_versions_may_add_fields(tmp_path: Path) -> None:
    path = tmp_path / "accepted.json"
    path.write_text(json.dumps({"schema": SCHEMA, "made_by": "x", "findings": [{**ROW, "reason": "y"}]}))
    assert read_baseline(str(path)) == {"a": Severity.HIGH}


def test_a_file_of_the_wrong_size_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "accepted.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(LinemateError, match="larger than"):
        read_baseline(str(path))
    with pytest.raises(LinemateError, match="No such file"):
        read_baseline(str(tmp_path / "gone"))
    with pytest.raises(LinemateError):
        read_baseline(str(tmp_path))


def test_a_pair_that_got_better_is_not_new() -> None:
    def judged(rule: str, severity: Severity, verdict: Verdict) -> Any:
        return msgspec.structs.replace(
            FROM_SOURCE, id=f"{rule}-0123456789", rule=rule, severity=severity, verdict=verdict
        )

    def left(before: Any, after: Any) -> int:
        reports = [msgspec.structs.replace(REPORT, findings=(one,)) for one in (after, before)]
        return len(without_improved(*reports).findings)

    shared = judged("independent-writers", Severity.HIGH, Verdict.FALSE_SHARING)
    apart = judged("safe-by-luck", Severity.LOW, Verdict.FRAGILE)
    assert left(shared, apart) == 0
    assert left(apart, shared) == 1
    # From apart by luck to on one line is no better, however mild the rule is.
    lucky = judged("safe-by-luck", Severity.MEDIUM, Verdict.FRAGILE)
    assert left(lucky, judged("independent-writers", Severity.LOW, Verdict.FALSE_SHARING)) == 1
    other = msgspec.structs.replace(apart, participants=FROM_SOURCE.participants[:1])
    assert left(shared, other) == 1
