"""Edits of record definitions: the whole type on lines of its own, or one of its members.

Owns alignment on types (which rounds their size up, so that the tail is protected too) and on members.
"""

from __future__ import annotations

import re

from sharing.fix.plan import Changes, Plan, Planner
from sharing.fix.style import Spelling
from sharing.fix.tokens import Refused, Source
from sharing.model.facts import MemberFact, RecordBits, RecordFacts
from sharing.model.types import TypeKind
from sharing.source.declarations import stripped
from sharing.source.program import Defined

_KEYWORDS = frozenset((b"struct", b"class", b"union"))


def align_record(planner: Planner, record: Defined[RecordFacts]) -> Plan:
    """Alignment on the type itself."""
    facts = record.facts
    if facts.declared_align >= planner.line_size:
        raise Refused(f"{facts.name} is aligned to {facts.declared_align} bytes already")
    source, style = _file_of(planner, record)
    changes = Changes()
    _align(source, facts, style, changes)
    return Plan(
        changes.edits(),
        f"align {_shown(facts)} to {planner.line_size} bytes, which rounds its size up from {facts.size}",
        breaks_abi=_is_header(source.path),
    )


def separate_record(planner: Planner, record: Defined[RecordFacts]) -> Plan:
    """Every object of the type on lines of its own, wherever it is allocated."""
    loose = _loose(planner, record.facts)
    if loose:
        raise Refused(f"{loose} allocates it without alignment: use aligned_alloc there first")
    return align_record(planner, record)


def use_destructive_size(planner: Planner, identity: str) -> Plan:
    """The constant for separating in place of the one for keeping together, in one declaration."""
    program = planner.program
    found = program.variables.get(identity) or program.records.get(identity)
    if found is None:
        raise Refused("its declaration is not known from source")
    source = planner.source(program.path(found.unit, found.facts.file))
    changes = Changes()
    for token in source.code[source.at(found.facts.begin) : source.at(found.facts.end)]:
        if token.text == b"hardware_constructive_interference_size":
            changes.replace(source, token.begin, token.end, "hardware_destructive_interference_size")
    if not changes.edits():
        raise Refused("the constant is not written in its declaration")
    return Plan(changes.edits(), "use the constant that is meant for separating", breaks_abi=True, rounds=False)


def _loose(planner: Planner, facts: RecordFacts) -> str:
    """A place that allocates the record with less alignment than a line, "" none."""
    places = planner.allocations(facts.key)
    return next((place for place, promise in places if promise < planner.line_size), "")


def _file_of(planner: Planner, record: Defined[RecordFacts]) -> tuple[Source, Spelling]:
    path = planner.program.path(record.unit, record.facts.file)
    return planner.source(path), planner.spelling(path)


def _shown(facts: RecordFacts) -> str:
    return "its type" if facts.bits & RecordBits.ANONYMOUS else facts.name


def _is_header(path: str) -> bool:
    return bool(re.search(r"\.(h|hh|hpp|hxx|h\+\+|inc)$", path))


def _align(source: Source, facts: RecordFacts, style: Spelling, changes: Changes) -> None:
    code = source.code
    at = source.at(facts.begin)
    while at < len(code) and code[at].begin < facts.end and code[at].text not in _KEYWORDS:
        at += 1
    last = source.at(facts.end) - 1
    if at >= len(code) or code[at].begin >= facts.end or code[last].text != b"}" or code[last].end != facts.end:
        raise Refused(f"a macro defines {_shown(facts)}")
    if style.record_behind:
        changes.insert(source, facts.end, f" {style.record}")
    else:
        changes.insert(source, code[at].end, f" {style.record}")


def align_member(planner: Planner, record: Defined[RecordFacts], path: str, *, split: bool = False) -> Plan:
    """Alignment on the member and on the one behind it, or padding around it.  ``path`` as in ``a.b[2].c``.

    ``split``: it has to start on a line, which padding does not bring about.
    """
    record, member = _find(planner, record, path)
    facts = record.facts
    if facts.bits & RecordBits.UNION:
        raise Refused(f"{_shown(facts)} is a union: its members share their bytes by intent")
    if member.is_base or member.bit_size:
        raise Refused(f"{member.name or 'the base class'} is a {'base' if member.is_base else 'bit-field'}")
    source, style = _file_of(planner, record)
    size = max(member.type.size, 1)
    following = [m for m in facts.members if m.offset_bits >= member.offset_bits + 8 * size and m is not member]
    if any(m.bit_size for m in following[:1]):
        raise Refused(f"a bit-field follows {member.name}")
    changes = Changes()
    loose = _loose(planner, facts)
    if loose and split:
        raise Refused(f"{loose} allocates it without alignment: use aligned_alloc there first")
    if loose:
        _pad_around(source, facts, member, planner.line_size, changes)
        how = f"put a line of padding on both sides of {member.name}"
        notes: tuple[str, ...] = (
            f"{loose} allocates it without alignment: padding holds wherever it starts",
            "initialisers that list members in order have to skip the padding",
        )
    else:
        for each in (member, *following[:1]):
            _align_one(source, facts, each, style, changes)
        how = f"start {member.name} and the member behind it on lines of their own"
        notes = ()
    return Plan(changes.edits(), how, breaks_abi=True, notes=notes, rounds=False)


def _find(planner: Planner, record: Defined[RecordFacts], path: str) -> tuple[Defined[RecordFacts], MemberFact]:
    """The innermost record on the way and its member."""
    names = [name for name in re.sub(r"\[[^\]]*\]", "", path).lstrip(".").split(".") if name]
    found: tuple[Defined[RecordFacts], MemberFact] | None = None
    at: Defined[RecordFacts] | None = record
    for name in names:
        if at is None:
            break
        step = _member(planner, at, name)
        if step is None:
            break
        tree = stripped(step[1].type)
        while tree.kind == TypeKind.ARRAY and tree.inner is not None:
            tree = stripped(tree.inner)
        inner = planner.own_record(tree, step[0].unit)
        # What the system defines is one piece for us: its members cannot be moved.
        found, at = step, inner
    if found is None:
        raise Refused(f"no member {path} is known")
    return found


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


def _pad_around(source: Source, facts: RecordFacts, member: MemberFact, line: int, changes: Changes) -> None:
    _check_plain(source, member)
    if _shares_declaration(facts, member):
        raise Refused(f"{member.name} is declared together with others: give it a declaration of its own first")
    indent = source.indent(member.begin)
    if source.code[source.at(member.begin) - 1].text != b"{":
        changes.insert(source, member.begin, f"char {member.name}_front[{line}];\n{indent}")
    end = source.at(member.end)
    if end >= len(source.code) or source.code[end].text != b";":
        raise Refused(f"the declaration of {member.name} was not understood")
    changes.insert(source, source.code[end].end, f"\n{indent}char {member.name}_tail[{line}];")
