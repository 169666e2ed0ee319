"""The JSON of ``linemate lines`` and its schema agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from reports.jsontext import encode
from sharing.model import Target
from sharing.model.linemap import (
    CrowdedLine,
    EmptyMember,
    Excerpt,
    Layout,
    LayoutInstance,
    LayoutLine,
    LayoutMember,
    LayoutObject,
    LayoutReport,
    LayoutSpan,
    RecordFacts,
    SectionSummary,
    SpanKind,
)
from tests.lines.test_lines_text import report

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "linemate-lines.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TYPES: dict[str, type[msgspec.Struct]] = {
    "target": Target,
    "layout": Layout,
    "excerpt": Excerpt,
    "instance": LayoutInstance,
    "facts": RecordFacts,
    "empty": EmptyMember,
    "member": LayoutMember,
    "object": LayoutObject,
    "line": LayoutLine,
    "span": LayoutSpan,
    "section": SectionSummary,
    "crowded": CrowdedLine,
}


def fields(struct: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)}


def left_out(struct: type[msgspec.Struct]) -> set[str]:
    """What is not written where it says nothing."""
    if not struct.__struct_config__.omit_defaults:
        return set()
    return {field.encode_name for field in msgspec.structs.fields(struct) if not field.required}


@pytest.mark.parametrize("symbols", [True, False])
def test_what_is_written_is_valid(symbols: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(json.loads(encode(report(symbols=symbols))))


@pytest.mark.parametrize("name", TYPES)
def test_the_schema_names_every_field_of_the_type_and_no_other(name: str) -> None:
    part = SCHEMA["$defs"][name]
    assert set(part["properties"]) == fields(TYPES[name])
    assert set(part["required"]) == fields(TYPES[name]) - left_out(TYPES[name])


def test_the_document_and_the_kinds_are_named_too() -> None:
    assert set(SCHEMA["properties"]) == set(SCHEMA["required"]) == fields(LayoutReport)
    assert SCHEMA["$defs"]["span"]["properties"]["kind"]["enum"] == [kind.value for kind in SpanKind]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "linemate-lines-2"),
        (("layouts", 0, "excerpts", 0, "object"), "slots"),
        (("layouts", 0, "excerpts", 0, "lines", 0, "address"), 16384),
        (("layouts", 0, "excerpts", 0, "lines", 0, "spans", 0, "kind"), "gap"),
        (("layouts", 0, "excerpts", 0, "lines", 0, "spans", 0, "start"), -1),
    ],
)
def test_a_wrong_value_is_invalid(path: tuple[Any, ...], value: Any) -> None:
    broken: Any = json.loads(encode(report(symbols=True)))
    parent = broken
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    assert not VALIDATOR.is_valid(broken)
