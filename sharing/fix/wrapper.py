"""The wrapper: ``struct { ALIGN T value; } name``, with ``.value`` wherever the variable is used.

Owns the rewriting of a variable's definition, its other declarations and its uses in all files that can see it.
Works for any type in C and C++, and is what a careful person does by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sharing.fix.abi import variable_is_seen
from sharing.fix.attributes import behind_name, with_attributes
from sharing.fix.declaration import Declarator, Statement, read_declaration
from sharing.fix.macros import DeclaredByMacro
from sharing.fix.plan import KEPT, Changes, Plan, Planner, last_name
from sharing.fix.rewriting import member_text, replace_declarator, unaligned
from sharing.fix.style import Spelling, is_system
from sharing.fix.tokens import Kind, Refused, Source, Token, matching
from sharing.fix.uses import counts_elements, index_end, sizeof_of, uses
from sharing.model.facts import ACCESS_COLUMNS, Base, VariableBits, VariableFacts
from sharing.model.types import RECORD_KINDS, TypeKind
from sharing.source.declarations import stripped
from sharing.source.program import Defined

VALUE = "value"
_TAGS = frozenset((b"struct", b"union", b"enum", b"class"))
_HEADER = re.compile(r"\.(h|hh|hpp|hxx|h\+\+)$")  # not .inc: such a part of a file uses its statics
_MAX_COLUMNS = 100
_COLUMN = {name: at for at, name in enumerate(ACCESS_COLUMNS)}


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """The type around a variable, or around each of its ``elements``.  ``constructs``: its member is made in place."""

    facts: VariableFacts
    style: Spelling
    tag: str
    elements: bool
    constructs: bool
    line_size: int


def wrap(planner: Planner, variable: Defined[VariableFacts], *, elements: bool = False) -> Plan:
    """Wrap the variable, or (``elements``) each element of an array."""
    facts = variable.facts
    name = last_name(facts.name)
    if "<" in facts.name:
        raise Refused("it is a template's")
    source = planner.source(planner.program.path(variable.unit, facts.file))
    places = sorted({(source.path, facts.begin), *_declarations(planner, facts)})
    paths = [path for path, _ in places]
    style = planner.spelling(source.path if len(set(paths)) == 1 else _shared_file(planner, paths))
    changes, notes = Changes(), dict.fromkeys((KEPT,) if planner.keep(facts) else ())
    tag = _tag(planner, name, places)
    wrapper = _Wrapper(facts, style, tag, elements, _elides_copies(planner, variable), planner.line_size)
    declared: dict[str, set[int]] = {}
    where = _shared_file(planner, paths) if len(places) > 1 else source.path
    first = min(begin for path, begin in places if path == where)
    for path, begin in places:
        at = planner.source(path)
        own = (path, begin) == (source.path, facts.begin)
        token = _name_in(at, begin, name, facts.name_begin if own else None)
        declared.setdefault(path, set()).add(token.begin)
        read = read_declaration(at, begin, token.begin, name, planner.declared_by(path, begin))
        statement = with_attributes(planner, read, facts.declared_align)
        if own and not style.cxx and _static_by_macro(statement, facts):
            raise Refused("a macro gives it its storage class")
        declarator = statement.declarator(token.begin)
        _rewrite(
            changes,
            statement,
            declarator,
            wrapper,
            defines=(path, begin) == (where, first),
            keep=planner.keep(facts) if own else "",
            attributes=behind_name(planner, statement, declarator, facts.declared_align),
        )
    for path in _readers(planner, facts, source.path, set(paths)):
        at = planner.source(path)
        found = uses(at, name if facts.scope else facts.name, frozenset(declared.get(path, ())))
        if facts.scope:
            found = tuple(_in_block(at, facts, found))
        for token in found:
            _rewrite_use(changes, at, token, elements, notes)
    _check_accesses(planner, facts, changes)
    what, written = ("each element", f"{name}[...]") if elements else ("it", name)
    return Plan(
        changes.edits(),
        f"wrap {what} in a type of whole {planner.line_size}-byte lines; uses become {written}.{VALUE}",
        breaks_abi=variable_is_seen(planner, facts, paths),
        notes=tuple(notes),
        parts=tuple(changes.parts),
    )


def _static_by_macro(statement: Statement, facts: VariableFacts) -> bool:
    """``LOCAL int name`` in C, where a macro says ``static``: it cannot go into the wrapper with the type."""
    said = statement.stored or "static" in statement.storage.split() or facts.declarations
    return bool(facts.bits & VariableBits.INTERNAL) and not said


def _declarations(planner: Planner, facts: VariableFacts) -> Iterator[tuple[str, int]]:
    """(path, offset) of every declaration in every unit."""
    for number, unit in enumerate(planner.program.units):
        if not planner.has(number) or (facts.bits & VariableBits.INTERNAL and facts.identity not in unit.symbols):
            continue
        for each in unit.variables:
            if each.identity != facts.identity:
                continue
            yield planner.program.path(number, each.file), each.begin
            for file, _line, begin, _end in each.declarations:
                yield planner.program.path(number, file), begin


def _shared_file(planner: Planner, paths: list[str]) -> str:
    """The file with a declaration that every unit with any of them reads."""
    wanted = set(paths)
    units = [unit for number, unit in enumerate(planner.program.units) if planner.has(number)]
    seen = [wanted.intersection(unit.files) for unit in units if wanted.intersection(unit.files)]
    common = set.intersection(*seen) if seen else set()
    if not common:
        raise Refused(f"it is declared in {len(wanted)} files, none of which all of its users include")
    return min(common)


def _tag(planner: Planner, name: str, places: list[tuple[str, int]]) -> str:
    """A name for the wrapper type that no file with a declaration uses."""
    for suffix in ("_line", "_own_line", "_wrapper_line"):
        tag = name.rstrip("_") + suffix  # two underscores in a row are reserved in C++
        if not any(tag.encode() in planner.source(path).names for path, _ in places):
            return tag
    raise Refused(f"{name}_line is taken")


def _name_in(source: Source, begin: int, name: str, name_begin: int | None) -> Token:
    """The token of the declared name in the statement at ``begin``."""
    code = source.code
    at = source.at(begin if name_begin is None else name_begin)
    wanted = name.encode("utf-8", "surrogateescape")
    for index, token in enumerate(code[at : at + 256], at):
        if token.text == wanted and (name_begin is not None or code[index - 1].text not in _TAGS):
            return token
        if token.text in (b";", b"}") or name_begin is not None:
            break
    raise DeclaredByMacro(code, source.at(begin), name)


def _rewrite(
    changes: Changes,
    statement: Statement,
    declarator: Declarator,
    wrapper: _Wrapper,
    *,
    defines: bool,
    keep: str,
    attributes: str,
) -> None:
    """One declaration: the wrapper type where it comes first, the variable with that type."""
    source, style, tag = statement.source, wrapper.style, wrapper.tag
    name = declarator.name.text.decode("utf-8", "surrogateescape")
    scope = source.text(declarator.scope, declarator.name.begin)
    member, suffix = _member(statement, declarator, wrapper)
    body = f"{style.member} {member};" if style.member else f"{member} {style.trailing};"
    behind = " ".join(part for part in (f"{scope}{name}{suffix}", attributes, keep) if part)
    init = _initialiser(statement, declarator, wrapper)
    storage = "".join(f"{text} " for text in (statement.attributes, statement.storage) if text)
    indent = source.indent(statement.begin)
    inline = style.cxx or "extern" in statement.storage or not _alone(wrapper.facts)
    keyword = f"struct {style.record}" if style.cxx and style.record else "struct"
    body = f"{member};" if style.cxx else body
    if not defines:
        new = f"{storage}{'' if style.cxx else 'struct '}{scope}{tag} {behind}{init};"
    elif inline:
        new = f"{keyword} {tag} {{ {body} }};\n{indent}{storage}{'' if style.cxx else 'struct '}{tag} {behind}{init};"
    else:
        new = f"{storage}struct {{ {body} }} {behind}{init};"
        if len(new) > _MAX_COLUMNS:
            new = f"{storage}struct {{\n{indent}\t{body}\n{indent}}} {behind}{init};"
    replace_declarator(changes, statement, declarator, new)


def _alone(facts: VariableFacts) -> bool:
    """Declared once, so that its type needs no name."""
    return bool(facts.bits & VariableBits.INTERNAL) and not facts.declarations


def _member(statement: Statement, declarator: Declarator, wrapper: _Wrapper) -> tuple[str, str]:
    """The declaration of the member, and the array bounds that stay with the variable."""
    if not wrapper.elements:
        return member_text(statement, declarator, wrapper.facts, VALUE, wrapper.line_size), ""
    source = statement.source
    code = source.code
    bracket = source.at(declarator.name.end)
    if bracket >= len(code) or code[bracket].text != b"[" or code[bracket].begin >= declarator.suffix:
        raise Refused("its elements are hidden in a typedef")
    closing = code[matching(code, bracket)].end
    before = source.text(declarator.begin, declarator.scope)
    suffix = source.text(code[bracket].begin, closing)
    return (
        f"{unaligned(statement.type_text, wrapper.line_size)} {before}{VALUE}{source.text(closing, declarator.suffix)}",
        suffix,
    )


def _elides_copies(planner: Planner, variable: Defined[VariableFacts]) -> bool:
    """From C++17 on, ``{ T(arguments) }`` makes the member in place, whatever T is."""
    unit = planner.program.units[variable.unit]
    found = re.search(r"(\d)[0-9a-z]$", unit.standard)
    return unit.language == "C++" and found is not None and unit.standard[found.start() :] >= "17" and found[1] in "12"


def _initialiser(statement: Statement, declarator: Declarator, wrapper: _Wrapper) -> str:
    source = statement.source
    text = source.text(declarator.init, declarator.end).strip()
    if not text:
        return ""
    if text.startswith("("):
        if wrapper.elements or not wrapper.constructs or not re.fullmatch(r"[\w:<>, ]+", statement.type_text):
            raise Refused("it is initialised in parentheses")
        return f" = {{ {statement.type_text}{text} }}"
    value = text[1:].strip() if text.startswith("=") else text
    equals = " = " if text.startswith("=") else ""
    if not wrapper.elements:
        return f"{equals}{{ {value} }}" if equals else f"{{{value}}}"
    if not re.fullmatch(r"\{\s*0?\s*\}", value):
        raise Refused("its elements are initialised one by one")
    if "0" not in value:
        return f"{equals}{{}}"
    inner = stripped(wrapper.facts.type).inner
    braced = inner is not None and stripped(inner).kind in (*RECORD_KINDS, TypeKind.ARRAY)
    return f"{equals}{{{{ {'{0}' if braced else '0'} }}}}"


def _readers(planner: Planner, facts: VariableFacts, home: str, declaring: set[str]) -> list[str]:
    """Files that may use it: of a static its own, of anything declared in a header all of the project's."""
    name = last_name(facts.name).encode("utf-8", "surrogateescape")
    private = bool(facts.bits & VariableBits.INTERNAL) and not any(_HEADER.search(path) for path in declaring)
    seen: dict[str, None] = {}
    for number, unit in enumerate(planner.program.units):
        if not planner.has(number) or not declaring.intersection(unit.files):
            continue
        for path in unit.files:
            if is_system(path) or (private and path != home and _HEADER.search(path)):
                continue
            seen[path] = None
    found = []
    for path in seen:
        try:
            data = planner.files.source(path).data
        except Refused:
            continue  # generated and gone, or not ours to read: the compiler will say if it mattered
        if name in data:
            found.append(path)
    return found


