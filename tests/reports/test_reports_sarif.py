"""SARIF: levels, locations, fingerprints and rules as code scanning services read them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from reports import EMITTERS, RenderOptions
from reports.sarif import LEVELS
from sharing.model import Finding, Severity
from tests.reports.shared_report import HOSTILE_NAMES, LOCK_BESIDE_LIST, PAIR_OF_LINES, REPORT, RULES


def run(*findings: Finding, root: str = "") -> Any:
    report = msgspec.structs.replace(REPORT, findings=findings, targets=REPORT.targets[:1])
    return json.loads(EMITTERS["sarif"].render(report, RenderOptions(rules=RULES, source_root=root)))["runs"][0]


def at(source: str, root: str = "") -> Any:
    first = msgspec.structs.replace(LOCK_BESIDE_LIST.participants[0], source=source)
    finding = msgspec.structs.replace(LOCK_BESIDE_LIST, participants=(first,))
    return run(finding, root=root)["results"][0]["locations"][0]["physicalLocation"]


@pytest.mark.parametrize("severity", Severity)
def test_every_severity_has_a_level_that_sarif_knows(severity: Severity) -> None:
    (result,) = run(msgspec.structs.replace(PAIR_OF_LINES, severity=severity))["results"]
    assert result["level"] == LEVELS[severity]
    assert result["level"] in ("note", "warning", "error")


def test_worse_severities_never_have_a_milder_level() -> None:
    order = ["note", "warning", "error"]
    ranks = [order.index(LEVELS[severity]) for severity in Severity]
    assert ranks == sorted(ranks)


def test_each_result_points_at_its_rule_listed_or_not() -> None:
    made = run(LOCK_BESIDE_LIST, HOSTILE_NAMES, PAIR_OF_LINES)
    rules = made["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules[: len(RULES)]] == [rule.id for rule in RULES]
    for result in made["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_line_mates_are_related_locations() -> None:
    (result,) = run(LOCK_BESIDE_LIST)["results"]
    (mate,) = result["relatedLocations"]
    assert mate["physicalLocation"]["region"] == {"startLine": 58}
    assert mate["message"]["text"].startswith("unused_tables (list head), bytes 48-55 of the line; written by")


@pytest.mark.parametrize(
    ("source", "root", "artifact"),
    [
        ("sql/a.cc:7", "", {"uri": "sql/a.cc", "uriBaseId": "SRCROOT"}),
        ("./sql/../sql/a.cc:7", "", {"uri": "sql/a.cc", "uriBaseId": "SRCROOT"}),
        ("/src/x/sql/a.cc:7", "/src/x", {"uri": "sql/a.cc", "uriBaseId": "SRCROOT"}),
        ("/src/x/sql/a.cc:7", "/src/x/", {"uri": "sql/a.cc", "uriBaseId": "SRCROOT"}),
        ("/src/xy/a.cc:7", "/src/x", {"uri": "file:///src/xy/a.cc"}),
        ("a b#?%.cc:7", "", {"uri": "a%20b%23%3F%25.cc", "uriBaseId": "SRCROOT"}),
        ("c:d.cc:7", "", {"uri": "c%3Ad.cc", "uriBaseId": "SRCROOT"}),
    ],
)
def test_sources_are_uris_relative_to_the_root_where_they_can_be(source: str, root: str, artifact: Any) -> None:
    assert at(source, root) == {"artifactLocation": artifact, "region": {"startLine": 7}}


@pytest.mark.parametrize("source", ["", "a.cc", "a.cc:0", ":7"])
def test_without_a_declaration_the_location_is_the_address_in_the_binary(source: str) -> None:
    place = at(source)
    assert place["artifactLocation"] == {"uri": "build/server", "uriBaseId": "SRCROOT"}
    assert place["address"] == {
        "name": "LOCK_open.m_mutex",
        "fullyQualifiedName": "0x1074200",
        "kind": "data",
        "absoluteAddress": 0x1074200,
    }


def test_an_address_that_a_double_cannot_hold_stays_text() -> None:
    first = msgspec.structs.replace(LOCK_BESIDE_LIST.participants[0], source="", address="0xffffffff82a01234")
    place = run(msgspec.structs.replace(LOCK_BESIDE_LIST, participants=(first,)))["results"][0]["locations"][0]
    assert "absoluteAddress" not in place["physicalLocation"]["address"]
    assert place["physicalLocation"]["address"]["fullyQualifiedName"] == "0xffffffff82a01234"


def test_fingerprints_survive_a_move_to_another_line() -> None:
    moved = msgspec.structs.replace(LOCK_BESIDE_LIST, line=PAIR_OF_LINES.line, message="elsewhere", score=1.0)
    before, after = (run(finding)["results"][0] for finding in (LOCK_BESIDE_LIST, moved))
    assert before["partialFingerprints"] == after["partialFingerprints"] == {"linemateFinding/v1": LOCK_BESIDE_LIST.id}


def test_a_failed_part_is_an_unsuccessful_invocation_with_its_reasons() -> None:
    (invocation,) = run(LOCK_BESIDE_LIST)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["message"]["text"] for note in invocation["toolExecutionNotifications"]] == [
        "4 functions could not be decoded",
        "unit \\x1b[2Jbad.c: type cycle",
    ]
