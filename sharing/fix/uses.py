"""Where a variable is used, as tokens of the files that can see it.

Owns the reading of scopes, as far as it takes to tell a use from a member, a parameter, a local variable or a label
of the same name.  It works on tokens, since inactive branches of ``#if`` have to follow an edit too.  What it would
get wrong does not compile afterwards: ``.value`` on anything but the wrapper is an error, and so is a wrapper
without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sharing.fix.tokens import Kind, Refused, Source, Token, matching

# Names that may stand directly before a use; any other name before it makes it a declaration.
_BEFORE_USE = frozenset(
    b"return else do case sizeof typeof __typeof__ alignof _Alignof __alignof__ throw co_return co_yield co_await "
    b"delete new and or not xor bitand bitor not_eq and_eq or_eq xor_eq in decltype noexcept __extension__ "
    b"__builtin_offsetof asm __asm__ volatile".split()
)
_RECORDS = frozenset((b"struct", b"union", b"class"))
_CONTROL = frozenset((b"if", b"for", b"while", b"switch", b"catch", b"return", b"sizeof"))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The variable's name and the namespaces and classes around it."""

    name: bytes
    scope: tuple[bytes, ...]

    def names(self, qualifier: tuple[bytes, ...]) -> bool:
        """May the qualifier mean this scope?  Unnamed and inline namespaces are left out of it."""
        at = iter(self.scope)
        return all(part in at for part in qualifier)


@dataclass(slots=True)
class _Scope:
    """An open brace: ``kind`` is record, enum, body (of a function), or other (namespace, initialiser, extern "C")."""

    kind: str
    opened: int  # index of the brace
    hidden: bool = False  # a local variable or parameter of the name is visible here


@dataclass(slots=True)
class _Walk:
    scopes: list[_Scope] = field(default_factory=list)
    parameter: bool = False  # the parentheses just read declare a parameter of the name
    depth: int = 0  # of parentheses

    def copy(self) -> _Walk:
        return _Walk([replace(scope) for scope in self.scopes], self.parameter, self.depth)

    @property
    def in_body(self) -> bool:
        return any(scope.kind == "body" for scope in self.scopes)

    @property
    def innermost(self) -> str:
        return self.scopes[-1].kind if self.scopes else "file"

    @property
    def hidden(self) -> bool:
        return any(scope.hidden for scope in self.scopes)


class _Branches:
    """Branches of ``#if``: each starts with the scopes that were open before it, what follows has those of the first.

    Branches often open the same brace: ``#if A / if (a) { / #else / if (b) { / #endif``.
    """

    def __init__(self, directives: list[Token]) -> None:
        self._directives = iter(directives)
        self._next = next(self._directives, None)
        self._open: list[tuple[_Walk, _Walk | None]] = []  # before the #if; after its first branch
        self.hidden: set[int] = set()  # macros that are defined where the name means something else

    def before(self, token: Token, walk: _Walk) -> _Walk:
        """The state at ``token``, given that at the one before it."""
        while self._next is not None and self._next.begin < token.begin:
            words = self._next.text[1:].split(None, 1)
            kind = words[0] if words else b""
            if kind == b"define" and walk.hidden:
                self.hidden.add(self._next.begin)
            elif kind in (b"if", b"ifdef", b"ifndef"):
                self._open.append((walk.copy(), None))
            elif kind in (b"else", b"elif", b"elifdef", b"elifndef") and self._open:
                start, first = self._open[-1]
                self._open[-1] = (start, walk if first is None else first)
                walk = start.copy()
            elif kind == b"endif" and self._open:
                _, first = self._open.pop()
                walk = walk if first is None else first
            self._next = next(self._directives, None)
        return walk