def _in_block(source: Source, facts: VariableFacts, found: tuple[Token, ...]) -> Iterator[Token]:
    """Uses of a function's own static: from its declaration to the end of its block."""
    depth, end = 0, len(source.data)
    for token in source.code[source.at(facts.name_begin) :]:
        depth += (token.text == b"{") - (token.text == b"}")
        if depth < 0:
            end = token.begin
            break
    return (token for token in found if facts.name_begin < token.begin < end)


def _rewrite_use(changes: Changes, source: Source, token: Token, elements: bool, notes: dict[str, None]) -> None:
    code = source.code
    at = source.at(token.begin)
    if at >= len(code) or code[at] != token:
        # In the body of a macro.
        code = next(source.within(d) for d in source.directives if d.begin <= token.begin < d.end)
        at = next(i for i, t in enumerate(code) if t.begin == token.begin)
    if not elements:
        changes.insert(source, token.end, f".{VALUE}")
        return
    try:
        place = f"{source.path}:{source.position(token.begin)[0]}"
        if counts_elements(code, at):
            return  # a count, whatever the size of an element
        if sizeof_of(code, at) >= 0 and (at + 1 >= len(code) or code[at + 1].text != b"["):
            raise Refused("its size is taken as a whole")
        end = index_end(code, at)
        if code[at - 1].text == b"&" and sizeof_of(code, at) < 0:
            _check_address(code, at, place, notes)
        changes.insert(source, end, f".{VALUE}")
    except Refused as reason:
        raise Refused(f"{reason} ({source.path}:{source.position(token.begin)[0]})") from None


