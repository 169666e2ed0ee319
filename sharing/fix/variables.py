"""Edits of variables: each way to give one whole lines, and the choice between them.

Owns the choice, least intrusive first: the kernel's attribute, alignment on a type that only this variable has, an
anonymous union around a static of C++ (whose name stays as it is), a wrapper type with ``.value`` at every use.  All
of them round the *size* up, since alignment alone leaves the tail to the next variable.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sharing.fix.attributes import with_attributes
from sharing.fix.declaration import Declarator, Statement, read_declaration
from sharing.fix.macros import DeclaredByMacro
from sharing.fix.plan import KEPT, Changes, Plan, Planner, last_name
from sharing.fix.records import align_record, elements_of, is_only_in
from sharing.fix.rewriting import member_text, replace_declarator
from sharing.fix.tokens import Refused, Source
from sharing.fix.wrapper import wrap
from sharing.model.facts import RecordBits, RecordFacts, TypeTree, VariableBits, VariableFacts
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind
from sharing.source.declarations import stripped
from sharing.source.program import Defined

_PLAIN = frozenset({TypeKind.BASE, TypeKind.POINTER, TypeKind.ENUM, TypeKind.MEMBER_POINTER})


def separate_variable(planner: Planner, identity: str, *, read_mostly: bool = False) -> Plan:
    """Give the variable lines of its own, whatever stands before and behind it.

    ``read_mostly``: kernel code has a section for it.  Raises Refused with the reasons of all ways that do not apply.
    """
    variable = planner.variable(identity)
    facts = variable.facts
    if facts.bits & VariableBits.THREAD:
        raise Refused("each thread has its own")
    if facts.bits & VariableBits.CONSTANT:
        raise Refused("it is constant: move what is written away from it")
    if facts.size and facts.size % planner.line_size == 0 and facts.align % planner.line_size == 0:
        raise Refused("it has whole lines to itself already")
    style = planner.spelling(planner.program.path(variable.unit, facts.file))
    if style.kernel:
        return _by_attribute(planner, variable, "__read_mostly" if read_mostly else style.variable)
    reasons = []
    for way in (_by_own_type, _by_union, wrap):
        try:
            return way(planner, variable)
        except DeclaredByMacro:
            raise  # no way of writing the type helps
        except Refused as reason:
            reasons.append(str(reason))
    raise Refused("; ".join(dict.fromkeys(reason for reason in reasons if reason)))


def separate_elements(planner: Planner, identity: str) -> Plan:
    """Give every element of an array lines of its own."""
    variable = planner.variable(identity)
    facts = variable.facts
    elements = elements_of(planner, facts.type, variable.unit)
    inner, unit, holder = elements or (facts.type, variable.unit, "")
    record = planner.own_record(inner, unit)
    if elements is not None and record is not None and is_only_in(planner, record, holder, identity):
        return align_record(planner, record)
    if elements is None or holder:
        raise Refused("it is no plain array: give its elements a type of their own that fills whole lines")
    if planner.spelling(planner.program.path(variable.unit, facts.file)).kernel:
        raise Refused("make it a per-CPU variable, or align its element type, which others use too")
    return wrap(planner, variable, elements=True)


def _by_attribute(planner: Planner, variable: Defined[VariableFacts], attribute: str) -> Plan:
    """The kernel's sections: of aligned objects, where the next one starts a line, and of what is seldom written."""
    facts = variable.facts
    if facts.section:
        raise Refused(f"it is in {facts.section} on purpose")
    source = planner.source(planner.program.path(variable.unit, facts.file))
    changes = Changes()
    how = f"move it to the kernel's section for it ({attribute})"
    try:
        changes.insert(source, _declaration(planner, source, facts)[1].suffix, f" {attribute}")
    except Refused:
        # DEFINE_SPINLOCK(name) and its like take it in front.
        code, at = source.code, source.at(facts.begin)
        while at < len(code) and code[at].text in (b"static", b"extern"):
            at += 1
        if at + 1 >= len(code) or code[at + 1].text != b"(":
            raise
        changes.insert(source, code[at].begin, f"{attribute} ")
    return Plan(changes.edits(), how, rounds=False)


def _declaration(planner: Planner, source: Source, facts: VariableFacts) -> tuple[Statement, Declarator]:
    names = planner.declared_by(source.path, facts.begin)
    statement = read_declaration(source, facts.begin, facts.name_begin, last_name(facts.name), names)
    return statement, statement.declarator(facts.name_begin)


