"""Edits that put a member of a record at another place in it, where no object grows.

Owns the text of the move, and what keeps members in their order: values given in order, bytes that leave the program,
offsets that code asks for, headers of a library.  By tokens: what is not found is in a macro that the project defines
elsewhere, or goes through a template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sharing.fix.abi import is_header, outside, record_is_seen
from sharing.fix.hazards import bytes_used
from sharing.fix.padding import closing_brace, is_first, shown
from sharing.fix.plan import Changes, Plan, Planner, last_name
from sharing.fix.records import file_of, refuse_unbounded
from sharing.fix.style import is_system
from sharing.fix.tokens import Refused, Source, Token, matching
from sharing.model.facts import MemberFact, RecordBits, RecordFacts
from sharing.source.program import Defined

_OFFSETS = frozenset((b"offsetof", b"__builtin_offsetof", b"offsetofend"))
_ASSERTS = re.compile(rb"static_assert|build_bug_on|build_assert", re.IGNORECASE)
_ACCESS = frozenset((b"public", b"private", b"protected", b"operator"))
_ORDERED = "gives its members values in order"
_COMMENT = re.compile(rb"[ \t]*(?://[^\n]*|/\*(?:[^*\n]|\*(?!/))*\*/)[ \t]*(?=\n|\Z)")
_END = re.compile(rb"[ \t]*\r?\n")
_OWN_COMMENT = re.compile(rb"[ \t]*(?://[^\n]*|/\*(?:[^*\n]|\*(?!/))*\*/)[ \t]*\Z")


def move_member(planner: Planner, record: Defined[RecordFacts], name: str, behind: str) -> Plan:
    """Declare a member behind another one.  Raises Refused where something depends on their order."""
    facts = record.facts
    source, _ = file_of(planner, record)
    member, anchor = (next((m for m in facts.members if m.name == each), None) for each in (name, behind))
    if member is None or anchor is None or member is anchor:
        raise Refused(f"{name} and {behind} are not members of one record")
    if is_first(facts, member):
        raise Refused(f"{name} comes first in {shown(facts)}, where casts may look for it")
    _check_record(planner, record, source)
    own, place = (_declaration(source, facts, each) for each in (member, anchor))
    _check_between(source, facts, own, place, member)
    changes = Changes()
    begin, end = _with_comments(source, *own)
    _, at = _with_comments(source, *place)
    text = source.data[begin:end].decode("utf-8", "surrogateescape")
    gone = _gone(source, begin, end)
    changes.replace(source, *gone, "")
    lines = source.data[gone[0] : gone[1]].endswith(b"\n")
    changes.insert(source, at, f"\n{text}" if lines else f" {text}")
    return Plan(
        changes.edits(),
        f"move {name} behind {behind}, a line away: no object grows",
        breaks_abi=record_is_seen(planner, facts, source.path),
        notes=outside(source.path),
        rounds=False,
        grows=0,
    )


def _check_record(planner: Planner, record: Defined[RecordFacts], source: Source) -> None:
    facts = record.facts
    if facts.bits & (RecordBits.UNION | RecordBits.PACKED | RecordBits.POLYMORPHIC | RecordBits.TEMPLATE):
        raise Refused(f"the order of members of {shown(facts)} is fixed on purpose")
    if is_header(source.path) and any(not main for main, _ in planner.executables):
        raise Refused(f"{source.path} is a header of a library, whose users know the order of members")
    refuse_unbounded(facts)
    if union := planner.union_around(facts.key):
        raise Refused(f"the union {union} gives its bytes other meanings too")
    if taken := bytes_used(planner, facts):
        raise Refused(f"{taken} would see another order")
    closing_brace(source, facts)
    _check_variables(planner, planner.around(facts.key))
    cxx = planner.program.units[record.unit].language == "C++"
    records = [
        planner.program.records[key].facts for key in planner.around(facts.key) if key in planner.program.records
    ]
    names = {last_name(one.name).encode("utf-8", "surrogateescape") for one in records} - {b""}
    for path in _readers(planner, source.path):
        try:
            each = planner.files.source(path)
        except Refused:
            continue  # generated and gone, or not ours to read
        aliases = names | set(_aliases(each.code, names))
        if not each.names.isdisjoint(aliases):
            _check_file(each, aliases, cxx=cxx)
            names = aliases


def _readers(planner: Planner, home: str) -> list[str]:
    """The project's files that may use what one of them defines, that one first."""
    paths = {path: None for unit in planner.program.units if home in unit.files for path in unit.files}
    return [home, *(path for path in paths if path != home and not is_system(path))]


def _aliases(code: list[Token], names: set[bytes]) -> Iterator[bytes]:
    """Names that ``typedef`` and ``using`` give to the types."""
    for at, token in enumerate(code):
        if token.text not in (b"typedef", b"using"):
            continue
        end = next((i for i in range(at, len(code)) if code[i].text in (b";", b"{")), at)
        inside = [each.text for each in code[at:end]]
        if names.isdisjoint(inside):
            continue
        yield code[end - 1].text if token.text == b"typedef" else inside[1]


