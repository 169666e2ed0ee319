"""Alignment on the array instead of the element.

What it does: finds an array that is declared with the alignment of a line, whose elements are smaller than a line and
are written one by one at a computed index, unless all threads that do so are known and no two of them run at once.

Why is this bad?  The attribute on an array aligns its first element.  The others follow without a gap, so that several
threads, each with "its own" element, write one line.  The declaration looks padded and is not.

Example:

    struct counter { long hits; };
    static struct counter slots[MAX_THREADS] __attribute__((aligned(64)));   // 8 slots a line

Use instead: the alignment on the element's type, which rounds each element up to the line.

    struct counter { long hits; } __attribute__((aligned(64)));
    static struct counter slots[MAX_THREADS];
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sharing.knowledge.slotwords import names_slots
from sharing.model.facts import TypeTree, VariableBits
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.model.image import AccessKind
from sharing.model.types import RECORD_KINDS, TypeKind
from sharing.rules import numbers
from sharing.rules.declaration.base import (
    DeclarationRule,
    SourceContext,
    SourceDraft,
    SourceParticipant,
    raised,
    related,
    rounded,
    users,
    wrapper,
)
from sharing.source.declarations import (
    core,
    element,
    language,
    record_of,
    shown_name,
    source_position,
    speaks_of_lines,
    synchronises,
    written,
)
from sharing.source.program import Program
from sharing.source.uses import Use

_NUMBERS = frozenset({TypeKind.BASE, TypeKind.ENUM})


@dataclass(frozen=True, slots=True)
class _Array:
    """An aligned array, a variable or a member of a record.  ``at`` is its offset in the record."""

    unit: int
    name: str
    at: int
    type: TypeTree
    align: int
    words: tuple[str, ...]
    source: str
    identity: str
    uses: tuple[Use, ...]


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. aligned arrays of elements below a line; 2. meant to separate, and written by index; 3. at once.

    What is under one lock is no more written at once than what one thread alone writes.
    """
    for array in _arrays(program, ctx):
        inner, count = element(array.type)
        if inner is None or not numbers.MIN_SLOTS <= count <= numbers.MAX_SLOTS:
            continue
        if inner.size * count > numbers.MAX_SLOTS_BYTES:
            continue
        if not 0 < inner.size < ctx.line_size:
            continue
        writers = tuple(u for u in array.uses if u.writes and u.indexed)
        kind = synchronises(program, array.unit, inner, ctx.knowledge)
        if not _separates(array, inner, kind, ctx) or not (writers or kind) or _under_one_lock(writers):
            continue
        if ctx.alone(array.identity, array.at, inner.size * count):
            continue  # one thread, or one after the other: nobody takes a line from another element
        if _is_filled(inner, kind, writers) or _is_ring(array, writers, ctx) or _is_spread(writers, ctx.line_size):
            continue
        yield _draft(program, ctx, array, inner, count, writers, kind)


def _arrays(program: Program, ctx: SourceContext) -> Iterator[_Array]:
    for defined in program.variables.values():
        facts = defined.facts
        if facts.declared_align < ctx.line_size or facts.bits & (VariableBits.CONSTANT | VariableBits.THREAD):
            continue
        holder = _held_array(program, defined.unit, facts.type)
        if holder is None:
            continue
        unit, tree = holder
        yield _Array(
            unit,
            facts.name,
            0,
            tree,
            facts.declared_align,
            (*facts.macros, facts.align_text),
            source_position(program, defined.unit, facts),
            facts.identity,
            ctx.uses.of_variable(facts.identity),
        )
    for key, record in program.records.items():
        for member in record.facts.members:
            if member.declared_align < ctx.line_size:
                continue
            holder = _held_array(program, record.unit, member.type)
            if holder is None:
                continue
            unit, tree = holder
            at = member.offset_bits // 8
            inside = range(at, at + max(member.type.size, 0))
            yield _Array(
                unit,
                f"{shown_name(record.facts)}.{member.name}",
                at,
                tree,
                member.declared_align,
                (*member.macros, member.text),
                source_position(program, record.unit, member),
                key,
                tuple(u for u in ctx.uses.of_record(key) if u.offset in inside),
            )


def _held_array(program: Program, unit: int, tree: TypeTree) -> tuple[int, TypeTree] | None:
    """The array that a type is, or holds as its only member as std::array does, with the unit that knows it."""
    shape = core(tree)
    if shape is not None and shape.kind == TypeKind.ARRAY:
        return unit, shape
    record = record_of(program, unit, tree)
    if record is None or len(record.facts.members) != 1:
        return None
    inner = core(record.facts.members[0].type)
    return (record.unit, inner) if inner is not None and inner.kind == TypeKind.ARRAY else None


