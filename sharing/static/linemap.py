"""An image as lines: every byte of a stretch of memory named as a member, variable, hole, padding or unknown.

Owns the step from variables and their types to named bytes, and who accesses them by the site table.  Takes no
view on what is hot or wrong; the geometry itself is in ``geometry``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.basics.geometry import UNKNOWN, Extent, occupancy, own_bytes, straddle_mask
from sharing.model.arrays import among, picked
from sharing.model.image import AccessKind, Image, SectionKind, Table, VariableFlag
from sharing.model.linemap import (
    CrowdedLine,
    LayoutLine,
    LayoutMember,
    LayoutObject,
    LayoutSpan,
    SectionSummary,
    SpanKind,
)
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, Member, TypeKind, TypeTable
from sharing.static.flow import LOCK_DTYPE
from sharing.static.holes import described
from sharing.static.lineusers import STORES, LineUsers, Users, Uses

Rows = npt.NDArray[np.int64]

CHUNK_LINES = 64  # lines that are named at a time, which bounds the parts held at once
MAX_PARTS = 1 << 16  # of one variable within a chunk; more only a hostile type has, and it then counts as untyped


@dataclass(frozen=True, slots=True)
class _Part:
    """What an extent stands for: one element of one member, or a whole variable."""

    kind: SpanKind
    name: str
    row: int
    start: int
    end: int
    type: str = ""
    stride: int = 0  # of a plain array: its elements are numbered in the span's name
    one_access: bool = False  # a scalar: an instruction may touch all of it at once
    members: tuple[_Part, ...] = ()  # that overlap, as in a union


class LineMap:
    """The lines of one image.

    ``locks`` are the lock operations known (``flow.LOCK_DTYPE``).  ``thread_local`` chooses which of the two
    overlapping address spaces is meant.
    """

    def __init__(self, image: Image, line_size: int, *, locks: Table | None = None, thread_local: bool = False) -> None:
        self.image = image
        self._uses = Uses(image, np.zeros(0, LOCK_DTYPE) if locks is None else locks)
        self.line_size = line_size
        self._sections = [s for s in image.sections if s.size and (s.kind is SectionKind.TLS) == thread_local]
        rows = np.flatnonzero(among(image.variables["section"], [s.index for s in self._sections]))
        self._rows: Rows = rows[np.argsort(image.variables["address"][rows], kind="stable")]
        self._starts = image.variables["address"][self._rows].astype(np.uint64)
        sizes = image.variables["size"][self._rows]
        self._reach = np.maximum.accumulate(self._starts + sizes) if len(rows) else self._starts
        self._complete = names_locals(image)

    def rows_in(self, start: int, end: int) -> list[int]:
        """Variables with a byte in [start, end), by address."""
        first = int(np.searchsorted(self._reach, np.uint64(start), "right"))
        last = int(np.searchsorted(self._starts, np.uint64(end), "left"))
        table = self.image.variables
        return [
            row for row in self._rows[first:last].tolist() if int(table["address"][row] + table["size"][row]) > start
        ]

    def lines(self, addresses: range) -> list[LayoutLine]:
        """The lines that begin at the addresses, which follow each other."""
        out: list[LayoutLine] = []
        for at in range(0, len(addresses), CHUNK_LINES):
            out.extend(self._chunk(addresses[at : at + CHUNK_LINES]))
        return out

    def _chunk(self, addresses: range) -> list[LayoutLine]:
        start, end = addresses[0], addresses[-1] + self.line_size
        rows = self.rows_in(start, end)
        sites = self._uses.within(start, end, rows)
        parts = [part for row in rows for part in self._parts(row, start, end, sites)]
        extents = [Extent(f"{number:08}", part.start, part.end) for number, part in enumerate(parts)]
        known = self._padding(rows, start, end)
        out: list[LayoutLine] = []
        for line in addresses:
            here = [e for e in extents if e.start < line + self.line_size and e.end > line]
            pieces = own_bytes(line, self.line_size, here, known)
            spans = tuple(
                LayoutSpan(piece.start, piece.end, SpanKind.UNKNOWN if piece.owner == UNKNOWN else SpanKind.PADDING)
                if piece.owner in ("", UNKNOWN)
                else self._span(parts[int(piece.owner)], line, piece.start, piece.end, sites)
                for piece in pieces
            )
            out.append(LayoutLine(f"{line:#x}", self.line_size, self._sections_on(line), spans))
        return out

    def describe(self, row: int, member: tuple[str, int, int] | None = None) -> LayoutObject:
        """One variable with all that is known of it; of a ``member`` (name, address, size) what is known of that."""
        variable = self.image.variables[row]
        start, size = int(variable["address"]), int(variable["size"])
        name, kind = self.image.variable_name(row), self.image.types.name(int(variable["type"]))
        if member is not None:
            (name, start, size), kind = member, ""
        sites = self._uses.within(start, start + max(size, 1), [row])
        file = int(variable["file"])
        line = self.line_size
        return LayoutObject(
            name=name,
            address=f"{start:#x}",
            size=size,
            section=self._section_name(start),
            lines=(start + max(size, 1) - 1) // line - start // line + 1,
            type=kind,
            source=f"{self.image.files[file]}:{int(variable['line'])}" if file >= 0 else "",
            aliases=self.image.aliases.get(row, ()) if member is None else (),
            size_inferred=bool(variable["flags"] & (VariableFlag.SIZE_INFERRED | VariableFlag.RECOVERED)),
            lockers=sites.lockers(start, start + size),
            readers=sites.functions(start, start + size, AccessKind.LOAD),
            writers=sites.functions(start, start + size, *STORES),
            takers=sites.functions(start, start + size, AccessKind.ADDRESS),
        )

    def summaries(self) -> list[SectionSummary]:
        """One row per section that several threads can write, by address."""
        out: list[SectionSummary] = []
        for section in self._sections:
            if section.kind is not SectionKind.WRITABLE:
                continue
            starts, sizes = self._columns(section.index)
            runs = occupancy(starts, sizes, self.line_size)
            crossing = straddle_mask(starts, sizes, self.line_size) & (sizes <= self.line_size)
            first, last = section.address // self.line_size, (section.end - 1) // self.line_size
            out.append(
                SectionSummary(
                    section.name,
                    f"{section.address:#x}",
                    section.size,
                    last - first + 1,
                    len(starts),
                    int(((runs["end"] - runs["start"])[runs["count"] > 1]).sum()) // self.line_size,
                    int(crossing.sum()),
                )
            )
        return out

    def crowded(self, limit: int) -> list[CrowdedLine]:
        """The ``limit`` writable lines with the most objects, the lowest address first among equals."""
        found: list[tuple[int, int]] = []
        for section in self._sections:
            if section.kind is SectionKind.WRITABLE:
                runs = occupancy(*self._columns(section.index), self.line_size)
                top = runs[np.argsort(-runs["count"].astype(np.int64), kind="stable")[:limit]]
                for run in picked(top, top["count"] > 1):
                    lines = range(int(run["start"]), int(run["end"]), self.line_size)[:limit]
                    found.extend((-int(run["count"]), line) for line in lines)
        out: list[CrowdedLine] = []
        for _, line in sorted(set(found))[:limit]:
            names = tuple(self.image.variable_name(row) for row in self.rows_in(line, line + self.line_size))
            out.append(CrowdedLine(f"{line:#x}", self._sections_on(line), names))
        return out

    def _columns(self, section: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        table = picked(self.image.variables, self.image.variables["section"] == section)
        return table["address"].astype(np.uint64), table["size"].astype(np.uint64)

    def _section_name(self, address: int) -> str:
        return next((s.name for s in self._sections if s.address <= address < s.end), "")

    def _sections_on(self, line: int) -> str:
        """The sections whose objects are on the line, else those that have bytes there."""
        end = line + self.line_size
        holding = {int(self.image.variables["section"][row]) for row in self.rows_in(line, end)}
        there = [s for s in self._sections if s.address < end and line < s.end]
        return ", ".join(s.name for s in [s for s in there if s.index in holding] or there)

    def _padding(self, rows: Sequence[int], start: int, end: int) -> list[tuple[int, int]]:
        """Where a byte without an owner is padding: gaps that the next object's alignment can explain."""
        if not self._complete:
            return []
        table = self.image.variables
        out: list[tuple[int, int]] = []
        for section in self._sections:
            low, high = max(start, section.address), min(end, section.end)
            if low >= high:
                continue
            edges = [(int(table["address"][r]), int(table["address"][r] + table["size"][r])) for r in rows]
            at = section.address if low == section.address else start
            for first, last in [*sorted(edges), (high, high)]:
                gap = (max(at, low), min(first, high))
                if 0 < gap[1] - gap[0] < max(section.alignment, self.image.arch.pointer_size):
                    out.append(gap)
                at = max(at, last)
        return out

    def _parts(self, row: int, start: int, end: int, sites: LineUsers) -> list[_Part]:
        """The variable and its members, as far as they reach into [start, end).

        Where no type says what the members are, the bytes that single instructions touch stand for them.
        """
        variable = self.image.variables[row]
        base, size = int(variable["address"]), int(variable["size"])
        name = self.image.variable_name(row)
        type_row = int(variable["type"])
        members = _joined_bits(self.image.types.flatten(type_row)) if type_row >= 0 else []
        scalar = len(members) == 1 and not members[0].path and not members[0].stride
        if not members or scalar:
            kind = SpanKind.MEMBER if scalar else SpanKind.VARIABLE
            touched = [] if scalar else sites.touched(base, base + size)
            fields = [_Part(kind, name, row, low, high, one_access=True) for low, high in touched]
            return [*fields, _Part(kind, name, row, base, base + size, self.image.types.name(type_row), 0, scalar)]
        out: list[_Part] = []
        for member in members:
            out.extend(_elements(member, name, row, base, (max(start, base), min(end, base + size))))
            if len(out) > MAX_PARTS:
                return [_Part(SpanKind.VARIABLE, name, row, base, base + size, self.image.types.name(type_row))]
        # Last, since the first of two equal claims owns a byte: a member may be as large as its variable.
        joined = [self._as_one_word(part, base, type_row) for part in _unions(out)]
        typed, known = self.image.types.name(type_row), described(self.image, row)
        holes = [_Part(SpanKind.HOLE, name, row, base, base + known, typed)] if known else []
        return [*joined, *holes, _Part(SpanKind.VARIABLE, name, row, base, base + size, typed)]

    def _as_one_word(self, part: _Part, base: int, type_row: int) -> _Part:
        """A union that fills a member of a word, such as a spinlock, as that member: the inside is its type's.

        A type without a name is the record's own.
        """
        size = part.end - part.start
        if not part.members or size > self.image.arch.pointer_size:
            return part
        types, name = self.image.types, self.image.variable_name(part.row)
        if part.start == base and types.size(type_row) == size and types.strip(type_row)[2]:
            kind = type_row  # the variable itself
        else:
            path, kind = _member_of(types, type_row, part.start - base, size)
            name = _join(name, path)
        if kind < 0 or not all(member.name.startswith(f"{name}.") for member in part.members):
            return part
        return _Part(SpanKind.MEMBER, name, part.row, part.start, part.end, types.name(kind), 0, True)

    def _span(self, part: _Part, line: int, start: int, end: int, sites: LineUsers) -> LayoutSpan:
        first, last = line + start, line + end
        offset = first - int(self.image.variables["address"][part.row])
        name, split = part.name, False
        if part.stride and part.end - part.start > part.stride:
            low, high = (first - part.start) // part.stride, (last - 1 - part.start) // part.stride
            name += f"[{low}]" if low == high else f"[{low}..{high}]"
            edges = {first, last} - {part.start, part.end}
            split = any((edge - part.start) % part.stride for edge in edges)
        elif part.one_access:
            split = part.start < line or part.end > line + self.line_size
        if part.kind is SpanKind.VARIABLE:
            name = _at(self.image.variable_name(part.row), offset)
        hole = part.kind is SpanKind.HOLE
        if part.members:
            members, rest = self._members(part, first, last, sites)
            lockers, readers, writers = rest
            owner = self.image.variable_name(part.row)
            return LayoutSpan(
                start,
                end,
                part.kind,
                name,
                owner,
                offset,
                part.type,
                False,
                lockers,
                readers,
                writers,
                members,
                sites.updaters(first, last),
            )
        return LayoutSpan(
            start,
            end,
            part.kind,
            name,
            self.image.variable_name(part.row),
            offset,
            "" if hole else part.type,
            split,
            () if hole else sites.lockers(first, last),
            () if hole else sites.functions(first, last, AccessKind.LOAD),
            () if hole else sites.functions(first, last, *STORES),
            updaters=() if hole else sites.updaters(first, last),
        )

    def _members(self, union: _Part, first: int, last: int, sites: LineUsers) -> tuple[tuple[LayoutMember, ...], Users]:
        """The members of a union with a byte in [first, last), and who locks, reads and writes it as none of them."""
        base = int(self.image.variables["address"][union.row])
        parts = [part for part in union.members if part.start < last and part.end > first]
        fitting, rest = sites.fitting([(part.start, part.end, part.stride) for part in parts], first, last)
        members = tuple(
            LayoutMember(part.name, part.start - base, part.end - part.start, part.type, *functions)
            for part, functions in zip(parts, fitting, strict=True)
        )
        return members, rest