def uses(source: Source, name: str, declared: frozenset[int]) -> tuple[Token, ...]:
    """Tokens that use the variable ``name``; ``declared`` are the offsets of the name in its own declarations.

    ``name`` may be qualified: ``space::name`` counts where it says that, and ``other::name`` does not.  Uses in the
    bodies of macros count.  Raises Refused where a macro or a class means something else by the name.
    """
    *scope, last = name.encode("utf-8", "surrogateescape").split(b"::")
    wanted = _Wanted(last, tuple(scope))
    branches = _Branches(source.directives)
    found = list(_walk(source, wanted, declared, branches))
    for directive in source.directives:
        if directive.begin not in branches.hidden:
            found += _in_macro(source, directive, last)
    return tuple(sorted(found, key=lambda token: token.begin))


def _in_macro(source: Source, directive: Token, wanted: bytes) -> Iterator[Token]:
    """Uses in what a ``#define`` expands to."""
    if wanted not in directive.text:
        return
    code = source.within(directive)
    if len(code) < 3 or code[1].text != b"define":
        return
    called = code[3:4] and code[3].text == b"(" and code[3].begin == code[2].end
    first = matching(code, 3) + 1 if called else 3
    for at, token in enumerate(code):
        if at < 2 or token.text != wanted or token.kind is not Kind.NAME:
            continue
        line = source.position(token.begin)[0]
        if at < first:
            raise Refused(f"a macro or its parameter has this name ({source.path}:{line})")
        around = (code[at - 1].text, code[at + 1].text if at + 1 < len(code) else b"")
        if b"#" in around:
            raise Refused(f"a macro builds names from it ({source.path}:{line})")
        if around[0] not in (b".", b"->", b"struct", b"union", b"enum", b"goto"):
            yield token


def _walk(source: Source, wanted: _Wanted, declared: frozenset[int], branches: _Branches) -> Iterator[Token]:
    code, walk = source.code, _Walk()
    own: set[int] = set()  # scopes that declare the variable
    others: set[int] = set()  # scopes that declare something else of its name
    for at, token in enumerate(code):
        walk = branches.before(token, walk)
        text = token.text
        if text == b"{":
            kind = _kind_of_brace(code, at, walk)
            walk.scopes.append(_Scope(kind, at, walk.parameter and kind == "body"))
            walk.parameter = False
        elif text == b"}":
            if walk.scopes:
                walk.scopes.pop()
        elif text == b"(":
            walk.depth += 1
        elif text == b")":
            walk.depth -= 1
        elif text == b";" and walk.depth <= 0:
            walk.parameter = False
        elif text == wanted.name and token.kind is Kind.NAME:
            role = "own" if token.begin in declared else _role(code, at, walk, wanted)
            scope = walk.scopes[-1] if walk.scopes else None
            opened = scope.opened if scope is not None else -1
            if role == "use" and not walk.hidden:
                yield token
            elif role == "own":
                own.add(opened)
            elif role == "parameter" and walk.depth > 0:
                walk.parameter = True
            elif role in ("local", "parameter"):
                others.add(opened)
                if scope is not None:
                    scope.hidden = True
            if own & others:
                line = source.position(token.begin)[0]
                raise Refused(f"it is declared again, in another branch of #if or otherwise ({source.path}:{line})")
            if role == "member" and _has_methods(code, at):
                line = source.position(token.begin)[0]
                raise Refused(f"a class has a member of this name ({source.path}:{line})")


def _kind_of_brace(code: list[Token], at: int, walk: _Walk) -> str:
    if walk.in_body and walk.innermost != "record":
        # Within a function: a local record, else a block or an initialiser, which declare nothing new by themselves.
        return "record" if _opens_record(code, at) else "enum" if _opens(code, at, frozenset((b"enum",))) else "block"
    if at and (code[at - 1].text in (b")", b"const", b"noexcept", b"override", b"final", b"try") or _trails(code, at)):
        return "body"
    if _opens(code, at, frozenset((b"enum",))):
        return "enum"
    return "record" if _opens_record(code, at) else "other"


