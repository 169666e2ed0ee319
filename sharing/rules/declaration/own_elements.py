"""Which elements are one thread's own: of arrays, and of what is handed out one by one.

Owns the signs of that in source, in the order in which ``thread_elements`` names them.  Whether neighbours meet on a
line is that rule's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    CALL_COLUMNS,
    Base,
    FunctionFacts,
    MemoryOrder,
    Passed,
    RecordBits,
    RecordFacts,
    TypeTree,
    rows_of,
)
from sharing.model.image import AccessKind
from sharing.model.types import MAX_DEPTH
from sharing.model.vocabulary import data_of
from sharing.rules import numbers
from sharing.rules.declaration.base import SourceContext, users
from sharing.source.declarations import core, element, record_of, shown_name
from sharing.source.program import Defined, Program
from sharing.source.uses import Use

_BEHIND_OWN = "an element is a thread's own: a thread-local pointer, or that of an event of its loop, leads to it"


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of one array.  Offsets of ``uses`` are from the start of ``identity``: a variable or a record.

    ``locked``: each is used under a lock of its own, else by a thread of its own.  ``why`` says how that is known.
    """

    name: str
    identity: str
    record: Defined[RecordFacts]
    uses: tuple[Use, ...]
    why: str = ""
    locked: bool = False


@dataclass(frozen=True, slots=True)
class _Argument:
    """What is handed to a function: a function, an element of an array at an index that is not constant, or a record
    of the running thread.

    ``callee`` is "" where that is called through a pointer; ``loops`` are around the call.
    """

    within: Defined[FunctionFacts]
    call: int
    callee: str
    number: int
    kind: int
    value: int
    stride: int
    loops: int


def own_elements(program: Program, ctx: SourceContext) -> Iterator[Elements]:
    """All of them, the surest signs first; a record may come several times."""
    arguments = tuple(_arguments(program))
    yield from _at_own_index(program, ctx)
    yield from _reached_from_own_index(program, ctx, arguments)
    yield from _behind_own_pointer(program, ctx, arguments)
    yield from _handed_to_threads(program, ctx, arguments)
    yield from _started_with(program, ctx)
    yield from _dealt_out(program, ctx)
    yield from _given_out(program, ctx, arguments)


def _arguments(program: Program) -> Iterator[_Argument]:
    call_width = len(CALL_COLUMNS)
    for defined in program.functions.values():
        function = defined.facts
        for call, number, kind, value, _, stride in rows_of(function.args, len(ARG_COLUMNS)):
            if call >= 0 and (stride or kind in (Passed.FUNCTION, Passed.OWN)):
                callee, *_, loops, _, _, _ = function.calls[call * call_width : (call + 1) * call_width]
                name = program.symbol(defined.unit, callee) if callee >= 0 else ""
                yield _Argument(defined, call, name, number, kind, value, stride, loops)


def _at_own_index(program: Program, ctx: SourceContext) -> Iterator[Elements]:
    """Arrays that are variables, members or memory, used at a thread's own number or locked element by element."""
    for identity, defined in program.variables.items():
        yield from _arrays(
            program, defined.unit, defined.facts.type, identity, ctx.uses.of_variable(identity), ctx.line_size
        )
    for key, record in program.records.items():
        uses = ctx.uses.of_record(key)
        for member in record.facts.members:
            yield from _arrays(program, record.unit, member.type, key, uses, ctx.line_size)
        size = record.facts.size
        mine = tuple(use for use in uses if use.own and use.offset < size and use.stride == size >= ctx.line_size)
        if mine:
            yield Elements(shown_name(record.facts), key, record, mine, _indexed_by(mine))


def _arrays(
    program: Program, unit: int, tree: TypeTree, identity: str, uses: tuple[Use, ...], line_size: int
) -> Iterator[Elements]:
    own = {use.stride for use in uses if use.own}
    locked = {use.stride for use in uses if use.locks and use.stride}
    for record in _element_records(program, unit, tree) if own | locked else ():
        size = record.facts.size
        if size in own | locked and size >= line_size:  # of smaller ones rules on lines speak
            mine = tuple(use for use in uses if use.stride == size and (use.own or size in locked))
            if size in own:
                yield Elements(shown_name(record.facts), identity, record, mine, _indexed_by(mine))
            else:
                yield Elements(shown_name(record.facts), identity, record, mine, _locked_by(mine), locked=True)


