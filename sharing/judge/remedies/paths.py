"""The way from a variable to a part of it, by its type: members and elements with their bytes.

Owns the descent through records and arrays.  It ends where an edit cannot go on: in unions, whose members share
their bytes, and in types that are not the project's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from sharing.basics.sourcepath import of_system
from sharing.model.image import Image, ImageKind, VariableFlag
from sharing.model.linkage import is_cxx
from sharing.model.profile import Actor
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeMember, TypeRecord, TypeTable

_FOREIGN_NAMES = ("std::", "__gnu_cxx::", "boost::", "absl::", "folly::")
# A class of a library that is an array and nothing else: its elements have the type that its user gives.
ARRAY_TEMPLATE = re.compile(r"((?:std|boost)::(?:\w+::)?array)<")

_MOST_TYPES = 256  # of which names are looked at


@dataclass(frozen=True, slots=True)
class Step:
    """One level of the way.  Bytes are offsets from the start of the variable.

    A member: ``name``, its record ``holder`` at ``held``, and ``following``, where the member behind it begins, or the
    record ends (``next`` is that member, None).  Behind ``filled`` the record has only padding.  An element: ``stride``
    bytes each, ``count`` of them, and the array's ``bounds`` as declared.
    """

    name: str
    type: int
    start: int
    end: int
    held: tuple[int, int]
    holder: int = -1
    filled: int = 0
    following: int = 0
    next: TypeMember | None = None
    stride: int = 0
    count: int = 1
    bounds: str = ""

    @property
    def of_array(self) -> bool:
        return self.stride > 0


class OwnerVariable(msgspec.Struct, frozen=True):
    """The variable of an actor: its row of types (-1 unknown), and whether its name is its unit's alone.

    ``outside``: code that is built apart from the image may use it, by the size and type that it has now.
    """

    type: int
    local: bool = False
    outside: bool = False


class Paths:
    """Ways into the variables of one image; without an image nothing is known."""

    def __init__(self, image: Image | None) -> None:
        self._image = image
        self.types = image.types if image is not None else TypeTable()

    def home(self, actor: Actor) -> OwnerVariable:
        if self._image is None:
            return OwnerVariable(-1)
        table = self._image.variables
        start, end = actor.owner_span
        first, last = np.searchsorted(table["address"], [np.uint64(max(start, 0)), np.uint64(max(start, 0) + 1)])
        for row in range(int(first), int(last)):
            if int(table["size"][row]) == end - start:
                flags = int(table["flags"][row])
                local = bool(flags & VariableFlag.LOCAL)
                named = not flags & (VariableFlag.FROM_DWARF | VariableFlag.RECOVERED)
                outside = self._image.kind is ImageKind.SHARED and named and not local
                return OwnerVariable(int(table["type"][row]), local, outside or bool(flags & VariableFlag.EXPORTED))
        return OwnerVariable(-1)

    def in_cxx(self, actor: Actor) -> bool:
        """Whether what no unit defines, as records whose objects are allocated, was declared in C++.

        Where units differ in language, names tell that no type of C can have, of the type or of what is in it.
        """
        if self._image is None or (row := self.home(actor).type) < 0:
            return False
        if self._image.record_language:
            return is_cxx(self._image.record_language)
        waiting, met = [row], set[int]()
        while waiting and len(met) < _MOST_TYPES:
            core, _, names = self.types.strip(waiting.pop())
            if core in met or core < 0:
                continue
            met.add(core)
            record = self.types[core]
            if record.kind == TypeKind.CLASS or any("::" in name or "<" in name for name in (record.name, *names)):
                return True
            waiting += [record.target] if record.kind == TypeKind.ARRAY else [m.type for m in record.members]
        return False

    def steps(self, actor: Actor) -> tuple[Step, ...]:
        """The way to the actor's bytes, () where the type is not known or is the actor itself."""
        start, end = (at - actor.owner_span[0] for at in actor.span)
        if start < 0 or (actor.span == actor.owner_span and not actor.stride):
            return ()
        return tuple(self._walk(self.home(actor).type, start, max(end, start + 1)))

    def elements(self, row: int, base: int) -> tuple[Step, ...]:
        """The way to the first element of an array that starts at ``base``, () for another type."""
        core, _, _ = self.types.strip(row)
        if core >= 0 and ARRAY_TEMPLATE.match(self.types[core].name):
            holder = self._member(core, base, base, base + 1)
            inner = self.elements(holder.type, holder.start) if holder is not None and holder.name else ()
            return (holder, *inner) if holder is not None and inner else ()
        if core < 0 or self.types[core].kind != TypeKind.ARRAY:
            return ()
        found = self._element(self.types[core], base, base, base + 1)
        return (found,) if found is not None else ()

    def _walk(self, row: int, start: int, end: int) -> list[Step]:
        out: list[Step] = []
        base = 0
        for _ in range(MAX_DEPTH):
            core, _, _ = self.types.strip(row)
            if core < 0 or (out and self._foreign(self.types[core])):
                break
            record = self.types[core]
            if record.kind == TypeKind.ARRAY:
                step = self._element(record, base, start, end)
            elif record.kind in RECORD_KINDS and record.kind != TypeKind.UNION:
                step = self._member(core, base, start, end)
            else:
                break
            if step is None:
                break
            out.append(step)
            base, row = step.start, step.type
            if (step.start, step.end) == (start, end) and (step.name or step.of_array):
                break
        return out

    def _foreign(self, record: TypeRecord) -> bool:
        assert self._image is not None
        if ARRAY_TEMPLATE.match(record.name):
            return False
        path = self._image.files[record.file] if 0 <= record.file < len(self._image.files) else ""
        return record.name.startswith(_FOREIGN_NAMES) or of_system(path)

    def _element(self, record: TypeRecord, base: int, start: int, end: int) -> Step | None:
        size = self.types.size(record.target)
        if size <= 0 or record.count <= 0:
            return None
        index = (start - base) // size
        at = base + index * size
        if end > at + size or not 0 <= index < record.count:
            return None
        whole = (base, base + size * record.count)
        return Step("", record.target, at, at + size, whole, stride=size, count=record.count, bounds=record.bounds)

    def _member(self, core: int, base: int, start: int, end: int) -> Step | None:
        record = self.types[core]
        placed = [(base + m.offset_bits // 8, m) for m in record.members if not m.bit_size]
        for at, member in placed:
            size = self.types.size(member.type)
            if size > 0 and at <= start and end <= at + size:
                behind = behind_of(self.types, record.members, member)
                stop = base + record.size
                following = base + behind.offset_bits // 8 if behind is not None else stop
                filled = base + _filled(self.types, record)
                return Step(member.name, member.type, at, at + size, (base, stop), core, filled, following, behind)
        return None


def _filled(types: TypeTable, record: TypeRecord) -> int:
    """Where the last member ends; the record's size where one has no size, as an array without bounds."""
    sizes = [(m.offset_bits + (m.bit_size or 8 * types.size(m.type)), types.size(m.type)) for m in record.members]
    if any(size <= 0 for _, size in sizes):
        return record.size
    return min(-(-max((end for end, _ in sizes), default=0) // 8), record.size)


def behind_of(types: TypeTable, members: Sequence[TypeMember], member: TypeMember) -> TypeMember | None:
    """The member whose bytes come next."""
    end = member.offset_bits + 8 * max(types.size(member.type), 1)
    later = [m for m in members if m.offset_bits >= end and m is not member]
    return min(later, key=lambda m: m.offset_bits, default=None)


def common(a: Sequence[Step], b: Sequence[Step]) -> int:
    """How many levels two ways have in common."""
    for level, (x, y) in enumerate(zip(a, b, strict=False)):
        if (x.start, x.end, x.name) != (y.start, y.end, y.name):
            return level
    return min(len(a), len(b))


def outside_array(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps to the array that the last ones lead into, several where each dimension is an array of its own."""
    outside = tuple(steps)
    while outside and outside[-1].of_array:
        outside = outside[:-1]
    return outside


def begins_with(types: TypeTable, row: int, name: str) -> tuple[int, str]:
    """A member as (type, name) that can be declared: of a record without any name in its place the first member."""
    for _ in range(MAX_DEPTH):
        core, _, _ = types.strip(row)
        if name or core < 0 or types[core].kind not in RECORD_KINDS:
            break
        first = next((m for m in types[core].members if not m.offset_bits and not m.bit_size), None)
        if first is None:
            break
        row, name = first.type, first.name
    return row, name


def path_text(owner: str, steps: Sequence[Step]) -> str:
    """``server.conns[3].bytes``."""
    text = owner
    for step in steps:
        if step.of_array:
            text += f"[{(step.start - step.held[0]) // step.stride}]"
        elif step.name:
            text += f".{step.name}"
    return text
