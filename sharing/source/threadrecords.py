"""Records of which each thread that is started is handed another one, and reaches no other; and who makes which.

Owns the signs of the former: an element of an array at a moving index where a C function starts the thread, one of
several objects, or what one of several pointers leads to, where an object of C++ does (``StartFact.element``).  One
instance stands for all objects of a record in source; of these it is known that a thread uses its own.  Where what such
threads run finds objects of the record in another way than as an argument, as a thief does those of others, nothing is
known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sharing.knowledge import Knowledge
from sharing.model.facts import ACCESS_COLUMNS, ARG_COLUMNS, CALL_COLUMNS, AccessFlag, Base, FunctionFacts, Passed
from sharing.source.program import Defined, Program

_BASE, _RECORD, _FLAGS = (ACCESS_COLUMNS.index(name) for name in ("base", "record", "flags"))


def records_of_threads(program: Program, knowledge: Knowledge) -> frozenset[str]:
    """Their keys."""
    entries: dict[str, set[str]] = defaultdict(set)
    for defined in program.functions.values():
        for index, entry in (*_of_objects(defined.facts), *_of_calls(program, defined, knowledge)):
            record = program.record(defined.unit, index)
            if record is not None and entry >= 0:
                entries[record.facts.key].add(program.symbol(defined.unit, entry))
    return frozenset(key for key, started in entries.items() if not _found_otherwise(program, key, started))


def makers(program: Program) -> dict[str, tuple[int, ...]]:
    """By the key of a record the functions that allocate objects of it, as rows of ``Program.functions``."""
    found: dict[str, dict[int, None]] = defaultdict(dict)
    for row, defined in enumerate(program.functions.values()):
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is not None:
                found[record.facts.key][row] = None
    return {key: tuple(rows) for key, rows in found.items()}


def _of_objects(function: FunctionFacts) -> Iterator[tuple[int, int]]:
    """(record, entry), as indexes of the unit."""
    for start in function.starts:
        if start.element >= 0:
            yield start.element, start.entry


def _of_calls(program: Program, defined: Defined[FunctionFacts], knowledge: Knowledge) -> Iterator[tuple[int, int]]:
    """As ``_of_objects``, of elements that a function which starts a thread hands to it."""
    function, width = defined.facts, len(ARG_COLUMNS)
    rows = [function.args[at : at + width] for at in range(0, len(function.args) - width + 1, width)]
    for call, number, kind, value, _, stride in rows:
        if kind != Passed.RECORD or not stride or call < 0:
            continue
        callee = function.calls[call * len(CALL_COLUMNS)]
        row = knowledge.thread_start(program.symbol(defined.unit, callee)) if callee >= 0 else None
        if row is None or row.entry_argument is None:
            continue
        record = program.record(defined.unit, value)
        data = row.entry_argument + 1 if row.data_argument is None else row.data_argument
        if number == data and record is not None and record.facts.size == stride:
            for one, place, what, entry, *_ in rows:
                if one == call and place == row.entry_argument and what == Passed.FUNCTION:
                    yield value, entry


def _found_otherwise(program: Program, key: str, entries: set[str]) -> bool:
    """Does what these entries call use such a record that it was not handed?"""
    seen, front = set(entries), list(entries)
    while front:
        name = front.pop()
        defined = program.functions.get(name)
        if defined is None:
            continue
        if any(_finds(program, defined, key)):
            return True
        for callee in defined.facts.calls[:: len(CALL_COLUMNS)]:
            called = program.symbol(defined.unit, callee) if callee >= 0 else ""
            if called and called not in seen:
                seen.add(called)
                front.append(called)
    return False


def _finds(program: Program, defined: Defined[FunctionFacts], key: str) -> Iterator[bool]:
    flat, width = defined.facts.accesses, len(ACCESS_COLUMNS)
    for at in range(0, len(flat) - width + 1, width):
        if flat[at + _BASE] == Base.RECORD and flat[at + _RECORD] >= 0 and not flat[at + _FLAGS] & AccessFlag.NEW:
            yield program.record_key(defined.unit, flat[at + _RECORD]) == key
