"""The JSON report and its schema agree both ways, and saved reports can be read back."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from reports import EMITTERS
from reports.document import decode
from sharing.model import (
    Confidence,
    Coverage,
    Evidence,
    Finding,
    LinePicture,
    LineRef,
    Participant,
    Related,
    Remedy,
    Report,
    Severity,
    Slice,
    SourceEdit,
    Target,
    Verdict,
)
from tests.builders.report import CHECKED, EMPTY, FROM_SOURCE, REPORT
from tests.schema_paths import required_paths, without

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "linemate-report.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document() -> Any:
    """One report that has every kind of value."""
    findings = (*REPORT.findings, FROM_SOURCE)
    return json.loads(EMITTERS["json"].render(msgspec.structs.replace(REPORT, findings=findings)))


REQUIRED = list(required_paths(SCHEMA, document()))


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("report", [REPORT, CHECKED, EMPTY], ids=["audit", "check", "empty"])
def test_what_the_emitter_writes_is_valid(report: Report) -> None:
    VALIDATOR.validate(json.loads(EMITTERS["json"].render(report)))


@pytest.mark.parametrize("path", REQUIRED, ids=lambda path: ".".join(map(str, path)))
def test_a_missing_required_field_is_invalid(path: tuple[Any, ...]) -> None:
    assert not VALIDATOR.is_valid(without(document(), path))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "linemate-report-2"),
        (("findings", 0, "severity"), "terrible"),
        (("findings", 0, "confidence"), "certain"),
        (("findings", 0, "verdict"), "sharing"),
        (("findings", 0, "line", "address"), 4096),
        (("findings", 0, "line", "address"), "1000"),
        (("findings", 0, "participants", 0, "bytes", 0), [1]),
        (("coverage", "counts", "lines"), "many"),
        (("incomplete",), "yes"),
    ],
)
def test_a_wrong_value_is_invalid(path: tuple[Any, ...], value: Any) -> None:
    broken = copy.deepcopy(document())
    parent = broken
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    assert not VALIDATOR.is_valid(broken)


@pytest.mark.parametrize(
    ("struct", "schema"),
    [
        (Report, SCHEMA),
        (Target, SCHEMA["$defs"]["target"]),
        (Coverage, SCHEMA["$defs"]["coverage"]),
        (Finding, SCHEMA["$defs"]["finding"]),
        (LineRef, SCHEMA["$defs"]["finding"]["properties"]["line"]),
        (Participant, SCHEMA["$defs"]["participant"]),
        (Evidence, SCHEMA["$defs"]["evidence"]),
        (Related, SCHEMA["$defs"]["related"]),
        (Remedy, SCHEMA["$defs"]["remedy"]),
        (SourceEdit, SCHEMA["$defs"]["sourceEdit"]),
        (LinePicture, SCHEMA["$defs"]["picture"]),
        (Slice, SCHEMA["$defs"]["slice"]),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_the_schema_names_every_field_of_the_type_and_no_other(struct: type[msgspec.Struct], schema: Any) -> None:
    every = msgspec.structs.fields(struct)
    assert set(schema["properties"]) == {field.encode_name for field in every}
    left_out = {field.encode_name for field in every if not field.required and struct.__struct_config__.omit_defaults}
    assert set(schema["required"]) == set(schema["properties"]) - left_out


@pytest.mark.parametrize(
    ("name", "values"), [("severity", Severity), ("confidence", Confidence)], ids=["severity", "confidence"]
)
def test_the_schema_lists_every_value(name: str, values: Any) -> None:
    assert SCHEMA["$defs"][name]["enum"] == [value.value for value in values]


def test_the_schema_lists_every_verdict() -> None:
    assert SCHEMA["$defs"]["finding"]["properties"]["verdict"]["enum"] == [verdict.value for verdict in Verdict]


def test_a_saved_report_reads_back_as_it_was() -> None:
    assert decode(EMITTERS["json"].render(REPORT)) == REPORT


def test_two_runs_are_byte_identical() -> None:
    assert EMITTERS["json"].render(REPORT) == EMITTERS["json"].render(decode(EMITTERS["json"].render(REPORT)))


def test_names_that_were_not_utf8_are_written_readably() -> None:
    raw = b"name\xff\xfe".decode("utf-8", "surrogateescape")
    report = msgspec.structs.replace(EMPTY, coverage=Coverage({raw: 1}, (raw, "\ud800")))
    coverage = json.loads(EMITTERS["json"].render(report))["coverage"]
    assert coverage == {"counts": {"name\\xff\\xfe": 1}, "notes": ["name\\xff\\xfe", "\\ud800"]}
