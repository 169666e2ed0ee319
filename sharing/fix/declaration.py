"""A declaration as its parts: specifiers, declarators, initialisers, by byte ranges.

Owns the reading of one declaration statement of C or C++ (``static const long *a, b[4] = {0};``).  What the names
mean comes from the facts; anything that does not look like a plain declaration is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from sharing.fix.macros import DeclaredByMacro, by_macro
from sharing.fix.tokens import Kind, Refused, Source, Token, matching

STORAGE = frozenset(
    b"static extern inline register thread_local _Thread_local __thread constinit __inline __extension__".split()
)
_GROUPED = frozenset(
    b"__attribute__ __attribute alignas _Alignas decltype typeof __typeof__ __typeof typeof_unqual _Atomic "
    b"__declspec".split()
)
_AROUND_NAME = frozenset(b"* & && const volatile restrict __restrict __restrict__ _Nonnull _Nullable (".split())
_DEFINING = frozenset(b"struct union class enum".split())
_ATTRIBUTES = frozenset(b"__attribute__ __attribute alignas asm __asm__".split())


@dataclass(frozen=True, slots=True)
class Declarator:
    """One declared name: ``begin``..``end`` from its first ``*`` to before ``,`` or ``;``.

    ``scope`` is where the qualifier of the name begins (``Class::``).  ``suffix`` is where its array bounds or
    parameters end; attributes stand between there and ``init``.  ``init`` is where the initialiser (with its ``=``)
    begins, equal to ``end`` without one.
    """

    begin: int
    scope: int
    name: Token
    suffix: int
    init: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """``begin`` is where the specifiers begin, ``specified`` where they end, ``end`` is behind the semicolon.

    ``attributes`` are those of the variable, where they were taken out of the specifiers (``sharing.fix.attributes``);
    ``stored``: a macro among them gives it its storage class.
    ``defines`` is the definition of its type where that has a name and stands among them; ``specifiers`` name it then.
    """

    source: Source
    begin: int
    end: int
    specifiers: tuple[Token, ...]
    declarators: tuple[Declarator, ...]
    specified: int
    attributes: str = ""
    defines: str = ""
    stored: bool = False

    @property
    def again(self) -> str:
        """The specifiers as they stand before another declarator, in a statement of its own."""
        if self.defines:
            return " ".join(filter(None, (self.attributes, self.storage, self.type_text)))
        return self.source.text(self.begin, self.specified)

    @property
    def storage(self) -> str:
        """``static inline`` and the like, "" none."""
        return " ".join(token.text.decode() for token in self.specifiers if token.text in STORAGE)

    @property
    def type_text(self) -> str:
        """The specifiers without storage classes, spaced as written."""
        pieces: list[str] = []
        previous: Token | None = None
        for token in self.specifiers:
            if token.text in STORAGE:
                continue
            if previous is not None:
                gap = self.source.text(previous.end, token.begin)
                pieces.append(gap if not gap.strip() else " ")
            pieces.append(token.text.decode("utf-8", "surrogateescape"))
            previous = token
        return "".join(pieces)

    def declarator(self, name_begin: int) -> Declarator:
        for declarator in self.declarators:
            if declarator.name.begin == name_begin:
                return declarator
        raise Refused("its declaration was not understood")


def read_declaration(
    source: Source, begin: int, name_begin: int, name: str, names: frozenset[bytes] = frozenset()
) -> Statement:
    """The statement that begins at ``begin`` and declares ``name`` at ``name_begin``; ``names`` are all that it does.

    By these the first declarator is known, whatever macros stand behind its name.
    """
    code = source.code
    at = source.at(name_begin)
    if at >= len(code) or code[at].begin != name_begin or code[at].text != name.encode("utf-8", "surrogateescape"):
        raise DeclaredByMacro(code, source.at(begin), name)
    first = source.at(begin)
    if first > at or code[first].begin != begin:
        raise Refused("a macro begins its declaration")
    called = first + 1 < at and code[first + 1].text == b"(" and code[first + 2].text not in (b"*", b"&")
    if called and code[first].text not in _GROUPED:
        raise DeclaredByMacro(code, first, name)
    if refusal := by_macro(code, first, at):
        raise refusal
    last = _semicolon(code, first, at)
    for directive in source.directives:
        if begin < directive.begin < code[last].begin:
            raise Refused("its declaration contains a preprocessor directive")
    stop = _first_declarator(code, first, last, name_begin, names)
    declarators = tuple(_declarator(code, a, b) for a, b in _split(code, stop, last))
    specified = code[stop - 1].end
    defines, body = _defined(code, first, stop)
    text = source.text(code[defines].begin, specified) if defines >= 0 else ""
    return Statement(source, begin, code[last].end, tuple(code[first:body]), declarators, specified, defines=text)


def _defined(code: list[Token], first: int, stop: int) -> tuple[int, int]:
    """Where the definition of a type with a name begins in the specifiers, -1 nowhere, and where what names it ends.

    Qualifiers and storage classes behind it are of the variable: such a statement stays as it is.
    """
    body = next((at for at in range(first, stop) if code[at].text == b"{"), stop)
    keyword = next((at for at in range(first, body) if code[at].text in _DEFINING), -1)
    if body == stop or keyword < 0 or keyword + 2 != body or code[keyword + 1].kind is not Kind.NAME:
        return -1, stop
    behind = code[matching(code, body) + 1 : stop]
    if any(token.text in STORAGE or token.text in _AROUND_NAME - {b"("} for token in behind):
        return -1, stop
    return keyword, body


def _semicolon(code: list[Token], first: int, name: int) -> int:
    """Index of the ``;`` that ends the statement, at least behind ``name``."""
    at = first
    while at < len(code):
        text = code[at].text
        if text in (b"(", b"[", b"{"):
            closing = matching(code, at)
            at = closing + 1
            continue
        if text == b";":
            if at < name:
                break
            return at
        if text in (b")", b"]", b"}"):
            break
        at += 1
    raise Refused("its declaration does not end with a semicolon of its own")


def _skip(code: list[Token], at: int, end: int) -> int:
    """Index behind one token or bracketed group, template arguments included."""
    text = code[at].text
    if text in (b"(", b"[", b"{"):
        return matching(code, at, end) + 1
    if text == b"<":
        depth = 0
        for index in range(at, end):
            inner = code[index].text
            depth += (inner == b"<") - (inner == b">")
            if depth == 0:
                return index + 1
        raise Refused("template arguments do not end")
    return at + 1


def _first_declarator(code: list[Token], first: int, last: int, wanted: int, names: frozenset[bytes]) -> int:
    """Index of the first token that belongs to a declarator and not to the type."""
    at, name = first, -1
    while at < last:
        token = code[at]
        if token.begin == wanted or (token.text in names and code[at - 1].text not in _DEFINING):
            name = at  # whatever stands behind it: a macro for an attribute
            break
        if token.text in _GROUPED and at + 1 < last and code[at + 1].text == b"(":
            if name >= 0 and token.text in _ATTRIBUTES and not _another_name(code, at, last):
                break
            at = matching(code, at + 1, last) + 1
            continue
        if token.text == b"[" and at + 1 < last and code[at + 1].text == b"[":
            at = matching(code, at, last) + 1
            continue
        if token.text == b"(" and at + 1 < last and code[at + 1].text in (b"*", b"&"):
            return at  # a pointer to a function or array: (*name)
        if token.text == b"{" and name >= 0 and _is_body(code, first, at):
            at = matching(code, at, last) + 1
            name = -1
            continue
        if token.text == b"(" and code[at - 1].kind is Kind.NAME and _another_name(code, at - 1, last):
            at = matching(code, at, last) + 1  # a macro with arguments among the specifiers
            continue
        if token.text in (b"=", b",", b"[", b"{", b"("):
            break
        if token.text == b"<":
            at = _skip(code, at, last)
            continue
        if token.kind is Kind.NAME and token.text not in _AROUND_NAME:
            name = at
        at += 1
    if name <= first:
        raise Refused("its declaration was not understood")
    while name - 2 > first and code[name - 1].text == b"::" and code[name - 2].kind is Kind.NAME:
        name -= 2  # Class::name
    while name - 1 > first and code[name - 1].text in _AROUND_NAME:
        before = code[name - 1].text
        if before in (b"const", b"volatile") and not any(t.text in (b"*", b"&") for t in code[first : name - 1]):
            break
        name -= 1
    while code[name].text in (b"const", b"volatile"):
        name += 1  # a qualifier of the type, not of a pointer
    return name


def _is_body(code: list[Token], first: int, at: int) -> bool:
    return any(token.text in _DEFINING for token in code[first:at])


def _another_name(code: list[Token], at: int, last: int) -> bool:
    """Does a further name follow the attribute at ``at``, so that what came before was the type?"""
    after = matching(code, at + 1, last) + 1
    return after < last and (code[after].kind is Kind.NAME or code[after].text in (b"*", b"&"))


def _split(code: list[Token], first: int, last: int) -> list[tuple[int, int]]:
    """Index ranges of the declarators between the commas."""
    parts, begin, at = [], first, first
    while at < last:
        text = code[at].text
        if text == b",":
            parts.append((begin, at))
            begin = at + 1
        # In an initialiser, < compares more often than it opens template arguments.
        at = at + 1 if text == b"<" else _skip(code, at, last)
    parts.append((begin, last))
    if any(a >= b for a, b in parts):
        raise Refused("its declaration was not understood")
    return parts


def _declarator(code: list[Token], first: int, last: int) -> Declarator:
    at = first
    while at < last and (code[at].text in _AROUND_NAME or code[at].text == b"::"):
        at += 1
    scope = at
    while at + 2 < last and code[at + 1].text == b"::":
        at += 2  # Class::name
    if at >= last or code[at].kind is not Kind.NAME:
        raise Refused("its declaration was not understood")
    name = code[at]
    # Close the parenthesis of (*name) together with what follows it.
    opened = sum(code[i].text == b"(" for i in range(first, at))
    at += 1
    while opened and at < last:
        if code[at].text == b")":
            opened -= 1
            at += 1
        else:
            at = _skip(code, at, last)
    parameters = first < last and code[first].text == b"("
    while at < last and (code[at].text == b"[" or (parameters and code[at].text == b"(")):
        at = matching(code, at, last) + 1
    suffix = code[at - 1].end
    while at < last and code[at].text in _ATTRIBUTES and at + 1 < last and code[at + 1].text == b"(":
        at = matching(code, at + 1, last) + 1
    attributes_end = code[at - 1].end
    if at < last and code[at].text not in (b"=", b"{", b"("):
        # A macro that stands for an attribute: the initialiser begins behind it.
        while at < last and code[at].text not in (b"=", b"{"):
            at = _skip(code, at, last)
        attributes_end = code[at - 1].end
    init = code[at].begin if at < last else attributes_end
    return Declarator(code[first].begin, code[scope].begin, name, suffix, init, code[last - 1].end)
