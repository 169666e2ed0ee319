"""Small objects that are allocated one after the other, with one of which each thread is started, or which it finds.

Owns the signs of that: a loop that allocates them, and another loop behind it in the same function that starts threads
whose entry takes one of their type and changes it under no lock, as nobody does to what threads share; in C++ threads
of which each is started with what another one of several pointers leads to, and reaches no other.  Where one loop does
both, what the start of a thread allocates itself lies between two objects.  However threads come to
objects that one loop alone allocates, through a table, a record of their own or a thread-local pointer: each changes
others than its neighbour where several change them under no lock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from sharing.model.facts import (
    ARG_COLUMNS,
    CALL_COLUMNS,
    Base,
    FunctionFacts,
    Passed,
    StartFact,
    rows_of,
)
from sharing.model.profile import Heat
from sharing.model.vocabulary import data_of
from sharing.rules.declaration.base import SourceContext
from sharing.rules.declaration.heap_alignment import aligns_itself
from sharing.rules.declaration.own_elements import Elements, used_by
from sharing.source.declarations import shown_name
from sharing.source.loops import allocated, calls_of, loop_heads
from sharing.source.program import Defined, Program
from sharing.source.threadrecords import makers, records_of_threads

_MAX_USERS = 16  # functions to which an entry hands on what it was started with


@dataclass(frozen=True, slots=True)
class _Call:
    """``loop`` tells the outermost loops of a function from each other, 0 none."""

    row: int
    callee: str
    loop: int
    order: int


@dataclass(frozen=True, slots=True)
class _Made:
    """Objects that the loop makes by ``api``."""

    loop: int
    order: int
    api: str


@dataclass(frozen=True, slots=True)
class _ObjectStart:
    """A thread of an object of C++ that a loop starts, with what a pointer to a record of ``key`` leads to."""

    key: str
    entry: str
    order: int


def started_objects(program: Program, ctx: SourceContext) -> Iterator[tuple[Elements, str, str]]:
    """With what allocates them, and the name of the function that has it do so."""
    own = records_of_threads(program, ctx.knowledge)
    for defined in program.functions.values():
        calls = tuple(_calls(program, defined))
        starts = [call for call in calls if call.loop and ctx.knowledge.thread_start(call.callee) is not None]
        objects = [one for one in _object_starts(program, defined) if one.key in own]
        made = _made(program, ctx, defined) if starts or objects else {}
        for key, first in made.items():
            behind = [one for one in starts if one.order > first.order]
            if first.loop in {*(one.loop for one in starts), *(loop for loop, _ in _looped_starts(defined.facts))}:
                continue
            users = {name for start in behind for name in _users(program, ctx, defined, start, key)}
            entries = {one.entry for one in objects if one.key == key and one.order > first.order}
            users |= {name for entry in entries for name in _reached(program, entry)}
            uses = tuple(use for use in ctx.uses.of_record(key) if use.function in users and not use.new)
            # What is for several threads may be one object's for all of them, unless none reaches another's.
            changed = (u for u in uses if u.writes and not ((u.atomic and not entries) or u.under or u.locks))
            if any(use.loop_depth or ctx.heat(key, use.offset) is not Heat.COLD for use in changed):
                record = program.records[key]
                yield Elements(shown_name(record.facts), key, record, uses), first.api, defined.facts.name


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
        starting |= {loop for loop, _ in _looped_starts(defined.facts)}
        for key, first in _made(program, ctx, defined).items():
            if first.loop in starting or len(made_by[key]) != 1 or _is_of_cpp(first.api):
                continue
            record = program.records[key]
            uses = tuple(use for use in ctx.uses.of_record(key) if not use.new and use.function != defined.facts.name)
            plain = (u for u in uses if u.writes and not (u.atomic or u.under or u.locks or u.indexed))
            if any(ctx.heat(key, u.offset) is Heat.HOT and ctx.changed_by_threads(key, u.offset) for u in plain):
                yield Elements(shown_name(record.facts), key, record, uses), first.api, defined.facts.name


def _is_of_cpp(api: str) -> bool:
    """Objects of C++ are seldom changed where they are reached: what shares them is told by what starts threads."""
    return api.startswith(("new", "std::"))


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
        begun = (program.symbol(defined.unit, start.entry) for start in defined.facts.starts if start.entry >= 0)
        wanted += [program.functions[symbol] for symbol in begun if symbol in program.functions]
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


def _object_starts(program: Program, defined: Defined[FunctionFacts]) -> Iterator[_ObjectStart]:
    for _, start in _looped_starts(defined.facts):
        record = program.record(defined.unit, start.element) if start.behind else None
        if record is not None and start.entry >= 0:
            yield _ObjectStart(record.facts.key, program.symbol(defined.unit, start.entry), start.order)


def _looped_starts(function: FunctionFacts) -> Iterator[tuple[int, StartFact]]:
    """(outermost loop, start) of the threads that it starts in loops by objects of C++."""
    heads = loop_heads(function) if function.starts else []
    return ((bisect_right(heads, start.order), start) for start in function.starts if start.loop_depth)


def _reached(program: Program, entry: str) -> set[str]:
    """Names of the function of this symbol and of what direct calls lead to from it."""
    found: dict[str, None] = {}
    wanted = [program.functions.get(entry)]
    while wanted and len(found) < _MAX_USERS:
        one = wanted.pop(0)
        if one is not None and one.facts.name not in found:
            found[one.facts.name] = None
            wanted += _called(program, one)
    return set(found)


def _calls(program: Program, defined: Defined[FunctionFacts]) -> Iterator[_Call]:
    for row, loop, name, order in calls_of(program, defined):
        yield _Call(row, name, loop, order)


def _made(program: Program, ctx: SourceContext, defined: Defined[FunctionFacts]) -> dict[str, _Made]:
    """By key the records that its loops allocate with nothing larger between them: the first place each."""
    found: dict[str, _Made] = {}
    larger: set[int] = set()
    for loop, order, maker, fact in allocated(program, defined):
        if not loop:
            continue
        record = program.record(maker.unit, fact.record)
        # How many, where that is not known, are more than fit beside another one.
        size = record.facts.size * (fact.count or ctx.line_size) if record is not None else 0
        align = max(fact.guarantee, record.facts.align) if record is not None else 0
        if record is None or not 0 < size < ctx.line_size or align >= ctx.line_size or aligns_itself(fact):
            larger.add(loop)
        else:
            found.setdefault(record.facts.key, _Made(loop, order, fact.api))
    return {key: made for key, made in found.items() if made.loop not in larger}


def _users(
    program: Program, ctx: SourceContext, defined: Defined[FunctionFacts], start: _Call, key: str
) -> Iterator[str]:
    """Names of functions that use the record which the threads are handed, from their entry on."""
    row = ctx.knowledge.thread_start(start.callee)
    if row is None or row.entry_argument is None:
        return
    data = data_of(row)
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
