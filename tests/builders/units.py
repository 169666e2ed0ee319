"""Units of facts by hand, as short as a test needs them: symbols, files and indexes are kept here.

``variable_facts`` and ``unit_facts`` have the fields that a test is not about; whoever keeps them otherwise than
``UnitMaker`` does makes his units of these.

Owns the building only.  What the Clang tool really says is tested with the tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from sharing.model.facts import (
    CALL_COLUMNS,
    Base,
    FunctionBits,
    FunctionFacts,
    Init,
    LockFact,
    MemberFact,
    RecordFacts,
    StartFact,
    TypeTree,
    UnitFacts,
    UnitOptions,
    VariableBits,
    VariableFacts,
)
from sharing.model.image import AccessKind
from sharing.model.types import TypeKind

KINDS = {"load": AccessKind.LOAD, "store": AccessKind.STORE, "rmw": AccessKind.RMW, "address": AccessKind.ADDRESS}
INT = TypeTree(TypeKind.BASE, "int", 4, 4)
LONG = TypeTree(TypeKind.BASE, "long", 8, 8)
MUTEX = TypeTree(TypeKind.TYPEDEF, "pthread_mutex_t", 40, 8, TypeTree(TypeKind.BASE, "char", 40, 8))


def variable_facts(name: str, type: TypeTree, align: int = 0, **more: Any) -> VariableFacts:
    """A variable at the beginning of a file of its own, at least so aligned; ``more`` fields win."""
    plain: dict[str, Any] = {
        "identity": name,
        "symbol": name,
        "scope": "",
        "size": type.size,
        "align": max(type.align, align),
        "declared_align": align,
        "section": "",
        "bits": 0,
        "init": Init.ZERO,
        "order": 0,
        "file": 0,
        "line": 1,
        "column": 1,
        "begin": 0,
        "end": 0,
        "name_begin": 0,
    }
    return VariableFacts(**{**plain, "name": name, "type": type, **more})


def unit_facts(
    path: str,
    *,
    symbols: Iterable[str] = (),
    records: Iterable[RecordFacts] = (),
    variables: Iterable[VariableFacts] = (),
    functions: Iterable[FunctionFacts] = (),
    **more: Any,
) -> UnitFacts:
    """A unit of C that is one file; ``more`` fields win."""

    def raw(facts: msgspec.Struct) -> msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(facts))

    plain: dict[str, Any] = {
        "directory": "/src",
        "language": "C",
        "standard": "c17",
        "triple": "x86_64-pc-linux-gnu",
        "options": UnitOptions(),
        "hash": "",
        "files": (path,),
        "file_hashes": ("",),
        "symbols": tuple(symbols),
        "records": tuple((r.key, raw(r)) for r in records),
        "variables": tuple(variables),
        "functions": tuple((f.identity, raw(f)) for f in functions),
    }
    return UnitFacts(**{**plain, "path": path, **more})


class UnitMaker:
    """One translation unit.  Functions of internal linkage and statics are named ``name@path``."""

    def __init__(self, path: str, *, language: str = "C") -> None:
        self.path, self.language = path, language
        self._symbols: dict[str, int] = {}
        self._records: dict[str, RecordFacts] = {}
        self._variables: list[VariableFacts] = []
        self._functions: list[FunctionFacts] = []
        self._line = 0

    def symbol(self, identity: str) -> int:
        return self._symbols.setdefault(identity, len(self._symbols))

    def record(self, name: str, *members: tuple[str, int, TypeTree], size: int, align: int = 8) -> TypeTree:
        """A record with members (name, offset in bytes, type); its type where it is used."""
        self._line += 1
        facts = tuple(
            MemberFact(n, offset * 8, kind, 0, False, 0, 0, self._line, 1, 0, 0, (), "", n)
            for n, offset, kind in members
        )
        key = f"{name}#{size}"
        self._records[key] = RecordFacts(key, name, 0, size, align, 0, 0, self._line, 1, 0, 0, facts)
        return TypeTree(TypeKind.STRUCT, name, size, align, None, list(self._records).index(key))

    def variable(
        self, name: str, type: TypeTree, *, static: bool = False, extern: bool = False, declared_align: int = 0
    ) -> str:
        """Its identity."""
        self._line += 1
        identity = f"{name}@{self.path}" if static else name
        bits = (VariableBits.INTERNAL if static else 0) | (VariableBits.DECLARED_ONLY if extern else 0)
        self.symbol(identity)
        order, place = len(self._variables), {"line": self._line, "column": 5}
        fact = variable_facts(name, type, declared_align, identity=identity, bits=bits, order=order, **place)
        self._variables.append(fact)
        return identity

    def function(self, name: str, *events: dict[str, Any], static: bool = False, **facts: Any) -> str:
        """Its identity.  Events (``access``, ``call``, ``lock``, ``start``) are on lines of their own, in order."""
        self._line += 1
        identity = f"{name}@{self.path}" if static else name
        self.symbol(identity)
        columns = _Events(self.symbol, list(self._records))
        for event in events:
            self._line += 1
            columns.add(event, self._line)
        net = {k: tuple(columns.lock((n, 0)) for n in facts.pop(k, ())) for k in ("acquires", "releases", "requires")}
        self._functions.append(
            FunctionFacts(
                identity=identity,
                symbol=name,
                name=name,
                file=0,
                line=self._line,
                column=1,
                bits=FunctionBits.INTERNAL if static else 0,
                accesses=tuple(columns.accesses),
                calls=tuple(columns.calls),
                args=tuple(columns.args),
                locks=tuple(columns.locks),
                locksets=tuple(columns.locksets),
                lock_ops=tuple(columns.lock_ops),
                starts=tuple(columns.starts),
                taken=tuple(self.symbol(t) for t in facts.pop("taken", ())),
                **net,
                **facts,
            )
        )
        return identity

    def build(self) -> UnitFacts:
        return unit_facts(
            self.path,
            symbols=self._symbols,
            records=self._records.values(),
            variables=self._variables,
            functions=self._functions,
            language=self.language,
            triple="x86_64-unknown-linux-gnu",
            options=UnitOptions(level="2"),
        )


class _Events:
    """The events of one function as the columns that facts have them in."""

    def __init__(self, symbol: Callable[[str], int], records: list[str]) -> None:
        self._symbol = symbol
        self._records = records
        self.accesses: list[int] = []
        self.calls: list[int] = []
        self.args: list[int] = []
        self.locks: list[LockFact] = []
        self.locksets: list[tuple[int, ...]] = [()]
        self.lock_ops: list[int] = []
        self.starts: list[StartFact] = []

    def add(self, event: dict[str, Any], line: int) -> None:
        where = (0, line, 3, event.get("loop", 0), 0, event.get("order", 0), self._held(event.get("under", ())))
        {"access": self._access, "call": self._call, "lock": self._lock_op, "start": self._start}[event["what"]](
            event, where
        )

    def lock(self, of: tuple[str, int], row: str = "pthread_mutex_t") -> int:
        """The row of a lock in a variable at an offset."""
        fact = LockFact(Base.VARIABLE, self._symbol(of[0]), -1, of[1], 0, False, row, of[0])
        if fact not in self.locks:
            self.locks.append(fact)
        return self.locks.index(fact)

    def _held(self, names: Sequence[str]) -> int:
        found = tuple(self.lock((n, 0)) for n in names)
        if found not in self.locksets:
            self.locksets.append(found)
        return self.locksets.index(found)

    def _access(self, event: dict[str, Any], where: tuple[int, ...]) -> None:
        record = self._records.index(event["record"]) if event.get("record") else -1
        base = event["base"]
        number = self._symbol(event["of"]) if base == Base.VARIABLE else event.get("parameter", -1)
        size, order = event.get("size", 4), event.get("atomic", 0)
        self.accesses += [base, number, record, event.get("offset", 0), size, KINDS[event["kind"]], order, 0, 0]
        self.accesses += where

    def _call(self, event: dict[str, Any], where: tuple[int, ...]) -> None:
        row = len(self.calls) // len(CALL_COLUMNS)
        for number, (kind, value) in enumerate(event["args"]):
            self.args += [row, number, kind, self._symbol(value) if isinstance(value, str) else value, 0, 0]
        self.calls += [self._symbol(event["callee"]), *where]

    def _lock_op(self, event: dict[str, Any], where: tuple[int, ...]) -> None:
        self.lock_ops += [self.lock((event["of"], 0)), {"lock": 1, "unlock": 2}[event["effect"]], *where]

    def _start(self, event: dict[str, Any], where: tuple[int, ...]) -> None:
        _, line, column, loop, *_ = where
        entry, many = self._symbol(event["entry"]), event.get("many", False)
        self.starts.append(StartFact(entry, "std::thread", many, 0, line, column, loop, 0, 0))


def access(kind: str, of: str, **more: Any) -> dict[str, Any]:
    """An access to a variable by identity."""
    return {"what": "access", "base": Base.VARIABLE, "kind": kind, "of": of, **more}


def through(kind: str, record: str, offset: int, **more: Any) -> dict[str, Any]:
    """An access to a record (by key) behind a pointer of unknown origin, or (``parameter``) the function's own."""
    base = Base.PARAMETER if "parameter" in more else Base.RECORD
    return {"what": "access", "base": base, "kind": kind, "record": record, "offset": offset, **more}


def call(callee: str, *args: tuple[int, Any], **more: Any) -> dict[str, Any]:
    """A call; arguments are (kind, symbol or number), see ARG_COLUMNS."""
    return {"what": "call", "callee": callee, "args": args, **more}


def lock(of: str, effect: str = "lock", **more: Any) -> dict[str, Any]:
    return {"what": "lock", "of": of, "effect": effect, **more}


def start(entry: str, **more: Any) -> dict[str, Any]:
    return {"what": "start", "entry": entry, **more}
