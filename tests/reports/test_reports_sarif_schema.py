"""What the SARIF emitter writes is valid against the schema that OASIS publishes, in every branch of the emitter."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports import EMITTERS, RenderOptions
from sharing.model import Finding, Report, Severity
from tests.builders.report import CHECKED, EMPTY, FROM_SOURCE, HOSTILE_NAMES, LOCK_BESIDE_LIST, REPORT, RULES

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def document(report: Report, **options: Any) -> Any:
    return json.loads(EMITTERS["sarif"].render(report, RenderOptions(**options)))


def one(finding: Finding) -> Report:
    return msgspec.structs.replace(CHECKED, findings=(finding,))


BARE = msgspec.structs.replace(
    FROM_SOURCE, participants=(), evidence=(), remedies=(), picture=(), related=(), line=LOCK_BESIDE_LIST.line
)
NOWHERE = msgspec.structs.replace(
    FROM_SOURCE,
    participants=tuple(msgspec.structs.replace(who, source="") for who in FROM_SOURCE.participants),
    related=tuple(msgspec.structs.replace(access, source="a.c") for access in FROM_SOURCE.related),
)
REPORTS = {
    "audit": REPORT,
    "check": CHECKED,
    "empty": EMPTY,
    "no targets": msgspec.structs.replace(CHECKED, targets=()),
    "nothing but a message": one(BARE),
    "no sources": one(NOWHERE),
    "no sources and no model": one(msgspec.structs.replace(NOWHERE, line=LOCK_BESIDE_LIST.line)),
    **{f"severity {severity}": one(msgspec.structs.replace(FROM_SOURCE, severity=severity)) for severity in Severity},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "rules": {"rules": RULES, "version": "1.2.3"},
    "root": {"source_root": "/src/server"},
    "odd root": {"source_root": "/"},
}


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("report", REPORTS)
def test_every_branch_is_valid(report: str, options: str) -> None:
    VALIDATOR.validate(document(REPORTS[report], **OPTIONS[options]))


@given(name=st.text(max_size=30))
@settings(max_examples=50, deadline=None)
def test_any_name_is_valid(name: str) -> None:
    first, second = HOSTILE_NAMES.participants
    finding = msgspec.structs.replace(
        FROM_SOURCE,
        id=name,
        rule=name or "x",
        message=name,
        participants=(msgspec.structs.replace(first, name=name, source=f"{name}:3:4"), second),
        related=tuple(
            msgspec.structs.replace(access, function=name, source=f"{name}:1") for access in FROM_SOURCE.related
        ),
    )
    VALIDATOR.validate(document(one(finding)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("results", 0, "level"), "fatal"),
        (("results", 0, "baselineState"), "fresh"),
        (("results", 0, "relatedLocations", 0, "physicalLocation", "region", "startLine"), 0),
        (("results", 0, "fixes", 0, "artifactChanges", 0, "replacements"), []),
        (("results", 0, "locations", 0, "unknown"), 1),
        (("columnKind",), "bytes"),
    ],
)
def test_a_wrong_value_is_noticed(path: tuple[Any, ...], value: Any) -> None:
    """The validator looks at all that the emitter writes, not at its top level only."""
    broken = copy.deepcopy(document(CHECKED))
    parent = broken["runs"][0]
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    assert not VALIDATOR.is_valid(broken)
