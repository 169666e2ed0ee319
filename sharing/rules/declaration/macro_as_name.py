"""Alignment macro that became a name.

What it does: finds a variable or member that is named like an alignment macro, is declared behind the closing brace of
its record, and is never used.

Why is this bad?  Where the header that defines the macro is not included, `struct s { ... } __cacheline_aligned;` is
still valid C: it declares a variable called `__cacheline_aligned`.  Nothing is aligned, and nothing warns.  In a header
it also defines that variable in every unit that includes it.  Headers of other projects that are given by -isystem are
looked at as well, as a note: a variable there is in every unit, but whoever includes such a header is not who mends it.

Example:

    struct counters { long hits; } __cacheline_aligned;         // a variable, if the macro is not defined

Use instead: include the header that defines the macro, or the attribute itself.

    struct counters { long hits; } __attribute__((aligned(64)));
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sharing.model.facts import RecordBits, VariableBits
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.model.types import RECORD_KINDS
from sharing.rules.declaration.base import (
    DeclarationRule,
    SourceContext,
    SourceDraft,
    SourceParticipant,
    aligned_record,
)
from sharing.source.declarations import core, language, record_of, shown_name, source_position
from sharing.source.program import Program

_ATTRIBUTE = re.compile(r"align|cache_?line", re.IGNORECASE)
_OF_LINES = re.compile(r"cache", re.IGNORECASE)
_MACRO_SHAPE = re.compile(r"__\w+|[A-Z][A-Z0-9_]*|_[A-Z]\w*|\w*cache_?(?:line_?)?align\w*")


@dataclass(frozen=True, slots=True)
class _Misnamed:
    """What a macro's name became: ``role`` says what it is, ``of`` of which record; ``several`` that it is several."""

    name: str
    role: str
    of: str
    size_bytes: int
    place: str
    identity: str
    language: str
    several: str = ""
    of_others: bool = False  # in a header that is given as one of the system


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. variables declared with their record and named like a macro; 2. unused; 3. members of the same kind."""
    for defined in program.variables.values():
        facts = defined.facts
        if not facts.bits & VariableBits.EMBEDDED or facts.size <= 0 or not _named_like_macro(facts.name):
            continue
        if facts.bits & VariableBits.REFERENCED or ctx.uses.of_variable(facts.identity):
            continue
        record = record_of(program, defined.unit, facts.type)
        if record is not None and record.facts.declared_align:
            continue  # lost no macro
        what = shown_name(record.facts) if record is not None else "its record"
        units = [u.path for u in program.units if any(v.identity == facts.identity for v in u.variables)]
        several = f"; {len(units)} units define it" if len(units) > 1 else ""
        where, spoken = source_position(program, defined.unit, facts), language(program, defined.unit)
        others = record is not None and bool(record.facts.bits & RecordBits.SYSTEM)
        made = _Misnamed(facts.name, "variable", what, facts.size, where, facts.identity, spoken, several, others)
        yield _draft(made, ctx)
    for key, holder in program.records.items():
        system = bool(holder.facts.bits & RecordBits.SYSTEM)
        for member in holder.facts.members:
            shape = core(member.type)
            if shape is None or shape.kind not in RECORD_KINDS or not _named_like_macro(member.name):
                continue
            if system and not _OF_LINES.search(member.name):
                continue  # std::aligned_storage has a member __align
            inner = record_of(program, holder.unit, member.type)
            if inner is None or not member.begin <= inner.facts.begin < member.end:
                continue  # declared apart from its record: a name on purpose
            if inner.facts.declared_align:
                continue
            if any(u.offset == member.offset_bits // 8 for u in ctx.uses.of_record(key)):
                continue
            where, spoken = source_position(program, holder.unit, member), language(program, holder.unit)
            role, of = f"member of {shown_name(holder.facts)}", shown_name(inner.facts)
            yield _draft(_Misnamed(member.name, role, of, member.type.size, where, key, spoken, of_others=system), ctx)


def _named_like_macro(name: str) -> bool:
    bare = name.rpartition("::")[2]
    return bool(_ATTRIBUTE.search(bare)) and bool(_MACRO_SHAPE.fullmatch(bare))


def _draft(it: _Misnamed, ctx: SourceContext) -> SourceDraft:
    attribute = f"__attribute__((aligned({ctx.line_size})))"
    bare = re.sub(r"^(struct|class|union) |.*::", "", it.of)
    bare = bare if bare.isidentifier() else "T"  # a record without a name
    return SourceDraft(
        rule=RULE.id,
        severity=Severity.NOTE if it.of_others else Severity.MEDIUM,
        verdict=Verdict.FRAGILE,
        participants=(SourceParticipant(it.name, 0, it.size_bytes, it.role, it.place, it.identity, it.of),),
        message=(
            f"{it.name} is a {it.role} of {it.size_bytes} bytes, not an attribute: no macro of that name is defined "
            f"here, so {it.of} is not aligned{it.several}: include the header that defines {it.name}, or write "
            f"{attribute}"
        ),
        evidence=(f"{it.name} is declared behind the closing brace of {it.of} and nothing uses it",),
        remedies=(
            Remedy(
                kind="define-macro",
                text=f"include the header that defines {it.name}, or replace it by the attribute",
                edit=f"}} {attribute};" if it.language == "C" else aligned_record(bare, it.language, ctx),
                language=it.language,
                cost_bytes=-it.size_bytes % ctx.line_size,
                breaks_abi=False,
                protects_tail=True,
            ),
        ),
    )


RULE = DeclarationRule(
    id="alignment-macro-as-name",
    name="Alignment macro that became a name",
    summary="An alignment macro is not defined in this unit and so became the name of an unused variable.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
)
