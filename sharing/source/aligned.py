"""Every declaration that asks for an alignment, in one form: variables, members and records.

Owns the walk over the program.  Judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from sharing.model.facts import RecordBits, VariableBits
from sharing.source.declarations import shown_name, source_position
from sharing.source.program import Program

_ALIGNMENT = re.compile(r"(?:alignas|_Alignas|aligned|declspec)\b[^;{]*", re.IGNORECASE)


class Declared(Enum):
    VARIABLE = "variable"
    MEMBER = "member"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Aligned:
    """One declaration.  ``asked`` in bytes; ``text`` its attribute as written, with the macros that produced it.

    ``at`` is a member's offset and ``owner`` the record (or the declaration itself) as shown; ``siblings`` the members
    of the record beside it that ask for an alignment as well.
    """

    what: Declared
    unit: int
    name: str
    owner: str
    identity: str
    at: int
    size: int
    asked: int
    text: str
    macros: tuple[str, ...]
    source: str
    type: str
    siblings: int = 0
    members: int = 0


def aligned(program: Program) -> Iterator[Aligned]:
    """Declarations of the project (not of system headers) with an alignment of their own."""
    for defined in program.variables.values():
        facts = defined.facts
        if facts.declared_align and not facts.bits & VariableBits.THREAD:
            yield Aligned(
                Declared.VARIABLE,
                defined.unit,
                facts.name,
                facts.name,
                facts.identity,
                0,
                facts.size,
                facts.declared_align,
                facts.align_text or _attribute(facts.text),
                facts.macros,
                source_position(program, defined.unit, facts),
                facts.type_text or facts.type.name,
            )
    for key, record in program.records.items():
        whole = record.facts
        if whole.bits & RecordBits.SYSTEM:
            continue
        name = shown_name(whole)
        if whole.declared_align:
            yield Aligned(
                Declared.RECORD,
                record.unit,
                name,
                name,
                key,
                0,
                whole.size,
                whole.declared_align,
                whole.align_text,
                whole.macros,
                source_position(program, record.unit, whole),
                name,
                members=len(whole.members),
            )
        asking = sum(1 for m in whole.members if m.declared_align)
        for member in whole.members:
            if member.declared_align:
                yield Aligned(
                    Declared.MEMBER,
                    record.unit,
                    f"{name}.{member.name}",
                    name,
                    key,
                    member.offset_bits // 8,
                    max(member.type.size, 0),
                    member.declared_align,
                    _attribute(member.text),
                    member.macros,
                    source_position(program, record.unit, member),
                    member.type.name,
                    asking - 1,
                    len(whole.members),
                )


def _attribute(text: str) -> str:
    """The part of a declaration that speaks of alignment, all of it where a macro hides it."""
    found = _ALIGNMENT.search(text)
    return found.group() if found else text
