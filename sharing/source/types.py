"""Types of facts as the type table of an image.

Owns the translation of type trees and records into ``TypeRecord`` rows, each record and each distinct tree once.
"""

from __future__ import annotations

from sharing.model.facts import RecordBits, TypeTree
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeMember, TypeRecord, TypeTable
from sharing.source.program import Program


class TypeBuilder:
    """Rows for what is asked for, and for what that is made of."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._rows: list[TypeRecord] = []
        self._of_record: dict[str, int] = {}
        self._of_shape: dict[tuple[object, ...], int] = {}
        self.files: dict[str, int] = {}

    def table(self) -> TypeTable:
        return TypeTable(self._rows)

    def file(self, path: str) -> int:
        """Row of a path in the image's file table."""
        return self.files.setdefault(path, len(self.files))

    def tree(self, tree: TypeTree | None, unit: int, depth: int = 0) -> int:
        """Row of a type where it is used, -1 for none."""
        if tree is None or depth > MAX_DEPTH:
            return -1
        if tree.kind in RECORD_KINDS and 0 <= tree.count < len(self._program.units[unit].records):
            return self.record(self._program.record_key(unit, tree.count), depth + 1)
        inner = self.tree(tree.inner, unit, depth + 1)
        is_array = tree.kind == TypeKind.ARRAY
        shape = (tree.kind, tree.name, tree.size, tree.align, inner, tree.count if is_array else -1)
        row = self._of_shape.get(shape)
        if row is None:
            row = self._of_shape[shape] = len(self._rows)
            count = tree.count if is_array else -1
            name = "" if is_array or tree.kind in (TypeKind.CONST, TypeKind.VOLATILE) else tree.name
            natural = tree.inner.align if tree.inner is not None else tree.align
            align = tree.align if tree.align > natural else 0  # only what a declaration asked for
            self._rows.append(TypeRecord(tree.kind, name, tree.size, align, inner, count, (), -1, 0))
        return row

    def record(self, key: str, depth: int = 0) -> int:
        """Row of a record by key, -1 where no unit completes it."""
        row = self._of_record.get(key)
        if row is not None:
            return row
        defined = self._program.records.get(key)
        if defined is None or depth > MAX_DEPTH:
            return -1
        facts, unit = defined.facts, defined.unit
        row = self._of_record[key] = len(self._rows)
        kind = TypeKind.UNION if facts.bits & RecordBits.UNION else TypeKind.STRUCT
        if facts.bits & RecordBits.CLASS:
            kind = TypeKind.CLASS
        self._rows.append(TypeRecord(kind, facts.name, facts.size, facts.declared_align, -1, -1, (), -1, 0))
        members = tuple(
            TypeMember(m.name, m.offset_bits, self.tree(m.type, unit, depth + 1), m.bit_size, m.is_base)
            for m in facts.members
        )
        file = self.file(self._program.path(unit, facts.file)) if facts.file >= 0 else -1
        name = "" if facts.bits & RecordBits.ANONYMOUS else facts.name
        self._rows[row] = TypeRecord(kind, name, facts.size, facts.declared_align, -1, -1, members, file, facts.line)
        return row

    def records_in(self, tree: TypeTree | None, unit: int) -> frozenset[str]:
        """Keys of all records that an object of this type contains."""
        found: set[str] = set()
        front = [(tree, unit)]
        while front:
            at, of = front.pop()
            while at is not None and at.kind not in RECORD_KINDS:
                at = at.inner
            if at is None or not 0 <= at.count < len(self._program.units[of].records):
                continue
            key = self._program.record_key(of, at.count)
            defined = self._program.records.get(key)
            if key in found or defined is None:
                continue
            found.add(key)
            front += [(m.type, defined.unit) for m in defined.facts.members]
        return frozenset(found)
