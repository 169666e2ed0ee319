"""Constructive interference size used to separate.

What it does: finds members and variables that are aligned to `std::hardware_constructive_interference_size`, or to a
constant made of it.

Why is this bad?  C++17 has two constants.  The constructive one is the largest size that certainly fits one line: for
keeping things together.  The destructive one is the smallest distance that certainly keeps them apart.  They are equal
on x86-64 and differ elsewhere: with gcc for AArch64 the first is 64 and the second 256.

Example:

    struct queue {
      alignas(std::hardware_constructive_interference_size) std::atomic<long> head;
      alignas(std::hardware_constructive_interference_size) std::atomic<long> tail;
    };

Use instead: the destructive one.

    struct queue {
      alignas(std::hardware_destructive_interference_size) std::atomic<long> head;
      alignas(std::hardware_destructive_interference_size) std::atomic<long> tail;
    };
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sharing.model.facts import VariableBits
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.rules.declaration.base import DeclarationRule, SourceContext, SourceDraft, SourceParticipant, raised
from sharing.source.aligned import Aligned, Declared, aligned
from sharing.source.declarations import language
from sharing.source.program import Program

_CONSTANT = "hardware_constructive_interference_size"


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. declarations aligned to the constant, or to one defined by it; 2. that separate, not hold together."""
    names = _derived(program)
    for declared in aligned(program):
        words = {*re.findall(r"\w+", declared.text), *declared.macros}
        used = sorted(words & names)
        if used and _separates(declared):
            yield _draft(program, ctx, declared, _CONSTANT if _CONSTANT in used else used[0])


def _derived(program: Program) -> frozenset[str]:
    """The constant and the project's constants whose initialisers name it."""
    names = {_CONSTANT}
    for unit in program.units:
        for variable in unit.variables:
            if variable.bits & VariableBits.CONSTANT and re.search(rf"=.*{_CONSTANT}|{{.*{_CONSTANT}", variable.text):
                names.add(variable.name.rpartition("::")[2])
    return frozenset(names)


def _separates(declared: Aligned) -> bool:
    """A record of several members aligned as a whole is held together: that is what the constant is for."""
    if declared.what is Declared.RECORD:
        return declared.members == 1
    return declared.what is Declared.VARIABLE or declared.siblings > 0 or declared.at > 0


def _draft(program: Program, ctx: SourceContext, declared: Aligned, used: str) -> SourceDraft:
    spoken = language(program, declared.unit)
    below = declared.asked < ctx.line_size
    through = "" if used == _CONSTANT else f" (through {used})"
    gap = (
        f"{declared.asked} bytes here, less than a line of {ctx.line_size}"
        if below
        else f"{declared.asked} bytes here, less than the destructive size on other machines"
    )
    return SourceDraft(
        rule=RULE.id,
        severity=raised(Severity.MEDIUM if below else Severity.LOW, ctx.heat(declared.identity, declared.at)),
        verdict=Verdict.FRAGILE,
        participants=(
            SourceParticipant(
                declared.name,
                declared.at,
                declared.size,
                declared.what.value,
                declared.source,
                declared.identity,
                declared.type,
            ),
        ),
        line_at=declared.at - declared.at % ctx.line_size,
        message=(
            f"{declared.name} is kept apart by std::{_CONSTANT}{through}, the size that fits one line ({gap}): use "
            f"std::hardware_destructive_interference_size, which is made to keep things apart"
        ),
        evidence=(f"alignment as written: {declared.text}",),
        remedies=(
            Remedy(
                kind="destructive-size",
                text=f"align {declared.name} to std::hardware_destructive_interference_size",
                edit="alignas(std::hardware_destructive_interference_size)",
                language=spoken,
                cost_bytes=0,
                breaks_abi=declared.what is not Declared.VARIABLE,
                protects_tail=declared.what is not Declared.VARIABLE,
            ),
        ),
    )


RULE = DeclarationRule(
    id="constructive-interference",
    name="Constructive interference size used to separate",
    summary="Data is kept apart by std::hardware_constructive_interference_size, which says what fits one line.",
    severity=Severity.LOW,
    page=__doc__,
    check=check,
)
