"""An image of the objects on the heap that are known one by one, at addresses of its own.

Owns the layout of these objects behind the image's sections, and the accesses and calls that reach them, at those
addresses.  Which objects there are is ``heaprecords``'s.  Where one begins is only known up to its alignment, which
``Image.phases`` says.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from sharing.basics.geometry import round_up
from sharing.model.arrays import among, picked, stacked
from sharing.model.given import Given
from sharing.model.image import (
    ALLOCATED,
    HEAP_ALIGNMENT,
    HELD,
    HELD_ADDRESS_BITS,
    HELD_OFFSET_BITS,
    POINTER_DTYPE,
    VARIABLE_DTYPE,
    Image,
    Section,
    SectionKind,
    SiteFlag,
    Table,
    VariableFlag,
)
from sharing.model.linkage import is_cxx
from sharing.model.types import RECORD_KINDS, TypeKind, TypeRecord, TypeTable
from sharing.static.handedobjects import Told
from sharing.static.heaprecords import HeapRecord, holders, offsets
from sharing.static.startobjects import is_frame

GAP = 4096  # bytes between objects, so that no line has bytes of two
MAX_BYTES = 1 << 16  # of an object whose size nothing tells, by its accesses


class NamedTypes(msgspec.Struct, frozen=True):
    """Types of debug information, and the files that they name by number."""

    types: TypeTable
    files: tuple[str, ...]
    pointers: Table = msgspec.field(default_factory=lambda: np.zeros(0, POINTER_DTYPE))  # arguments that lead to them


ReadRecords = Callable[[Sequence[str]], NamedTypes]  # by their names, as far as debug information has them


@dataclasses.dataclass(frozen=True, slots=True)
class _Object:
    record: HeapRecord
    type: int  # row of the types that were read, -1 unknown
    size: int
    sized: bool
    alignment: int
    begin: int = 0  # bytes from where the holder's offsets count
    is_array: bool = False


class LaidOut:
    """An image with objects behind its sections, each in a section of its own."""

    def __init__(self, image: Image, named: NamedTypes) -> None:
        """``named``: the types that debug information has of these objects."""
        self._image, self._named = image, named
        self.types = JoinedTypes(image.types, named)
        self._sections, self._phases = list(image.sections), dict[int, int]()
        self._names, self._files = list(image.names), list(image.files)
        self._variables = [image.variables]
        self._address = round_up(max((s.end for s in image.sections), default=0), GAP) + GAP

    def add(self, name: str, size: int, alignment: int, flags: int, type_row: int, of: int, unit: int = -1) -> int:
        """The address of an object of this type, a row of ``types``; ``of``: the row of ``named`` that says where the
        record is declared, -1 none."""
        address, index = self._address, len(self._sections)
        self._sections.append(Section(index, ALLOCATED, SectionKind.WRITABLE, address, size, alignment, None))
        self._phases[index] = alignment
        row = np.zeros(1, VARIABLE_DTYPE)
        row["address"], row["size"], row["section"], row["name"] = address, size, index, len(self._names)
        row["unit"], row["type"], row["file"], row["scope"], row["flags"] = unit, type_row, -1, -1, flags
        if of >= 0 and (declared := self._named.types[of]).file >= 0:
            row["file"], row["line"] = len(self._files), declared.line
            self._files.append(self._named.files[declared.file])
        self._names.append(name)
        self._variables.append(row)
        self._address = round_up(address + size, GAP) + GAP
        return address

    def image(self) -> Image:
        return dataclasses.replace(
            self._image,
            sections=tuple(self._sections),
            names=self._names,
            files=tuple(self._files),
            variables=stacked(self._variables),
            types=self.types.table(),
            phases=self._phases,
        )


def heap_image(told: Told, records: Sequence[HeapRecord], read: ReadRecords) -> tuple[Image, dict[str, HeapRecord]]:
    """The image with these objects, of its accesses only those to them; the record behind each object by its name."""
    image = told.image
    holding = {one.member_of[0] for one in records if one.member_of is not None}
    wanted = sorted({record.type for record in records if record.type} | holding)
    named = read(wanted) if wanted else NamedTypes(TypeTable(), ())
    shown = [_by_member(one, named.types) for one in records]
    objects = [found for record in shown if (found := _object(told, record, named.types)) is not None]
    laid = LaidOut(image, named)
    places: dict[int, tuple[int, int, int]] = {}
    by_name: dict[str, HeapRecord] = {}
    for one in objects:
        record = one.record
        pointer = image.variable_at(record.pointer)
        by_type = one.type >= 0 and (pointer < 0 or not one.is_array)
        unit = int(image.variables["unit"][pointer]) if pointer >= 0 else -1
        plain = unit >= 0 and not is_cxx(image.units[unit].language)
        called = _own_name(record, one.type, named.types, plain=plain) if by_type else record.name
        name = called if by_type or is_frame(record.pointer) else f"*{called}"
        type_row = laid.types.row(one.type)
        if one.is_array and one.type >= 0:
            type_row = laid.types.array(one.type, one.size // named.types.size(one.type))
        flags = VariableFlag.TYPED if one.type >= 0 else 0 if one.sized else VariableFlag.SIZE_INFERRED
        address = laid.add(name, one.size, one.alignment, flags, type_row, one.type, unit)
        by_name.setdefault(name, record)
        places |= dict.fromkeys((record.pointer, *record.calls), (address, one.size, one.begin))
    args = stacked([image.args, _placed(image.behind.args, "value", places)])
    placed = dataclasses.replace(
        laid.image(),
        sites=_placed(image.behind.sites, "target", places),
        zero_ranges=np.concatenate([image.zero_ranges, _placed(_words(image.zero_ranges), "variable", places)]),
        args=picked(args, np.argsort(args["ip"], kind="stable")),
        given=tuple(_given(image.given, places)),
    )
    return placed, by_name


def _by_member(record: HeapRecord, types: TypeTable) -> HeapRecord:
    """The object by the member that leads to it, which says more than the argument of a function and a number.

    Of a container it is that itself: what its library keeps in it has reserved names ([lex.name]).
    """
    if record.member_of is None:
        return record
    holder, offset = record.member_of
    leaf = types.leaf(row_named(types, holder), offset)
    if leaf is None or leaf.offset != offset:
        return record
    own = list(itertools.takewhile(lambda part: not part.startswith(("__", "_M_")), leaf.path.split(".")))
    if not own:
        return record
    name = f"{holder}.{'.'.join(own)}"
    return msgspec.structs.replace(record, name=name, where=f"the one that {name} leads to")


def _given(given: Iterable[Given], places: dict[int, tuple[int, int, int]]) -> Iterable[Given]:
    """What threads are handed, objects of the heap at their addresses."""
    for one in given:
        if not one.data & int(HELD):
            yield one
        elif place := places.get(one.data >> HELD_OFFSET_BITS & (1 << HELD_ADDRESS_BITS) - 1):
            at = (one.data & (1 << HELD_OFFSET_BITS) - 1) - place[2]
            yield msgspec.structs.replace(one, data=place[0] + at)


def _words(ranges: Table) -> Table:
    """Of words behind pointers."""
    words: Table = picked(ranges, ranges["variable"] & HELD != 0)
    return words


def _placed(rows: Table, field: str, places: dict[int, tuple[int, int, int]]) -> Table:
    """Those that are to one of the objects, at its address."""
    keys = np.array(sorted(places), np.uint64)
    if not len(keys):
        return rows[:0].copy()
    address, size, begin = (np.array([places[int(key)][at] for key in keys], np.uint64) for at in range(3))
    target = rows[field].astype(np.uint64)
    at = np.minimum(np.searchsorted(keys, holders(target)), len(keys) - 1)
    offset = offsets(target) - begin[at]  # of what is before the begin far beyond the end
    kept = (keys[at] == holders(target)) & (offset < size[at])
    out: Table = rows[kept].copy()
    out[field] = (address[at[kept]] + offset[kept]).astype(out[field].dtype)
    return out


def _object(told: Told, record: HeapRecord, types: TypeTable) -> _Object | None:
    """The record with its layout; None where it is an array, of which each thread may have an element or not."""
    rows = stacked([told.image.behind.sites, told.sites])
    rows = rows[among(holders(rows["target"]), np.array([record.pointer, *record.calls], np.uint64))]
    type_row = row_named(types, record.type)
    size = types.size(type_row) if type_row >= 0 else 0
    strided = picked(rows, (rows["flags"] & SiteFlag.INDEXED != 0) & (rows["stride"] > 0))
    if type_row >= 0 and _holds_one(record, size) and size not in set(strided["stride"].tolist()):
        alignment = max(record.alignment, types.alignment(type_row))
        return _Object(record, type_row, size, sized=True, alignment=alignment)
    if not len(rows):
        return None
    word = told.image.arch.pointer_size
    begin = int(offsets(rows["target"]).min()) // word * word if is_frame(record.pointer) else 0
    # An index that begins behind its first step is of an array in the record.
    outer = picked(strided, offsets(strided["target"]) - np.uint64(begin) < strided["stride"])
    own = outer["stride"][outer["flags"] & SiteFlag.OWN != 0]
    if type_row >= 0 or len(outer):
        if not len(own):
            return None
        if type_row >= 0 and set(own.tolist()) == {size} and not record.begin:
            # Of lines long ones the members tell which of them is at an end; of others one stands for all.
            many = max(record.size // size, 2 if size >= told.image.arch.line_size else 1)
            return _Object(record, type_row, many * size, True, record.alignment, is_array=many > 1)
        size = record.size or 2 * int(own.max())
    alignment = word if is_frame(record.pointer) else record.alignment
    start, extent = offsets(rows["target"]), rows["size"]
    end = int((start + extent).max()) - begin
    size = size or record.size or min(round_up(end, word), MAX_BYTES)
    return _Object(record, -1, size, bool(record.size), alignment, begin, is_array=bool(len(own)))


def _holds_one(record: HeapRecord, size: int) -> bool:
    """Whether what was allocated has no room for a second object of so many bytes; ``aligned_alloc`` wants whole lines.

    C11 7.22.3.1: the size is a multiple of the alignment.
    """
    return record.size < 2 * size or HEAP_ALIGNMENT < record.alignment == record.size


def _own_name(record: HeapRecord, type_row: int, types: TypeTable, *, plain: bool) -> str:
    """The type's name as whatever else is said of it has it: of ``plain`` C its tag, behind a typedef as well."""
    core = types[types.strip(type_row)[0]]
    if plain and not record.kind and core.kind == TypeKind.STRUCT and core.name:
        return f"struct {core.name}"
    return record.kind + record.type


