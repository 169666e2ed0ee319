"""Macros as files define them, and the one by which a project aligns to a line.

Owns the search for definitions, and why what a macro declares is left alone.  Conditions are not evaluated: every
branch counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sharing.fix.tokens import Files, Kind, Refused, Token, matching

_NAME = re.compile(rb"#[ \t]*define[ \t]+([A-Za-z_]\w*)")
_IF, _ELSE, _ENDIF = (re.compile(rb"#[ \t]*" + word) for word in (rb"if", rb"el", rb"endif"))
# Conditions that hold for gcc and clang.
_COMPILER = re.compile(rb"#[ \t]*(?:if|ifdef|elif|elifdef)\b.*(?:__GNUC__|__clang__|__has_attribute)", re.S)
_ALIGNERS = frozenset((b"alignas", b"_Alignas"))
# What stands in front of names in parentheses and is no macro.
_TAKE_NAMES = frozenset(
    (b"__attribute__", b"__attribute", b"alignas", b"_Alignas", b"typeof", b"__typeof__", b"decltype")
)
_MAX_DECLARATION = 256  # tokens of one that are looked at
_MAX_CONSTANTS = 4  # names that stand for names that stand for a number
_MAX_SHIFT = 32
_MAX_WORDS = 8  # in front of the brace of an enumeration
_NUMBER = re.compile(rb"(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)[uUlLzZ]*")


class DeclaredByMacro(Refused):
    """A macro writes the declaration: one that is written out in its place would lose what else the macro writes."""

    def __init__(self, code: Sequence[Token], first: int, name: str) -> None:
        """``first`` is the index of a token in front of the macro in ``code``, or the macro's."""
        macro = _macro_around(code[first : first + _MAX_DECLARATION], name.encode("utf-8", "surrogateescape"))
        called = f", {macro.decode('utf-8', 'surrogateescape')}," if macro else ""
        super().__init__(
            f"a macro{called} declares it: no edit keeps what the macro writes; align it where the macro is defined, "
            "or write the declaration out first"
        )


def by_macro(code: Sequence[Token], first: int, at: int) -> DeclaredByMacro | None:
    """The refusal where a macro is called with the name at index ``at`` in the statement from ``first``, else None."""
    name = code[at].text.decode("utf-8", "surrogateescape")
    inside = _macro_around(code[first : at + 1], code[at].text)
    return DeclaredByMacro(code, first, name) if inside and inside not in _TAKE_NAMES else None


def _macro_around(code: Sequence[Token], name: bytes) -> bytes:
    """The name of the macro that is called with the last ``name`` in a statement, b"" where none is."""
    macro, depth, found = b"", 0, b""
    for before, token, behind in zip(code, code[1:], (*code[2:], None), strict=False):
        if token.text == b"(":
            if not depth:  # (*name) is a pointer to a function or array
                pointer = behind is not None and behind.text in (b"*", b"&")
                macro = before.text if before.kind is Kind.NAME and not pointer else b""
            depth += 1
        elif token.text == b")":
            depth -= 1
        elif token.text == name:
            found = macro if depth > 0 else b""
        elif token.text in (b";", b"=") and depth <= 0:
            break
    return found


class Aligning(NamedTuple):
    """A macro that aligns to a line: how it is written, and whether it stands for the compilers' attribute."""

    text: str
    attribute: bool


def definitions(path: str, name: bytes, files: Files) -> Iterator[tuple[list[Token], bool]]:
    """(what it stands for, with parameters) for each definition of a macro in a file."""
    try:
        source = files.source(path)
        if name not in source.data:
            return
        for directive in source.directives:
            found = _NAME.match(directive.text)
            if found and found[1] == name:
                code = source.within(directive)
                called = len(code) > 3 and code[3].text == b"(" and code[3].begin == code[2].end
                yield code[matching(code, 3) + 1 if called else 3 :], called
    except Refused:
        return


def aligning_macro(
    path: str, visible: Iterable[str], mains: frozenset[str], line_size: int, files: Files
) -> Aligning | None:
    """The macro by which a project aligns to ``line_size`` bytes, the one it uses most; None where it has none.

    ``visible`` are the project's files that every reader of ``path`` includes, ``mains`` the readers.  A header may
    come before what defines the macro, so that one counts there only where the header uses or defines it itself.  One
    that ``path`` alone defines counts where nothing is declared before.
    """
    paths = list(visible)
    candidates: dict[bytes, Aligning] = {}
    for where in paths:
        for name, body, parameters, _ in _all(where, files):
            found = _aligning(name, body, parameters, paths, line_size, files)
            if found is not None:
                candidates.setdefault(name, found)
    if path not in mains:
        here = files.source(path).names
        candidates = {name: found for name, found in candidates.items() if name in here}
    candidates = {name: found for name, found in candidates.items() if not _comes_late(path, name, paths, files)}
    if not candidates:
        return None
    known = [name for name in candidates if not _other_meaning(name, paths, line_size, files)]
    uses = {name: sum(_data(where, files).count(name) for where in paths) for name in known}
    return candidates[min(known, key=lambda name: (-uses[name], name))] if known else None


def _comes_late(path: str, name: bytes, paths: list[str], files: Files) -> bool:
    """Is the macro defined in this file alone, behind something that may be what is to be edited?"""
    if any(True for where in paths if where != path for _ in definitions(where, name, files)):
        return False
    source = files.source(path)
    first = next((d.begin for d in source.directives if (found := _NAME.match(d.text)) and found[1] == name), 0)
    return bool(source.code) and source.code[0].begin < first


