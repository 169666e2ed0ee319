"""Small images for tests of lines: variables of a few types that stand here, on a .bss of their own."""

from __future__ import annotations

from collections.abc import Sequence

from sharing.model import (
    AccessKind,
    Image,
    ImageKind,
    Section,
    SectionKind,
    TypeKind,
    TypeMember,
    TypeRecord,
    VariableFlag,
)
from tests.builders.image import Builder

BSS = 0x4000


def record(
    kind: TypeKind, name: str, size: int, members: Sequence[TypeMember] = (), target: int = -1, count: int = -1
) -> TypeRecord:
    return TypeRecord(kind, name, size, 0, target, count, tuple(members), -1, 0)


def member(name: str, offset: int, type_row: int, bits: int = 0, bit_offset: int = 0) -> TypeMember:
    return TypeMember(name, offset * 8 + bit_offset, type_row, bits, False)


INT, LONG, PAIR, PAIRS, CHARS, FLAGS, ODD, MANY, BYTE, UNION, ABSURD = range(11)
TYPES = (
    record(TypeKind.BASE, "int", 4),
    record(TypeKind.BASE, "long", 8),
    # struct pair { int key; long value; }: four bytes of hole
    record(TypeKind.STRUCT, "pair", 16, [member("key", 0, INT), member("value", 8, LONG)]),
    record(TypeKind.ARRAY, "", -1, (), PAIR, 8),
    record(TypeKind.ARRAY, "", -1, (), INT, 24),
    record(
        TypeKind.STRUCT,
        "flags",
        8,
        [member("ready", 0, INT, 1), member("state", 0, INT, 3, 1), member("rest", 4, INT)],
    ),
    # struct odd { long first; int last; }: four bytes of tail
    record(TypeKind.STRUCT, "odd", 16, [member("first", 0, LONG), member("last", 8, INT)]),
    record(TypeKind.ARRAY, "", -1, (), PAIR, 5000),
    record(TypeKind.BASE, "char", 1),
    record(TypeKind.UNION, "any", 1, [member(f"m{i}", 0, BYTE) for i in range(100)]),
    record(TypeKind.ARRAY, "", -1, (), UNION, 4096),
)


def image(
    variables: Sequence[tuple[str, int, int, int]],
    *,
    sites: Sequence[tuple[int, int, AccessKind, int]] = (),
    functions: Sequence[str] = ("reader", "writer"),
    local: bool = True,
    sections: Sequence[Section] | None = None,
) -> Image:
    """An image of (name, address, size, type row) and sites (target, size, kind, function row)."""
    b = Builder(ImageKind.PIE, path="server")
    end = max([BSS + 0x1000, *(address + size for _, address, size, _ in variables)])
    b.sections = list(sections or [Section(0, ".bss", SectionKind.WRITABLE, BSS, end - BSS, 32, None)])
    b.types = list(TYPES)
    for name, address, size, type_row in variables:
        b.variable(name, size, address, type=type_row, flags=VariableFlag.LOCAL if local else 0)
    bodies = [b.function(name) for name in functions]
    for target, size, kind, row in sites:
        bodies[row].access(kind, target, size)
    return b.image()