def _separates(array: _Array, inner: TypeTree, kind: str, ctx: SourceContext) -> bool:
    """Numbers and characters are aligned for vector instructions, unless a name says otherwise."""
    if kind or names_slots(array.name):
        return True
    shape = core(inner)
    if shape is None:
        return False
    if shape.kind in RECORD_KINDS:
        return any(u.writes and u.indexed for u in array.uses)
    return shape.kind in _NUMBERS and shape.size >= numbers.NUMBER_BYTES and speaks_of_lines(*array.words)


def _under_one_lock(writers: tuple[Use, ...]) -> bool:
    """All writers hold the same lock: one thread at a time, and the line moves with the lock."""
    held = [frozenset(u.under) for u in writers]
    return bool(held) and bool(frozenset.intersection(*held))


def _is_spread(writers: tuple[Use, ...], line_size: int) -> bool:
    """Does each index lead to a line of its own, since it is multiplied?"""
    return bool(writers) and all(use.stride >= line_size for use in writers)


def _is_filled(inner: TypeTree, kind: str, writers: tuple[Use, ...]) -> bool:
    """Elements that are only stored, and not at the running thread's number: a ring, or a table of what was made.

    Such an array is aligned to keep it away from what stands in front of it, as the indexes of the ring.  Slots of
    threads count: they are read and written at once, or stored at a number that is the thread's.  Of locks and atomics
    (``kind``) this is so of pointers alone.
    """
    shape = core(inner)
    is_data = not kind or (shape is not None and shape.kind == TypeKind.POINTER)
    return is_data and all(u.kind is AccessKind.STORE and not u.own for u in writers)


def _is_ring(array: _Array, writers: tuple[Use, ...], ctx: SourceContext) -> bool:
    """Elements of a record that are only stored, by functions that move an atomic beside them on: the ring's end.

    Atomics as well: a thief of work reads while the owner fills.
    """
    end = array.at + array.type.size
    moved = {
        use.function
        for use in ctx.uses.of_record(array.identity)
        if use.writes and use.atomic and not use.indexed and not array.at <= use.offset < end
    }
    return bool(writers) and all(u.kind is AccessKind.STORE and not u.own and u.function in moved for u in writers)


def _draft(
    program: Program,
    ctx: SourceContext,
    array: _Array,
    inner: TypeTree,
    count: int,
    writers: tuple[Use, ...],
    kind: str,
) -> SourceDraft:
    spoken = language(program, array.unit)
    each = rounded(inner.size, ctx.line_size)
    name = array.name.rpartition("::")[2].rpartition(".")[2]
    what = written(inner, spoken) if inner.name else "the element"
    return SourceDraft(
        rule=RULE.id,
        severity=raised(Severity.MEDIUM if writers else Severity.LOW, ctx.heat(array.identity, array.at)),
        verdict=Verdict.FALSE_SHARING,
        participants=(
            SourceParticipant(
                array.name,
                array.at,
                inner.size * count,
                f"array of {kind} elements" if kind else "array",
                array.source,
                array.identity,
                f"{what}[{count}]",
                writers or array.uses,
            ),
        ),
        line_at=array.at,
        message=(
            f"{array.name} is aligned to {array.align} bytes as a whole, but its {count} elements are "
            f"{inner.size} bytes each, {_to_a_line(inner.size, ctx.line_size)}"
            + (f", and are written at a computed index by {users(writers)}" if writers else "")
            + f": the alignment belongs to {what}, which it rounds up to {each} bytes"
        ),
        evidence=(f"declared alignment {array.align}; element {inner.size} bytes, {count} elements",),
        remedies=(
            Remedy(
                kind="pad-element",
                text=f"round the element type of {array.name} up to {each} bytes",
                edit=wrapper(name, what, spoken, ctx),
                language=spoken,
                cost_bytes=(each - inner.size) * count,
                breaks_abi=False,
                protects_tail=True,
            ),
        ),
        score=float(len(writers)),
        related=related(array.name, writers),
    )


def _to_a_line(size: int, line_size: int) -> str:
    return f"{line_size // size} per line" if line_size >= 2 * size else "less than a line"


RULE = DeclarationRule(
    id="array-aligned-not-element",
    name="Alignment on the array instead of the element",
    summary="An array is aligned to a line as a whole, and its elements, smaller than a line, are written one by one.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
    said_by=frozenset({"packed-thread-slots"}),
)