def _check_variables(planner: Planner, keys: frozenset[str]) -> None:
    """Raise Refused where a variable of these records, or of arrays of them, is given values in order."""
    users = {user for key in keys for user in planner.users(key)}
    for identity in sorted(users & planner.program.variables.keys()):
        known = planner.program.variables[identity]
        source = planner.files.source(planner.program.path(known.unit, known.facts.file))
        code, at = source.code, source.at(known.facts.name_begin)
        end = next((i for i in range(at, len(code)) if code[i].text in (b";", b"{")), at)
        if code[end].text == b"{" and _positional(code[end + 1 : matching(code, end)]):
            raise Refused(f"{source.path}:{source.position(code[at].begin)[0]} {_ORDERED}")


def _check_file(source: Source, names: set[bytes], *, cxx: bool) -> None:
    """Raise Refused where code gives members values in order, or asks for their places."""
    bodies = [source.code, *(source.within(directive) for directive in source.directives)]
    for code in bodies:
        for at, token in enumerate(code):
            what = _by_order(code, at) if token.text in names else _without_a_name(code, at) if cxx else ""
            if what:
                raise Refused(f"{source.path}:{source.position(token.begin)[0]} {what}")


def _by_order(code: list[Token], at: int) -> str:
    """What depends on the order of members where a type is named, "" nothing."""
    if any(token.text in _OFFSETS for token in code[max(at - 3, 0) : at]):
        return "asks for the offset of a member"
    statement = at
    while statement and code[statement - 1].text not in (b";", b"{", b"}"):
        statement -= 1
    if any(_ASSERTS.search(token.text) for token in code[statement:at]):
        return "asserts what its layout is"
    end = at + 1
    while end < len(code) and code[end].text not in (b";", b"{", b"}"):
        end += 1
    opens = end < len(code) and code[end].text == b"{"
    return _ORDERED if opens and _positional(code[end + 1 : matching(code, end)]) else ""


def _without_a_name(code: list[Token], at: int) -> str:
    """What may depend on it in C++ where no type is named: braces that are returned or handed over, bindings."""
    if code[at].text == b"{" and at and code[at - 1].text in (b"return", b"(", b",", b"="):
        return _ORDERED if _positional(code[at + 1 : matching(code, at)]) else ""
    if code[at].text == b"auto" and any(token.text == b"[" for token in code[at + 1 : at + 3]):
        return "may bind its members in order"
    return ""


def _positional(inside: list[Token]) -> bool:
    """Are these the contents of braces with values in order: no statements, not none, one zero, or members by name?"""
    words = {token.text for token in inside} - {b"{", b"}", b","}
    if not words or words == {b"0"} or b";" in words:
        return False
    first = next(token for token in inside if token.text != b"{")
    return first.text not in (b".", b"[") or bool(re.search(rb"=\s*\{\s*[^.{}\s]", b" ".join(t.text for t in inside)))


def _declaration(source: Source, facts: RecordFacts, member: MemberFact) -> tuple[int, int]:
    """Bytes from the first token of a member's declaration to behind its semicolon."""
    if member.is_base or member.bit_size or any(m is not member and m.begin == member.begin for m in facts.members):
        raise Refused(f"{member.name} has no declaration of its own")
    code = source.code
    first, last = source.at(member.begin), source.at(member.end)
    named = any(token.text == member.name.encode() for token in code[first:last])
    if first >= len(code) or code[first].begin != member.begin or not named:
        raise Refused(f"a macro declares {member.name}")
    if last >= len(code) or code[last].text != b";" or code[first - 1].text not in (b";", b"{", b"}"):
        raise Refused(f"the declaration of {member.name} was not understood")
    if any(token.text in (b"{", b"=") for token in code[first:last]):
        raise Refused(f"{member.name} is declared with its type or a value")
    return code[first].begin, code[last].end


def _check_between(
    source: Source, facts: RecordFacts, own: tuple[int, int], place: tuple[int, int], member: MemberFact
) -> None:
    """Raise Refused where the way from the one to the other is more than declarations."""
    low, high = min(own[0], place[0]), max(own[1], place[1])
    if any(low <= directive.begin < high for directive in source.directives):
        raise Refused(f"a preprocessor directive stands between the members of {shown(facts)}")
    body = source.code[source.at(facts.begin) : source.at(facts.end)]
    words = [token.text for token in body]
    if not _ACCESS.isdisjoint(words):
        raise Refused(f"{shown(facts)} has parts that not everybody may use, or operators")
    name = last_name(facts.name).encode()
    made = any(word == name and body[i + 1 : i + 2] and body[i + 1].text == b"(" for i, word in enumerate(words))
    if made or words.count(member.name.encode()) != 1:
        raise Refused(f"{shown(facts)} sets up its members in their order")


def _with_comments(source: Source, begin: int, end: int) -> tuple[int, int]:
    """With its comments: behind it on its line, and on lines of their own right above it."""
    found = _COMMENT.match(source.data, end)
    end = found.end() if found else end
    start = source.data.rfind(b"\n", 0, begin) + 1
    if source.data[start:begin].strip():
        return begin, end
    while start:
        above = source.data.rfind(b"\n", 0, start - 1) + 1
        if not _OWN_COMMENT.match(source.data[above : start - 1]):
            break
        start = above
    return start, end


def _gone(source: Source, begin: int, end: int) -> tuple[int, int]:
    """What is taken out: with the end of the line, where nothing else is left of it, else with the space around it."""
    alone = not begin or source.data[begin - 1 : begin] == b"\n"
    found = _END.match(source.data, end)
    if alone and found:
        return begin, found.end()
    return begin, end + len(source.data[end:]) - len(source.data[end:].lstrip(b" \t"))
