"""Lines of bit-fields without a name: room between members that holds wherever an object starts.

Owns their text, where it is put beside members and their comments, and what it makes of a record's size.  Such fields
are members to nobody: initialisers in order, designated ones and structured bindings keep their meaning.
"""

from __future__ import annotations

import re

from sharing.basics.geometry import round_up
from sharing.fix.plan import Changes
from sharing.fix.tokens import Kind, Refused, Source
from sharing.model.facts import MemberFact, RecordBits, RecordFacts
from sharing.model.types import RECORD_KINDS
from sharing.source.declarations import stripped

_COMMENT = re.compile(rb"[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)")
_OLD_C = re.compile(r"^(c|iso9899:)(89|90|199409)$")
_UNIT_BITS = 64


def check_standard(standard: str, loose: str) -> None:
    """Raise ``Refused`` where the language has no such fields.  ``loose`` is what asks for them."""
    if _OLD_C.match(standard):
        raise Refused(f"{loose} allocates it without alignment, and C89 has no bit-fields of 64 bits to pad with")


def pad_around(source: Source, facts: RecordFacts, member: MemberFact, line: int, changes: Changes) -> None:
    """A line of padding on both sides of a member, behind it alone where it is the first."""
    if stripped(member.type).kind in RECORD_KINDS and any(
        token.text == b"{" for token in source.code[source.at(member.begin) : source.at(member.end)][:4]
    ):
        raise Refused(f"{member.name} is declared together with its type")
    if any(other.begin == member.begin and other is not member for other in facts.members):
        _split_around(source, facts, member, line, changes)
        return
    code = source.code
    first, last = source.at(member.begin), source.at(member.end)
    if last >= len(code) or code[last].text != b";":
        raise Refused(f"the declaration of {member.name} was not understood")
    if not is_first(facts, member):
        _pad_behind(source, _end_before(source, first), _padding(line), changes)
    _pad_behind(source, last, _padding(line), changes)


def pad_tail(source: Source, facts: RecordFacts, line: int, changes: Changes) -> None:
    """A line of padding behind the last member: objects one after another meet on no line, wherever they start."""
    last = closing_brace(source, facts)
    if last < 1 or source.code[last - 1].text != b";":
        raise Refused(f"what stands last in {shown(facts)} was not understood")
    _pad_behind(source, last - 1, _padding(line), changes)


def closing_brace(source: Source, facts: RecordFacts) -> int:
    """Index of the token that ends the record's definition.  Raises ``Refused`` where a macro wrote it."""
    code, last = source.code, source.at(facts.end) - 1
    if not 0 <= last < len(code) or code[last].text != b"}" or code[last].end != facts.end:
        raise Refused(f"a macro defines {shown(facts)}")
    return last


def shown(facts: RecordFacts) -> str:
    """The record in a sentence."""
    return "its type" if facts.bits & RecordBits.ANONYMOUS or not facts.name else facts.name


def is_first(facts: RecordFacts, member: MemberFact) -> bool:
    return min(facts.members, key=lambda each: each.offset_bits) is member


def size_around(facts: RecordFacts, member: MemberFact, line: int) -> int:
    """The record's size with ``pad_around``: units of 64 bits begin at multiples of 8 bytes (psABIs of 64 bits)."""
    unit = _UNIT_BITS // 8
    start = member.offset_bits // 8
    at = start if is_first(facts, member) else round_up(start, unit) + line
    at = round_up(at + member.type.size, unit) + line
    behind = 8 * (start + max(member.type.size, 1))
    end = min((m.offset_bits for m in facts.members if m.offset_bits >= behind and m is not member), default=0) // 8
    return round_up(at + facts.size - (end or facts.size), max(facts.align, 1))


def size_with_tail(facts: RecordFacts, line: int) -> int:
    """The record's size with ``pad_tail``."""
    end = max((each.offset_bits // 8 + each.type.size for each in facts.members), default=facts.size)
    return round_up(round_up(end, _UNIT_BITS // 8) + line, max(facts.align, 1))


def _padding(line: int) -> str:
    return f"long long {', '.join([f': {_UNIT_BITS}'] * (8 * line // _UNIT_BITS))};"


def _split_around(source: Source, facts: RecordFacts, member: MemberFact, line: int, changes: Changes) -> None:
    """One of several declarators: the declaration is written in parts, each with its type, padding between them.

    Only of plain names and arrays of them: what belongs to a ``*`` or to parentheses depends on where it stands.
    """
    code = source.code
    group = sorted((m for m in facts.members if m.begin == member.begin), key=lambda each: each.end)
    first, last = source.at(member.begin), source.at(group[-1].end)
    begin = next((i for i in range(first, last) if code[i].text == group[0].name.encode()), first)
    named = sum(token.text == group[0].name.encode() for token in code[first : source.at(group[0].end)])
    if any(token.text in (b"*", b"(", b"{", b":", b"&") for token in code[first:last]) or named != 1 or begin == first:
        raise Refused(f"{member.name} is declared together with others: give it a declaration of its own first")
    if last >= len(code) or code[last].text != b";":
        raise Refused(f"the declaration of {member.name} was not understood")
    kind = source.data[code[first].begin : code[begin - 1].end].decode("utf-8", "surrogateescape")
    indent = source.indent(code[first].begin)
    at = group.index(member)
    between = f";\n{indent}{_padding(line)}\n{indent}{kind}"
    if at == 0 and not is_first(facts, member):
        _pad_behind(source, _end_before(source, first), _padding(line), changes)
    for number in range(len(group) - 1):
        comma = source.at(group[number].end)
        if code[comma].text != b"," or code[comma + 1].kind is not Kind.NAME:
            raise Refused(f"{member.name} is declared together with others: give it a declaration of its own first")
        if number in (at - 1, at):
            changes.replace(source, code[comma].begin, code[comma].end, between)
    if at == len(group) - 1:
        _pad_behind(source, last, _padding(line), changes)


def _end_before(source: Source, first: int) -> int:
    """Index of the token that ends the declaration before that of ``code[first]``, macros in front of it included."""
    at = first - 1
    while at >= 0 and source.code[at].text not in (b";", b"{", b"}", b":"):
        at -= 1
    if at < 0:
        raise Refused("its declaration was not understood")
    return at


def _pad_behind(source: Source, at: int, padding: str, changes: Changes) -> None:
    """Padding behind ``code[at]`` and what comments on it in the same line."""
    code, end = source.code, source.code[at].end
    following = code[at + 1].begin if at + 1 < len(code) else len(source.data)
    if any(end <= directive.begin < following for directive in source.directives):
        raise Refused(f"a preprocessor directive stands beside it ({source.path}:{source.position(end)[0]})")
    indent = source.indent(code[at].begin) if code[at].text == b";" else source.indent(following)
    place = end
    while found := _COMMENT.match(source.data, place, following):
        place = found.end()
    changes.insert(source, place, f"\n{indent}{padding}")