def names_locals(image: Image) -> bool:
    """Whether file-static variables have names: without them, gaps between the exported ones say nothing.

    A relocatable file has all its symbols, since the linker needs them.
    """
    if image.synthetic:
        return True
    flags = image.variables["flags"]
    local = (flags & VariableFlag.LOCAL != 0) & (flags & VariableFlag.RECOVERED == 0)
    return bool(local.any()) or bool((flags & VariableFlag.FROM_DWARF != 0).any())


def _joined_bits(members: Sequence[Member]) -> list[Member]:
    """Members with bit-fields that share bytes made one, named ``a:3, b:5``: a byte has one owner."""
    out: list[Member] = []
    for member in members:
        last = out[-1] if out else None
        if member.bit_size and last is not None and last.bit_size and member.offset < last.offset + last.size:
            end = max(last.offset + last.size, member.offset + member.size)
            out[-1] = Member(
                f"{last.path}, {_bits(member)}",
                last.offset,
                end - last.offset,
                last.type_name,
                last.kind,
                bit_size=last.bit_size + member.bit_size,
                stride=last.stride,
                count=last.count,
            )
        elif member.bit_size:
            out.append(
                Member(
                    _bits(member),
                    member.offset,
                    member.size,
                    member.type_name,
                    member.kind,
                    bit_size=member.bit_size,
                    stride=member.stride,
                    count=member.count,
                )
            )
        else:
            out.append(member)
    return out


