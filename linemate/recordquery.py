"""``linemate lines BINARY TYPE``: a record's members on lines, with what all of its instances are used for.

Owns finding the record by name, its instances in static storage, and the accesses to these and through pointers
(``sharing.static.recordaccess``) brought together.  The map itself is ``sharing.static.linemap``'s, which is shown one
object of that type at the start of a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs

from linemate.byname import path_span
from sharing.basics.geometry import line_start
from sharing.knowledge import Knowledge
from sharing.model.image import VARIABLE_DTYPE, Image, Section, SectionKind, Table
from sharing.model.linemap import EmptyMember, Excerpt, LayoutInstance, RecordFacts
from sharing.model.linkage import as_written
from sharing.model.types import MAX_DEPTH, MAX_LEAVES, RECORD_KINDS, TypeKind, TypeRecord, TypeTable
from sharing.static.linemap import LineMap
from sharing.static.recordaccess import through_pointers

MAX_LAYOUTS = 4  # of records of one name that differ
MAX_INSTANCES = 4096  # that are brought together
SHOWN = 16
MAX_SUMMED_BYTES = 1 << 24  # of a record whose holes are counted
MAX_EMPTY = 16  # members without bytes that are listed
_WORDS = ("struct ", "class ", "union ")


def record_name(wanted: str) -> str:
    """The name of a record as debug information has it."""
    wanted = as_written(wanted)
    return next((wanted.removeprefix(word) for word in _WORDS if wanted.startswith(word)), wanted).strip()


@dataclass(frozen=True, slots=True)
class Read:
    """An image with all accesses, the lock calls at addresses, and the vocabulary by which others are known."""

    image: Image
    locks: Table
    knowledge: Knowledge


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is shown: bytes of a line, the most lines, and of a member lines around its own."""

    line_size: int
    max_lines: int
    context: int


def record_excerpts(read: Read, wanted: str, extent: Extent) -> Iterator[Excerpt]:
    """One for each layout that a record of that name has; typedefs count as names.

    Of ``name.member`` the lines around the member.
    """
    types = read.image.types
    layouts, member = _layouts(types, wanted), ""
    if not layouts:
        name, _, member = wanted.partition(".")
        layouts = _layouts(types, name) if member else []
    for rows in layouts[:MAX_LAYOUTS]:
        span = path_span(types, rows[0], member) if member else (0, max(types.size(rows[0]), 1))
        if span is not None:
            yield _excerpt(read, wanted, rows, extent, span)


def names_of_records(wanted: str) -> tuple[str, ...]:
    """The records that may be meant: of that name, or of what stands in front of a member."""
    return tuple(dict.fromkeys((record_name(wanted), record_name(wanted.partition(".")[0]))))


def _layouts(types: TypeTable, wanted: str) -> list[list[int]]:
    """Rows of records of that name, those of equal layout together.

    Scopes and arguments of templates may be left out, which is looked at only where nothing has the name as it stands.
    """
    name = record_name(wanted)
    alike: dict[tuple[object, ...], list[int]] = {}
    for is_it in (_is_whole, _is_short):
        for row in range(len(types)):
            if not is_it(types[row].name, name):
                continue
            core, _, _ = types.strip(row)
            if core >= 0 and types[core].kind in RECORD_KINDS and types[core].members:
                rows = alike.setdefault(_shape(types[core]), [])
                if core not in rows:
                    rows.append(core)
        if alike:
            break
    return list(alike.values())


def similar_records(types: TypeTable, wanted: str) -> list[str]:
    """Records of the template's name, where arguments were given that none has."""
    plain = record_name(wanted).split("<", 1)[0]
    if plain == record_name(wanted):
        return []
    names = {types[row].name for row in range(len(types)) if types[row].kind in RECORD_KINDS}
    return sorted(name for name in names if "<" in name and _is_short(name, plain))


def _is_whole(name: str, wanted: str) -> bool:
    return name == wanted


