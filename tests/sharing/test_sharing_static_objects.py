"""How many objects of a record have static storage, in variables, members and arrays."""

from __future__ import annotations

from sharing.model.types import TypeKind, TypeMember, TypeRecord
from sharing.static.sharedrecords import static_objects
from tests.builders.image import Builder

LONG = TypeRecord(TypeKind.BASE, "long", 8, 0, -1, 0, (), -1, 0)


def record(name: str, size: int, *members: tuple[str, int, int]) -> TypeRecord:
    """``members``: name, bytes from the begin, row of the type."""
    made = tuple(TypeMember(member, 8 * at, kind, 0, False) for member, at, kind in members)
    return TypeRecord(TypeKind.STRUCT, name, size, 0, -1, 0, made, -1, 0)


def counted(types: list[TypeRecord], *rows: int) -> dict[str, int]:
    """Of an image with a variable of each of these types."""
    builder = Builder()
    builder.types = [LONG, *types]
    for number, row in enumerate(rows):
        builder.variable(f"variable{number}", 64, type=row)
    return static_objects(builder.image())


def test_a_variable_a_member_and_what_only_a_typedef_names() -> None:
    part = record("", 8, ("count", 0, 0))
    name = TypeRecord(TypeKind.TYPEDEF, "part_t", 8, 0, 1, 0, (), -1, 0)
    whole = record("whole", 16, ("id", 0, 0), ("part", 8, 2))
    assert counted([part, name, whole], 3) == {"whole": 1, "part_t": 1}
    assert counted([part, name, whole], 3, 2) == {"whole": 1, "part_t": 2}


def test_elements_of_an_array_are_several() -> None:
    part = record("part", 8, ("count", 0, 0))
    many = TypeRecord(TypeKind.ARRAY, "", 32, 0, 1, 4, (), -1, 0)
    assert counted([part, many], 2) == {"part": 2}


def test_records_within_each_other_without_end_are_left() -> None:
    depth = 5000
    chain = [record(f"r{row}", 8, ("next", 0, row + 1)) for row in range(1, depth)]
    assert counted([*chain, record("last", 8, ("count", 0, 0))], 1)["r1"] == 1
