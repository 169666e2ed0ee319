"""Records that are part of one other object alone: what is done to them by a pointer is done to that, so many bytes in.

Owns which records these are, and whether the whole is another record or a variable.  Layout is ``addressing``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sharing.model.facts import RecordBits
from sharing.source.declarations import element, record_of
from sharing.source.program import Program


@dataclass(frozen=True, slots=True)
class Part:
    """Where all objects of a record are: in the one of ``whole``, the key of a record or the identity of a variable."""

    whole: str
    offset: int
    in_variable: bool = False


def parts_of(program: Program, instances: Sequence[str]) -> dict[str, Part]:
    """By key those of the ``instances`` that are part of another one of these, or of a variable.

    A base class of exactly one other is; in C one that is the first member and that pointers cast to the whole; and
    any member where nothing else makes an object of its type, as far as is seen: what a header of a library has may be
    made by whoever uses it.
    """
    chosen = set(instances)
    holders = _holders(program)
    found: dict[str, Part] = {}
    for base, wholes in _bases(program, instances, holders).items():
        if len(wholes) == 1:
            _add(found, base, Part(*next(iter(wholes))))
    for key in instances:
        if key not in found and _seen(program, key) and (part := _alone(program, key, chosen, holders)) is not None:
            _add(found, key, part)
    return found


def _add(parts: dict[str, Part], key: str, part: Part) -> None:
    """Hostile facts may have a record below itself."""
    above = part
    while not above.in_variable and above.whole != key and above.whole in parts:
        above = parts[above.whole]
    if above.in_variable or above.whole != key:
        parts[key] = part


def _seen(program: Program, key: str) -> bool:
    """Do the units hold all code that knows the record?"""
    return "main" in program.functions or program.records[key].facts.file == 0


@dataclass(frozen=True, slots=True)
class _Holders:
    """By key of a record what has objects of it: members (key of the record, index, offset in bytes, -1 unknown; an
    array counts as two), identities of variables (so do these), whether it is allocated, and whether something else
    makes one.
    """

    members: dict[str, list[tuple[str, int]]]
    variables: dict[str, list[str]]
    allocated: set[str]
    made: set[str]

    def only_member(self, key: str) -> tuple[str, int] | None:
        members = self.members.get(key, [])
        return members[0] if len(members) == 1 and key not in self.variables and not self._moves(key) else None

    def only_variable(self, key: str) -> str:
        """The one variable that is the only object of the record, "" where there is none."""
        variables = self.variables.get(key, [])
        return variables[0] if len(variables) == 1 and key not in self.members and not self._moves(key) else ""

    def _moves(self, key: str) -> bool:
        return key in self.allocated or key in self.made


def _holders(program: Program) -> _Holders:
    found = _Holders({}, {}, set(), set())
    for key, record in program.records.items():
        for member in record.facts.members:
            tree, _ = element(member.type)
            part = record_of(program, record.unit, tree)
            if part is not None:
                offset = member.offset_bits // 8 if member.offset_bits >= 0 else -1
                plain = tree is member.type and offset >= 0 and offset + tree.size <= record.facts.size
                plain = plain and not record.facts.bits & RecordBits.UNION
                found.members.setdefault(part.facts.key, []).extend([(key, offset)] * (1 if plain else 2))
    for table in (program.variables, program.declared):
        for identity, variable in table.items():
            tree, _ = element(variable.facts.type)
            part = record_of(program, variable.unit, tree)
            if part is not None:
                plain = tree is variable.facts.type and table is program.variables
                found.variables.setdefault(part.facts.key, []).extend([identity] * (1 if plain else 2))
    found.made.update(program.record_key(unit, at) for unit in program.members for at in program.units[unit].made)
    for function in program.functions.values():
        for fact in function.facts.allocations:
            if fact.record >= 0:
                found.allocated.add(program.record_key(function.unit, fact.record))
    return found


def _alone(program: Program, key: str, chosen: set[str], holders: _Holders) -> Part | None:
    """The nearest object around the record that is one of ``chosen`` or a variable, if nothing else has one."""
    at, offset, seen = key, 0, {key}
    while True:
        if identity := holders.only_variable(at):
            return Part(identity, offset, in_variable=True)
        above = holders.only_member(at)
        if above is None or above[0] in seen:
            return None
        at, offset = above[0], offset + above[1]
        seen.add(at)
        if at in chosen:
            return Part(at, offset)


def _bases(program: Program, instances: Sequence[str], holders: _Holders) -> dict[str, dict[tuple[str, int], None]]:
    """Of base classes, and of C's way to derive, the records that begin or go on with each."""
    chosen = set(instances)
    only = _derived(program, holders)
    found: dict[str, dict[tuple[str, int], None]] = {}
    for key in instances:
        defined = program.records[key]
        for at, member in enumerate(defined.facts.members):
            part = record_of(program, defined.unit, member.type) if member.is_base or at == 0 else None
            base = part.facts.key if part is not None and member.offset_bits >= 0 else ""
            if not member.is_base and only.get(base) != key:
                continue
            if base in chosen and base != key and member.offset_bits // 8 + member.type.size <= defined.facts.size:
                found.setdefault(base, {})[key, member.offset_bits // 8] = None
    return found


def _derived(program: Program, holders: _Holders) -> dict[str, str]:
    """By the key of a record that is cast to the one that begins with it: that one, where no other object has it.

    Others are records with a member of its type, variables, and what is allocated as such.
    """
    derived = {program.record_key(unit, at) for unit in program.members for at in program.units[unit].derived}
    found = {}
    for part, members in holders.members.items() if derived else ():
        wholes = {key for key, _ in members}
        if len(wholes) == 1 and wholes <= derived and part not in holders.variables and part not in holders.allocated:
            found[part] = next(iter(wholes))
    return found