def _is_short(name: str, wanted: str) -> bool:
    """Whether a name is the one asked for behind some of its scopes, with arguments of a template or without."""
    if wanted not in name:
        return False
    plain = name.split("<", 1)[0]
    return any(full == wanted or full.endswith(f"::{wanted}") for full in (name, plain))


def _shape(record: TypeRecord) -> tuple[object, ...]:
    return (record.size, *((member.name, member.offset_bits, member.bit_size) for member in record.members))


def _excerpt(read: Read, wanted: str, rows: list[int], extent: Extent, span: tuple[int, int]) -> Excerpt:
    """The lines of ``span``, (offset, size) of all of the record or of a member."""
    image, line_size = read.image, extent.line_size
    size = max(image.types.size(rows[0]), 1)
    instances = list(_instances(image, frozenset(rows)))
    uses = through_pointers(image, read.knowledge, rows, size)
    addresses = [address for _, address in instances]
    name = wanted if span == (0, size) else wanted.partition(".")[0]
    one = _one_object(image, rows[0], name, size, addresses, uses.sites)
    locks = np.concatenate([_shifted(read.locks, "address", addresses, size), uses.locks])
    line_map = LineMap(one, line_size, locks=locks)
    around = extent.context * line_size
    first = max(line_start(span[0], line_size) - around, 0)
    lines = range(first, min(sum(span) + around, size), line_size) if span != (0, size) else range(0, size, line_size)
    described = structs.replace(line_map.describe(0), type=image.types.name(rows[0]))
    shown = tuple(LayoutInstance(name, f"{address:#x}", address % line_size) for name, address in instances[:SHOWN])
    return Excerpt(
        wanted,
        described,
        tuple(line_map.lines(lines[: extent.max_lines])),
        max(len(lines) - extent.max_lines, 0),
        record=True,
        instances=shown,
        instances_omitted=len(instances) - len(shown),
        facts=structs.replace(
            _facts(image.types, rows[0], size),
            handed=uses.functions,
            # A list has several pointers; it is named once.
            pointers=tuple(dict.fromkeys(image.variable_name(image.variable_at(at)) for at in uses.pointers))[:SHOWN],
        ),
    )


def _facts(types: TypeTable, row: int, size: int) -> RecordFacts:
    """Holes as its leaves leave them: those within members count too.  Of a record that was cut nothing is known."""
    leaves = types.flatten(row)
    if size > MAX_SUMMED_BYTES or len(leaves) >= MAX_LEAVES:
        return RecordFacts()
    covered = np.zeros(size, np.bool_)
    for leaf in leaves:
        last = leaf.offset + leaf.stride * max(leaf.count - 1, 0)  # where the last element of an array has it
        if last + leaf.size > size:
            last = leaf.offset
        if leaf.stride <= leaf.size:  # one, or elements without anything between them
            covered[leaf.offset : last] = True
        elif last > leaf.offset:
            covered[leaf.offset : last].reshape(-1, leaf.stride)[:, : leaf.size] = True
        covered[last : last + leaf.size] = True
    edges = np.flatnonzero(np.diff(covered.astype(np.int8), prepend=1, append=1))
    begins, ends = edges[::2], edges[1::2]
    tail = int(ends[-1] - begins[-1]) if len(ends) and ends[-1] == size else 0
    empty = [EmptyMember(leaf.path.replace("[]", "[0]"), leaf.offset) for leaf in leaves if leaf.size == 0]
    holes = len(begins) - bool(tail)
    return RecordFacts(holes, size - int(covered.sum()) - tail, tail, tuple(empty[:MAX_EMPTY]))


def _one_object(image: Image, row: int, name: str, size: int, addresses: list[int], sites: Table) -> Image:
    """The image with one object alone, at the start of a line, with all instances' accesses and ``sites``."""
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
        sites=np.concatenate([_shifted(image.sites, "target", addresses, size), sites]),
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
