"""Elements of an array in a record, each in a type of whole lines: ``struct { ALIGN T value; } name[N]``.

Owns the rewriting of the member and of its uses, which are found by its name: where anything else has that name, or
what is done with the array is not done element by element, nothing is edited.
"""

from __future__ import annotations

import re

from sharing.fix.abi import outside, record_is_seen
from sharing.fix.hazards import refuse_larger
from sharing.fix.padding import shown
from sharing.fix.plan import Changes, Plan, Planner, last_name
from sharing.fix.records import file_of, loose_place, refuse_unbounded
from sharing.fix.style import is_system
from sharing.fix.tokens import Kind, Refused, Source, Token, matching
from sharing.fix.uses import declares, index_end
from sharing.model.facts import MemberFact, RecordBits, RecordFacts
from sharing.source.declarations import stripped
from sharing.source.program import Defined

_VALUE = "value"
_BEHIND_OBJECT = (b".", b"->")
_MAX_OBJECT = 64  # tokens of what stands in front of a member


def wrap_member_elements(planner: Planner, record: Defined[RecordFacts], member: MemberFact) -> Plan:
    """Each element of an array of a record in lines of its own."""
    facts, line = record.facts, planner.line_size
    if facts.bits & (RecordBits.UNION | RecordBits.PACKED | RecordBits.TEMPLATE):
        raise Refused(f"{shown(facts)} is packed, a union or a template: give the elements a type that is aligned")
    refuse_unbounded(facts)
    refuse_larger(planner, facts)
    loose = loose_place(planner, facts)
    if loose or not planner.is_placed(facts.key):
        raise Refused(f"{loose or 'code that was not seen'} allocates it without alignment: use aligned_alloc first")
    source, style = file_of(planner, record)
    if style.kernel:
        raise Refused("make it a per-CPU variable, or give the elements a type that is aligned")
    _refuse_other_names(planner, record, member)
    _refuse_initialised(planner, facts)
    changes = Changes()
    if any(each.begin == member.begin and each is not member for each in facts.members):
        raise Refused(f"{member.name} is declared together with others: give it a declaration of its own first")
    name = _declare(planner, source, member, style.member, style.trailing, changes)
    cxx = planner.program.units[record.unit].language == "C++"
    notes: dict[str, None] = {}
    for path in {path: None for unit in planner.program.units if source.path in unit.files for path in unit.files}:
        if is_system(path):
            continue
        try:
            at = planner.files.source(path)
            if name.text not in at.words:
                continue
        except Refused:
            continue  # generated and gone, or not ours to read: the compiler will say if it mattered
        at = planner.source(path)
        for code in (at.code, *(at.within(directive) for directive in at.directives)):
            for index, token in enumerate(code):
                if token.text == name.text and not (path == source.path and token.begin == name.begin):
                    _use(planner, at, code, index, changes, notes, cxx=cxx)
    return Plan(
        changes.edits(),
        f"wrap each element in a type of whole {line}-byte lines; uses become {member.name}[...].{_VALUE}",
        breaks_abi=record_is_seen(planner, facts, source.path),
        notes=(*outside(source.path), *notes),
        rounds=False,
    )


def _refuse_other_names(planner: Planner, record: Defined[RecordFacts], member: MemberFact) -> None:
    for key, other in planner.program.records.items():
        if key != record.facts.key and any(each.name == member.name for each in other.facts.members):
            raise Refused(f"{shown(other.facts)} has a member {member.name} too: give its elements a type of their own")
    if planner.program.units[record.unit].language != "C++":
        return  # there a member is always named behind its object
    for known in (planner.program.variables, planner.program.declared):
        if any(last_name(each.facts.name) == member.name for each in known.values()):
            raise Refused(f"a variable is called {member.name} too: give its elements a type of their own")


def _refuse_initialised(planner: Planner, facts: RecordFacts) -> None:
    """Raise ``Refused`` where values in braces are given by position: they may be those of the array.

    Braces around the one member of an element may be left out, but compilers warn of that.
    """
    for identity in planner.users(facts.key):
        known = planner.program.variables.get(identity)
        if known is None:
            continue
        source = planner.files.source(planner.program.path(known.unit, known.facts.file))
        code = source.code
        for at in range(source.at(known.facts.begin) + 1, min(source.at(known.facts.end), len(code))):
            if code[at].text == b"{" and code[at - 1].text in (b"{", b","):
                _refuse_values(code, at - 1, f"{source.path}:{source.position(code[at].begin)[0]}")


def _refuse_values(code: list[Token], at: int, place: str) -> None:
    """Raise ``Refused`` unless what is given behind ``code[at]`` is ``{}`` or ``{0}``."""
    values = b" ".join(token.text for token in code[at : at + 4])
    if not re.match(rb". \{( 0)? \}", values):
        raise Refused(f"its elements are initialised one by one ({place})")


