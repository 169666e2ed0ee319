"""Edits that put one member of a record on lines of its own, for readers of the members by name and by order alike.

Owns alignment on members, and the choice of padding where alignment cannot hold (``sharing.fix.padding``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sharing.fix.abi import outside
from sharing.fix.hazards import refuse_larger
from sharing.fix.padding import check_standard, is_first, pad_around, shown, size_around
from sharing.fix.plan import Changes, Plan, Planner
from sharing.fix.records import elements_of, file_of, is_only_in, loose_place, refuse_unbounded, separate_element
from sharing.fix.slots import wrap_member_elements
from sharing.fix.style import Spelling
from sharing.fix.tokens import Refused, Source
from sharing.model.facts import MemberFact, RecordBits, RecordFacts
from sharing.model.types import TypeKind
from sharing.source.declarations import stripped
from sharing.source.program import Defined


def align_member(
    planner: Planner, record: Defined[RecordFacts], path: str, *, split: bool = False, others: Iterable[str] = ()
) -> Plan:
    """Alignment on the member and on the one behind it, or padding around it.  ``path`` as in ``a.b[2].c``.

    ``others`` are paths of those it has to be apart from: of a member and an array beside it, the array moves, not
    something in each element.  ``split``: it has to start on a line, which padding does not bring about.
    """
    record, member = _find(planner, record, path, [_names(other) for other in others])
    facts = record.facts
    if facts.bits & RecordBits.PACKED and not split:
        raise Refused(f"{shown(facts)} is packed: its layout is fixed on purpose")
    _check_record(planner, facts, member)
    source, style = file_of(planner, record)
    following = _following(facts, member)
    changes = Changes()
    grows: int | None = None
    loose = loose_place(planner, facts)
    if loose and split:
        raise Refused(f"{loose} allocates it without alignment: use aligned_alloc there first")
    # A type that asks for a line already is aligned by whoever makes its objects, or is wrong already.
    asked = facts.align >= planner.line_size
    if not loose and not style.kernel and not (split or asked or planner.is_placed(facts.key)):
        loose = "code that was not seen"
    notes = outside(source.path)
    if facts.bits & RecordBits.PACKED:
        notes = (f"{shown(facts)} is packed: make sure that nothing else relies on where its members are", *notes)
    if loose:
        check_standard(planner.program.units[record.unit].standard, loose)
        _check_plain(source, member)
        pad_around(source, facts, member, planner.line_size, changes)
        grows = size_around(facts, member, planner.line_size) - facts.size
        how = f"put a line of unnamed bits {'behind' if is_first(facts, member) else 'on both sides of'} {member.name}"
        notes = (f"{loose} allocates it without alignment: padding holds wherever it starts", *notes)
    else:
        for each in (member, *following[:1]):
            if each.declared_align < planner.line_size:
                _align_one(source, facts, each, style, changes)
        what = "and the member behind it on lines of their own" if following else "on a line of its own"
        how = f"start {member.name} {what}"
    return Plan(changes.edits(), how, breaks_abi=True, notes=notes, rounds=False, grows=grows)


def separate_member_elements(planner: Planner, record: Defined[RecordFacts], path: str) -> Plan:
    """Lines of its own for each element of an array in a record: alignment on a type that only the array has."""
    at: Defined[RecordFacts] | None = record
    for name in _names(path):
        step = _member(planner, at, name) if at is not None else None
        if step is None:
            break
        elements = elements_of(planner, step[1].type, step[0].unit)
        if elements is None:
            at = planner.own_record(step[1].type, step[0].unit)
            continue
        inner, unit, holder = elements
        element = planner.own_record(inner, unit)
        if element is not None and is_only_in(planner, element, holder, f"record {step[0].facts.key}"):
            return separate_element(planner, element)
        if holder:
            raise Refused(f"the elements of {name} have no type of their own: give them one that is aligned")
        return wrap_member_elements(planner, *step)
    raise Refused(f"no array {path} is known")


def _following(facts: RecordFacts, member: MemberFact) -> list[MemberFact]:
    end = member.offset_bits + 8 * max(member.type.size, 1)
    return [m for m in facts.members if m.offset_bits >= end and m is not member]


def _check_record(planner: Planner, facts: RecordFacts, member: MemberFact) -> None:
    """What no edit of a member is made in."""
    if facts.bits & RecordBits.UNION:
        raise Refused(f"{shown(facts)} is a union: its members share their bytes by intent")
    if member.is_base or member.bit_size:
        raise Refused(f"{member.name or 'the base class'} is a {'base' if member.is_base else 'bit-field'}")
    following = _following(facts, member)
    if any(m.bit_size for m in following[:1]):
        raise Refused(f"a bit-field follows {member.name}")
    if any(not m.name and not m.is_base for m in following[:1]):
        raise Refused(f"an anonymous member follows {member.name}")
    refuse_unbounded(facts)
    refuse_larger(planner, facts)


def _names(path: str) -> list[str]:
    return [name for name in re.sub(r"\[[^\]]*\]", "", path).lstrip(".").split(".") if name]


def _find(
    planner: Planner, record: Defined[RecordFacts], path: str, others: list[list[str]]
) -> tuple[Defined[RecordFacts], MemberFact]:
    """The record and its member that parts ``path`` from the others: the innermost, but outside of arrays.

    An element of an array is gone into only where all of the others are in the same array.
    """
    names = _names(path)
    shared = [_common(names, other) for other in others if other != names]
    depth = max(shared, default=len(names))  # names that lead to the record in which the ways part
    found: tuple[Defined[RecordFacts], MemberFact] | None = None
    at: Defined[RecordFacts] | None = record
    for number, name in enumerate(names):
        if at is None:
            break
        step = _member(planner, at, name)
        if step is None:
            break
        found = step
        tree = stripped(step[1].type)
        elements = tree.kind == TypeKind.ARRAY
        while tree.kind == TypeKind.ARRAY and tree.inner is not None:
            tree = stripped(tree.inner)
        if number >= depth or (elements and any(common <= number for common in shared)):
            break
        # What the system defines is one piece for us: its members cannot be moved.
        at = planner.own_record(tree, step[0].unit)
    if found is None:
        raise Refused(f"no member {path} is known")
    return found


def _common(names: list[str], other: list[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(names, other, strict=False)) if a != b), min(len(names), len(other)))


def _member(
    planner: Planner, record: Defined[RecordFacts], name: str
) -> tuple[Defined[RecordFacts], MemberFact] | None:
    for member in record.facts.members:
        if member.name == name:
            return record, member
    for member in record.facts.members:
        if member.name and not member.is_base:
            continue
        inner = planner.own_record(member.type, record.unit)  # anonymous record or base
        found = _member(planner, inner, name) if inner is not None and inner.facts is not record.facts else None
        if found is not None:
            return found
    return None


def _shares_declaration(facts: RecordFacts, member: MemberFact) -> bool:
    return any(other.begin == member.begin and other is not member for other in facts.members)


def _align_one(source: Source, facts: RecordFacts, member: MemberFact, style: Spelling, changes: Changes) -> None:
    _check_plain(source, member)
    if member.is_base:
        raise Refused("a base class follows")
    if style.member and not _shares_declaration(facts, member):
        changes.insert(source, member.begin, f"{style.member} ")
    else:
        changes.insert(source, _before_initialiser(source, member), f" {style.trailing}")


def _before_initialiser(source: Source, member: MemberFact) -> int:
    """Where an attribute of one of several declarators stands: behind its name and bounds."""
    code, last = source.code, source.at(member.end)
    name = member.name.encode()
    at = next((i for i in range(source.at(member.begin), last) if code[i].text == name), last)
    while at < last and code[at].text not in (b"=", b"{"):
        at += 1
    return code[at - 1].end if at < last else member.end


def _check_plain(source: Source, member: MemberFact) -> None:
    """The range has to hold the member's name as a token of this file, else a macro wrote it."""
    code = source.code
    begin, end = source.at(member.begin), source.at(member.end)
    words = {token.text for token in code[begin:end]}
    if begin >= len(code) or code[begin].begin != member.begin or (member.name and member.name.encode() not in words):
        raise Refused(f"a macro declares {member.name or 'the member behind it'}")