def _check_address(code: list[Token], at: int, place: str, notes: dict[str, None]) -> None:
    """``&name[i]``: of elements further apart, the next one is not behind it."""
    closing = matching(code, at + 1)
    if closing + 1 < len(code) and code[closing + 1].text in (b".", b"->", b"["):
        return  # of something in the element
    if all(token.kind is Kind.NUMBER for token in code[at + 2 : closing]):
        raise Refused("the address of one element is taken, which may be a way to the others")
    notes[f"{place} takes the address of an element: make sure that it does not lead to the next one"] = None


def _check_accesses(planner: Planner, facts: VariableFacts, changes: Changes) -> None:
    """Every file with an access that the facts know must have got an edit, unless a macro's body did.

    Positions of accesses are where macros are expanded.  What is local to a function nobody else can name: in another
    file it is what that function returns.
    """
    if facts.scope:
        return
    edits = changes.edits()
    edited = {edit.file for edit in edits}
    sources = {path: planner.source(path) for path in edited}
    for edit in edits:
        if any(d.begin <= edit.begin < d.end for d in sources[edit.file].directives):
            return
    width = len(ACCESS_COLUMNS)
    identity = facts.identity
    of_unit = [u.symbols.index(identity) if identity in u.symbols else -1 for u in planner.program.units]
    for function in planner.program.functions.values():
        index = of_unit[function.unit]
        if index < 0 or not planner.has(function.unit):
            continue
        rows = function.facts.accesses
        for at in range(0, len(rows), width):
            if rows[at] == Base.VARIABLE and rows[at + 1] == index:
                path = planner.program.path(function.unit, rows[at + _COLUMN["file"]])
                if path not in edited:
                    raise Refused(f"{path}:{rows[at + _COLUMN['line']]} uses it in a way that was not found")
