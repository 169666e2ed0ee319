"""Where built files have the variables of the source: exact offsets from object files, addresses from linked ones.

Owns the join of ELF symbols and facts.  Names decide; statics, of which several units or functions may have one of the
same name, are told apart by the unit that debug information names, then by size, and are left out where that does not
settle it: an unknown address is better than a wrong one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sharing.model.facts import UnitFacts, VariableBits, VariableFacts
from sharing.model.image import Image, SectionKind, VariableFlag
from sharing.source.alignment import alignment
from sharing.source.emission import COMMON, Contribution, Placed
from sharing.source.program import Program

_NUMBERED = re.compile(r"\.\d+$")  # GCC: count.0, clang: count.1 for the second of the name
_TAGGED = re.compile(r"B\d+cxx11$")  # clang mangles the ABI tag of internal variables, GCC does not


@dataclass(frozen=True, slots=True)
class _Row:
    """One variable of an image."""

    names: tuple[str, ...]
    address: int
    size: int
    section: int
    unit: int
    local: bool
    common: bool
    scope: str  # readable name of the function around it, "" none or unknown


def from_object(image: Image, unit: UnitFacts) -> tuple[Contribution, ...]:
    """The contributions of a relocatable file that was built from this unit, as they are.

    Variables of the source that the file lacks were dropped by the compiler; objects of the file that the source does
    not name (guards, literals) stay gaps.
    """
    found = _joined(_rows(image), unit.variables)
    by_section: dict[int, list[tuple[VariableFacts, _Row]]] = {}
    alone: list[tuple[VariableFacts, _Row]] = []
    for variable, row in found:
        if row.common:
            alone.append((variable, row))
        else:
            by_section.setdefault(row.section, []).append((variable, row))
    out = []
    for index in sorted(by_section):
        section = image.sections[index]
        members = sorted(by_section[index], key=lambda m: m[1].address)
        placed = tuple(Placed(v.identity, r.address - section.address, r.size) for v, r in members)
        out.append(Contribution(section.name, section.kind, max(section.alignment, 1), section.size, placed))
    for variable, row in alone:
        # The linker places a common symbol by itself, at the alignment that the compiler asked for.
        align = alignment(variable, unit.options, unit.triple)
        out.append(
            Contribution(COMMON, SectionKind.WRITABLE, align, row.size, (Placed(variable.identity, 0, row.size),))
        )
    return tuple(out)


def from_binary(image: Image, program: Program) -> dict[str, int]:
    """Addresses by identity of those variables that a linked file has, in the order of the address."""
    rows = _rows(image)
    shared = {name: row for row in rows if not row.local for name in row.names}
    found: dict[str, int] = {}
    by_unit: dict[str, list[_Row]] = {}
    for row in rows:
        if row.local and 0 <= row.unit < len(image.units):
            unit = image.units[row.unit]
            by_unit.setdefault(_path(unit.comp_dir, unit.name), []).append(row)
    statics: dict[str, int] = {}
    for row in rows:
        for name in row.names if row.local else ():
            statics[plain_name(name)] = statics.get(plain_name(name), 0) + 1
    for facts in program.units:
        mine = [v for v in facts.variables if not v.bits & VariableBits.DECLARED_ONLY]
        for variable in mine:
            if not variable.bits & VariableBits.INTERNAL and variable.symbol in shared:
                found.setdefault(variable.identity, shared[variable.symbol].address)
        internal = [v for v in mine if v.bits & VariableBits.INTERNAL]
        candidates = by_unit.get(_path(facts.directory, facts.path))
        if candidates is None:
            # No debug information: a name that only one object has, and only one unit, is still certain.
            candidates = [r for r in rows if r.local and all(statics[plain_name(n)] == 1 for n in r.names)]
            internal = [v for v in internal if _defined_once(program, v)]
        for variable, row in _joined(candidates, internal):
            found.setdefault(variable.identity, row.address)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _defined_once(program: Program, variable: VariableFacts) -> bool:
    symbol = plain_name(variable.symbol)
    named = [v for u in program.units for v in u.variables if plain_name(v.symbol) == symbol]
    return sum(1 for v in named if not v.bits & VariableBits.DECLARED_ONLY) == 1


def _rows(image: Image) -> list[_Row]:
    names, aliases = image.names, image.aliases
    columns = (image.variables[c].tolist() for c in ("name", "address", "size", "section", "unit", "flags", "scope"))
    out = []
    for number, (name, address, size, section, unit, flags, scope) in enumerate(zip(*columns, strict=True)):
        if name < 0 or flags & VariableFlag.RECOVERED:
            continue
        out.append(
            _Row(
                (names[name], *aliases.get(number, ())),
                address,
                size,
                section,
                unit,
                bool(flags & VariableFlag.LOCAL),
                bool(flags & VariableFlag.COMMON),
                names[scope] if scope >= 0 else "",
            )
        )
    return out


def _joined(rows: Iterable[_Row], variables: Sequence[VariableFacts]) -> Iterator[tuple[VariableFacts, _Row]]:
    """Pairs of one unit's variables and objects; where several would do there is none.

    GCC numbers statics of functions in an order that the source does not show: size and function settle it.
    """
    exact: dict[str, list[_Row]] = {}
    plain: dict[str, list[_Row]] = {}
    for row in rows:
        for name in row.names:
            exact.setdefault(name, []).append(row)
            plain.setdefault(plain_name(name), []).append(row)
    wanted: dict[str, list[VariableFacts]] = {}
    for variable in variables:
        if not variable.bits & VariableBits.DECLARED_ONLY and variable.symbol:
            wanted.setdefault(variable.symbol, []).append(variable)
    for symbol, named in wanted.items():
        both = [*exact.get(symbol, ()), *plain.get(plain_name(symbol), ())]
        candidates = list({row.address: row for row in both}.values())
        if len(named) == 1 and len(exact.get(symbol, ())) == 1:
            yield named[0], exact[symbol][0]
            continue
        for variable in named:
            fitting = [r for r in candidates if _fits(r, variable)]
            rivals = [v for v in named if v is not variable and any(_fits(r, v) for r in fitting)]
            if len(fitting) == 1 and not rivals:
                yield variable, fitting[0]


def _fits(row: _Row, variable: VariableFacts) -> bool:
    """Can the object be the variable, by its size and, where both are known, the function around it?"""
    inside = not row.scope or not variable.scope or row.scope == variable.scope.rpartition("::")[2].partition("(")[0]
    return row.size == variable.size and (inside or row.scope == variable.scope)


def plain_name(name: str) -> str:
    """A symbol without what one compiler adds to it and another does not."""
    return _TAGGED.sub("", _NUMBERED.sub("", name))


def _path(directory: str, path: str) -> str:
    return os.path.normpath(os.path.join(directory, path))
