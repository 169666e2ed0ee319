"""Records of which each thread that is started is handed another one, and reaches no other; and who makes which.

Owns the signs of the former: an element of an array at a moving index where a C function starts the thread, what a
pointer at one leads to, an object that the loop which starts it has made for it; where an object of C++ does, one of
several objects, what one of several pointers leads to, or an object that has this one thread
(``StartFact.element``).  One instance stands for all objects of a record in source; of these it is known that a thread
uses its own.  Where what such threads run finds objects of the record in another way than as an argument, as a thief
does those of others, nothing is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

from sharing.knowledge import Knowledge
from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    CALL_COLUMNS,
    AccessFlag,
    Base,
    FunctionFacts,
    Passed,
    RecordFacts,
    rows_of,
)
from sharing.model.image import AccessKind
from sharing.model.vocabulary import data_of
from sharing.source.declarations import element, record_of
from sharing.source.loops import allocated, calls_of, loop_heads
from sharing.source.program import Defined, Program

_Makers = Callable[[], dict[str, set[str]]]

_BASE, _ID, _RECORD, _KIND, _FLAGS, _STRIDE = (
    ACCESS_COLUMNS.index(name) for name in ("base", "id", "record", "kind", "flags", "stride")
)


def records_of_threads(program: Program, knowledge: Knowledge) -> dict[str, set[str]]:
    """Their keys, with the symbols of what these threads run."""
    entries: dict[str, set[str]] = defaultdict(set)
    everywhere = cache(partial(makers_by_identity, program))
    for defined in program.functions.values():
        for index, entry in (
            *_of_objects(program, defined, everywhere),
            *_of_calls(program, defined, knowledge, everywhere),
        ):
            record = program.record(defined.unit, index)
            if record is not None and entry >= 0:
                entries[record.facts.key].add(program.symbol(defined.unit, entry))
    return {key: started for key, started in entries.items() if not _found_otherwise(program, key, started)}


def records_at_own_numbers(program: Program, knowledge: Knowledge) -> dict[str, set[str]]:
    """Records of arrays of which each thread uses the element at its own number alone, or the one that it is handed.

    As ``records_of_threads``, of elements of variables as well: of these it is known which thread uses what.
    """
    entries = thread_entries(program, knowledge)
    own: dict[str, set[str]] = defaultdict(set)
    others: set[str] = set()
    for symbol in reached(program, entries):
        defined = program.functions[symbol]
        for row in rows_of(defined.facts.accesses, len(ACCESS_COLUMNS)):
            record = element_of(program, defined, row)
            if record is None:
                continue
            if row[_FLAGS] & AccessFlag.OWN or (symbol in entries and row[_FLAGS] & AccessFlag.GIVEN):
                own[record].add(symbol)
            else:
                others.add(record)
    for defined in program.functions.values():
        for index, entry in _of_variables(program, defined, knowledge):
            own[index].add(entry)
    return {key: started for key, started in own.items() if key not in others}


def thread_entries(program: Program, knowledge: Knowledge) -> set[str]:
    """Symbols of what threads are started with."""
    found: set[str] = set()
    for defined in program.functions.values():
        found.update(program.symbol(defined.unit, start.entry) for start in defined.facts.starts if start.entry >= 0)
        for call, number, kind, value, *_ in rows_of(defined.facts.args, len(ARG_COLUMNS)):
            if kind == Passed.FUNCTION and _arguments_of_start(program, defined, call, knowledge)[0] == number:
                found.add(program.symbol(defined.unit, value))
    return found & program.functions.keys()


def reached(program: Program, entries: Iterable[str]) -> set[str]:
    """Symbols of these functions and of those that direct calls lead to from there."""
    found: set[str] = set()
    front = [name for name in entries if name in program.functions]
    while front:
        name = front.pop()
        if name in found:
            continue
        found.add(name)
        defined = program.functions[name]
        for callee in defined.facts.calls[:: len(CALL_COLUMNS)]:
            called = program.symbol(defined.unit, callee) if callee >= 0 else ""
            if called in program.functions:
                front.append(called)
    return found


def element_of(program: Program, defined: Defined[FunctionFacts], row: tuple[int, ...]) -> str | None:
    """The key of the record of which an access uses an element at an index that code computes, None of no such."""
    if not row[_STRIDE]:
        return None
    record: Defined[RecordFacts] | None = None
    if row[_BASE] == Base.VARIABLE:
        record = _element_record(program, program.symbol(defined.unit, row[_ID])) if row[_ID] >= 0 else None
    elif row[_RECORD] >= 0:
        record = program.record(defined.unit, row[_RECORD])
    return record.facts.key if record is not None and record.facts.size == row[_STRIDE] else None


def _element_record(program: Program, variable: str) -> Defined[RecordFacts] | None:
    """The record that a variable is an array of."""
    defined = program.variables.get(variable)
    return record_of(program, defined.unit, element(defined.facts.type)[0]) if defined is not None else None


def _of_variables(program: Program, defined: Defined[FunctionFacts], knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    """(record, entry) of elements of variables that a function which starts a thread hands to it."""
    rows = tuple(rows_of(defined.facts.args, len(ARG_COLUMNS)))
    for call, number, kind, value, _, stride in rows:
        if kind != Passed.VARIABLE or not stride:
            continue
        place, data = _arguments_of_start(program, defined, call, knowledge)
        record = _element_record(program, program.symbol(defined.unit, value)) if number == data else None
        if record is not None and record.facts.size == stride:
            for entry in _handed_functions(rows, call, place):
                yield record.facts.key, program.symbol(defined.unit, entry)


def _arguments_of_start(
    program: Program, defined: Defined[FunctionFacts], call: int, knowledge: Knowledge
) -> tuple[int, int]:
    """Of a call that starts a thread, which argument is the entry and which is handed to it; -1 and -1 of others."""
    callee = defined.facts.calls[call * len(CALL_COLUMNS)] if call >= 0 else -1
    row = knowledge.thread_start(program.symbol(defined.unit, callee)) if callee >= 0 else None
    return (-1, -1) if row is None or row.entry_argument is None else (row.entry_argument, data_of(row))


def _handed_functions(rows: tuple[tuple[int, ...], ...], call: int, place: int) -> Iterator[int]:
    """The functions (indexes of symbols) that a call is handed there."""
    for one, number, kind, value, *_ in rows:
        if one == call and number == place and kind == Passed.FUNCTION:
            yield value


def makers(program: Program) -> dict[str, tuple[int, ...]]:
    """By the key of a record the functions that allocate objects of it, as rows of ``Program.functions``."""
    found: dict[str, dict[int, None]] = defaultdict(dict)
    for row, defined in enumerate(program.functions.values()):
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is not None:
                found[record.facts.key][row] = None
    return {key: tuple(rows) for key, rows in found.items()}


def _of_objects(program: Program, defined: Defined[FunctionFacts], everywhere: _Makers) -> Iterator[tuple[int, int]]:
    """(record, entry), as indexes of the unit."""
    function = defined.facts
    for start in function.starts:
        if start.element >= 0:
            yield start.element, start.entry
        elif start.local >= 0 and start.loop_depth:
            loop = bisect_right(loop_heads(function), start.order)
            if _made_in_one_loop(program, defined, everywhere).get(start.local) == loop:
                yield start.local, start.entry


def _of_calls(
    program: Program, defined: Defined[FunctionFacts], knowledge: Knowledge, everywhere: _Makers
) -> Iterator[tuple[int, int]]:
    """As ``_of_objects``, of elements that a function which starts a thread hands to it."""
    rows = tuple(rows_of(defined.facts.args, len(ARG_COLUMNS)))
    made: dict[int, int] | None = None
    for call, number, kind, value, _, stride in rows:
        if kind not in (Passed.RECORD, Passed.EACH):
            continue
        place, data = _arguments_of_start(program, defined, call, knowledge)
        record = program.record(defined.unit, value) if place >= 0 and number == data else None
        if record is None:
            continue
        if kind == Passed.RECORD and not stride:
            made = _made_in_one_loop(program, defined, everywhere) if made is None else made
        each = kind == Passed.EACH or stride == record.facts.size
        if each or (made and made.get(value) == _loop_of(program, defined, call)):
            for entry in _handed_functions(rows, call, place):
                yield value, entry


def makers_by_identity(program: Program) -> dict[str, set[str]]:
    """As ``makers``, their identities."""
    identities = list(program.functions)
    return {key: {identities[row] for row in rows} for key, rows in makers(program).items()}


def _made_in_one_loop(program: Program, defined: Defined[FunctionFacts], everywhere: _Makers) -> dict[int, int]:
    """By index of a record of the unit the loop of the function in which all of its objects are allocated."""
    indexes = {key: at for at, (key, _) in enumerate(program.units[defined.unit].records)}
    loops: dict[str, set[int]] = defaultdict(set)
    made_by: dict[str, set[str]] = defaultdict(set)
    for loop, _, maker, fact in allocated(program, defined):
        record = program.record(maker.unit, fact.record) if loop else None
        if record is not None:
            loops[record.facts.key].add(loop)
            made_by[record.facts.key].add(maker.facts.identity)
    return {
        indexes[key]: next(iter(found))
        for key, found in loops.items()
        if len(found) == 1 and key in indexes and made_by[key] == everywhere()[key]
    }


def _loop_of(program: Program, defined: Defined[FunctionFacts], call: int) -> int:
    """The loop around a call; -1 none."""
    return next((loop or -1 for row, loop, *_ in calls_of(program, defined) if row == call), -1)


def _found_otherwise(program: Program, key: str, entries: set[str]) -> bool:
    """Does what these entries call use such a record that it was not handed?"""
    return any(any(_finds(program, program.functions[name], key)) for name in reached(program, entries))


def _finds(program: Program, defined: Defined[FunctionFacts], key: str) -> Iterator[bool]:
    for row in rows_of(defined.facts.accesses, len(ACCESS_COLUMNS)):
        if row[_BASE] != Base.RECORD or row[_RECORD] < 0 or row[_FLAGS] & AccessFlag.NEW:
            continue
        # The address of what a lambda has captured a reference to is no object that is found.
        if row[_KIND] != AccessKind.ADDRESS or row[_STRIDE]:
            yield program.record_key(defined.unit, row[_RECORD]) == key
