"""Images of nothing but variables, laid out as a linker does: for tests of matching, shifts and line mates.

Owns a tiny linker: objects in order, each at the next multiple of its alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sharing.model import Image, Section, SectionKind, VariableFlag
from tests.builders.image import Builder

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
    b = Builder(path=path)
    b.sections = []
    units: dict[str, int] = {}
    for number, (section, variables) in enumerate(sections.items()):
        addresses = place(variables, start)
        end = max([a + v.size for a, v in zip(addresses, variables, strict=True)], default=start)
        b.sections.append(Section(number, section, SectionKind.WRITABLE, start, end - start, ALIGNMENT, None))
        for address, one in zip(addresses, variables, strict=True):
            if one.unit and one.unit not in units:
                units[one.unit] = b.unit("C99", one.unit)
            b.variable(
                f"{one.name}#{len(b.variables)}",
                one.size,
                address,
                unit=units.get(one.unit, -1),
                flags=VariableFlag.LOCAL if one.static else 0,
                alias=one.alias,
            )
        start = -(-end // 4096) * 4096
    return b.image()
