"""A variable's accesses split by what they are to: its locks, the members of its type, or ranges of its bytes.

Owns the bytes of each piece and which accesses are to it.  Who accesses a piece how often is ``profiles``'s to say.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right

import msgspec

from sharing.basics.naming import without_internals
from sharing.knowledge import Knowledge
from sharing.model.image import AccessKind
from sharing.model.profile import Range
from sharing.model.types import Member, TypeKind
from sharing.static import numbers
from sharing.static.accesscolumns import INDEXED, VIA_CALL, AccessColumns
from sharing.static.owners import Owner, member_name
from sharing.static.shapes import LockMember, Shapes, lock_at


class Piece(msgspec.Struct):
    """Bytes of a variable that are one thing to the program, and the rows of its accesses."""

    name: str
    owner: Owner
    span: Range
    lock: LockMember | None = None
    leaf: Member | None = None
    rows: list[int] = msgspec.field(default_factory=list)


class Splitter:
    """Splits the variables of one image."""

    def __init__(self, columns: AccessColumns, shapes: Shapes, knowledge: Knowledge, sizes: dict[int, int]) -> None:
        """``sizes``: of locks of which no row of the vocabulary tells it, by address."""
        self._columns = columns
        self._shapes = shapes
        self._knowledge = knowledge
        self._sizes = sizes

    def pieces(self, owner: Owner, sites: list[int]) -> list[Piece]:
        """``sites``: rows of all accesses to the variable, by target."""
        base = owner.span[0]
        locks = self._locks(owner, sites)
        pieces: dict[Range, Piece] = {}
        loose: list[int] = []
        chosen: dict[int, Piece | None] = {}  # by offset: most bytes are touched at many sites
        for at in sites:
            offset = self._columns.target[at] - base
            if offset not in chosen:
                found = self._piece_at(owner, locks, offset)
                chosen[offset] = None if found is None else pieces.setdefault(found.span, found)
            piece = chosen[offset]
            (loose if piece is None else piece.rows).append(at)
        for piece in [p for p in pieces.values() if p.leaf is not None and p.name == owner.name]:
            if elements := self._elements(piece):
                del pieces[piece.span]
                pieces.update((element.span, element) for element in elements)
        for span, rows in self._ranges(owner.span, loose):
            name = owner.name if span[0] == base else f"{owner.name}+{span[0] - base:#x}"
            pieces.setdefault(span, Piece(name, owner, span)).rows.extend(rows)
        return list(pieces.values())

    def _piece_at(self, owner: Owner, locks: list[LockMember], offset: int) -> Piece | None:
        """The lock or the leaf at an offset of its variable, None where no type tells."""
        base = owner.span[0]
        lock = lock_at(locks, offset)
        start = base + lock.offset + lock.element(offset) * lock.stride if lock is not None else 0
        if lock is not None and not self._guarded_data(owner, lock, base + offset - start):
            path = lock.path_at(lock.path, offset)
            return Piece(member_name(owner.name, path), owner, (start, start + lock.size), lock=lock)
        leaf = self._shapes.leaf(owner.type_row, offset)
        if leaf is None:
            return None
        start, path = base + leaf.offset, without_internals(leaf.path, leaf.via)
        if leaf.stride:
            element = (offset - leaf.offset) // leaf.stride
            start += element * leaf.stride if leaf.stride >= leaf.size else 0
            path = path.replace("[]", f"[{element}]", 1)
        return Piece(member_name(owner.name, path), owner, (start, start + max(leaf.size, 1)), leaf=leaf)

    def _guarded_data(self, owner: Owner, lock: LockMember, offset: int) -> bool:
        """Is this byte of a lock what it guards?  Rust's locks contain that, behind the bytes of the lock itself."""
        abi = self._shapes.abi(lock.row) if owner.language == "Rust" else None
        return abi is not None and offset >= abi.size

    def _elements(self, piece: Piece) -> list[Piece]:
        """An array variable of scalars as the elements that are touched; none where an access may be of any of them."""
        leaf, columns = piece.leaf, self._columns
        if leaf is None or leaf.kind != TypeKind.ARRAY or not 0 < leaf.stride < leaf.size:
            return []
        out: dict[int, Piece] = {}
        for at in piece.rows:
            offset, size = columns.target[at] - piece.span[0], columns.size[at]
            index = offset // leaf.stride
            exact = not columns.flags[at] & (INDEXED | VIA_CALL) and size > 0
            if not exact or offset + size > (index + 1) * leaf.stride or len(out) > numbers.MAX_ELEMENTS:
                return []
            start = piece.span[0] + index * leaf.stride
            element = Piece(f"{piece.name}[{index}]", piece.owner, (start, start + leaf.stride), leaf=leaf)
            out.setdefault(index, element).rows.append(at)
        return list(out.values())

    def _locks(self, owner: Owner, sites: list[int]) -> list[LockMember]:
        """Locks by type, and where no type says so, by the calls that take them."""
        locks = list(self._shapes.locks(owner.type_row))
        asked: set[int] = set()
        for at in sites:
            row = self._columns.lock[at]
            offset = self._columns.target[at] - owner.span[0]
            if row < 0 or offset in asked:
                continue
            asked.add(offset)
            if lock_at(locks, offset) is None:
                locks.append(self._lock_by_calls(owner, sites, row, offset))
        return locks

    def _lock_by_calls(self, owner: Owner, sites: list[int], row: int, offset: int) -> LockMember:
        """The lock of this row of the vocabulary, which is taken at an offset of the variable."""
        columns, (base, end) = self._columns, owner.span
        abi = self._shapes.abi(row)
        size = abi.size if abi else self._sizes.get(base + offset, 4)
        lockers = {columns.function[s] for s in sites if columns.lock[s] == row}
        rest = [s for s in sites if columns.target[s] >= base + size and columns.weight[s] >= numbers.WARM_WEIGHT]
        alone = any(columns.function[s] not in lockers for s in rest)  # what is behind it has users of its own
        if owner.type_row < 0 and not (offset or alone) and size < end - base <= size + numbers.WRAPPER_BYTES:
            size = end - base  # nothing but the lock and what its wrapper adds
        hot = abi.hot if abi else ((0, size),)
        path = self._member_path(owner, offset, size) or (f"+{offset:#x}" if offset else "")
        name = self._knowledge.locks[row].name
        return LockMember(path, offset, size, row, hot, abi.read if abi else (), 0, 1, name)

    def _member_path(self, owner: Owner, offset: int, size: int) -> str:
        """The way to the member that a lock's words are in, or to the first of them that the variable itself has."""
        paths = []
        for at in (offset, offset + size - 1):
            leaf = self._shapes.leaf(owner.type_row, at)
            if leaf is None:
                return ""
            element = (at - leaf.offset) // leaf.stride if leaf.stride else 0
            paths.append(without_internals(leaf.path, leaf.via).replace("[]", f"[{element}]", 1).split("."))
        first, last = paths
        common = [a for a, b in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
        return ".".join(common or first)

    def _ranges(self, variable: Range, sites: list[int]) -> list[tuple[Range, list[int]]]:
        """Touched byte ranges of an untyped variable, overlapping ones joined but for those that it is filled by."""
        base, end = variable[0], max(variable[1], variable[0] + 1)
        if not sites:
            return []
        if end - base <= numbers.ONE_PIECE:
            return [((base, end), sites)]
        out = self._joined([at for at in sites if not self._fills(at)], end)
        alone: list[int] = []  # what nothing else tells parts of
        for at in (at for at in sites if self._fills(at)):
            parts = self._overlapped(out, at)
            for _, rows in parts:
                rows.append(at)
            if not parts:
                alone.append(at)
        return sorted(out + self._joined(alone, end))

    def _fills(self, at: int) -> bool:
        """A store of more than a word that is seldom made: an object is cleared or copied, whatever its parts."""
        columns = self._columns
        seldom = columns.weight[at] < numbers.WARM_WEIGHT
        return columns.kind[at] == AccessKind.STORE and columns.size[at] > numbers.ONE_PIECE and seldom

    def _overlapped(self, ranges: list[tuple[Range, list[int]]], at: int) -> list[tuple[Range, list[int]]]:
        """Of these ranges, which are in order and apart, those that an access has bytes of."""
        start = self._columns.target[at]
        stop = start + min(self._columns.size[at], numbers.UNBOUNDED)
        first = bisect_right(ranges, start, key=lambda one: one[0][1])
        return ranges[first : bisect_left(ranges, stop, lo=first, key=lambda one: one[0][0])]

    def _joined(self, sites: list[int], end: int) -> list[tuple[Range, list[int]]]:
        """Ranges of bytes that these touch, overlapping ones joined."""
        columns = self._columns
        out: list[tuple[Range, list[int]]] = []
        for at in sites:  # in order of target
            start = columns.target[at]
            extent = max(columns.size[at], 1)
            if columns.flags[at] & INDEXED and extent <= numbers.UNBOUNDED:
                extent = max(extent, columns.stride[at])
            stop = min(start + min(extent, numbers.UNBOUNDED), end)
            if out and start < out[-1][0][1]:
                (first, last), rows = out[-1]
                rows.append(at)
                out[-1] = ((first, max(last, stop)), rows)
            else:
                out.append(((start, stop), [at]))
        return out
