"""Small images made by hand: variables with types, sections and access sites, no ELF file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharing.model import (
    ARG_DTYPE,
    CALL_DTYPE,
    FUNCTION_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    VARIABLE_DTYPE,
    AccessKind,
    Architecture,
    Image,
    ImageKind,
    Section,
    SectionKind,
    TypeKind,
    TypeMember,
    TypeRecord,
    TypeTable,
    VariableFlag,
)

X86_64 = Architecture("x86-64", 64, "little", 64, 128, True)
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
    names = [name for name, *_ in variables]
    table = np.zeros(len(variables), VARIABLE_DTYPE)
    for row, (_, address, size, type_row) in enumerate(variables):
        table[row]["address"], table[row]["size"], table[row]["type"] = address, size, type_row
        table[row]["name"], table[row]["scope"], table[row]["file"] = row, -1, -1
        table[row]["flags"] = VariableFlag.LOCAL if local else 0
    code = np.zeros(len(functions), FUNCTION_DTYPE)
    for row in range(len(functions)):
        code[row]["address"], code[row]["name"] = 0x1000 + row * 16, len(names) + row
    accesses = np.zeros(len(sites), SITE_DTYPE)
    for row, (target, size, kind, function) in enumerate(sites):
        accesses[row]["target"], accesses[row]["size"] = target, size
        accesses[row]["kind"], accesses[row]["function"] = kind, function
    order = np.argsort(table["address"], kind="stable")
    return Image(
        path="server",
        member=None,
        arch=X86_64,
        kind=ImageKind.PIE,
        build_id=None,
        synthetic=False,
        sections=tuple(sections or [Section(0, ".bss", SectionKind.WRITABLE, BSS, 0x1000, 32, None)]),
        names=[*names, *functions],
        variables=table[order],
        functions=code,
        sites=accesses,
        calls=np.zeros(0, CALL_DTYPE),
        args=np.zeros(0, ARG_DTYPE),
        params=np.zeros(0, PARAM_DTYPE),
        types=TypeTable(TYPES),
    )
