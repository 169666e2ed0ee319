"""Attributes among the specifiers of a declaration: which are the variable's and which its type's, macros included.

Owns the reading of macros that stand for attributes.  An attribute of a variable (its section, that it is used) has no
place in a member or an initialiser: compilers refuse or drop it there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sharing.fix.declaration import STORAGE, Statement
from sharing.fix.plan import Planner
from sharing.fix.tokens import Kind, Refused, Source, Token, matching

_ATTRIBUTE = frozenset((b"__attribute__", b"__attribute"))
_ALIGNMENT = frozenset((b"alignas", b"_Alignas"))
# Attributes of variables as gcc and clang document them; others, such as vector_size, are part of the type.
_OF_VARIABLES = frozenset(
    b"section used unused maybe_unused visibility weak weakref alias common nocommon tls_model init_priority "
    b"no_reorder retain deprecated unavailable noinit persistent selectany dllimport dllexport no_destroy "
    b"always_destroy no_sanitize no_sanitize_address disable_sanitizer_instrumentation guarded_by pt_guarded_by "
    b"model near far nodebug require_constant_initialization externally_visible uninitialized copy annotate".split()
)
_MAX_NESTED = 4  # macros that stand for macros


def with_attributes(planner: Planner, statement: Statement) -> Statement:
    """The declaration with the variable's attributes apart from its type.

    An alignment is dropped: that of the type it gets is at least as large.  Raises Refused where a macro aligns it and
    does more.
    """
    source, tokens = statement.source, list(statement.specifiers)
    kept: list[Token] = []
    attributes: list[str] = []
    at = 0
    while at < len(tokens):
        end = _group_end(tokens, at)
        kind = _kind(planner, source, tokens[at:end], 0)
        if kind == "attribute":
            attributes.append(source.text(tokens[at].begin, tokens[end - 1].end))
        elif kind != "alignment":
            kept += tokens[at:end]
        at = end
    if not any(token.text not in STORAGE for token in kept):
        raise Refused("its declaration was not understood")
    return replace(statement, specifiers=tuple(kept), attributes=" ".join(attributes))


def aligning_macro(planner: Planner, source: Source, text: str) -> bool:
    """Is the text behind a declarator a macro that stands for an alignment and nothing else?"""
    inner = Source(source.path, text.encode("utf-8", "surrogateescape")).code
    return bool(inner) and inner[0].kind is Kind.NAME and _kind(planner, source, inner, 0) == "alignment"


def _group_end(tokens: Sequence[Token], at: int) -> int:
    """Index behind a token and the brackets that belong to it."""
    text = tokens[at].text
    following = tokens[at + 1].text if at + 1 < len(tokens) else b""
    if text == b"[" and following == b"[":
        return matching(list(tokens), at) + 1
    if tokens[at].kind is Kind.NAME and following == b"(":
        return matching(list(tokens), at + 1) + 1
    return at + 1


def _kind(planner: Planner, source: Source, group: Sequence[Token], depth: int) -> str:
    """What some tokens are: attribute or alignment (of the variable), or type."""
    first = group[0]
    if first.text in STORAGE:
        return "type"
    if first.text == b"[":
        return "attribute"
    if first.text in _ALIGNMENT:
        return "type" if depth == 0 else "alignment"  # written out, it is known how much it is
    if first.text in _ATTRIBUTE:
        names = _attribute_names(group)
        if names and names <= {b"aligned"}:
            return "alignment"
        return "attribute" if names and names <= _OF_VARIABLES else "type"
    if first.kind is not Kind.NAME or depth >= _MAX_NESTED:
        return "type"
    kinds = {_of_body(planner, source, body, depth) for body in _bodies(planner, source.path, first.text)}
    if kinds == {"alignment", "attribute"}:
        name = first.text.decode("utf-8", "surrogateescape")
        raise Refused(f"{name} aligns it in some configurations and does more in others")
    return kinds.pop() if len(kinds) == 1 else "type"


def _of_body(planner: Planner, source: Source, body: list[Token], depth: int) -> str:
    """What a macro stands for; nothing at all is an attribute, too."""
    kinds: set[str] = set()
    at = 0
    while at < len(body):
        end = _group_end(body, at)
        kinds.add(_kind(planner, source, body[at:end], depth + 1))
        at = end
    if "type" in kinds:
        return "type"
    return "alignment" if kinds == {"alignment"} else "attribute"


def _bodies(planner: Planner, path: str, name: bytes) -> list[list[Token]]:
    """What the macro ``name`` stands for wherever units that read the file define it; empty definitions only count
    where there is no other."""
    found = [body for body, _ in planner.macros(path, name)]
    return [body for body in found if body] or found[:1]


def _attribute_names(group: Sequence[Token]) -> frozenset[bytes]:
    """``section`` and ``used`` of ``__attribute__((section(".x"), used))``, without underscores around."""
    names, depth = set(), 0
    for token in group[1:]:
        if token.text == b"(":
            depth += 1
        elif token.text == b")":
            depth -= 1
        elif token.kind is Kind.NAME and depth == 2:
            names.add(re.sub(rb"^__(.*)__$", rb"\1", token.text))
    return frozenset(names)
