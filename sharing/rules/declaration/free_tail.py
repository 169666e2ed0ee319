"""Aligned variable with a free tail.

What it does: finds a lock, an atomic or other written variable that is declared with the alignment of a line and does
not fill its last line.

Why is this bad?  Alignment decides where an object starts and says nothing about what follows.  A 40-byte lock aligned
to 64 leaves 24 bytes that the linker hands to whatever comes next: today nothing, after the next edit a hot counter.
Where a layout shows that something busy lies there already, `aligned-without-padding` says so instead.  It is a note
unless threads that run at once surely meet in its last line again and again: nobody waits for that line yet.

Example:

    static pthread_mutex_t lock __attribute__((aligned(64)));   // 40 bytes, 24 are free
    static int waiting;

Use instead: alignment on a type, which rounds its size up to the line as well.

    struct line_lock { pthread_mutex_t value; } __attribute__((aligned(64)));   // sizeof is 64
    static struct line_lock lock;
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.facts import VariableBits, VariableFacts
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.model.types import TypeKind
from sharing.rules.declaration.base import (
    DeclarationRule,
    SourceContext,
    SourceDraft,
    SourceParticipant,
    related,
    rounded,
    users,
    wrapper,
)
from sharing.source.declarations import core, language, source_position, synchronises
from sharing.source.program import Defined, Program
from sharing.source.uses import Use


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. variables aligned to a line that end inside one; 2. that someone writes, or that exist to be written."""
    for defined in program.variables.values():
        facts = defined.facts
        tail = -facts.size % ctx.line_size
        if facts.declared_align < ctx.line_size or not tail or facts.size <= 0 or not _writable(facts):
            continue
        kind = synchronises(program, defined.unit, facts.type, ctx.knowledge)
        uses = ctx.uses.of_variable(facts.identity)
        writers = tuple(u for u in uses if u.writes)
        if not kind and (not writers or _is_table(facts)):
            continue  # aligned for vector instructions or as a read-only table
        yield _draft(program, ctx, defined, kind, uses if kind else writers, tail)


def _writable(facts: VariableFacts) -> bool:
    if facts.bits & (VariableBits.CONSTANT | VariableBits.THREAD):
        return False
    # In sections made of aligned objects (.data..cacheline_aligned) the next one starts a line of its own.
    return "align" not in facts.section


def _is_table(facts: VariableFacts) -> bool:
    """Arrays of plain values are aligned for the sake of their first byte."""
    shape = core(facts.type)
    return shape is not None and shape.kind == TypeKind.ARRAY


def _draft(
    program: Program, ctx: SourceContext, defined: Defined[VariableFacts], kind: str, uses: tuple[Use, ...], tail: int
) -> SourceDraft:
    facts = defined.facts
    spoken = language(program, defined.unit)
    cost = rounded(facts.size, ctx.line_size) - facts.size
    last = facts.size - facts.size % ctx.line_size
    name = facts.name.rpartition("::")[2]
    storage = "static" if facts.bits & VariableBits.INTERNAL else ""
    return SourceDraft(
        rule=RULE.id,
        severity=Severity.LOW if ctx.contested(facts.identity, last, facts.size - last) else Severity.NOTE,
        verdict=Verdict.FRAGILE,
        participants=(
            SourceParticipant(
                facts.name,
                0,
                facts.size,
                kind or "written data",
                source_position(program, defined.unit, facts),
                facts.identity,
                facts.type_text or facts.type.name,
                uses,
            ),
        ),
        line_at=last,
        message=(
            f"{facts.name} ({kind or 'written data'}) is aligned to {facts.declared_align} bytes but "
            f"{facts.size} bytes long: the {tail} bytes behind it are free for the next variable, which would share "
            + (f"the line {'used' if kind else 'written'} by {users(uses)}" if uses else "its line")
            + f": give its type the alignment, so that its size is rounded up to {facts.size + tail}"
        ),
        evidence=(f"declared alignment {facts.declared_align}, size {facts.size}: {tail} bytes of tail are free",),
        remedies=(
            Remedy(
                kind="pad-type",
                text=f"give {facts.name} a type that is aligned and rounded up to {ctx.line_size} bytes",
                edit=wrapper(name, facts.type_text or "T", spoken, ctx, storage=storage),
                language=spoken,
                cost_bytes=cost,
                breaks_abi=False,
                protects_tail=True,
            ),
        ),
        score=float(len(uses)),
        related=related(facts.name, uses),
    )


RULE = DeclarationRule(
    id="aligned-tail-free",
    name="Aligned variable with a free tail",
    summary="A written variable is aligned to a line but does not fill it: the next variable may land in its tail.",
    severity=Severity.LOW,
    page=__doc__,
    check=check,
    said_by=frozenset({"aligned-without-padding"}),
)