def _member_of(types: TypeTable, row: int, start: int, size: int) -> tuple[str, int]:
    """(path, type) of the outermost member that is these bytes of a type, where both have names; else ("", -1)."""
    path = ""
    for _ in range(MAX_DEPTH):
        core = types.strip(row)[0]
        record = types[core] if core >= 0 else None
        if record is not None and record.kind == TypeKind.ARRAY and (element := types.size(record.target)) > 0:
            path, start, row = f"{path}[{start // element}]", start % element, record.target
            if element == size and types.strip(row)[2]:
                return path, row
            continue
        around = [
            member
            for member in (record.members if record is not None and record.kind in RECORD_KINDS else ())
            if not member.bit_size and 0 <= start - member.offset_bits // 8 <= types.size(member.type) - size
        ]
        if not around:
            break
        start, row = start - around[0].offset_bits // 8, around[0].type
        path = _join(path, around[0].name) if path else around[0].name
        if around[0].name and types.size(row) == size and types.strip(row)[2]:
            return path, row
    return "", -1


def _unions(parts: Sequence[_Part]) -> list[_Part]:
    """Parts of which some overlap, as members of unions do: those that have bytes in common made one."""
    out: list[list[_Part]] = []
    reach = -1
    for part in sorted(parts, key=lambda part: (part.start, -part.end)):
        if out and part.start < reach:
            out[-1].append(part)
        else:
            out.append([part])
        reach = max(reach, part.end)
    return [group[0] if len(group) == 1 else _union(group) for group in out]


