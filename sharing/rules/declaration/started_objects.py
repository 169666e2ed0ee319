"""Small objects that are allocated one after the other, with one of which each thread is started, or which it finds.

Owns the signs of that in C: a loop that allocates them, and another loop behind it in the same function that starts
threads whose entry takes one of their type and changes it under no lock, as nobody does to what threads share.  Where
one loop does both, what the start of a thread allocates itself lies between two objects.  However threads come to
objects that one loop alone allocates, through a table, a record of their own or a thread-local pointer: each changes
others than its neighbour where several change them under no lock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from sharing.model.facts import (
    ARG_COLUMNS,
    BLOCK_COLUMNS,
    CALL_COLUMNS,
    AllocationFact,
    Base,
    FunctionFacts,
    Passed,
    rows_of,
)
from sharing.model.profile import Heat
from sharing.rules.declaration.base import SourceContext
from sharing.rules.declaration.heap_alignment import aligns_itself
from sharing.rules.declaration.own_elements import Elements, used_by
from sharing.source.declarations import shown_name
from sharing.source.program import Defined, Program
from sharing.source.threadrecords import makers

_MAX_USERS = 16  # functions to which an entry hands on what it was started with


@dataclass(frozen=True, slots=True)
class _Call:
    """``loop`` tells the outermost loops of a function from each other, 0 none."""

    row: int
    callee: str
    place: tuple[int, int, int]
    loop: int
    order: int


def started_objects(program: Program, ctx: SourceContext) -> Iterator[tuple[Elements, str, str]]:
    """With what allocates them, and the name of the function that has it do so."""
    for defined in program.functions.values():
        calls = tuple(_calls(program, defined))
        starts = [call for call in calls if call.loop and ctx.knowledge.thread_start(call.callee) is not None]
        made = _made(program, ctx, defined, calls) if starts else {}
        for key, (first, api) in made.items():
            behind = [one for one in starts if one.order > first.order]
            if any(one.loop == first.loop for one in starts):
                continue
            users = {name for start in behind for name in _users(program, ctx, defined, start, key)}
            uses = tuple(use for use in ctx.uses.of_record(key) if use.function in users and not use.new)
            changed = (use for use in uses if use.writes and not (use.atomic or use.under or use.locks))
            if any(use.loop_depth or ctx.heat(key, use.offset) is not Heat.COLD for use in changed):
                record = program.records[key]
                yield Elements(shown_name(record.facts), key, record, uses), api, defined.facts.name


def loop_made_objects(program: Program, ctx: SourceContext) -> Iterator[tuple[Elements, str, str]]:
    """As ``started_objects``, of those that several threads change under no lock, whatever leads them there.

    One loop allocates all of them, in a function that no thread is known to run: what a thread allocates in a loop may
    be its own.
    """
    made_by, running = makers(program), _run_by_threads(program, ctx)
    functions = list(program.functions.values())
    making = {functions[row].facts.identity for rows in made_by.values() for row in rows}
    for defined in functions:
        if defined.facts.identity in running or not _makes(program, defined, making):
            continue
        calls = tuple(_calls(program, defined))
        starting = {call.loop for call in calls if ctx.knowledge.thread_start(call.callee) is not None}
        for key, (first, api) in _made(program, ctx, defined, calls).items():
            if first.loop in starting or len(made_by[key]) != 1:
                continue
            record = program.records[key]
            uses = tuple(use for use in ctx.uses.of_record(key) if not use.new and use.function != defined.facts.name)
            plain = (u for u in uses if u.writes and not (u.atomic or u.under or u.locks or u.indexed))
            if any(ctx.heat(key, u.offset) is Heat.HOT and ctx.changed_by_threads(key, u.offset) for u in plain):
                yield Elements(shown_name(record.facts), key, record, uses), api, defined.facts.name


def _makes(program: Program, defined: Defined[FunctionFacts], making: set[str]) -> bool:
    """Does it allocate records, as functions of these identities do, or call one of these?"""
    return defined.facts.identity in making or any(one.facts.identity in making for one in _called(program, defined))


def _called(program: Program, defined: Defined[FunctionFacts]) -> Iterator[Defined[FunctionFacts]]:
    for callee in {row[0] for row in rows_of(defined.facts.calls, len(CALL_COLUMNS)) if row[0] >= 0}:
        one = program.function(defined.unit, program.symbol(defined.unit, callee))
        if one is not None:
            yield one


def _run_by_threads(program: Program, ctx: SourceContext) -> set[str]:
    """Functions (identities) that direct calls lead to from what threads are started with."""
    wanted: list[Defined[FunctionFacts]] = []
    for defined in program.functions.values():
        args = _arguments(defined.facts)
        for call in _calls(program, defined) if args else ():
            if ctx.knowledge.thread_start(call.callee) is not None:
                given = (value for _, kind, value in args.get(call.row, ()) if kind == Passed.FUNCTION)
                entries = (program.function(defined.unit, program.symbol(defined.unit, value)) for value in given)
                wanted += [entry for entry in entries if entry is not None]
    found: set[str] = set()
    while wanted:
        one = wanted.pop()
        if one.facts.identity not in found:
            found.add(one.facts.identity)
            wanted += _called(program, one)
    return found


def starts_threads(program: Program, ctx: SourceContext, defined: Defined[FunctionFacts]) -> bool:
    """Does the function start one itself?"""
    calls = _calls(program, defined)
    return bool(defined.facts.starts) or any(ctx.knowledge.thread_start(call.callee) is not None for call in calls)


def _calls(program: Program, defined: Defined[FunctionFacts]) -> Iterator[_Call]:
    function = defined.facts
    heads = sorted(row[0] for row in rows_of(function.blocks, len(BLOCK_COLUMNS)) if row[2])
    for at, row in enumerate(rows_of(function.calls, len(CALL_COLUMNS))):
        callee, file, line, column, depth, _, order, _ = row
        name = program.symbol(defined.unit, callee) if callee >= 0 else ""
        yield _Call(at, name, (file, line, column), bisect_right(heads, order) if depth else 0, order)


def _made(
    program: Program, ctx: SourceContext, defined: Defined[FunctionFacts], calls: tuple[_Call, ...]
) -> dict[str, tuple[_Call, str]]:
    """Keys of the records that its loops allocate with nothing larger between them: the call, and what allocates."""
    found: dict[str, tuple[_Call, str]] = {}
    larger: set[int] = set()
    for call in calls:
        if not call.loop:
            continue
        for maker, fact in _allocations(program, defined, call):
            record = program.record(maker.unit, fact.record)
            size = record.facts.size if record is not None else 0
            align = max(fact.guarantee, record.facts.align) if record is not None else 0
            if record is None or not 0 < size < ctx.line_size or align >= ctx.line_size or aligns_itself(fact):
                larger.add(call.loop)
            else:
                found.setdefault(record.facts.key, (call, fact.api))
    return {key: made for key, made in found.items() if made[0].loop not in larger}


def _allocations(
    program: Program, defined: Defined[FunctionFacts], call: _Call
) -> Iterator[tuple[Defined[FunctionFacts], AllocationFact]]:
    """What the call allocates: it by itself, or the function of the program that it calls."""
    yield from ((defined, a) for a in defined.facts.allocations if (a.file, a.line, a.column) == call.place)
    callee = program.function(defined.unit, call.callee) if call.callee else None
    if callee is not None:
        yield from ((callee, each) for each in callee.facts.allocations)


def _users(
    program: Program, ctx: SourceContext, defined: Defined[FunctionFacts], start: _Call, key: str
) -> Iterator[str]:
    """Names of functions that use the record which the threads are handed, from their entry on."""
    row = ctx.knowledge.thread_start(start.callee)
    if row is None or row.entry_argument is None:
        return
    data = row.entry_argument + 1 if row.data_argument is None else row.data_argument
    args = _arguments(defined.facts).get(start.row, [])
    if any(number == data and kind == Passed.VARIABLE for number, kind, _ in args):
        return
    wanted = [
        (program.function(defined.unit, program.symbol(defined.unit, value)), row.data_parameter)
        for number, kind, value in args
        if number == row.entry_argument and kind == Passed.FUNCTION
    ]
    seen: set[str] = set()
    while wanted and len(seen) < _MAX_USERS:
        user, parameter = wanted.pop()
        if user is None or user.facts.identity in seen:
            continue
        seen.add(user.facts.identity)
        taken = used_by(program, user)
        if any((base, at, r.facts.key) == (Base.PARAMETER, parameter, key) for base, at, r in taken):
            yield user.facts.name
        passed = _arguments(user.facts)
        for call in _calls(program, user):
            own = passed.get(call.row, [])
            handed = [number for number, kind, value in own if (kind, value) == (Passed.PARAMETER, parameter)]
            wanted += [(program.function(user.unit, call.callee), number) for number in handed if call.callee]


def _arguments(function: FunctionFacts) -> dict[int, list[tuple[int, int, int]]]:
    """By number of a call (argument, kind, value) of what it passes."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for call, number, kind, value, *_ in rows_of(function.args, len(ARG_COLUMNS)):
        found.setdefault(call, []).append((number, kind, value))
    return found
