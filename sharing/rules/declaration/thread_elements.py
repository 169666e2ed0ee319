"""Elements of threads meet on a line.

What it does: finds an array of records that threads use apart from each other, whose size is no multiple of a line or
that begins where an allocator puts it, and of which the end of one element and the beginning of the next are both busy.
An element is a thread's own where its index is the number of the running thread, where its address is handed to a
thread as it starts, or where addresses of elements are given out one by one and several threads change what they got
without a lock.  Elements that have a lock each, taken at an index, are locked apart in order to be used apart.

Why is this bad?  Each thread has an element of its own and still shares lines with its neighbours: those on which one
element ends and the next one begins.  Larger elements only make it rarer, and it comes and goes with each member.

Example:

    struct worker { unsigned long done; char name[56]; unsigned long failed; };   // 72 bytes
    static struct worker workers[MAX_THREADS];   // failed of one beside done of the next

Use instead: a type that is aligned to the line, which rounds its size up.

    struct worker { unsigned long done; char name[56]; unsigned long failed; } __attribute__((aligned(64)));
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import gcd

from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    CALL_COLUMNS,
    Base,
    Passed,
    RecordBits,
    RecordFacts,
    TypeTree,
)
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.model.image import AccessKind
from sharing.model.profile import Heat
from sharing.model.types import MAX_DEPTH
from sharing.rules import numbers
from sharing.rules.declaration.base import (
    DeclarationRule,
    SourceContext,
    SourceDraft,
    SourceParticipant,
    aligned_record,
    related,
    rounded,
    users,
)
from sharing.rules.declaration.heap_alignment import aligns_itself
from sharing.source.addressing import HEAP_ALIGNMENT
from sharing.source.declarations import core, element, language, record_of, shown_name, source_position
from sharing.source.program import Defined, Program
from sharing.source.uses import Use


@dataclass(frozen=True, slots=True)
class _Elements:
    """The elements of one array.  Offsets of ``uses`` are from the start of ``identity``: a variable or a record.

    ``locked``: each is used under a lock of its own, else by a thread of its own.
    """

    name: str
    identity: str
    record: Defined[RecordFacts]
    uses: tuple[Use, ...]
    locked: bool = False


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. arrays with an element for each thread; 2. of no multiple of a line; 3. busy at both ends."""
    seen: set[str] = set()
    off_lines = set(_off_lines(program, ctx.line_size))
    of_threads = (*_at_own_index(program, ctx), *_handed_to_threads(program, ctx))
    for found in (*of_threads, *_given_out(program, ctx)):
        key, size = found.record.facts.key, found.record.facts.size
        if key in seen or size <= 0:
            continue
        if size % ctx.line_size == 0 and (found.identity in program.variables or key not in off_lines):
            continue
        met = _meeting(found, size, ctx)
        if met is not None:
            seen.add(key)
            yield _draft(program, ctx, found, *met)


def _off_lines(program: Program, line_size: int) -> Iterator[str]:
    """Keys of records whose arrays need not begin on a line: from an allocator, or in a record that need not itself."""
    for defined in program.functions.values():
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is not None and max(fact.guarantee, record.facts.align) < line_size and not aligns_itself(fact):
                yield record.facts.key
    for whole in program.records.values():
        if whole.facts.align >= line_size or whole.facts.bits & RecordBits.SYSTEM:
            continue  # std::array begins where its variable or member does, which is not known here
        for member in whole.facts.members:
            inner, count = element(member.type)
            record = record_of(program, whole.unit, inner)
            if record is not None and count > 1:
                yield record.facts.key


def _at_own_index(program: Program, ctx: SourceContext) -> Iterator[_Elements]:
    """Arrays that are variables or members, used at the number of the running thread, or locked element by element."""
    for identity, defined in program.variables.items():
        yield from _arrays(
            program, defined.unit, defined.facts.type, identity, ctx.uses.of_variable(identity), ctx.line_size
        )
    for key, record in program.records.items():
        for member in record.facts.members:
            yield from _arrays(program, record.unit, member.type, key, ctx.uses.of_record(key), ctx.line_size)