def _indexed_by(uses: tuple[Use, ...]) -> str:
    """The sign that a thread's own number is the index."""
    own = tuple(use for use in uses if use.own)
    return f"an element is a thread's own: its index is the number of the running thread in {users(own)}"


def _locked_by(uses: tuple[Use, ...]) -> str:
    """The sign that elements are used apart from each other: each is locked."""
    return f"each element has a lock of its own, taken by {users(tuple(use for use in uses if use.locks))}"


def _reached_from_own_index(
    program: Program, ctx: SourceContext, arguments: tuple[_Argument, ...]
) -> Iterator[Elements]:
    """Elements at a thread's own number that are used behind a pointer to them: returned, or handed on."""
    handed = _handed_elements(program, arguments)
    for key, uses, record in _of_own_index(program, ctx):
        if key in handed or any(use.own and use.kind is AccessKind.ADDRESS for use in uses):
            why = f"{_indexed_by(uses)}, from where a pointer leads to it"
            size = record.facts.size
            behind = tuple(u for u in ctx.uses.of_record(key) if not u.new and not u.indexed and u.offset < size)
            if behind:
                yield Elements(shown_name(record.facts), key, record, behind, why)


def _behind_own_pointer(program: Program, ctx: SourceContext, arguments: tuple[_Argument, ...]) -> Iterator[Elements]:
    """Elements of arrays to which a pointer of the running thread leads: thread-local, or of an event of its loop."""
    in_arrays = _handed_elements(program, arguments) | {record.facts.key for record in _of_arrays(program)}
    of_a_thread = {
        record.facts.key
        for one in arguments
        if one.kind == Passed.OWN and (record := program.record(one.within.unit, one.value)) is not None
    }
    for key, record in program.records.items():
        size = record.facts.size
        uses = tuple(use for use in ctx.uses.of_record(key) if not use.new)
        if key not in of_a_thread and not any(use.own and not use.stride for use in uses):
            continue
        if key in in_arrays or any(use.stride == size for use in uses):
            behind = tuple(use for use in uses if not use.indexed and use.offset < size)
            if any(use.writes and not use.atomic and ctx.changed_at_once(key, use.offset) for use in behind):
                yield Elements(shown_name(record.facts), key, record, behind, _BEHIND_OWN)


def _of_own_index(program: Program, ctx: SourceContext) -> Iterator[tuple[str, tuple[Use, ...], Defined[RecordFacts]]]:
    """Records of arrays that a thread's own number is an index of: the key, and what uses the array so."""
    trees = [(d.unit, d.facts.type, ctx.uses.of_variable(identity)) for identity, d in program.variables.items()]
    for key, whole in program.records.items():
        uses = ctx.uses.of_record(key)
        trees += [(whole.unit, member.type, uses) for member in whole.facts.members]
    for unit, tree, uses in trees:
        own = {use.stride for use in uses if use.own}
        for record in _element_records(program, unit, tree) if own else ():
            if record.facts.size in own:
                mine = tuple(use for use in uses if use.stride == record.facts.size)
                yield record.facts.key, mine, record


def _handed_elements(program: Program, arguments: tuple[_Argument, ...]) -> set[str]:
    """Keys of records of which functions are handed an element at an index, of whatever array."""
    found = _passed_elements(program, arguments, Passed.VARIABLE, Passed.RECORD)
    for one in arguments:
        callee = program.function(one.within.unit, one.callee) if one.kind == Passed.PARAMETER else None
        for base, number, record in used_by(program, callee) if callee is not None else ():
            if (base, number) == (Base.PARAMETER, one.number) and record.facts.size == one.stride:
                found.add(record.facts.key)
    return found


def _element_records(program: Program, unit: int, tree: TypeTree) -> Iterator[Defined[RecordFacts]]:
    """Records that arrays in a type are made of."""
    for record, _ in _elements_at(program, unit, tree):
        yield record