def _declare(
    planner: Planner, source: Source, member: MemberFact, align: str, trailing: str, changes: Changes
) -> Token:
    """The member with its new type; returns the token of its name."""
    code = source.code
    first, last = source.at(member.begin), source.at(member.end)
    wanted = member.name.encode("utf-8", "surrogateescape")
    at = next((i for i in range(first, last) if code[i].text == wanted), -1)
    understood = at > first and code[first].begin == member.begin and last < len(code) and code[last].text == b";"
    if not understood or code[at + 1].text != b"[":
        raise Refused(f"{member.name} is declared by a macro, or its bounds are hidden in a typedef")
    before = code[first : at + 1]
    if any(t.text in (b"(", b"{", b"[") or planner.macros(source.path, t.text) for t in before):
        raise Refused(f"the type of the elements of {member.name} is more than a name")
    inner = stripped(member.type).inner
    closing = matching(code, at + 1)
    if code[closing + 1].text == b"[" or inner is None:
        raise Refused(f"{member.name} has rows: give each a type that is aligned")
    value = source.text(code[closing].end, member.end).partition("=")[2] or source.text(code[closing].end, member.end)
    if ("=" in value or "{" in value) and not re.fullmatch(r"[^={]*\{\s*\}\s*", value):
        raise Refused(f"the elements of {member.name} are initialised one by one")
    kind = source.text(member.begin, code[at - 1].end)
    gap = "" if kind.endswith(("*", "&")) else " "
    body = f"{align} {kind}{gap}{_VALUE};" if align else f"{kind}{gap}{_VALUE} {trailing};"
    declared = source.text(code[at].begin, code[closing].end)
    changes.replace(source, member.begin, code[closing].end, f"struct {{ {body} }} {declared}")
    return code[at]


def _use(
    planner: Planner,
    source: Source,
    code: list[Token],
    at: int,
    changes: Changes,
    notes: dict[str, None],
    *,
    cxx: bool,
) -> None:
    """``.value`` behind the index of a use; nothing where the name is something else."""
    before = code[at - 1].text if at else b";"
    place = f"{source.path}:{source.position(code[at].begin)[0]}"
    if before == b"." and at > 1 and code[at - 2].text in (b"{", b","):
        _refuse_values(code, at + 1, place)
        return
    if before not in _BEHIND_OBJECT:
        if _in_macro_call(planner, source, code, at):
            raise Refused(f"a macro is handed its name ({place})")
        if not cxx:
            return
        if before in (b"::", b"#", b"##") or declares(code, at, in_body=True):
            raise Refused(f"something else is called {code[at].text.decode('utf-8', 'replace')} too ({place})")
    try:
        end = index_end(code, at)
    except Refused as reason:
        raise Refused(f"{reason} ({place})") from None
    begin = _object(code, at)
    behind = matching(code, at + 1) + 1
    ends = behind >= len(code) or code[behind].text not in (*_BEHIND_OBJECT, b"[")
    if ends and begin and code[begin - 1].text == b"&" and (begin < 2 or not _is_value(code[begin - 2])):
        if all(token.kind is Kind.NUMBER for token in code[at + 2 : behind - 1]):
            raise Refused(f"the address of one element is taken, which may be a way to the others ({place})")
        notes[f"{place} takes the address of an element: make sure that it does not lead to the next one"] = None
    changes.insert(source, end, f".{_VALUE}")


def _object(code: list[Token], at: int) -> int:
    """Index at which the object of a member begins: of ``a`` in ``a->b[2].name``."""
    for _ in range(_MAX_OBJECT):
        if at < 2 or code[at - 1].text not in _BEHIND_OBJECT:
            break
        at -= 2
        while at > 0 and code[at].text in (b"]", b")"):
            depth = 0
            while at > 0:
                depth += (code[at].text in (b"]", b")")) - (code[at].text in (b"[", b"("))
                if depth == 0:
                    break
                at -= 1
            if at > 0 and (code[at - 1].kind is Kind.NAME or code[at - 1].text in (b"]", b")")):
                at -= 1
            else:
                break
    return at


def _is_value(token: Token) -> bool:
    """Is what follows an operator of two operands?  Behind ``)`` it may be a cast."""
    return (token.kind in (Kind.NAME, Kind.NUMBER) and token.text != b"return") or token.text == b"]"


def _in_macro_call(planner: Planner, source: Source, code: list[Token], at: int) -> bool:
    """Is the name handed to a macro, which may put it behind an object?"""
    depth = 0
    for index in range(at - 1, max(at - 4 * _MAX_OBJECT, 0), -1):
        text = code[index].text
        if text in (b";", b"{", b"}"):
            return False
        depth += (text == b")") - (text == b"(")
        if depth < 0:
            called = code[index - 1]
            if called.text in (b"offsetof", b"__builtin_offsetof"):
                return True
            if called.kind is Kind.NAME and any(p for _, p in planner.macros(source.path, called.text)):
                return True
            depth = 0
    return False