def _arrays(
    program: Program, unit: int, tree: TypeTree, identity: str, uses: tuple[Use, ...], line_size: int
) -> Iterator[_Elements]:
    own = {use.stride for use in uses if use.own}
    locked = {use.stride for use in uses if use.locks and use.stride}
    for record in _element_records(program, unit, tree) if own | locked else ():
        size = record.facts.size
        if size in own | locked and size >= line_size:  # of smaller ones rules on lines speak
            mine = tuple(use for use in uses if use.stride == size and (use.own or size in locked))
            yield _Elements(shown_name(record.facts), identity, record, mine, locked=size not in own)


def _element_records(program: Program, unit: int, tree: TypeTree, depth: int = 0) -> Iterator[Defined[RecordFacts]]:
    """Records that arrays in a type are made of."""
    inner, _ = element(tree)
    record = record_of(program, unit, inner)
    if record is None or depth > MAX_DEPTH:
        return
    if inner is not core(tree):
        yield record
    for member in record.facts.members:
        yield from _element_records(program, record.unit, member.type, depth + 1)


def _handed_to_threads(program: Program, ctx: SourceContext) -> Iterator[_Elements]:
    """Records that threads are started with, each with an element of an array.

    That shows where the address of an element is handed over.  Where it comes another way, several threads start in a
    function that takes it for a record of which the program has an array.
    """
    width, call_width = len(ARG_COLUMNS), len(CALL_COLUMNS)
    in_arrays = {record.facts.key for record in _of_arrays(program)}
    # Of smaller ones packed-thread-slots speaks, where it sees which variable's elements are handed over.
    seen = set(_passed_elements(program, Passed.VARIABLE))
    for defined in program.functions.values():
        function, unit = defined.facts, defined.unit
        for at in range(0, len(function.args) - width + 1, width):
            call, number, kind, value, _, stride = function.args[at : at + width]
            callee, *_, loops, _, _, _ = function.calls[call * call_width : (call + 1) * call_width]
            start = ctx.knowledge.thread_start(program.symbol(unit, callee)) if callee >= 0 else None
            if start is None or start.entry_argument is None:
                continue
            data = start.entry_argument + 1 if start.data_argument is None else start.data_argument
            handed: list[Defined[RecordFacts]] = []
            if number == data and stride:
                handed = [record for record in _handed(program, unit, kind, value) if record.facts.size == stride]
            elif number == start.entry_argument and kind == Passed.FUNCTION and (start.many or loops):
                taken = _taken(program, unit, program.symbol(unit, value), start.data_parameter)
                handed = [record for record in taken if record.facts.key in in_arrays]
            for record in handed:
                key = record.facts.key
                if record.facts.size < ctx.line_size and key in seen:
                    continue
                # What starts the threads sets their elements up.
                uses = tuple(use for use in ctx.uses.of_record(key) if use.function != function.name)
                yield _Elements(shown_name(record.facts), key, record, uses)


def _given_out(program: Program, ctx: SourceContext) -> Iterator[_Elements]:
    """Records of which single elements of an array are given out, and are locked, or changed by several threads."""
    passed = set(_passed_elements(program, Passed.VARIABLE, Passed.RECORD))
    few = set(_in_small_arrays(program))
    for key, record in program.records.items():
        size, uses = record.facts.size, tuple(use for use in ctx.uses.of_record(key) if not use.new)
        if key not in passed | few and not any(use.stride == size for use in uses):
            continue
        name = shown_name(record.facts)
        if any(use.locks and (use.stride == size or key in passed | few) for use in uses):
            yield _Elements(name, key, record, uses, locked=True)
        elif key in passed or any(use.stride == size and use.kind is AccessKind.ADDRESS for use in uses):
            own = tuple(use for use in uses if not use.indexed)
            if any(use.writes and not use.atomic and ctx.changed_by_threads(key, use.offset) for use in own):
                yield _Elements(name, key, record, own)


def _in_small_arrays(program: Program) -> Iterator[str]:
    """Keys of records of which a variable or a member is an array of a few: a larger one is a table."""
    trees = [(d.unit, d.facts.type) for d in program.variables.values()]
    trees += [(d.unit, member.type) for d in program.records.values() for member in d.facts.members]
    for unit, tree in trees:
        inner, count = element(tree)
        record = record_of(program, unit, inner)
        if record is not None and numbers.MIN_SLOTS <= count <= numbers.MAX_SLOTS:
            yield record.facts.key