def _union(parts: Sequence[_Part]) -> _Part:
    """What overlaps, by the name that all have in front; of members without one by their own names."""
    names = [part.name for part in parts]
    least, most = min(names), max(names)  # what these begin with alike, all do
    alike = next((at for at, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), min(len(least), len(most)))
    cut = max(least.rfind(".", 0, alike), 0)
    owner, inner = names[0][:cut], [name[cut:].lstrip(".") for name in names]
    shown = " | ".join(dict.fromkeys(name.partition(".")[0] for name in inner))
    name = f"{owner}.{shown}" if owner else shown
    return _Part(SpanKind.MEMBER, name, parts[0].row, parts[0].start, max(p.end for p in parts), "union",
                 members=tuple(parts))  # fmt: skip


def _bits(member: Member) -> str:
    return f"{member.path}:{member.bit_size}"


def _elements(member: Member, name: str, row: int, base: int, window: tuple[int, int]) -> list[_Part]:
    """The parts of one member in the window: one, or one for each element of an array of records."""
    if member.size <= 0:
        return []
    first = base + member.offset
    type_name = member.type_name
    scalar = member.kind != TypeKind.ARRAY
    if not (member.stride and "[]" in member.path):
        step = 0 if scalar else member.stride
        if first >= window[1] or first + member.size <= window[0]:
            return []
        return [
            _Part(SpanKind.MEMBER, _join(name, member.path), row, first, first + member.size, type_name, step, scalar)
        ]
    low = max((window[0] - first - member.size) // member.stride + 1, 0)
    high = min(-(-(window[1] - first) // member.stride), member.count)
    out: list[_Part] = []
    for index in range(low, high):
        start = first + index * member.stride
        path = member.path.replace("[]", f"[{index}]", 1)
        out.append(_Part(SpanKind.MEMBER, _join(name, path), row, start, start + member.size, type_name, 0, scalar))
    return out


def _at(name: str, offset: int) -> str:
    return f"{name}+{offset:#x}" if offset else name


def _join(name: str, path: str) -> str:
    if not path:
        return name
    return f"{name}{path}" if path.startswith("[") else f"{name}.{path}"