def row_named(types: TypeTable, name: str) -> int:
    """The record that the name means, -1 where none or several have it."""
    found = set()
    for row in range(len(types)) if name else ():
        if types[row].name == name:
            core, _, _ = types.strip(row)
            if core >= 0 and types[core].kind in RECORD_KINDS and types[core].members and types[core].size > 0:
                found.add(core)
    return found.pop() if len(found) == 1 else -1


class JoinedTypes:
    """Types of two tables as one: all of the first, and what is asked of the second."""

    def __init__(self, first: TypeTable, second: NamedTypes) -> None:
        self._records = [first[row] for row in range(len(first))]
        self._second = second.types
        self._known: dict[int, int] = {}

    def row(self, wanted: int) -> int:
        """The row in the joined table of one of the second's, with all that it is made of."""
        if wanted < 0 or wanted in self._known:
            return self._known.get(wanted, -1)
        waiting = [wanted]
        while waiting:
            row = waiting.pop()
            if row < 0 or row in self._known:
                continue
            self._known[row] = len(self._records)
            self._records.append(self._second[row])
            waiting += _parts(self._second[row])
        return self._known[wanted]

    def array(self, wanted: int, count: int) -> int:
        """The row of an array of so many of these."""
        element, size = self.row(wanted), self._second.size(wanted)
        self._records.append(TypeRecord(TypeKind.ARRAY, "", count * size, 0, element, count, (), -1, 0))
        return len(self._records) - 1

    def table(self) -> TypeTable:
        records = list(self._records)
        for row, at in self._known.items():
            old = self._second[row]
            members = tuple(msgspec.structs.replace(m, type=self._known.get(m.type, -1)) for m in old.members)
            target = self._known.get(old.target, -1)
            records[at] = msgspec.structs.replace(old, target=target, members=members, file=-1)
        return TypeTable(records)


def _parts(record: TypeRecord) -> Iterable[int]:
    return (record.target, *(member.type for member in record.members))
