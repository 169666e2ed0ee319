"""The type graph of a binary and its flattening into byte ranges.

Owns ``TypeRecord`` (one node, as read from debug information) and ``TypeTable.flatten``: a type as leaf
members with offsets.  Does not read DWARF.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from enum import IntEnum

import msgspec

MAX_LEAVES = 20_000  # an array of structs this long is cut and marked, so hostile types stay cheap
MAX_DEPTH = 64
MAX_OVERLAPPING = 64  # leaves that begin before an offset and are looked at
MAX_VISITS = 100_000  # types looked at for one variable: records that contain each other twice double at each level
MAX_SIZE_BYTES = (1 << 63) - 1


class TypeKind(IntEnum):
    UNKNOWN = 0
    BASE = 1
    POINTER = 2
    ENUM = 3
    STRUCT = 4
    CLASS = 5
    UNION = 6
    ARRAY = 7
    TYPEDEF = 8
    CONST = 9
    VOLATILE = 10
    ATOMIC = 11
    REFERENCE = 12
    FUNCTION = 13
    MEMBER_POINTER = 14
    RESTRICT = 15


RECORD_KINDS = frozenset({TypeKind.STRUCT, TypeKind.CLASS, TypeKind.UNION})
_RECORD_WORDS: dict[int, str] = {TypeKind.STRUCT: "struct", TypeKind.CLASS: "class", TypeKind.UNION: "union"}
# Kinds that say of a type how it may be used, or give it a name.
WRAPPER_KINDS = frozenset({TypeKind.TYPEDEF, TypeKind.CONST, TypeKind.VOLATILE, TypeKind.ATOMIC, TypeKind.RESTRICT})


class TypeMember(msgspec.Struct, frozen=True, array_like=True):
    """One direct member.  ``bit_size`` is 0 unless it is a bit-field; offsets are in bits then too."""

    name: str
    offset_bits: int
    type: int
    bit_size: int
    is_base: bool


class TypeRecord(msgspec.Struct, frozen=True, array_like=True):
    """One type.  ``size`` is in bytes, -1 unknown.  ``target``: element, pointee or underlying type, -1 none.

    ``count`` is the number of elements of an array (all dimensions multiplied), -1 unknown; ``dimensions`` are those of
    an array that has several in one type.
    """

    kind: int
    name: str
    size: int
    align: int
    target: int
    count: int
    members: tuple[TypeMember, ...]
    file: int
    line: int
    dimensions: tuple[int, ...] = ()

    @property
    def bounds(self) -> str:
        """Of an array as declared: ``[2][4]``."""
        return "".join(f"[{extent}]" for extent in self.dimensions or (self.count,))


class Member(msgspec.Struct, frozen=True):
    """A leaf of a flattened type: ``path`` is relative to the variable ("" for a scalar, "a[].b" for all elements).

    ``type_name`` is the leaf's own name, ``via`` the names of the types and typedefs around it, outermost
    first, so that a wrapped lock is recognised by its wrapper or by its core.
    """

    path: str
    offset: int
    size: int
    type_name: str
    kind: int
    bit_offset: int = 0
    bit_size: int = 0
    stride: int = 0
    count: int = 1
    is_volatile: bool = False
    is_atomic: bool = False
    is_const: bool = False
    via: tuple[str, ...] = ()

    @property
    def extent(self) -> int:
        """Bytes of the leaf, of an array those of an element."""
        return self.stride if 0 < self.stride < self.size else max(self.size, 1)

    def begin(self, offset: int) -> int:
        """Where the leaf, or the element of it, that holds ``offset`` begins."""
        return self.offset + self._index(offset) * self.stride

    def path_at(self, path: str, offset: int) -> str:
        """A path with the number of the element that holds ``offset``."""
        if "[]" in path:
            return path.replace("[]", f"[{self._index(offset)}]", 1) if self.stride > 0 else path
        return f"{path}[{self._index(offset)}]" if 0 < self.stride < self.size else path

    def _index(self, offset: int) -> int:
        return (offset - self.offset) // self.stride if self.stride > 0 else 0


class TypeTable:
    """All types of an image, indexed by row.  Flattening is lazy and remembered."""

    __slots__ = ("_alignments", "_flat", "_records", "_starts", "_stripped", "_visits")

    def __init__(self, records: Sequence[TypeRecord] = ()) -> None:
        self._records = records
        self._flat: dict[int, tuple[Member, ...]] = {}
        self._starts: dict[int, list[int]] = {}
        self._visits = 0
        self._alignments: dict[int, int] = {}
        self._stripped: dict[int, tuple[int, frozenset[TypeKind], tuple[str, ...]]] = {}

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, row: int) -> TypeRecord:
        return self._records[row]

    def strip(self, row: int) -> tuple[int, frozenset[TypeKind], tuple[str, ...]]:
        """Follow typedefs and qualifiers: (core row, qualifiers seen, names seen).  -1 when it leads nowhere."""
        known = self._stripped.get(row)
        if known is None:
            known = self._stripped[row] = self._strip(row)
        return known

    def _strip(self, row: int) -> tuple[int, frozenset[TypeKind], tuple[str, ...]]:
        qualifiers: set[TypeKind] = set()
        names: list[str] = []
        for _ in range(MAX_DEPTH):
            if not 0 <= row < len(self._records):
                return -1, frozenset(qualifiers), tuple(names)
            record = self._records[row]
            if record.name:
                names.append(record.name)
            if record.kind not in WRAPPER_KINDS:
                return row, frozenset(qualifiers), tuple(names)
            qualifiers.add(TypeKind(record.kind))
            row = record.target
        return -1, frozenset(qualifiers), tuple(names)

    def record_name(self, row: int) -> str:
        """The name of the record that this type is, its tag or the typedef that names one without; "" of others."""
        core, _, names = self.strip(row)
        return names[-1] if core >= 0 and self._records[core].kind in RECORD_KINDS and names else ""

    def alignment(self, row: int, depth: int = 0) -> int:
        """Bytes that objects of a type are aligned to, by the rule that scalars are aligned to their size."""
        core, _, _ = self.strip(row)
        if core < 0 or depth > MAX_DEPTH:
            return 1
        if core not in self._alignments:
            self._alignments[core] = 1  # of a type that is within itself
            self._alignments[core] = self._alignment(self._records[core], depth)
        return self._alignments[core]

    def _alignment(self, record: TypeRecord, depth: int) -> int:
        if record.align > 0:
            return record.align
        if record.kind == TypeKind.ARRAY:
            return self.alignment(record.target, depth + 1)
        if record.kind in RECORD_KINDS:
            return max((self.alignment(m.type, depth + 1) for m in record.members), default=1)
        return min(max(record.size, 1), 16)

    def size(self, row: int) -> int:
        """Size in bytes of a type, -1 when unknown or more than memory can hold."""
        size = self._size(row)
        return size if size <= MAX_SIZE_BYTES else -1

    def record_step(self, row: int) -> int:
        """Of an array of records by its type the bytes from one to the next; 0 of others."""
        core = self.strip(row)[0]
        if core < 0 or self._records[core].kind != TypeKind.ARRAY:
            return 0
        element = self.strip(self._records[core].target)[0]
        is_record = element >= 0 and self._records[element].kind in (TypeKind.STRUCT, TypeKind.CLASS)
        return self.size(element) if is_record else 0

    def _size(self, row: int) -> int:
        core, _, _ = self.strip(row)
        if core < 0:
            return -1
        record = self._records[core]
        if record.kind == TypeKind.ARRAY and record.size < 0 and record.count >= 0:
            element = self._records[core].target
            if element == core:
                return -1
            inner = self._element_size(record, MAX_DEPTH)
            return inner * record.count if inner >= 0 else -1
        return record.size

    def _element_size(self, record: TypeRecord, budget: int) -> int:
        core, _, _ = self.strip(record.target)
        if core < 0 or budget == 0:
            return -1
        inner = self._records[core]
        if inner.kind == TypeKind.ARRAY and inner.size < 0 and inner.count >= 0:
            size = self._element_size(inner, budget - 1)
            return size * inner.count if size >= 0 else -1
        return inner.size

    def name(self, row: int) -> str:
        """A readable name: the outermost name, or the shape of an unnamed type."""
        return self._name(row, MAX_DEPTH)

    def _name(self, row: int, budget: int) -> str:
        core, _, names = self.strip(row)
        if names:
            return names[0]
        if core < 0:
            return ""
        record = self._records[core]
        if record.kind == TypeKind.POINTER:
            inner = self._name(record.target, budget - 1) if budget else ""
            return f"{inner or 'void'} *"
        if record.kind == TypeKind.ARRAY:
            inner = self._name(record.target, budget - 1) if budget else ""
            return f"{inner or '?'}{record.bounds if record.count >= 0 else '[]'}"
        return _RECORD_WORDS.get(record.kind, "")

    def flatten(self, row: int) -> tuple[Member, ...]:
        """Leaf members by offset.  Arrays of records stay one series with ``stride`` and ``count``.

        Union members overlap by nature and are all listed.  Cycles (impossible in valid C, possible in a
        hostile file) and more than MAX_LEAVES leaves are cut.
        """
        cached = self._flat.get(row)
        if cached is None:
            out: list[Member] = []
            self._visits = 0
            self._walk(row, _At(), out)
            out.sort(key=lambda m: (m.offset, m.bit_offset, -m.size))
            cached = self._flat[row] = tuple(out)
        return cached

    def leaf(self, row: int, offset: int) -> Member | None:
        """The leaf member that covers ``offset`` (of an array of records: in any element)."""
        if row < 0:
            return None
        leaves = self.flatten(row)
        starts = self._starts.get(row)
        if starts is None:
            starts = self._starts[row] = [m.offset for m in leaves]
        last = bisect.bisect_right(starts, offset)
        for m in reversed(leaves[max(0, last - MAX_OVERLAPPING) : last]):
            if m.offset <= offset < m.offset + m.size:
                return m
            in_series = m.stride and m.offset <= offset < m.offset + m.stride * m.count
            if in_series and (offset - m.offset) % m.stride < m.size:
                return m
        return None

    def _walk(self, row: int, at: _At, out: list[Member]) -> None:
        """Appends the leaves of the type of ``row`` at a place: of a record its members', else one."""
        core, quals, names = self.strip(row)
        self._visits += 1
        if core < 0 or at.depth > MAX_DEPTH or len(out) >= MAX_LEAVES or self._visits > MAX_VISITS:
            return
        record = self._records[core]
        quals |= at.quals
        via = at.via + names
        if record.kind in RECORD_KINDS and record.members:
            self._record(record, at, quals, via, out)
        elif record.kind in RECORD_KINDS and at.depth and record.size == 1:
            return  # an empty class: its byte is the next member's, or padding
        elif record.kind == TypeKind.ARRAY:
            self._array(core, at, quals, via, out)
        else:
            out.append(_leaf(at, record.size, record.name or self.name(core), record.kind, quals, via))

    def _record(
        self, record: TypeRecord, at: _At, quals: frozenset[TypeKind], via: tuple[str, ...], out: list[Member]
    ) -> None:
        """Every member at its own place; bit-fields are leaves."""
        passed_on = quals & {TypeKind.VOLATILE, TypeKind.CONST}
        for member in record.members:
            name = "" if member.is_base else member.name
            path = f"{at.path}.{name}" if at.path and name else (at.path or name)
            offset = at.offset + member.offset_bits // 8
            if not member.bit_size:
                self._walk(member.type, _At(path, offset, via, at.depth + 1, passed_on, at.stride, at.count), out)
                continue
            first = member.offset_bits % 8
            out.append(
                Member(
                    path,
                    offset,
                    (first + member.bit_size + 7) // 8,
                    self.name(member.type),
                    TypeKind.BASE,
                    first,
                    member.bit_size,
                    at.stride,
                    at.count,
                    via=via,
                )
            )

    def _array(self, core: int, at: _At, quals: frozenset[TypeKind], via: tuple[str, ...], out: list[Member]) -> None:
        """An outermost array of records or arrays is one series of its element's leaves; any other is one leaf."""
        record = self._records[core]
        element, total = self.size(record.target), self.size(core)
        count = max(record.count if record.count > 0 else (total // element if element > 0 else 0), 1)
        inner, inner_quals, _ = self.strip(record.target)
        quals |= inner_quals
        kind = self._records[inner].kind if inner >= 0 else TypeKind.UNKNOWN
        if element > 0 and kind in RECORD_KINDS | {TypeKind.ARRAY} and not at.stride:
            series = _At(f"{at.path}[]", at.offset, via, at.depth + 1, quals, element, count)
            self._walk(record.target, series, out)
            return
        if not at.stride:
            at = _At(at.path, at.offset, at.via, at.depth, at.quals, max(element, 0), count)
        out.append(_leaf(at, total, self.name(core), TypeKind.ARRAY, quals, (*via, self.name(record.target))))


class _At(msgspec.Struct, frozen=True):
    """A place in the variable that is flattened: in the ``count`` elements, ``stride`` bytes apart, of a series."""

    path: str = ""
    offset: int = 0
    via: tuple[str, ...] = ()
    depth: int = 0
    quals: frozenset[TypeKind] = frozenset()
    stride: int = 0
    count: int = 1


def _leaf(at: _At, size: int, type_name: str, kind: int, quals: frozenset[TypeKind], via: tuple[str, ...]) -> Member:
    return Member(
        at.path,
        at.offset,
        max(size, 0),
        type_name,
        kind,
        0,
        0,
        at.stride,
        at.count,
        TypeKind.VOLATILE in quals,
        TypeKind.ATOMIC in quals,
        TypeKind.CONST in quals,
        via,
    )
