"""What each function of a unit refers to, in the order of its text: who keeps a static, and who names it first.

Owns the reading of those references out of the facts.  Judges nothing and knows no compiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    CALL_COLUMNS,
    LOCK_OP_COLUMNS,
    Base,
    FunctionBits,
    FunctionFacts,
    UnitFacts,
)
from sharing.model.image import AccessKind
from sharing.source.program import Program

_DECODER = msgspec.json.Decoder(FunctionFacts)
_ARG_ADDRESS, _ARG_FUNCTION = 1, 4


@dataclass(frozen=True, slots=True)
class Reference:
    """One mention of a variable or function.  ``kind`` is ADDRESS where it escapes, UNKNOWN for a call."""

    identity: str
    kind: AccessKind
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class FunctionReferences:
    """One function that the unit defines.

    ``deferred``: an optimizing compiler drops it where nothing refers to it.  ``merged``: so does one that does not
    optimize, because other units have it, too.  ``virtual``: the table of its class refers to it, which facts do not
    show.  ``references`` are those that are known to be reached, with what is done; ``names`` all, in the order of
    evaluation, with statics of its own once more where they are declared.
    """

    identity: str
    name: str
    file: int
    line: int
    column: int
    deferred: bool
    references: tuple[Reference, ...]
    merged: bool = False
    virtual: bool = False
    names: tuple[str, ...] = ()


def unit_references(program: Program, unit: int) -> tuple[FunctionReferences, ...]:
    """All functions with a body in the unit, in the order in which the facts have them."""
    found = []
    for identity, _ in program.units[unit].functions:
        defined = program.function(unit, identity)
        if defined is not None:
            found.append(function_references(program.units[defined.unit], defined.facts))
    return tuple(found)


def function_references(unit: UnitFacts, function: FunctionFacts) -> FunctionReferences:
    """The references of one function by line and column; those without a place come last."""
    ordered = sorted(_references(unit, function), key=lambda r: (r.line == 0, r.line, r.column))
    return FunctionReferences(
        identity=function.identity,
        name=function.name,
        file=function.file,
        line=function.line,
        column=function.column,
        deferred=bool(function.bits & (FunctionBits.INTERNAL | FunctionBits.INLINE)) and not _is_constructor(function),
        references=tuple(ordered),
        names=tuple(unit.symbols[i] for i in function.names if 0 <= i < len(unit.symbols)),
        # What a header has as "static inline" in C does not say so in its facts.
        merged=bool(function.bits & FunctionBits.INLINE)
        or (function.file > 0 and bool(function.bits & FunctionBits.INTERNAL)),
        virtual=bool(function.bits & FunctionBits.VIRTUAL),
    )


def _is_constructor(function: FunctionFacts) -> bool:
    """Does the program's start call it?  Initialisers of variables are facts of these, and go with them."""
    return bool(function.bits & FunctionBits.INIT) and not function.identity.startswith("initialiser of ")


def _references(unit: UnitFacts, function: FunctionFacts) -> Iterator[Reference]:
    symbols = unit.symbols

    def named(symbol: int) -> str:
        return symbols[symbol] if 0 <= symbol < len(symbols) else ""

    rows = [
        (named(row[1]), _kind(row[5]), row[10], row[11])
        for row in _rows(function.accesses, len(ACCESS_COLUMNS))
        if row[0] == Base.VARIABLE
    ]
    calls = list(_rows(function.calls, len(CALL_COLUMNS)))
    rows += [(named(row[0]), AccessKind.UNKNOWN, row[2], row[3]) for row in calls]
    for row in _rows(function.args, len(ARG_COLUMNS)):
        if row[2] in (_ARG_ADDRESS, _ARG_FUNCTION):
            line, column = calls[row[0]][2:4] if 0 <= row[0] < len(calls) else (0, 0)
            rows.append((named(row[3]), AccessKind.ADDRESS, line, column))
    for row in _rows(function.lock_ops, len(LOCK_OP_COLUMNS)):
        lock = function.locks[row[0]] if 0 <= row[0] < len(function.locks) else None
        if lock is not None and lock.base == Base.VARIABLE:
            rows.append((named(lock.id), AccessKind.ADDRESS, row[3], row[4]))
    rows += [(named(start.entry), AccessKind.ADDRESS, start.line, start.column) for start in function.starts]
    rows += [(named(symbol), AccessKind.ADDRESS, 0, 0) for symbol in function.taken]
    for identity, kind, line, column in rows:
        if identity:
            yield Reference(identity, kind, line, column)


def _rows(flat: tuple[int, ...], width: int) -> Iterator[tuple[int, ...]]:
    for at in range(0, len(flat) - width + 1, width):
        yield flat[at : at + width]


def _kind(value: int) -> AccessKind:
    return AccessKind(value) if 0 <= value <= max(AccessKind) else AccessKind.UNKNOWN
