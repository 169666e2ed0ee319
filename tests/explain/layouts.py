"""Images of nothing but variables, laid out as a linker does: for tests of matching, shifts and line mates.

Owns a tiny linker: objects in order, each at the next multiple of its alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharing.model import (
    ARG_DTYPE,
    CALL_DTYPE,
    FUNCTION_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    VARIABLE_DTYPE,
    Architecture,
    Image,
    ImageKind,
    Section,
    SectionKind,
    TypeTable,
    VariableFlag,
)
from sharing.model.image import Unit

X86_64 = Architecture("x86-64", 64, "little", 64, 128, True)
ALIGNMENT = 4096  # of each section: what aligns objects is not taken from it


@dataclass(frozen=True)
class Var:
    """One variable: bytes, alignment, source file ("" unknown), static or not, another name."""

    name: str
    size: int = 8
    align: int = 8
    unit: str = ""
    static: bool = False
    alias: str = ""


def place(variables: Sequence[Var], start: int) -> list[int]:
    """Addresses of the variables, in order, each at the next multiple of its alignment."""
    out = []
    for variable in variables:
        start = -(-start // variable.align) * variable.align
        out.append(start)
        start += variable.size
    return out


def laid(sections: dict[str, Sequence[Var]], start: int = 0x10000, path: str = "program") -> Image:
    """An image of these sections in order, the first at ``start``, the next at the next page."""
    names: list[str] = []
    units: list[str] = []
    tables: list[Section] = []
    rows: list[np.void] = []
    aliases: dict[int, tuple[str, ...]] = {}
    for number, (section, variables) in enumerate(sections.items()):
        addresses = place(variables, start)
        end = max([a + v.size for a, v in zip(addresses, variables, strict=True)], default=start)
        tables.append(Section(number, section, SectionKind.WRITABLE, start, end - start, ALIGNMENT, None))
        for address, variable in zip(addresses, variables, strict=True):
            row = np.zeros(1, VARIABLE_DTYPE)[0]
            for field in ("type", "file", "scope", "unit"):
                row[field] = -1
            if variable.unit:
                if variable.unit not in units:
                    units.append(variable.unit)
                row["unit"] = units.index(variable.unit)
            row["address"], row["size"], row["section"] = address, variable.size, number
            row["name"] = len(names)
            row["flags"] = VariableFlag.LOCAL if variable.static else 0
            if variable.alias:
                aliases[len(rows)] = (variable.alias,)
            names.append(variable.name)
            rows.append(row)
        start = -(-end // 4096) * 4096
    return Image(
        path=path,
        member=None,
        arch=X86_64,
        kind=ImageKind.EXECUTABLE,
        build_id=None,
        synthetic=False,
        sections=tuple(tables),
        names=names,
        variables=np.array(rows, VARIABLE_DTYPE),
        functions=np.zeros(0, FUNCTION_DTYPE),
        sites=np.zeros(0, SITE_DTYPE),
        calls=np.zeros(0, CALL_DTYPE),
        args=np.zeros(0, ARG_DTYPE),
        params=np.zeros(0, PARAM_DTYPE),
        types=TypeTable(),
        units=tuple(Unit(u, "/src", "", "C99") for u in units),
        aliases=aliases,
    )
