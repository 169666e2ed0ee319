"""Which bytes of which variable or record the lines of a source name.

Owns the index from lines to what the facts say of them: the way from a counted access, of which debug information knows
the line, to a member.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bench.truth.members import NESTED, short
from sharing.model.facts import ACCESS_COLUMNS, LOCK_OP_COLUMNS, Base, FunctionFacts, RecordFacts, TypeTree
from sharing.model.types import RECORD_KINDS
from sharing.source.declarations import core, element
from sharing.source.program import Defined, Program

Line = tuple[str, int]
_BASE, _ID, _RECORD, _OFFSET, _SIZE = range(5)
_STRIDE, _FILE, _LINE = (ACCESS_COLUMNS.index(name) for name in ("stride", "file", "line"))
_LOCK_FILE, _LOCK_LINE = (LOCK_OP_COLUMNS.index(name) for name in ("file", "line"))


@dataclass(frozen=True, slots=True)
class Bytes:
    """``owner`` is a record's key or a variable's identity; with a stride the element is not known."""

    owner: str
    offset: int
    size: int = 0  # 0: a lock, as large as that is
    stride: int = 0


class Named:
    """Of some lines of a program."""

    def __init__(self, program: Program, lines: Iterable[Line]) -> None:
        self._program = program
        self._wanted: dict[str, np.ndarray] = {}
        by_file: dict[str, list[int]] = defaultdict(list)
        for path, number in lines:
            by_file[short(path)].append(number)
        self._wanted = {file: np.unique(found) for file, found in by_file.items()}
        self._outer = _outer(program)
        self._at: dict[Line, dict[Bytes, None]] = defaultdict(dict)
        for defined in (*program.functions.values(), *program.others.values()):
            for line, found in (*self._accessed(defined), *self._locked(defined)):
                self._at[line][found] = None

    def __call__(self, file: str, line: int, size: int) -> list[Bytes]:
        """What an access of so many bytes there may be to: those of that size, or where there are none, any.

        What is within a record is also at its place in the record around it.
        """
        every = list(self._at.get((short(file), line), ()))
        fitting = [one for one in every if one.size in (0, size)] or every
        return list(dict.fromkeys(whole for one in fitting for whole in self._wholes(one)))

    def _wholes(self, one: Bytes, depth: int = 0) -> Iterator[Bytes]:
        yield one
        if depth < NESTED:
            for key, offset in self._outer.get(one.owner, ()):
                yield from self._wholes(Bytes(key, one.offset + offset, one.size, one.stride), depth + 1)

    def _accessed(self, defined: Defined[FunctionFacts]) -> Iterator[tuple[Line, Bytes]]:
        width, unit = len(ACCESS_COLUMNS), self._program.units[defined.unit]
        flat = defined.facts.accesses
        table = np.array(flat[: len(flat) // width * width], np.int64).reshape(-1, width)
        for number in np.unique(table[:, _FILE]).tolist():
            file = short(unit.files[number]) if 0 <= number < len(unit.files) else ""
            if file not in self._wanted:
                continue
            rows = table[(table[:, _FILE] == number) & np.isin(table[:, _LINE], self._wanted[file])]
            for row in np.unique(rows, axis=0).tolist():
                owner = self._owner(defined.unit, row[_BASE], row[_ID], row[_RECORD])
                if owner:
                    yield (file, row[_LINE]), Bytes(owner, row[_OFFSET], row[_SIZE], row[_STRIDE])

    def _locked(self, defined: Defined[FunctionFacts]) -> Iterator[tuple[Line, Bytes]]:
        width, unit, function = len(LOCK_OP_COLUMNS), self._program.units[defined.unit], defined.facts
        for at in range(0, len(function.lock_ops) - width + 1, width):
            row = function.lock_ops[at : at + width]
            if not (0 <= row[0] < len(function.locks) and 0 <= row[_LOCK_FILE] < len(unit.files)):
                continue
            lock, file = function.locks[row[0]], short(unit.files[row[_LOCK_FILE]])
            owner = self._owner(defined.unit, lock.base, lock.id, lock.record)
            if owner and file in self._wanted:
                yield (file, row[_LOCK_LINE]), Bytes(owner, lock.offset, 0, lock.stride)

    def _owner(self, unit: int, base: int, symbol: int, record: int) -> str:
        facts = self._program.units[unit]
        if base == Base.VARIABLE:
            return facts.symbols[symbol] if 0 <= symbol < len(facts.symbols) else ""
        return facts.records[record][0] if 0 <= record < len(facts.records) else ""


def _outer(program: Program) -> dict[str, list[tuple[str, int]]]:
    """For each record those that have it as a member, and where."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for key, defined in program.records.items():
        for member in defined.facts.members:
            inner = core(element(member.type)[0])
            if inner is None or inner.kind not in RECORD_KINDS or member.offset_bits < 0:
                continue
            if 0 <= inner.count < len(program.units[defined.unit].records):
                found[program.record_key(defined.unit, inner.count)].append((key, member.offset_bits // 8))
    return found


def member_at(program: Program, owner: str, offset: int) -> str:
    """How a byte of a record or variable is called: ``struct pool.head.first``."""
    record, variable = program.records.get(owner), program.variables.get(owner)
    if record is not None:
        return record.facts.name + _path(program, record, offset)
    if variable is None:
        return f"{owner}+{offset}"
    tree = variable.facts.type
    return variable.facts.name + _path_of_type(program, variable.unit, tree, offset)


def _path(program: Program, record: Defined[RecordFacts], offset: int, depth: int = 0) -> str:
    for member in record.facts.members:
        start = member.offset_bits // 8
        if member.offset_bits >= 0 and start <= offset < start + max(member.type.size, 1):
            inner = _path_of_type(program, record.unit, member.type, offset - start, depth + 1)
            return f".{member.name}{inner}" if member.name else inner
    return f"+{offset}"


def _path_of_type(program: Program, unit: int, tree: TypeTree, offset: int, depth: int = 0) -> str:
    one, count = element(tree)
    index = ""
    if count > 1 and one is not None and one.size > 0:
        index, offset = f"[{offset // one.size}]", offset % one.size
    inner = core(one)
    if depth > NESTED or inner is None or inner.kind not in RECORD_KINDS:
        return index
    record = program.record(unit, inner.count) if 0 <= inner.count < len(program.units[unit].records) else None
    return index + _path(program, record, offset, depth) if record is not None else index
