"""Who uses a variable or a record, as source says it: the accesses, locks and passed addresses, by what they name.

Owns the index over all functions of a program.  Judges nothing.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from sharing.knowledge.locks import OWN_LOCKS, own_lock
from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    CALL_COLUMNS,
    LOCK_OP_COLUMNS,
    AccessFlag,
    Base,
    FunctionFacts,
    LockFact,
    MemoryOrder,
)
from sharing.model.image import AccessKind, Table
from sharing.source.program import Defined, Program
from sharing.source.threadnumbers import Numbered

_BASE, _ID, _RECORD, _OFFSET, _SIZE, _KIND, _MEMORY_ORDER, _FLAGS, _STRIDE, _FILE, _LINE, _COLUMN, _DEPTH = range(13)
_LOCKSET = ACCESS_COLUMNS.index("lockset")
_ADDRESS_OF_VARIABLE, _FILE_OF_CALL, _LINE_OF_CALL, _COLUMN_OF_CALL = 1, 1, 2, 3
_LOCKS = (1, 4)  # lock and try-lock
# As plain numbers: hundred thousands of accesses are asked for them.
_GIVEN, _INDEXED, _OWN, _NEW = map(int, (AccessFlag.GIVEN, AccessFlag.INDEXED, AccessFlag.OWN, AccessFlag.NEW))
_COUNTED = int(AccessFlag.COUNTED)
_CLEARS, _WALKS = int(AccessFlag.CLEARS), int(AccessFlag.WALKS)
_KINDS = {int(kind): kind for kind in AccessKind}


class Use(msgspec.Struct, frozen=True):
    """One access.  ``offset`` and ``size`` in bytes, relative to the variable or record.

    ``source`` is file:line:column, ``under`` are the locks held, as written; ``locks``: it takes the lock there;
    ``own``: the index is the number of the running thread, at which it looks again and again; ``new``: it sets up an
    object that no other thread has yet; ``clears``: it stores zero; ``handed``: it is of what the function was given;
    ``walks``: the index is one that a loop moves on, from element to element.
    """

    function: str
    kind: AccessKind
    offset: int
    size: int
    source: str
    under: tuple[str, ...] = ()
    atomic: bool = False
    indexed: bool = False
    own: bool = False
    new: bool = False
    stride: int = 0
    loop_depth: int = 0
    locks: bool = False
    memory_order: int = MemoryOrder.PLAIN
    clears: bool = False
    handed: bool = False
    walks: bool = False

    @property
    def writes(self) -> bool:
        return self.locks or self.kind in (AccessKind.STORE, AccessKind.RMW)


class Uses:
    """The uses of each variable (by identity) and record (by key).  The tables are made when first asked for."""

    def __init__(self, program: Program, numbered: Numbered) -> None:
        """``numbered`` are functions that are given the number of their thread."""
        self._program = program
        self._numbered = numbered
        self._functions: list[Defined[FunctionFacts]] = list(program.functions.values())

    def of_variable(self, identity: str) -> tuple[Use, ...]:
        """Accesses to the variable, locks taken on it, and where its address is passed on; in order of functions."""
        row = self._names.get(identity)
        if row is None:
            return ()
        return (*self._found(self._by_variable, row), *self._locked.get(identity, ()), *self._passed.get(identity, ()))

    def of_record(self, key: str) -> tuple[Use, ...]:
        """Accesses through pointers and references to the record; offsets are relative to its start."""
        row = self._keys.get(key)
        return () if row is None else (*self._found(self._by_record, row), *self._locked_records.get(key, ()))

    def _found(self, table: tuple[Table, Table], row: int) -> tuple[Use, ...]:
        order, names = table
        first, last = np.searchsorted(names, [row, row + 1])
        return tuple(self._use(int(i)) for i in np.sort(order[first:last]))

    def _use(self, at: int) -> Use:
        row = self._rows[0][at].tolist()
        defined = self._functions[int(self._rows[1][at])]
        function, flags = defined.facts, row[_FLAGS]
        given = flags & _GIVEN and self._numbered.own(function.identity, row[_DEPTH])
        given = given or (flags & _COUNTED and self._numbered.counted(function.identity, row[_DEPTH]))
        return Use(
            function=function.name,
            kind=_KINDS.get(row[_KIND], AccessKind.UNKNOWN),
            offset=row[_OFFSET],
            size=row[_SIZE],
            source=self._place(defined, row[_FILE], row[_LINE], row[_COLUMN]),
            under=_held(function, row[_LOCKSET]),
            atomic=row[_MEMORY_ORDER] != MemoryOrder.PLAIN,
            indexed=flags & _INDEXED != 0,
            own=bool(given or flags & _OWN),
            new=flags & _NEW != 0,
            stride=row[_STRIDE],
            loop_depth=row[_DEPTH],
            memory_order=row[_MEMORY_ORDER],
            clears=flags & _CLEARS != 0,
            handed=row[_BASE] == Base.PARAMETER,
            walks=flags & _WALKS != 0,
        )

    def _place(self, defined: Defined[FunctionFacts], file: int, line: int, column: int) -> str:
        files = self._program.units[defined.unit].files
        return f"{files[file]}:{line}:{column}" if 0 <= file < len(files) else ""

    @cached_property
    def _names(self) -> dict[str, int]:
        """A number for each symbol that any unit names."""
        names: dict[str, int] = {}
        for unit in self._program.units:
            for symbol in unit.symbols:
                names.setdefault(symbol, len(names))
        return names

    @cached_property
    def _keys(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self._program.records)}

    @cached_property
    def _rows(self) -> tuple[Table, Table]:
        """All access rows (columns as ACCESS_COLUMNS says), and the function of each."""
        width = len(ACCESS_COLUMNS)
        tables = []
        owners = []
        for number, defined in enumerate(self._functions):
            flat = defined.facts.accesses
            count = len(flat) // width
            if count:
                tables.append(np.array(flat[: count * width], dtype=np.int64).reshape(count, width))
                owners.append(np.full(count, number, dtype=np.int64))
        if not tables:
            return np.zeros((0, width), np.int64), np.zeros(0, np.int64)
        return np.concatenate(tables), np.concatenate(owners)

    @cached_property
    def _units(self) -> Table:
        """The unit of each access row."""
        units = np.array([f.unit for f in self._functions], dtype=np.int64)
        return units[self._rows[1]] if len(self._functions) else np.zeros(0, np.int64)

    @cached_property
    def _by_variable(self) -> tuple[Table, Table]:
        maps = [np.array([self._names[s] for s in u.symbols], dtype=np.int64) for u in self._program.units]
        return self._index(self._rows[0][:, _BASE] == Base.VARIABLE, _ID, maps)

    @cached_property
    def _by_record(self) -> tuple[Table, Table]:
        maps = [np.array([self._keys[k] for k, _ in u.records], dtype=np.int64) for u in self._program.units]
        return self._index(self._rows[0][:, _BASE] != Base.VARIABLE, _RECORD, maps)

    def _index(self, chosen: Table, column: int, maps: list[Table]) -> tuple[Table, Table]:
        """Rows of the access table and what each names, sorted by the name; indexes out of range name nothing."""
        rows = np.flatnonzero(chosen)
        named = np.full(len(rows), -1, dtype=np.int64)
        units, local = self._units[rows], self._rows[0][rows, column]
        for unit in np.unique(units).tolist():
            mine = np.flatnonzero((units == unit) & (local >= 0) & (local < len(maps[unit])))
            named[mine] = maps[unit][local[mine]]
        order = np.argsort(named, kind="stable")
        return rows[order], named[order]

    @cached_property
    def _locked(self) -> dict[str, list[Use]]:
        """Locks taken on variables, by identity."""
        return self._lock_ops[0]

    @cached_property
    def _locked_records(self) -> dict[str, list[Use]]:
        """Locks taken in records behind pointers, by key."""
        return self._lock_ops[1]

    @cached_property
    def _lock_ops(self) -> tuple[dict[str, list[Use]], dict[str, list[Use]]]:
        variables: dict[str, list[Use]] = {}
        records: dict[str, list[Use]] = {}
        width = len(LOCK_OP_COLUMNS)
        for defined in self._functions:
            function, unit = defined.facts, self._program.units[defined.unit]
            for at in range(0, len(function.lock_ops) - width + 1, width):
                number, effect, file, line, column, depth, _, _, held = function.lock_ops[at : at + width]
                if not 0 <= number < len(function.locks):
                    continue
                lock = function.locks[number]
                whole = self._whole_lock(defined, lock)
                if effect not in _LOCKS and not (whole and lock.stride):
                    continue
                use = Use(
                    function.name,
                    AccessKind.RMW if effect in _LOCKS else AccessKind.ADDRESS,  # set up: they are elements
                    lock.offset,
                    whole,
                    self._place(defined, file, line, column),
                    _held(function, held),
                    indexed=lock.stride > 0,
                    stride=lock.stride,
                    loop_depth=depth,
                    locks=effect in _LOCKS,
                    handed=lock.base == Base.PARAMETER,
                )
                if lock.base == Base.VARIABLE and 0 <= lock.id < len(unit.symbols):
                    variables.setdefault(unit.symbols[lock.id], []).append(use)
                elif lock.base != Base.VARIABLE and 0 <= lock.record < len(unit.records):
                    records.setdefault(unit.records[lock.record][0], []).append(use)
        return variables, records

    def _whole_lock(self, defined: Defined[FunctionFacts], lock: LockFact) -> int:
        """Bytes of a lock of the project's own whose inside is not seen, if it is a record by itself; else 0."""
        record = self._program.record(defined.unit, lock.record) if lock.row in OWN_LOCKS and not lock.offset else None
        return record.facts.size if record is not None and own_lock(record.facts.name) else 0

    @cached_property
    def _passed(self) -> dict[str, list[Use]]:
        found: dict[str, list[Use]] = {}
        width, call_width = len(ARG_COLUMNS), len(CALL_COLUMNS)
        for defined in self._functions:
            function, unit = defined.facts, self._program.units[defined.unit]
            for at in range(0, len(function.args) - width + 1, width):
                call, _, kind, value, offset, stride = function.args[at : at + width]
                row = function.calls[call * call_width : (call + 1) * call_width] if call >= 0 else ()
                if kind != _ADDRESS_OF_VARIABLE or not 0 <= value < len(unit.symbols) or len(row) < call_width:
                    continue
                place = self._place(defined, row[_FILE_OF_CALL], row[_LINE_OF_CALL], row[_COLUMN_OF_CALL])
                use = Use(function.name, AccessKind.ADDRESS, offset, 0, place, indexed=stride > 0, stride=stride)
                found.setdefault(unit.symbols[value], []).append(use)
        return found


def _held(function: FunctionFacts, lockset: int) -> tuple[str, ...]:
    if not 0 <= lockset < len(function.locksets):
        return ()
    return tuple(function.locks[i].text for i in function.locksets[lockset] if 0 <= i < len(function.locks))
