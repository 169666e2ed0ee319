"""``linemate lines BINARY TYPE``: a record's members on lines, with what all of its instances are used for.

Owns finding the record by name, its instances in static storage, and their accesses brought together.  The map itself
is ``sharing.static.linemap``'s, which is shown one object of that type at the start of a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from msgspec import structs

from sharing.model.image import VARIABLE_DTYPE, Image, Section, SectionKind, Table
from sharing.model.linemap import Excerpt, LayoutInstance
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeRecord, TypeTable
from sharing.static.linemap import LineMap

MAX_LAYOUTS = 4  # of records of one name that differ
MAX_INSTANCES = 4096  # that are brought together
SHOWN = 16
_WORDS = ("struct ", "class ", "union ")


def record_excerpts(image: Image, locks: Table, wanted: str, line_size: int, max_lines: int) -> Iterator[Excerpt]:
    """One for each layout that a record of that name has; typedefs count as names."""
    for rows in _layouts(image.types, wanted)[:MAX_LAYOUTS]:
        yield _excerpt(image, locks, wanted, rows, line_size, max_lines)


def _layouts(types: TypeTable, wanted: str) -> list[list[int]]:
    """Rows of records of that name, those of equal layout together."""
    name = next((wanted.removeprefix(word) for word in _WORDS if wanted.startswith(word)), wanted)
    alike: dict[tuple[object, ...], list[int]] = {}
    for row in range(len(types)):
        if types[row].name != name:
            continue
        core, _, _ = types.strip(row)
        if core >= 0 and types[core].kind in RECORD_KINDS and types[core].members:
            rows = alike.setdefault(_shape(types[core]), [])
            if core not in rows:
                rows.append(core)
    return list(alike.values())


def _shape(record: TypeRecord) -> tuple[object, ...]:
    return (record.size, *((member.name, member.offset_bits, member.bit_size) for member in record.members))


def _excerpt(image: Image, locks: Table, wanted: str, rows: list[int], line_size: int, max_lines: int) -> Excerpt:
    size = max(image.types.size(rows[0]), 1)
    instances = list(_instances(image, frozenset(rows)))
    one = _one_object(image, rows[0], wanted, size, [address for _, address in instances])
    line_map = LineMap(one, line_size, locks=_shifted(locks, "address", [a for _, a in instances], size))
    lines = range(0, size, line_size)
    described = structs.replace(line_map.describe(0), type=image.types.name(rows[0]))
    shown = tuple(LayoutInstance(name, f"{address:#x}", address % line_size) for name, address in instances[:SHOWN])
    return Excerpt(
        wanted,
        described,
        tuple(line_map.lines(lines[:max_lines])),
        max(len(lines) - max_lines, 0),
        record=True,
        instances=shown,
        instances_omitted=len(instances) - len(shown),
    )


def _one_object(image: Image, row: int, name: str, size: int, addresses: list[int]) -> Image:
    """The image with one object alone, at the start of a line, that is accessed as all instances are."""
    record = image.types[row]
    variables = np.zeros(1, VARIABLE_DTYPE)
    for field, value in (("size", size), ("name", len(image.names)), ("type", row), ("unit", -1), ("scope", -1)):
        variables[field] = value
    variables["file"], variables["line"] = record.file, max(record.line, 0)
    section = Section(0, "", SectionKind.WRITABLE, 0, size, 1, None)
    return replace(
        image,
        sections=(section,),
        names=[*image.names, name],
        variables=variables,
        sites=_shifted(image.sites, "target", addresses, size),
        aliases={},
    )


def _shifted(table: Table, column: str, addresses: list[int], size: int) -> Table:
    """The rows that are about one of the objects, as if it began at zero."""
    parts = [table[:0]]
    at = table[column]
    for address in addresses:
        part = table[(at >= np.uint64(address)) & (at < np.uint64(address + size))].copy()
        part[column] -= np.uint64(address)
        parts.append(part)
    return np.concatenate(parts)


def _instances(image: Image, cores: frozenset[int]) -> Iterator[tuple[str, int]]:
    """Objects of the type in static storage with their addresses: variables, members of others, elements."""
    finder = _Finder(image.types, cores)
    sections = {s.index for s in image.sections if s.kind is not SectionKind.TLS}
    for row in range(len(image.variables)):
        variable = image.variables[row]
        kind = int(variable["type"])
        if kind < 0 or int(variable["section"]) not in sections or not finder.holds(kind):
            continue
        name, base = image.variable_name(row), int(variable["address"])
        for path, offset in finder.places(kind):
            yield f"{name}{path}", base + offset
            if finder.left <= 0:
                return


class _Finder:
    """Where types hold one of the records.  ``left`` bounds what is found in all."""

    def __init__(self, types: TypeTable, cores: frozenset[int]) -> None:
        self._types = types
        self._cores = cores
        self._known: dict[int, bool] = {}
        self.left = MAX_INSTANCES

    def holds(self, row: int, depth: int = 0) -> bool:
        """Whether an object of the type has one within; remembered, so that each type is looked at once."""
        core, _, _ = self._types.strip(row)
        if core in self._cores:
            return True
        if core < 0 or depth > MAX_DEPTH:
            return False
        if core not in self._known:
            self._known[core] = False  # a type within itself, which only a damaged file has
            self._known[core] = any(self.holds(inner, depth + 1) for inner in self._within(self._types[core]))
        return self._known[core]

    def _within(self, record: TypeRecord) -> list[int]:
        if record.kind == TypeKind.ARRAY:
            return [record.target]
        return [member.type for member in record.members] if record.kind in RECORD_KINDS else []

    def places(self, row: int, path: str = "", offset: int = 0, depth: int = 0) -> Iterator[tuple[str, int]]:
        """Paths and offsets within an object of the type."""
        core, _, _ = self._types.strip(row)
        if self.left <= 0 or depth > MAX_DEPTH or not self.holds(row):
            return
        if core in self._cores:
            self.left -= 1
            yield path, offset
            return
        record = self._types[core]
        if record.kind == TypeKind.ARRAY:
            element, whole = self._types.size(record.target), self._types.size(core)
            count = record.count if record.count > 0 else whole // element if element > 0 else 0
            for at in range(min(count, self.left)) if element > 0 else ():
                yield from self.places(record.target, f"{path}[{at}]", offset + at * element, depth + 1)
            return
        for member in record.members:
            inner = f"{path}.{member.name}" if member.name and not member.is_base else path
            yield from self.places(member.type, inner, offset + member.offset_bits // 8, depth + 1)
