"""Alignment that only some units see.

What it does: finds a record of one header whose alignment or padding differs between units, and a variable that its
definition aligns less than a declaration in another unit.

Why is this bad?  A missing include or a macro that is defined in one unit and empty in another removes the padding
there, silently.  The units disagree about where members are: each writes the other's bytes, and what one believes to
be on a line of its own is beside hot data.

Example:

    // queue.h, included with and without config.h
    struct queue { CACHE_ALIGN long head; CACHE_ALIGN long tail; };

Use instead: include what defines the macro in the header that uses it, and hold the layout.

    #include "config.h"
    struct queue { CACHE_ALIGN long head; CACHE_ALIGN long tail; };
    _Static_assert(offsetof(struct queue, tail) == 64, "tail starts a line");
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from sharing.model.facts import RecordBits, RecordFacts, VariableBits
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.rules.declaration.base import DeclarationRule, SourceContext, SourceDraft, SourceParticipant
from sharing.source.declarations import file_of, is_pad_name, language, shown_name, source_position
from sharing.source.merge import executables
from sharing.source.program import Program


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. one definition, two layouts, by alignment or padding; 2. declarations that promise more than a definition."""
    places: dict[tuple[str, str, int, int], list[str]] = {}
    for key, record in program.records.items():
        facts = record.facts
        if facts.bits & (RecordBits.ANONYMOUS | RecordBits.SYSTEM | RecordBits.TEMPLATE):
            continue
        at = (facts.name, file_of(program, record.unit, facts), facts.line, facts.column)
        places.setdefault(at, []).append(key)
    linked = _Linked(program)
    for keys in places.values():
        if len(keys) > 1:
            layouts = sorted((program.records[k] for k in keys), key=lambda r: (-r.facts.align, -r.facts.size, r.unit))
            big, small = layouts[0], layouts[-1]
            if not _differs_by_alignment(big.facts, small.facts):
                continue
            units = linked.together(big.facts.key, small.facts.key)
            if units is not None:
                yield _record(program, ctx, (big.facts, units[0]), (small.facts, units[1]))
    yield from _declarations(program, ctx)


class _Linked:
    """Which units are parts of one executable: a project may build two programs from one file with other flags.

    A file that sees the one record under some flags and the other under others says nothing: databases do not tell
    which of its units are linked with which (a program, and the same for its tests).
    """

    def __init__(self, program: Program) -> None:
        self._program = program

    def together(self, a: str, b: str) -> tuple[int, int] | None:
        """Units of one executable that have the one record, and the other; None: there are none."""
        seen: dict[str, set[str]] = defaultdict(set)
        having: dict[int, str] = {}
        for at, unit in enumerate(self._program.units):
            found = {key for key, _ in unit.records if key in (a, b)}
            seen[unit.path] |= found
            having.update((at, key) for key in found)
        for part in self._executables:
            kept = [at for at in part.members if len(seen[part.units[at].path]) == 1]
            one, other = (next((at for at in kept if having.get(at) == key), None) for key in (a, b))
            if one is not None and other is not None:
                return one, other
        return None

    @cached_property
    def _executables(self) -> tuple[Program, ...]:
        return tuple(part for _, part in executables(self._program))


def _differs_by_alignment(a: RecordFacts, b: RecordFacts) -> bool:
    if a.declared_align != b.declared_align:
        return True
    mine = {m.name: m.declared_align for m in a.members}
    theirs = {m.name: m.declared_align for m in b.members}
    if any(theirs.get(name, align) != align for name, align in mine.items()):
        return True
    pads = [{(m.name, m.type.size) for m in r.members if is_pad_name(m.name)} for r in (a, b)]
    # What one unit calls reserved, and another has members of its own in, is room for these and no padding.
    named = [{m.name for m in r.members if not is_pad_name(m.name)} for r in (a, b)]
    return pads[0] != pads[1] and (named[0] == named[1] or _first_moved(a, b) is not None)


