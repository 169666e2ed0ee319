"""The two statements of the facts agree: ``analyzer/src`` that writes them and ``sharing.model.facts`` that reads them.

Read as text, without a compiler: enumerations by name and value, the width of flat rows, and the fields of each object
in their order.
"""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path

import msgspec
import pytest

from sharing.model import facts
from sharing.model.types import TypeKind
from sharing.source import checked

ENUMS: dict[str, type[IntEnum]] = {
    "Base": facts.Base,
    "MemoryOrder": facts.MemoryOrder,
    "InitKind": facts.Init,
    "TypeKind": TypeKind,
    "accessflag": facts.AccessFlag,
    "functionbits": facts.FunctionBits,
    "variablebits": facts.VariableBits,
    "recordbits": facts.RecordBits,
}
COLUMNS = {
    "AccessColumns": facts.ACCESS_COLUMNS,
    "CallColumns": facts.CALL_COLUMNS,
    "ArgColumns": facts.ARG_COLUMNS,
    "LockOpColumns": facts.LOCK_OP_COLUMNS,
    "ZeroTestColumns": facts.ZERO_TEST_COLUMNS,
    "BlockColumns": facts.BLOCK_COLUMNS,
    "LoopColumns": facts.LOOP_COLUMNS,
}
OBJECTS = (facts.FunctionFacts, facts.RecordFacts, facts.VariableFacts, facts.UnitOptions)
ARRAYS = (facts.LockFact, facts.StartFact, facts.AllocationFact, facts.MemberFact)


def enumerations(text: str) -> dict[str, dict[str, int]]:
    """Every enumeration of a header by its name, or by that of the namespace around one without a name."""
    pattern = r"(?:enum class (\w+)|namespace (\w+) \{\s*enum) *: int64_t \{(.*?)\}"
    return {
        named or around: {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", body)}
        for named, around, body in re.findall(pattern, text, re.DOTALL)
    }


def written(text: str, struct: str) -> list[str]:
    """What the function that writes ``struct`` writes, in order: the names of an object, the members of an array."""
    found = re.search(rf"void write\(JsonStream &Out, const {struct} &(\w)\) \{{(.*?)\n\}}", text, re.DOTALL)
    assert found is not None, struct
    variable, body = found.groups()
    if "Out.objectBegin()" in body:
        return re.findall(r'(?:field|optional|rawField|attributeBegin|facts)\((?:Out, )?"(\w+)"', body)
    return [snake(name) for name in re.findall(rf"\b{variable}\.(\w+)", body)]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@pytest.fixture(scope="module")
def source(repository: Path) -> Path:
    return repository / "analyzer/src"


def test_enumerations_have_the_same_names_and_values(source: Path) -> None:
    stated = enumerations((source / "Facts.h").read_text())
    assert stated.keys() == ENUMS.keys()
    for name, values in stated.items():
        readable = {member.name.replace("_", ""): int(member) for member in ENUMS[name]}
        assert {key.upper(): value for key, value in values.items()} == readable, name


def test_kinds_of_arguments_have_the_same_values(source: Path) -> None:
    """Named after what is passed there, after what it is here."""
    found = re.search(r"enum ArgKind : uint8_t \{(.*?)\}", (source / "function/Arguments.cpp").read_text(), re.DOTALL)
    assert found is not None
    assert [int(value) for value in re.findall(r"= (\d+)", found[1])] == [int(kind) for kind in facts.Passed]


def test_rows_are_as_wide_as_their_columns(source: Path) -> None:
    stated = dict(re.findall(r"constexpr size_t (\w+) = (\d+);", (source / "Columns.h").read_text()))
    assert int(stated.pop("CallRarity")) == facts.CALL_COLUMNS.index("rarity")
    assert {name: int(width) for name, width in stated.items()} == {name: len(c) for name, c in COLUMNS.items()}


def test_limits_are_the_same(source: Path) -> None:
    stated = re.findall(
        r"constexpr \w+ (Most\w+) = (?:int64_t\(1\)|\(?1) << (\d+)\)?( - 1)?;", (source / "Facts.h").read_text()
    )
    assert {snake(name).upper(): (1 << int(bits)) - bool(less) for name, bits, less in stated} == {
        "MOST_BYTES": facts.MOST,
        "MOST_PARAMETERS": checked.MOST_PARAMETERS,
        "MOST_ORDER": checked.MOST_ORDER,
        "MOST_TREE": checked.MOST_TREE,
    }


def test_no_row_is_counted_by_a_number(source: Path) -> None:
    rows = re.compile(r"(?:Accesses|Calls|Args|LockOps)\.size\(\) / \d")
    assert [path.name for path in source.rglob("*.cpp") if rows.search(path.read_text())] == []


@pytest.mark.parametrize("struct", OBJECTS, ids=lambda s: s.__name__)
def test_objects_have_the_same_fields_in_the_same_order(source: Path, struct: type[msgspec.Struct]) -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(struct)]
    assert written((source / "Emit.cpp").read_text(), struct.__name__) == fields


@pytest.mark.parametrize("struct", ARRAYS, ids=lambda s: s.__name__)
def test_arrays_have_the_same_members_in_the_same_order(source: Path, struct: type[msgspec.Struct]) -> None:
    fields = [field.name for field in msgspec.structs.fields(struct)]
    named = ["in" if name == "base" else name for name in fields]  # `base` is a type there
    assert written((source / "Emit.cpp").read_text(), struct.__name__) == named


def test_a_renumbered_value_and_a_swapped_field_are_seen() -> None:
    assert enumerations("enum class Base : int64_t { Variable = 2 };") == {"Base": {"Variable": 2}}
    text = (
        "static void write(JsonStream &Out, const LockFact &L) {\n"
        "  Out.arrayBegin();\n  write(Out, L.Row);\n  writeEach(Out, {L.In});\n}"
    )
    assert written(text, "LockFact") == ["row", "in"]