def _by_own_type(planner: Planner, variable: Defined[VariableFacts]) -> Plan:
    record = planner.own_record(variable.facts.type, variable.unit)
    if record is None:
        raise Refused("")  # nothing to say: most variables have no type of their own
    others = planner.users(record.facts.key) - {variable.facts.identity}
    if others and not (record.facts.bits & RecordBits.ANONYMOUS and others <= _declared_with(planner, variable)):
        raise Refused("")  # of a type without a name all variables stand in one statement: each gets lines of its own
    if 0 < variable.facts.declared_align < planner.line_size:
        raise Refused("")  # what the variable asks for itself counts, even if that is less
    plan, keep = align_record(planner, record), planner.keep(variable.facts)
    if not keep:
        return plan
    source = planner.source(planner.program.path(variable.unit, variable.facts.file))
    changes = Changes()
    changes.insert(source, _declaration(planner, source, variable.facts)[1].suffix, f" {keep}")
    return replace(plan, edits=(*plan.edits, *changes.edits()), notes=(*plan.notes, KEPT))


def _declared_with(planner: Planner, variable: Defined[VariableFacts]) -> set[str]:
    """Identities of the variables of one statement, which no other declares again."""
    place = (planner.program.path(variable.unit, variable.facts.file), variable.facts.begin)
    return {
        identity
        for identity, one in planner.program.variables.items()
        if (planner.program.path(one.unit, one.facts.file), one.facts.begin) == place and not one.facts.declarations
    }


def _by_union(planner: Planner, variable: Defined[VariableFacts]) -> Plan:
    """``static union alignas(64) { T name = init; };``: no use changes, and the union's size is whole lines."""
    facts = variable.facts
    unit = planner.program.units[variable.unit]
    if unit.language != "C++" or not facts.bits & VariableBits.INTERNAL or facts.bits & VariableBits.CONSTANT:
        raise Refused("")
    if facts.bits & VariableBits.INLINE or facts.declarations or planner.keep(facts):
        raise Refused("")
    if not _plain(planner, facts.type, variable.unit):
        raise Refused("")
    source = planner.source(planner.program.path(variable.unit, facts.file))
    style = planner.spelling(source.path)
    if not style.cxx:
        raise Refused("")  # a header that C reads too
    statement, declarator = _declaration(planner, source, facts)
    statement = with_attributes(planner, statement, facts.declared_align)
    if statement.attributes:
        raise Refused(f"it has attributes: {statement.attributes}")
    inner = member_text(statement, declarator, facts, last_name(facts.name), planner.line_size)
    init = _member_initialiser(source, declarator, facts, statement)
    attributes = source.text(declarator.suffix, declarator.init).strip()
    if attributes:
        raise Refused(f"it has attributes: {attributes}")
    new = f"static union {style.record} {{ {inner}{init}; }};{_comment(source, statement.end)}"
    changes = Changes()
    replace_declarator(changes, statement, declarator, new)
    how = f"put it into an anonymous union of whole {planner.line_size}-byte lines"
    return Plan(changes.edits(), how, parts=tuple(changes.parts))


def _comment(source: Source, at: int) -> str:
    """Why the union is there, where the rest of the line is free."""
    rest = source.data[at : source.data.find(b"\n", at) + 1 or None]
    return "  // lines of its own, tail included" if not rest.strip() else ""


def _member_initialiser(source: Source, declarator: Declarator, facts: VariableFacts, statement: Statement) -> str:
    text = source.text(declarator.init, declarator.end)
    if text.startswith("("):
        if not re.fullmatch(r"[\w:<>, ]+", statement.type_text):
            raise Refused("it is initialised in parentheses")
        return f"{{{text[1:-1]}}}"
    if text:
        return f" {text}" if text.startswith("=") else text
    # A member of class type without an initialiser would delete the union's constructor.
    return "{}" if stripped(facts.type).kind in RECORD_KINDS else ""


def _plain(planner: Planner, tree: TypeTree, unit: int, depth: int = 0) -> bool:
    """Can an object of this type be a member of an anonymous union: nothing to destroy, no constructor to run?"""
    core = stripped(tree)
    if depth > MAX_DEPTH:
        return False
    if core.kind in _PLAIN:
        return True
    if core.kind == TypeKind.ARRAY:
        return core.inner is not None and _plain(planner, core.inner, unit, depth + 1)
    if core.kind not in RECORD_KINDS:
        return False
    if re.match(r"(std::)?(__1::)?atomic(<|_)", core.name):
        return True
    defined = planner.record_of(core, unit)
    if defined is None or defined.facts.bits & (RecordBits.POLYMORPHIC | RecordBits.TEMPLATE):
        return False
    return _plain_body(planner, defined.facts, defined.unit) and all(
        _plain(planner, member.type, defined.unit, depth + 1) for member in defined.facts.members
    )


def _plain_body(planner: Planner, facts: RecordFacts, unit: int) -> bool:
    """A definition without constructor and destructor, by its text."""
    try:
        source = planner.files.source(planner.program.path(unit, facts.file))
        body = source.code[source.at(facts.begin) : source.at(facts.end)]
    except Refused:
        return False
    name = last_name(facts.name).encode()
    return not any(
        token.text == b"~" or (token.text == name and body[i + 1 : i + 2] and body[i + 1].text == b"(")
        for i, token in enumerate(body)
    )