def _data(path: str, files: Files) -> bytes:
    try:
        return files.source(path).data
    except Refused:
        return b""


_Macro = tuple[bytes, list[Token], list[bytes] | None, bytes]


def _all(path: str, files: Files, about: bytes = b"lign") -> Iterator[_Macro]:
    """(name, what it stands for, parameters, condition) of the macros in a file that has ``about`` in it.

    The condition is the directive that opens the innermost branch around the definition, b"" none.
    """
    try:
        source = files.source(path)
        if about not in source.data:
            return
        branches: list[bytes] = []
        for directive in source.directives:
            if _IF.match(directive.text):
                branches.append(directive.text)
            elif branches and _ELSE.match(directive.text):
                branches[-1] = directive.text
            elif branches and _ENDIF.match(directive.text):
                branches.pop()
            found = _NAME.match(directive.text)
            if not found:
                continue
            code = source.within(directive)
            called = len(code) > 3 and code[3].text == b"(" and code[3].begin == code[2].end
            last = matching(code, 3) if called else 2
            parameters = [t.text for t in code[4:last] if t.kind is Kind.NAME] if called else None
            yield found[1], code[last + 1 :], parameters, branches[-1] if branches else b""
    except Refused:
        return


def _aligning(
    name: bytes, body: list[Token], parameters: list[bytes] | None, paths: list[str], line_size: int, files: Files
) -> Aligning | None:
    text = [token.text for token in body]
    attribute = text[:3] == [b"__attribute__", b"(", b"("] and text[-2:] == [b")", b")"]
    inner = text[3:-2] if attribute else text
    words = (b"aligned", b"__aligned__") if attribute else _ALIGNERS
    if len(inner) < 4 or inner[0] not in words or inner[1] != b"(" or inner[-1] != b")":
        return None
    shown = name.decode("utf-8", "surrogateescape")
    if parameters is not None:
        return Aligning(f"{shown}({line_size})", attribute) if parameters == inner[2:-1] else None
    return Aligning(shown, attribute) if _values(inner[2:-1], paths, files) == {line_size} else None


def _other_meaning(name: bytes, paths: list[str], line_size: int, files: Files) -> bool:
    """May it stand for something else here: another size, or nothing but for compilers without attributes?"""
    aligning, empty = [], False
    for where in paths:
        for other, body, parameters, condition in _all(where, files, name):
            if other != name:
                continue
            if _aligning(name, body, parameters, paths, line_size, files) is not None:
                aligning.append(condition)
            elif body:
                return True
            else:
                empty = True
    return empty and not all(_COMPILER.search(condition) and b"!" not in condition for condition in aligning)


def _values(text: list[bytes], paths: list[str], files: Files, depth: int = 0) -> set[int]:
    """The values of a number, a constant by name, or a product or shift of these; what is none gives nothing."""
    while text[:1] == [b"("] and text[-1:] == [b")"]:
        text = text[1:-1]
    if len(text) == 1 and (found := _NUMBER.fullmatch(text[0])):
        return {int(found[1][:9], 0)}
    for at in range(1, len(text)):
        shift = text[at : at + 2] == [b"<", b"<"]
        if shift or text[at] == b"*":
            right = _values(text[at + 1 + shift :], paths, files, depth)
            left = _values(text[:at], paths, files, depth)
            return {a << min(b, _MAX_SHIFT) if shift else a * b for a in left for b in right}
    if depth >= _MAX_CONSTANTS or text[1::2] != [b"::"] * (len(text) // 2) or not text[-1:]:
        return set()
    values: set[int] = set()
    for where in paths:
        for body, parameters in definitions(where, text[-1], files) if len(text) == 1 else ():
            if parameters:
                return set()
            values |= _values([token.text for token in body], paths, files, depth + 1) or {0}
    for where in paths if not values else ():
        for value in _constants(where, text[-1], files, anywhere=len(text) > 1):
            values |= _values(value, paths, files, depth + 1) or {0}
    return values


def _constants(path: str, name: bytes, files: Files, *, anywhere: bool) -> Iterator[list[bytes]]:
    """What constants and enumerators of the name are set to; outside of namespaces and classes, unless ``anywhere``."""
    try:
        code = files.source(path).code if name in files.source(path).data else []
    except Refused:
        return
    opened: list[int] = []  # indexes of braces
    statement = 0  # where it begins
    for at, token in enumerate(code):
        if token.text == b"{":
            opened.append(statement)
        elif token.text == b"}" and opened:
            opened.pop()
        if token.text in (b";", b"{", b"}"):
            statement = at + 1
        if token.text != name or at + 2 >= len(code) or code[at + 1].text not in (b"=", b"{"):
            continue
        enumerator = bool(opened) and any(t.text == b"enum" for t in code[opened[-1] : statement][:_MAX_WORDS])
        constant = any(t.text in (b"constexpr", b"const") for t in code[statement:at])
        if (enumerator or constant) and (anywhere or len(opened) == enumerator):
            end = next((i for i in range(at + 2, len(code)) if code[i].text in (b",", b";", b"}")), len(code))
            yield [t.text for t in code[at + 2 : end]]