def _handed_to_threads(program: Program, ctx: SourceContext, arguments: tuple[_Argument, ...]) -> Iterator[Elements]:
    """Records that threads are started with, each with an element of an array.

    That shows where the address of an element is handed over.  Where it comes another way, several threads start in a
    function that takes it for a record of which the program has an array.
    """
    in_arrays = {record.facts.key for record in _of_arrays(program)}
    # Of smaller ones packed-thread-slots speaks, where it sees which variable's elements are handed over.
    seen = _passed_elements(program, arguments, Passed.VARIABLE)
    started: dict[tuple[str, int], list[Defined[FunctionFacts] | None]] = defaultdict(list)
    for one in arguments:
        if one.kind == Passed.FUNCTION:
            entry = program.function(one.within.unit, program.symbol(one.within.unit, one.value))
            started[one.within.facts.identity, one.call].append(entry)
    for one in arguments:
        function, unit = one.within.facts, one.within.unit
        start = ctx.knowledge.thread_start(one.callee) if one.callee else None
        if start is None or start.entry_argument is None:
            continue
        data = data_of(start)
        handed: list[Defined[RecordFacts]] = []
        if one.number == data and one.stride:
            handed = [r for r in _handed(program, unit, one.kind, one.value) if r.facts.size == one.stride]
        elif one.number == start.entry_argument and one.kind == Passed.FUNCTION and (start.many or one.loops):
            entry = program.function(unit, program.symbol(unit, one.value))
            taken = used_by(program, entry) if entry is not None else ()
            wanted = (Base.PARAMETER, start.data_parameter)
            handed = [r for base, number, r in taken if (base, number) == wanted and r.facts.key in in_arrays]
        entries = started.get((function.identity, one.call), [])
        for record in handed:
            key = record.facts.key
            if record.facts.size < ctx.line_size and key in seen:
                continue
            if entries and all(_is_part(entry, record, ctx) for entry in entries):
                continue
            # What starts the threads sets their elements up.
            uses = _of_one(use for use in ctx.uses.of_record(key) if use.function != function.name)
            yield Elements(shown_name(record.facts), key, record, uses, _started_by(function.name))


def _started_by(starter: str) -> str:
    return f"an element is a thread's own: {starter} starts each thread with another one"


def _started_with(program: Program, ctx: SourceContext) -> Iterator[Elements]:
    """Records of which threads of C++ are started with one of several, each with another one."""
    for defined in program.functions.values():
        for start in defined.facts.starts:
            record = program.record(defined.unit, start.element) if start.element >= 0 and not start.behind else None
            name = program.symbol(defined.unit, start.entry) if start.entry >= 0 else ""
            if record is None or _is_part(program.function(defined.unit, name), record, ctx):
                continue
            key, size, starter = record.facts.key, record.facts.size, defined.facts.name
            uses = (use for use in ctx.uses.of_record(key) if use.function != starter and not use.new)
            mine = _of_one(use for use in uses if use.offset < size)
            yield Elements(shown_name(record.facts), key, record, mine, _started_by(starter))


def _is_part(entry: Defined[FunctionFacts] | None, record: Defined[RecordFacts], ctx: SourceContext) -> bool:
    """Does what a thread runs go on from the element that it is handed, with which a part of the array begins?"""
    uses = (u for u in ctx.uses.of_record(record.facts.key) if entry is not None and u.function == entry.facts.name)
    return any(use.walks and use.stride == record.facts.size for use in uses)


def _of_one(uses: Iterable[Use]) -> tuple[Use, ...]:
    """Without what goes on from element to element: who does that has the neighbours as well.

    Where several threads go through a part each, two of them meet at its ends alone.
    """
    return tuple(use for use in uses if not use.walks)


def _dealt_out(program: Program, ctx: SourceContext) -> Iterator[Elements]:
    """Records of which a function that several threads run at once is handed one after the other."""
    for defined in program.functions.values():
        for start in defined.facts.starts:
            name = program.symbol(defined.unit, start.entry) if start.many and start.entry >= 0 else ""
            entry = program.function(defined.unit, name)
            if entry is None:
                continue
            for base, _, record in used_by(program, entry):
                key = record.facts.key
                # FrequentUse: what is written once of each costs one line once.
                uses = tuple(u for u in ctx.uses.of_record(key) if u.function == entry.facts.name and u.loop_depth)
                if base == Base.PARAMETER:
                    why = f"several threads run {entry.facts.name} at once, which is handed one element after the other"
                    yield Elements(shown_name(record.facts), key, record, uses, why)