def _passed_elements(program: Program, *kinds: Passed) -> Iterator[str]:
    """Keys of records of which functions are handed an element at an index that is not constant."""
    width = len(ARG_COLUMNS)
    for defined in program.functions.values():
        args, unit = defined.facts.args, defined.unit
        for at in range(0, len(args) - width + 1, width):
            _, _, kind, value, _, stride = args[at : at + width]
            if stride and kind in kinds:
                yield from (r.facts.key for r in _handed(program, unit, kind, value) if r.facts.size == stride)


def _taken(program: Program, unit: int, entry: str, parameter: int) -> Iterator[Defined[RecordFacts]]:
    """Records that a function takes one of its parameters for."""
    defined = program.function(unit, entry)
    if defined is None:
        return
    flat, width = defined.facts.accesses, len(ACCESS_COLUMNS)
    rows = {tuple(flat[at : at + 3]) for at in range(0, len(flat) - width + 1, width)}
    for base, number, index in sorted(rows):
        record = program.record(defined.unit, index) if (base, number) == (Base.PARAMETER, parameter) else None
        if record is not None:
            yield record


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


def _meeting(found: _Elements, size: int, ctx: SourceContext) -> tuple[Use, Use] | None:
    """A use of an element's end and one of its beginning that can be on a line, both busy, one of them writing."""
    busy = [
        use
        for use in found.uses
        if not use.new and (use.loop_depth or ctx.heat(found.identity, use.offset) is not Heat.COLD)
    ]
    met = [
        (end, begin)
        for end, begin in product(busy, busy)
        if (end.writes or begin.writes)
        and (found.locked or not set(end.under) & set(begin.under))
        and _on_one_line(end.offset + max(end.size, 1) - 1, begin.offset + size, size, ctx.line_size)
    ]
    return max(met, key=lambda pair: pair[0].writes + pair[1].writes, default=None)


def _on_one_line(last: int, first: int, size: int, line_size: int) -> bool:
    """The last byte of a use and the first of one of the next element.

    Wherever the array begins, elements begin at all multiples of what their size and a line have in common.  Where that
    is a line, they begin at any multiple of what allocators promise.
    """
    step = gcd(size, line_size) if size % line_size else HEAP_ALIGNMENT
    return any((at + last) // line_size == (at + first) // line_size for at in range(0, line_size, step))


def _draft(program: Program, ctx: SourceContext, found: _Elements, end: Use, begin: Use) -> SourceDraft:
    facts, unit = found.record.facts, found.record.unit
    spoken, each = language(program, unit), rounded(facts.size, ctx.line_size)
    source = source_position(program, unit, facts)
    role = "element with a lock" if found.locked else "element of a thread"
    advice = f", which rounds it up to {each} bytes" if each > facts.size else ", and allocate it so"
    why = "each element a lock of its own" if found.locked else "each thread an element of its own"

    def part(use: Use) -> SourceParticipant:
        return SourceParticipant(
            found.name, use.offset, max(use.size, 1), role, source, found.identity, found.name, (use,)
        )

    return SourceDraft(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        verdict=Verdict.FALSE_SHARING,
        participants=(part(end), part(begin)),
        line_at=end.offset,
        message=(
            f"{found.name} has {facts.size} bytes, and {why}: the end of one, "
            f"{_verb(end)} by {users((end,))}, shares a line with the beginning of the next, {_verb(begin)} by "
            f"{users((begin,))}: align the type{advice}"
        ),
        evidence=(f"{facts.size} bytes each, {each} in whole lines",),
        remedies=(
            Remedy(
                kind="pad-element",
                text=f"align {found.name} to {ctx.line_size} bytes{advice}",
                edit=aligned_record(found.name, spoken, ctx),
                language=spoken,
                cost_bytes=each - facts.size,
                breaks_abi=False,
                protects_tail=True,
                objects=0,
                each_bytes=each - facts.size,
            ),
        ),
        score=float(len(found.uses)),
        related=related(found.name, (end, begin)),
    )


def _verb(use: Use) -> str:
    return "locked" if use.locks else "written" if use.writes else "read"


RULE = DeclarationRule(
    id="thread-elements-meet",
    name="Elements of threads meet on a line",
    summary="An array has an element for each thread, whose size is no multiple of a line: neighbours share a line.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
    said_by=frozenset({"packed-thread-slots"}),
)