def _first_moved(a: RecordFacts, b: RecordFacts) -> tuple[str, int, int] | None:
    theirs = {m.name: m.offset_bits // 8 for m in b.members}
    for member in a.members:
        there = theirs.get(member.name)
        if member.name and there is not None and there != member.offset_bits // 8:
            return member.name, member.offset_bits // 8, there
    return None


def _told_apart(a: str, b: str) -> tuple[str, str]:
    """Two paths without the folders that they share."""
    shared = posixpath.commonpath([posixpath.dirname(a), posixpath.dirname(b)]) if a[:1] == b[:1] == "/" else ""
    return (posixpath.relpath(a, shared), posixpath.relpath(b, shared)) if shared else (a, b)


def _record(
    program: Program, ctx: SourceContext, big: tuple[RecordFacts, int], small: tuple[RecordFacts, int]
) -> SourceDraft:
    """Of each layout the record, and a unit that sees it so."""
    (a, one), (b, other) = big, small
    name = shown_name(a)
    moved = _first_moved(a, b)
    here, there = _told_apart(program.units[one].path, program.units[other].path)
    macros = list(dict.fromkeys((*a.macros, *(x for member in a.members for x in member.macros))))
    what = (
        f"{moved[0]} is at byte {moved[1]} in {here} and at byte {moved[2]} in {there}"
        if moved
        else f"it is {a.size} bytes aligned to {a.align} in {here}, and {b.size} aligned to {b.align} in {there}"
    )
    cause = f": {' or '.join(macros[:2])} differs between the two" if macros else ""
    return SourceDraft(
        rule=RULE.id,
        severity=Severity.HIGH if moved or a.size != b.size else Severity.MEDIUM,
        verdict=Verdict.FRAGILE,
        participants=tuple(
            SourceParticipant(
                name,
                0,
                facts.size,
                f"record as {path} sees it",
                source_position(program, unit, facts),
                facts.key,
            )
            for facts, unit, path in ((a, one, here), (b, other, there))
        ),
        message=f"{name} has two layouts: {what}{cause}: include what defines its alignment where {name} is defined",
        evidence=(
            f"{here}: {a.size} bytes, aligned to {a.align}",
            f"{there}: {b.size} bytes, aligned to {b.align}",
        ),
        remedies=(
            Remedy(
                kind="one-definition",
                text=f"include the header that defines {macros[0] if macros else 'the alignment'} beside {name}",
                edit=f'_Static_assert(sizeof(struct {name}) == {a.size}, "one layout");'
                if language(program, one) == "C"
                else f'static_assert(sizeof({name}) == {a.size}, "one layout");',
                language=language(program, one),
                cost_bytes=0,
                breaks_abi=False,
                protects_tail=True,
            ),
        ),
    )


def _declarations(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """A header's ``extern`` with an alignment that the defining unit does not see."""
    seen: set[str] = set()
    for unit in range(len(program.units)):
        for facts in program.units[unit].variables:
            if not facts.bits & VariableBits.DECLARED_ONLY or facts.declared_align < ctx.line_size:
                continue
            defined = program.variables.get(facts.identity)
            if defined is None or defined.facts.declared_align >= facts.declared_align or facts.identity in seen:
                continue
            if defined.facts.align >= facts.declared_align:
                continue  # its type asks for it
            seen.add(facts.identity)
            here, there = _told_apart(program.units[unit].path, program.units[defined.unit].path)
            spoken = language(program, defined.unit)
            yield SourceDraft(
                rule=RULE.id,
                severity=Severity.MEDIUM,
                verdict=Verdict.FRAGILE,
                participants=(
                    SourceParticipant(
                        facts.name,
                        0,
                        defined.facts.size,
                        "variable as it is defined",
                        source_position(program, defined.unit, defined.facts),
                        facts.identity,
                        facts.type_text,
                    ),
                    SourceParticipant(
                        facts.name,
                        0,
                        facts.size,
                        "variable as it is declared",
                        source_position(program, unit, facts),
                        facts.identity,
                        facts.type_text,
                    ),
                ),
                message=(
                    f"{facts.name} is declared with {facts.declared_align} bytes of alignment in {here}, but {there} "
                    f"defines it with {defined.facts.align}: include the header with the declaration there"
                ),
                evidence=(f"{here}: aligned to {facts.declared_align}", f"{there}: aligned to {defined.facts.align}"),
                remedies=(
                    Remedy(
                        kind="one-definition",
                        text=f"include the header that declares {facts.name} in {there}",
                        edit=facts.align_text,
                        language=spoken,
                        cost_bytes=ctx.line_size - 1,
                        breaks_abi=False,
                        protects_tail=False,
                    ),
                ),
            )


RULE = DeclarationRule(
    id="alignment-lost-in-unit",
    name="Alignment that only some units see",
    summary="Units disagree about the alignment or padding of one record or variable: a macro or include is missing.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
)