def _given_out(program: Program, ctx: SourceContext, arguments: tuple[_Argument, ...]) -> Iterator[Elements]:
    """Records of which single elements of an array are given out, and are locked, or changed by several threads."""
    passed = _passed_elements(program, arguments, Passed.VARIABLE, Passed.RECORD)
    few = set(_in_small_arrays(program, ctx))
    alone = set(_alone_in_records(program))
    kept = _kept_functions(program)
    for key, record in program.records.items():
        size = record.facts.size
        # What is behind its end is an array of something else.
        uses = tuple(use for use in ctx.uses.of_record(key) if not use.new and use.offset < size)
        if record.facts.bits & RecordBits.SYSTEM:
            # All locks of a program are of a library's type: what a pointer leads to elsewhere is no element.
            uses = tuple(use for use in uses if use.handed or use.stride)
        if key not in passed | few and not any(use.stride == size for use in uses):
            continue
        name = shown_name(record.facts)
        if any(use.locks and (use.stride == size or key in passed | few) for use in uses):
            yield Elements(name, key, record, uses, _locked_by(uses), locked=True)
        elif inner := _locked_members(program, ctx, record) if key in passed | few else ():
            yield Elements(name, key, record, (*uses, *inner), _locked_by(inner), locked=True)
        elif key in passed | few and (words := _made_by_hand(uses)):
            mine = tuple(use for use in uses if use.offset in words)
            why = f"each element has a lock of the program's own, taken by {users(mine)}"
            yield Elements(name, key, record, mine, why, locked=True)
        elif key in passed or any(use.stride == size and use.kind is AccessKind.ADDRESS for use in uses):
            own = tuple(use for use in uses if (use.stride == size if key in alone else not use.indexed))
            # Small records behind pointers are texts and the like, in arrays that whoever made them fills, or jobs.
            # One in which a function counts that is called through pointers is a queue, port or channel.
            shared = size >= ctx.line_size or key in few
            working = set() if shared else _handed_with(program, arguments, key)
            shared = shared or any(u.function in working and u.writes and u.loop_depth for u in own)
            shared = shared or any(u.function in kept and u.handed and u.kind is AccessKind.RMW for u in own)
            changed = tuple(u for u in own if u.writes and not u.atomic and ctx.changed_by_threads(key, u.offset))
            if shared and changed:
                why = f"elements are given out one by one, and {users(changed)} changes what it got under no lock"
                yield Elements(name, key, record, own, why)


def _handed_with(program: Program, arguments: tuple[_Argument, ...], key: str) -> set[str]:
    """Names of functions that are handed on together with an element of an array of these records: jobs, tasks."""
    calls = {
        (one.within.facts.identity, one.call)
        for one in arguments
        if one.stride and any(r.facts.key == key for r in _handed(program, one.within.unit, one.kind, one.value))
    }
    handed = (one for one in arguments if (one.within.facts.identity, one.call) in calls)
    of_functions = (one for one in handed if one.kind == Passed.FUNCTION)
    found = (program.function(one.within.unit, program.symbol(one.within.unit, one.value)) for one in of_functions)
    return {defined.facts.name for defined in found if defined is not None}


def _kept_functions(program: Program) -> set[str]:
    """Names of functions whose address others store or pass."""
    taken = ((by.unit, program.symbol(by.unit, what)) for by in program.functions.values() for what in by.facts.taken)
    found = (program.function(unit, symbol) for unit, symbol in taken)
    return {defined.facts.name for defined in found if defined is not None}


def _locked_members(program: Program, ctx: SourceContext, record: Defined[RecordFacts]) -> tuple[Use, ...]:
    """What its members' own functions do with these, where they lock there."""
    inner = tuple(_of_members(program, ctx, record))
    return inner if any(use.locks for use in inner) else ()


def _of_members(
    program: Program, ctx: SourceContext, record: Defined[RecordFacts], at: int = 0, depth: int = 0
) -> Iterator[Use]:
    """What functions of the types of its members and bases do with these, from the start of the record.

    Other objects may be of these types as well, so that loops say nothing: the heat of the elements does.
    """
    for member in record.facts.members if depth <= MAX_DEPTH else ():
        inner = record_of(program, record.unit, member.type)
        if inner is None or inner.facts.bits & RecordBits.SYSTEM or member.offset_bits < 0:
            continue
        start = at + member.offset_bits // 8
        for use in ctx.uses.of_record(inner.facts.key):
            if not use.new and not use.stride and use.offset < inner.facts.size:
                yield msgspec.structs.replace(use, offset=start + use.offset, loop_depth=0)
        yield from _of_members(program, ctx, inner, start, depth + 1)


