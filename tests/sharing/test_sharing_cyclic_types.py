"""Types that contain each other, and deep doubling types, are walked within a bound."""

from __future__ import annotations

from sharing.knowledge import default_knowledge
from sharing.model import TypeKind, TypeMember, TypeRecord
from sharing.static.shapes import Shapes
from tests.builders.image import Builder


def cyclic() -> Builder:
    b = Builder()
    for other in (1, 0):
        members = tuple(TypeMember(f"m{i}", 0, other, 0, False) for i in range(2))
        b.types.append(TypeRecord(TypeKind.STRUCT, "node", 8, 0, -1, -1, members, -1, 0))
    return b


def test_flatten_ends() -> None:
    assert len(cyclic().image().types.flatten(0)) <= 20_000


def test_lock_search_ends() -> None:
    assert Shapes(cyclic().image(), default_knowledge()).locks(0) == ()


def test_lock_search_of_a_deep_valid_type_ends() -> None:
    """Doubling structs, 40 levels: sizes would not fit, but nothing checks them."""
    b = Builder()
    row = b.base("int", 4)
    for i in range(40):
        row = b.struct(f"s{i}", 8, ("a", 0, row), ("b", 4, row))
    assert Shapes(b.image(), default_knowledge()).locks(row) == ()


def test_alignment_of_cyclic_and_doubling_types_ends() -> None:
    assert cyclic().image().types.alignment(0) == 1
    b = Builder()
    row = b.base("int", 4)
    for i in range(40):
        row = b.struct(f"s{i}", 8, ("a", 0, row), ("b", 4, row))
    assert b.image().types.alignment(row) == 4
