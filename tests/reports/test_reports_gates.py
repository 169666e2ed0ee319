"""JUnit and Code Quality as their hosts read them: the elements and keys that they know, and what fails."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest

from reports import EMITTERS, RenderOptions
from sharing.model import Report, Severity
from tests.builders.report import CHECKED, EMPTY, LOCK_BESIDE_LIST, REPORT

# What GitLab documents of a Code Quality report: these keys and words, a path within the repository.
CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)."},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}

# JUnit as Jenkins and GitLab read it: element by element, the attributes that must and may be there.
JUNIT = {
    "testsuites": (set(), set(), {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, set(), {"testcase"}),
    "testcase": ({"name", "classname", "time"}, {"file", "line"}, {"failure", "error", "system-out"}),
    "failure": ({"type", "message"}, set(), set()),
    "error": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}


def suite(report: Report, limit: Severity | None = Severity.HIGH) -> ElementTree.Element:
    root = ElementTree.fromstring(EMITTERS["junit"].render(report, RenderOptions(fail_on=limit)))
    for element in root.iter():
        required, allowed, inside = JUNIT[element.tag]
        assert required <= set(element.attrib) <= required | allowed
        assert {child.tag for child in element} <= inside
    return root[0]


def issues(report: Report, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(EMITTERS["codequality"].render(report, RenderOptions(**options)))
    jsonschema.validate(found, CODE_QUALITY)
    return found


@pytest.mark.parametrize("limit", [None, *Severity])
def test_what_fails_the_run_fails_as_a_test_case(limit: Severity | None) -> None:
    made = suite(REPORT, limit)
    severe = [f.severity for f in REPORT.findings if limit is not None and f.severity.rank >= limit.rank]
    assert [failure.get("type") for failure in made.iter("failure")] == sorted(
        (s.value for s in severe), key=lambda s: -Severity(s).rank
    )
    assert made.get("failures") == str(len(severe))
    assert made.get("tests") == str(len(made))


def test_a_clean_report_is_a_case_that_passes() -> None:
    (case,) = suite(msgspec.structs.replace(EMPTY, coverage=msgspec.structs.replace(EMPTY.coverage)))
    assert len(case) == 0


def test_an_incomplete_analysis_is_an_error_not_a_clean_run() -> None:
    made = suite(msgspec.structs.replace(EMPTY, incomplete=True))
    assert made.get("errors") == "1"
    assert [error.get("type") for error in made.iter("error")] == ["incomplete"]


def test_code_quality_names_declarations_below_the_root() -> None:
    (issue,) = issues(msgspec.structs.replace(CHECKED, findings=CHECKED.findings[:1]), source_root="/src/server")
    first = CHECKED.findings[0]
    assert issue["fingerprint"] == first.id
    assert issue["location"] == {"path": "cache/table_cache.cc", "lines": {"begin": 27}}


def test_code_quality_of_a_stripped_binary_names_the_binary() -> None:
    who = tuple(msgspec.structs.replace(p, source="") for p in LOCK_BESIDE_LIST.participants)
    report = msgspec.structs.replace(REPORT, findings=(msgspec.structs.replace(LOCK_BESIDE_LIST, participants=who),))
    assert issues(report)[0]["location"]["lines"] == {"begin": 1}


def test_equal_ids_of_two_files_stay_two_issues_and_no_issue_is_there_twice() -> None:
    one, other = (msgspec.structs.replace(LOCK_BESIDE_LIST, target=name) for name in ("a", "b"))
    found = issues(msgspec.structs.replace(REPORT, findings=(one, other, other)))
    assert [issue["fingerprint"] for issue in found] == [one.id, f"{one.id}@b"]


def test_names_cannot_leave_their_place() -> None:
    evil = "x\x1b]<![CDATA[&\x00\ud800"
    who = tuple(msgspec.structs.replace(p, name=evil, source=f"{evil}.c:3") for p in LOCK_BESIDE_LIST.participants)
    finding = msgspec.structs.replace(LOCK_BESIDE_LIST, participants=who, message=evil, rule=evil)
    report = msgspec.structs.replace(REPORT, findings=(finding,))
    assert "CDATA" in (suite(report)[0].get("name") or "")
    assert issues(report)[0]["location"]["lines"] == {"begin": 3}
