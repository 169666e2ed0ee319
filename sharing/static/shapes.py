"""Where the locks and the leaves of a type are.

Owns the search of a type for locks (through wrappers, by their members) and the lookup of the leaf at an
offset.  Knows types only, not addresses.
"""

from __future__ import annotations

import msgspec

from sharing.knowledge import Knowledge, LockAbi
from sharing.knowledge.locks import OWN_LOCK_CALLS, OWN_LOCKS, own_lock
from sharing.model.image import Image
from sharing.model.types import MAX_DEPTH, MAX_VISITS, Member, TypeKind, TypeTable

MAX_LOCKS = 256


class LockMember(msgspec.Struct, frozen=True):
    """A lock inside a type: byte ranges are relative to the start of the type.

    ``count`` locks follow one another every ``stride`` bytes when it is an array's element.
    """

    path: str
    offset: int
    size: int
    row: int
    hot: tuple[tuple[int, int], ...]
    read: tuple[tuple[int, int], ...]
    stride: int
    count: int
    type_name: str

    def covers(self, offset: int) -> bool:
        if not self.stride:
            return self.offset <= offset < self.offset + self.size
        element, within = divmod(offset - self.offset, self.stride)
        return 0 <= element < self.count and within < self.size

    def element(self, offset: int) -> int:
        """Which lock of a series an offset is in."""
        return (offset - self.offset) // self.stride if self.stride else 0

    def path_at(self, path: str, offset: int) -> str:
        """A path with the element's number where it says that there are several."""
        return path.replace("[]", f"[{self.element(offset)}]", 1)


def lock_at(places: list[LockMember], offset: int) -> LockMember | None:
    """The lock, or series of locks, that covers an offset of its variable."""
    return next((place for place in places if place.covers(offset)), None)


class Shapes:
    """Lock places and leaves by type row, remembered."""

    def __init__(self, image: Image, knowledge: Knowledge) -> None:
        self._types: TypeTable = image.types
        self._knowledge = knowledge
        self._abi = {i: knowledge.lock_abi(i, image) for i in range(len(knowledge.locks))}
        self._locks: dict[int, tuple[LockMember, ...]] = {}
        self._visits = 0
        # Types that are named locks are so where functions that are named after them were called.
        called = OWN_LOCK_CALLS & set(image.callee_names.values())
        self._own_locks = {i for i, row in enumerate(knowledge.locks) if called and row.name in OWN_LOCKS}

    def abi(self, lock_row: int) -> LockAbi | None:
        return self._abi.get(lock_row)

    def locks(self, row: int) -> tuple[LockMember, ...]:
        """Locks in a type, outermost known name first found wins; () for an unknown type."""
        if row < 0:
            return ()
        found = self._locks.get(row)
        if found is None:
            out: list[LockMember] = []
            self._visits = 0
            self._find(row, "", 0, 0, 1, out, 0)
            found = self._locks[row] = tuple(out)
        return found

    def leaf(self, row: int, offset: int) -> Member | None:
        """The leaf member that covers ``offset`` (of an array of records: in any element)."""
        return self._types.leaf(row, offset)

    def _find(
        self, row: int, path: str, offset: int, stride: int, count: int, out: list[LockMember], depth: int
    ) -> None:
        self._visits += 1
        if depth > MAX_DEPTH or len(out) >= MAX_LOCKS or self._visits > MAX_VISITS:
            return
        core, _, names = self._types.strip(row)
        if core < 0:
            return
        record = self._types[core]
        lock = next((r for n in names if (r := self._row(n)) >= 0), -1)
        size = self._types.size(row)
        if lock >= 0 and record.kind != TypeKind.POINTER:
            abi = self._abi[lock]
            if abi is not None and abi.size <= max(size, 0):
                out.append(LockMember(path, offset, size, lock, abi.hot, abi.read, stride, count, names[0]))
                return
            inner: list[LockMember] = []
            self._children(core, path, offset, stride, count, inner, depth)
            if inner:
                out.extend(inner)
            elif size > 0:
                out.append(LockMember(path, offset, size, lock, ((0, size),), (), stride, count, names[0]))
            return
        self._children(core, path, offset, stride, count, out, depth)

    def _row(self, name: str) -> int:
        row = self._knowledge.lock_types.find(name)
        if row < 0 and self._own_locks:
            return next((i for i in self._own_locks if self._knowledge.locks[i].name == own_lock(name)), -1)
        return row

    def _children(
        self, core: int, path: str, offset: int, stride: int, count: int, out: list[LockMember], depth: int
    ) -> None:
        record = self._types[core]
        if record.kind in (TypeKind.STRUCT, TypeKind.CLASS, TypeKind.UNION):
            for member in record.members:
                if member.bit_size:
                    continue
                name = "" if member.is_base else member.name
                sub = f"{path}.{name}" if path and name else (path or name)
                self._find(member.type, sub, offset + member.offset_bits // 8, stride, count, out, depth + 1)
        elif record.kind == TypeKind.ARRAY and record.target >= 0:
            element = self._types.size(record.target)
            if element > 0 and not stride:
                self._find(record.target, f"{path}[]", offset, element, max(record.count, 1), out, depth + 1)