def _trails(code: list[Token], at: int) -> bool:
    """Does a parameter list end before this brace, with attributes, a member initialiser or a return type between?"""
    back = at - 1
    for _ in range(64):
        if back < 0 or code[back].text in (b";", b"}", b"{", b"="):
            return False
        if code[back].text == b")":
            return not _opens_record(code, at)
        back -= 1
    return False


def _opens_record(code: list[Token], at: int) -> bool:
    return _opens(code, at, _RECORDS)


def _opens(code: list[Token], at: int, keywords: frozenset[bytes]) -> bool:
    """Does one of the keywords begin what this brace belongs to?"""
    back = at - 1
    for _ in range(64):
        if back < 0 or code[back].text in (b";", b"{", b"}", b"="):
            return False
        if code[back].text in keywords and (back == 0 or code[back - 1].text not in (b"(", b",", b"<")):
            return True
        back -= 1
    return False


def _has_methods(code: list[Token], at: int) -> bool:
    """Do bodies of member functions follow in the record around ``at``, where the member hides the variable?"""
    depth = 0
    for index in range(at, len(code)):
        text = code[index].text
        if text == b"{":
            if depth == 0 and code[index - 1].text in (b")", b"const", b"noexcept", b"override"):
                return True
            depth += 1
        elif text == b"}":
            depth -= 1
            if depth < 0:
                break
    return False


def _role(code: list[Token], at: int, walk: _Walk, wanted: _Wanted) -> str:
    """What this occurrence of the name is: use, member, parameter, local, or other (label, tag, enumerator)."""
    before = code[at - 1].text if at else b";"
    after = code[at + 1].text if at + 1 < len(code) else b";"
    if before in (b".", b"->", b".*", b"->*", b"goto", b"struct", b"union", b"class", b"enum", b"namespace"):
        return "other"
    if before == b"::":
        return "use" if wanted.names(_qualifier(code, at)) else "other"  # a name of some class or namespace
    if walk.innermost == "enum":
        return "other"
    if walk.innermost == "record":
        if walk.depth > 0:  # in a default argument, a member initialiser, or declared by a parameter
            return "parameter" if declares(code, at, in_body=False) else "use"
        return "use" if _initialises(code, at) else "member"
    if after == b":" and before in (b";", b"{", b"}"):
        return "other"  # a label
    if not declares(code, at, in_body=walk.in_body):
        return "use"
    if walk.in_body:
        return "local"
    return "parameter"


def _qualifier(code: list[Token], at: int) -> tuple[bytes, ...]:
    """``a``, ``b`` of ``a::b::name``."""
    found: list[bytes] = []
    while at >= 2 and code[at - 1].text == b"::" and code[at - 2].kind is Kind.NAME:
        if code[at - 2].text in _BEFORE_USE:
            break  # return ::name
        found.append(code[at - 2].text)
        at -= 2
    return tuple(reversed(found))


def _initialises(code: list[Token], at: int) -> bool:
    """Does an ``=`` stand before it in the same declaration?"""
    for back in range(at - 1, max(at - 64, -1), -1):
        if code[back].text in (b";", b"{", b"}", b","):
            return False
        if code[back].text == b"=":
            return True
    return False


def declares(code: list[Token], at: int, *, in_body: bool) -> bool:
    """Is the name declared here, judged by what stands before it?"""
    back = at - 1
    starred = False
    if code[back].text == b"," or (code[back].text == b"*" and code[back - 1].text == b","):
        return _after_declarator(code, at) and _in_declaration(code, back)
    while back >= 0 and code[back].text in (b"*", b"&", b"&&", b"const", b"restrict", b"__restrict"):
        starred = True
        back -= 1
    if back < 0:
        return False
    token = code[back]
    if token.text == b">" and not starred and in_body:
        return False  # a comparison, or a template type: the latter would not compile and is seen then
    is_type = token.kind is Kind.NAME and token.text not in _BEFORE_USE
    if not starred:
        return is_type
    if not is_type:
        return False
    if not in_body:
        return True  # a parameter: there are no products outside of functions but in initialisers
    # "T *name;" and "T *name = ...": a product is never a whole statement.
    start = code[back - 1].text if back else b";"
    begins = start in (b";", b"{", b"}", b"const", b"struct", b"static", b"union", b"volatile", b"register", b":")
    return begins and _after_declarator(code, at)