def array_places(program: Program) -> dict[str, list[tuple[str, int]]]:
    """By the key of a record: the variables of which it is an element, and where in these the first element is."""
    found: dict[str, list[tuple[str, int]]] = {}
    for identity, defined in program.variables.items():
        for record, at in _elements_at(program, defined.unit, defined.facts.type):
            found.setdefault(record.facts.key, []).append((identity, at))
    return found


def _elements_at(
    program: Program, unit: int, tree: TypeTree, at: int = 0, depth: int = 0
) -> Iterator[tuple[Defined[RecordFacts], int]]:
    """Records that arrays in a type are made of, with where the first of each begins."""
    inner, _ = element(tree)
    record = record_of(program, unit, inner)
    if record is None or depth > MAX_DEPTH:
        return
    if core(inner) is not core(tree):  # not for a name or a qualifier of its type alone
        yield record, at
    for member in record.facts.members:
        yield from _elements_at(program, record.unit, member.type, at + max(member.offset_bits, 0) // 8, depth + 1)


def _made_by_hand(uses: tuple[Use, ...]) -> set[int]:
    """Offsets of words that are locks of the program's own: changed to take it, changed or cleared to give it back.

    The memory order says so: what is done under a lock stays behind the one and before the other.  Counts of
    references ask for less where they are taken, what is published is read and not changed there, and what is claimed
    once and filled (a bucket of a table) is never as it was before.
    """
    taken = {use.offset for use in uses if use.kind is AccessKind.RMW and use.memory_order == MemoryOrder.ACQUIRE}
    back = (use for use in uses if use.kind is AccessKind.RMW or (use.writes and use.clears))
    return taken & {use.offset for use in back if use.memory_order == MemoryOrder.RELEASE}


def _in_small_arrays(program: Program, ctx: SourceContext) -> Iterator[str]:
    """Keys of records of which a variable or a member is an array of a few: a larger one is a table.

    A record that is an element itself is the thread's or the object's that it serves, and all of its array with it.
    """
    trees = [(d.unit, d.facts.type) for d in program.variables.values()]
    for key, whole in program.records.items():
        if not any(use.stride == whole.facts.size for use in ctx.uses.of_record(key)):
            trees += [(whole.unit, member.type) for member in whole.facts.members]
    for unit, tree in trees:
        inner, count = element(tree)
        record = record_of(program, unit, inner)
        if record is not None and numbers.MIN_SLOTS <= count <= numbers.MAX_SLOTS:
            yield record.facts.key


def _alone_in_records(program: Program) -> Iterator[str]:
    """Keys of records of which others have one as a member: a pointer leads there as likely as to an element."""
    for whole in program.records.values():
        for member in whole.facts.members:
            record = record_of(program, whole.unit, member.type)
            if record is not None and not member.is_base:
                yield record.facts.key


def _passed_elements(program: Program, arguments: tuple[_Argument, ...], *kinds: Passed) -> set[str]:
    """Keys of records of which functions are handed an element at an index that is not constant."""
    return {
        record.facts.key
        for one in arguments
        if one.stride and one.kind in kinds
        for record in _handed(program, one.within.unit, one.kind, one.value)
        if record.facts.size == one.stride
    }


def used_by(program: Program, user: Defined[FunctionFacts]) -> Iterator[tuple[int, int, Defined[RecordFacts]]]:
    """Records that a function accesses or hands on: what each is relative to (``Base``), and the parameter's number."""
    rows = {row[:3] for row in rows_of(user.facts.accesses, len(ACCESS_COLUMNS))}
    for _, _, kind, value, *_ in rows_of(user.facts.args, len(ARG_COLUMNS)):
        if kind == Passed.RECORD:
            rows.add((Base.RECORD, -1, value))
    for base, number, index in sorted(rows):
        record = program.record(user.unit, index) if base != Base.VARIABLE else None
        if record is not None:
            yield base, number, record


def _of_arrays(program: Program) -> Iterator[Defined[RecordFacts]]:
    """Records that arrays in static storage are made of."""
    for defined in program.variables.values():
        yield from _element_records(program, defined.unit, defined.facts.type)


def _handed(program: Program, unit: int, kind: int, value: int) -> Iterator[Defined[RecordFacts]]:
    if kind == Passed.RECORD:
        record = program.record(unit, value)
        if record is not None:
            yield record
    elif kind == Passed.VARIABLE:
        variable = program.variables.get(program.symbol(unit, value))
        if variable is not None:
            yield from _element_records(program, variable.unit, variable.facts.type)
