"""SARIF: levels, locations, fingerprints and rules as code scanning services read them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from linemate.version import HOMEPAGE
from reports import EMITTERS, RenderOptions
from reports.sarif import LEVELS
from sharing.model import Finding, Severity
from tests.builders.report import FROM_SOURCE, HOSTILE_NAMES, LOCK_BESIDE_LIST, PAIR_OF_LINES, REPORT, RULES


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
    ("ranges", "words"),
    [
        (((40, 41),), "byte 40 of the line"),
        (((40, 41), (48, 52)), "bytes 40, 48-51 of the line"),
        (((64, 64),), "on another line, at 0x4100"),  # of a pair that is apart today
    ],
)
def test_a_line_mate_is_where_its_bytes_are(ranges: tuple[tuple[int, int], ...], words: str) -> None:
    lock, other = LOCK_BESIDE_LIST.participants[:2]
    moved = msgspec.structs.replace(other, bytes=ranges, address="0x4100")
    (result,) = run(msgspec.structs.replace(LOCK_BESIDE_LIST, participants=(lock, moved)))["results"]
    assert f"(list head), {words};" in result["relatedLocations"][0]["message"]["text"]


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


def test_what_people_read_of_a_result_has_no_path_of_the_machine() -> None:
    first = msgspec.structs.replace(LOCK_BESIDE_LIST.participants[0], source="/src/x/sql/a.cc:7")
    told = msgspec.structs.replace(
        LOCK_BESIDE_LIST,
        message="see /src/x/sql/a.cc",
        participants=(first, *LOCK_BESIDE_LIST.participants[1:]),
    )
    message = run(told, root="/src/x")["results"][0]["message"]
    assert message["markdown"].startswith("see sql/a.cc\n")
    assert "sql/a.cc:7" in message["markdown"]
    assert "/src/x" not in str(message)


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
    assert place["region"] == {"startLine": 1}


def test_an_address_that_a_double_cannot_hold_stays_text() -> None:
    first = msgspec.structs.replace(LOCK_BESIDE_LIST.participants[0], source="", address="0xffffffff82a01234")
    place = run(msgspec.structs.replace(LOCK_BESIDE_LIST, participants=(first,)))["results"][0]["locations"][0]
    assert "absoluteAddress" not in place["physicalLocation"]["address"]
    assert place["physicalLocation"]["address"]["fullyQualifiedName"] == "0xffffffff82a01234"


def test_the_fingerprint_is_the_id_wherever_the_finding_lies() -> None:
    moved = msgspec.structs.replace(LOCK_BESIDE_LIST, line=PAIR_OF_LINES.line, message="elsewhere", score=1.0)
    for finding in (LOCK_BESIDE_LIST, moved):
        assert run(finding)["results"][0]["partialFingerprints"] == {"linemateFinding/v3": LOCK_BESIDE_LIST.id}


def test_a_failed_part_is_an_unsuccessful_invocation_with_its_reasons() -> None:
    (invocation,) = run(LOCK_BESIDE_LIST)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["message"]["text"] for note in invocation["toolExecutionNotifications"]] == [
        "4 functions could not be decoded",
        "unit \\x1b[2Jbad.c: type cycle",
    ]


def test_a_column_is_part_of_the_region() -> None:
    assert at("a.cc:7:12")["region"] == {"startLine": 7, "startColumn": 12}
    assert at("a.cc:7:0")["region"] == {"startLine": 7}


def test_accesses_follow_the_line_mates_with_their_locks() -> None:
    places = run(FROM_SOURCE)["results"][0]["relatedLocations"]
    assert [place["id"] for place in places] == list(range(1, len(places) + 1))
    assert [place["message"]["text"] for place in places[2:5]] == [
        "acquire(unsigned long) locks cache_lock",
        "release(unsigned long) locks cache_lock",
        "release(unsigned long) writes unused under cache_lock",
    ]
    assert places[2]["physicalLocation"]["region"] == {"startLine": 88, "startColumn": 3}
    assert places[2]["logicalLocations"][0]["kind"] == "function"


def test_a_hundred_accesses_are_not_a_hundred_locations() -> None:
    flood = tuple(
        msgspec.structs.replace(FROM_SOURCE.related[0], name=f"v{at // 3}", function=f"f{at}") for at in range(300)
    )
    (result,) = run(msgspec.structs.replace(FROM_SOURCE, related=flood))["results"]
    assert len(result["relatedLocations"]) == 2 + 20


def test_edits_are_fixes_in_the_order_of_the_file() -> None:
    (result,) = run(FROM_SOURCE, root="/src/server")["results"]
    (fix,) = result["fixes"]
    assert fix["description"]["text"].startswith("give {{cache_lock}} a type of its own (+24 bytes")
    header, source = fix["artifactChanges"]
    assert header["replacements"] == [
        {"deletedRegion": {"byteOffset": 10, "byteLength": 4}, "insertedContent": {"text": "x?"}}
    ]
    assert source["artifactLocation"] == {"uri": "cache/table_cache.cc", "uriBaseId": "SRCROOT"}
    assert [change["deletedRegion"]["startLine"] for change in source["replacements"]] == [20, 27]
    inserted = source["replacements"][0]
    assert inserted["deletedRegion"] == {"startLine": 20, "startColumn": 1, "endLine": 20, "endColumn": 1}
    assert inserted["insertedContent"]["text"] == "struct Line_lock {\n};\n"


def test_a_remedy_without_edits_is_no_fix() -> None:
    assert "fixes" not in run(LOCK_BESIDE_LIST)["results"][0]


def test_a_predicted_address_is_not_given_as_one() -> None:
    first = msgspec.structs.replace(FROM_SOURCE.participants[0], source="")
    (result,) = run(msgspec.structs.replace(FROM_SOURCE, participants=(first,), related=()))["results"]
    assert result["locations"] == [
        {"logicalLocations": [{"name": "cache_lock", "fullyQualifiedName": "cache_lock", "kind": "variable"}]}
    ]


def test_the_place_is_a_declaration_that_is_known_else_an_access() -> None:
    first, second, *rest = FROM_SOURCE.participants
    nowhere = msgspec.structs.replace(first, source="")
    (result,) = run(msgspec.structs.replace(FROM_SOURCE, participants=(nowhere, second, *rest)))["results"]
    place = result["locations"][0]
    assert place["logicalLocations"][0]["name"] == second.full_name
    assert place["physicalLocation"]["region"] == {"startLine": 28, "startColumn": 15}
    (result,) = run(msgspec.structs.replace(FROM_SOURCE, participants=(nowhere,)))["results"]
    place = result["locations"][0]
    assert place["logicalLocations"][0]["name"] == first.full_name
    assert place["physicalLocation"]["region"]["startLine"] == 88


def test_the_message_is_short_and_its_markdown_has_the_details() -> None:
    (result,) = run(LOCK_BESIDE_LIST)["results"]
    text, details = result["message"]["text"], result["message"]["markdown"]
    summary = next(rule.summary for rule in RULES if rule.id == LOCK_BESIDE_LIST.rule)
    assert (
        text == f"LOCK_open.m_mutex and unused_tables: {summary[0].lower()}{summary[1:].rstrip('.')} (line 0x1074200)"
    )
    assert len(text) < len(LOCK_BESIDE_LIST.message) < len(details)
    for evidence in LOCK_BESIDE_LIST.evidence:
        assert f"- {evidence.kind.value}: " in details
    assert "**Do:** " in details
    assert "```text" in details


def test_the_tool_says_its_version_and_its_address_where_it_has_one() -> None:
    def driver(**options: Any) -> Any:
        return json.loads(EMITTERS["sarif"].render(REPORT, RenderOptions(**options)))["runs"][0]["tool"]["driver"]

    made = driver(version="1.2.3", home="https://example.org/linemate")
    assert (made["version"], made["semanticVersion"]) == ("1.2.3", "1.2.3")
    assert made["informationUri"] == "https://example.org/linemate"
    assert not {"version", "informationUri"} & set(driver())


def test_the_packages_name_the_same_address(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    assert project.get("urls", {}).get("Homepage", "") == HOMEPAGE


def test_only_a_compared_report_says_that_a_result_is_new() -> None:
    compared = msgspec.structs.replace(REPORT, baseline="main at 3f2a")
    results = json.loads(EMITTERS["sarif"].render(compared))["runs"][0]["results"]
    assert {result["baselineState"] for result in results} == {"new"}
    assert "baselineState" not in run(LOCK_BESIDE_LIST)["results"][0]