def _in_declaration(code: list[Token], at: int) -> bool:
    """Does the comma at ``at`` separate declarators: ``T a, n;``, and not arguments or expressions?"""
    depth, start = 0, at - 1
    for start in range(at - 1, max(at - 256, -1), -1):
        text = code[start].text
        if text == b"}" and depth <= 0 and code[start + 1].text not in (b",", b";", b")", b"]"):
            break  # the end of a block, not of an initialiser
        if text in (b")", b"]", b"}"):
            depth += 1
        elif text in (b"(", b"[", b"{"):
            depth -= 1
            if depth < 0 and text != b"{":
                return False
        if (depth <= 0 and text == b";") or depth < 0 or start == 0:
            break
    first = start if start == 0 and code[start].kind is Kind.NAME else start + 1
    if code[first].kind is not Kind.NAME or code[first].text in _BEFORE_USE or first + 1 >= at:
        return False
    following = first + 1
    while code[following].text in (b"*", b"::", b"const"):
        following += 1
    return code[following].kind is Kind.NAME


def _after_declarator(code: list[Token], at: int) -> bool:
    after = code[at + 1].text if at + 1 < len(code) else b";"
    return after in (b"=", b";", b",", b"[", b":")


def index_end(code: list[Token], at: int) -> int:
    """Offset behind the ``[...]`` that follows ``code[at]``.  Raises Refused where none does."""
    if at + 1 < len(code) and code[at + 1].text == b"[":
        return code[matching(code, at + 1)].end
    raise Refused("it is used as a whole, not element by element")


def sizeof_of(code: list[Token], at: int) -> int:
    """Index of the ``sizeof`` whose operand ``code[at]`` begins, behind any parentheses; -1 none."""
    back = at - 1
    while back >= 0 and code[back].text in (b"(", b"&", b"*"):
        back -= 1
    return back if back >= 0 and code[back].text == b"sizeof" else -1


def counts_elements(code: list[Token], at: int) -> bool:
    """Is the use at ``code[at]`` one half of ``sizeof(name) / sizeof(name[0])``, which holds for any element?"""
    begin, name = sizeof_of(code, at), code[at].text
    if begin < 0:
        return False
    if _of_element(code, begin, at):
        return begin >= 2 and code[begin - 1].text == b"/" and _ends_sizeof_of(code, begin - 2, name)
    end = matching(code, begin + 1) + 1 if code[begin + 1].text == b"(" else at + 1
    if end + 1 >= len(code) or code[end].text != b"/" or code[end + 1].text != b"sizeof":
        return False
    other = next((i for i in range(end + 2, min(end + 6, len(code))) if code[i].text == name), -1)
    return other >= 0 and _of_element(code, end + 1, other)


def _of_element(code: list[Token], begin: int, at: int) -> bool:
    """Does the ``sizeof`` at ``begin`` take ``*name`` or ``name[...]`` and nothing of it?"""
    if any(token.text == b"*" for token in code[begin + 1 : at]):
        return True
    if at + 1 >= len(code) or code[at + 1].text != b"[":
        return False
    behind = matching(code, at + 1) + 1
    return behind >= len(code) or code[behind].text not in (b".", b"->", b"[")


def _ends_sizeof_of(code: list[Token], end: int, name: bytes) -> bool:
    """Does ``sizeof(name)`` or ``sizeof name`` end with ``code[end]``?"""
    while end > 0 and code[end].text == b")":
        end -= 1
    return end >= 0 and code[end].text == name and sizeof_of(code, end) >= 0
