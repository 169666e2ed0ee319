"""Attributes among the specifiers of a declaration: which are the variable's and which its type's, macros included.

Owns the reading of macros that stand for attributes.  An attribute of a variable (its section, that it is used) has no
place in a member or an initialiser: compilers refuse or drop it there.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import replace

from sharing.fix.declaration import STORAGE, Declarator, Statement
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
_ALIGNED = r"(?:__)?aligned(?:__)?\s*(?:\((?:[^()]|\([^()]*\))*\))?"


class _Kind(enum.Enum):
    """What stands in a declaration beside names and operators; attributes and alignments are the variable's."""

    TYPE = "type"
    STORAGE = "storage class"
    ATTRIBUTE = "attribute"
    ALIGNMENT = "alignment"
    MIXED = "several of these"


def with_attributes(planner: Planner, statement: Statement, alignment: int) -> Statement:
    """The declaration with the variable's attributes apart from its type; it asks for an ``alignment`` in bytes.

    One of a line at most is dropped: on a variable it would take the place of the type's, which is as large.  Raises
    Refused where a macro aligns it and does more, or is part of its type and its storage class.
    """
    source, tokens = statement.source, list(statement.specifiers)
    kept: list[Token] = []
    attributes: list[str] = []
    stored, larger = False, alignment > planner.line_size
    at = 0
    while at < len(tokens):
        end = _group_end(tokens, at)
        group = tokens[at:end]
        kind = _kind(planner, source, group, 0)
        text = source.text(group[0].begin, group[-1].end)
        if kind is _Kind.MIXED:
            raise Refused(f"{text} is more than an attribute, an alignment or a storage class: write it out first")
        if kind in (_Kind.TYPE, _Kind.STORAGE) and (kind is _Kind.TYPE or group[0].text in STORAGE):
            kept += group
        elif kind is not _Kind.ALIGNMENT or larger:
            attributes += filter(None, [text if larger else _without_alignment(text)])
            stored = stored or kind is _Kind.STORAGE
        at = end
    if not any(token.text not in STORAGE for token in kept):
        raise Refused("its declaration was not understood")
    return replace(statement, specifiers=tuple(kept), attributes=" ".join(attributes), stored=stored)


def behind_name(planner: Planner, statement: Statement, declarator: Declarator, alignment: int) -> str:
    """What stands behind the name of a variable, as it is to stand behind its new type."""
    source = statement.source
    text = source.text(declarator.suffix, declarator.init)
    tokens = Source(source.path, text.encode("utf-8", "surrogateescape")).code
    for token in tokens:
        bodies = planner.macros(source.path, token.text) if token.kind is Kind.NAME else ()
        if token.text == b"=" or any(inner.text in (b"=", b"{") for body, _ in bodies for inner in body):
            raise Refused("a macro gives it its value")
    if alignment > planner.line_size:
        return text.strip()
    at = 0
    kept = []
    while at < len(tokens):
        end = _group_end(tokens, at)
        kind = _Kind.ALIGNMENT if tokens[at].text in _ALIGNMENT else _kind(planner, source, tokens[at:end], 0)
        if kind is _Kind.MIXED:
            raise Refused(f"{tokens[at].text.decode('utf-8', 'surrogateescape')} aligns it and does more")
        if kind is not _Kind.ALIGNMENT:
            kept.append(_without_alignment(text[tokens[at].begin : tokens[end - 1].end]))
        at = end
    return " ".join(filter(None, kept))


def _without_alignment(text: str) -> str:
    """An attribute without an alignment that stands in one list with others."""
    return re.sub(rf"(?<=[(,])\s*{_ALIGNED}\s*,|,\s*{_ALIGNED}\s*(?=[,)])", "", text)


def _group_end(tokens: Sequence[Token], at: int) -> int:
    """Index behind a token and the brackets that belong to it."""
    text = tokens[at].text
    following = tokens[at + 1].text if at + 1 < len(tokens) else b""
    if text == b"[" and following == b"[":
        return matching(list(tokens), at) + 1
    if tokens[at].kind is Kind.NAME and following == b"(":
        return matching(list(tokens), at + 1) + 1
    return at + 1


def _kind(planner: Planner, source: Source, group: Sequence[Token], depth: int) -> _Kind:
    """What some tokens are."""
    first = group[0]
    if first.text in STORAGE:
        return _Kind.STORAGE
    if first.text == b"[":
        return _Kind.ATTRIBUTE
    if first.text in _ALIGNMENT:
        return _Kind.TYPE if depth == 0 else _Kind.ALIGNMENT  # written out, it is known how much it is
    if first.text in _ATTRIBUTE:
        names = _attribute_names(group)
        if names and names <= {b"aligned"}:
            return _Kind.ALIGNMENT
        if not names or not names <= _OF_VARIABLES | {b"aligned"}:
            return _Kind.TYPE
        return _Kind.MIXED if b"aligned" in names and depth else _Kind.ATTRIBUTE
    if first.kind is not Kind.NAME or depth >= _MAX_NESTED:
        return _Kind.TYPE
    kinds = {_of_body(planner, source, body, depth) for body in _bodies(planner, source.path, first.text)}
    if kinds == {_Kind.ALIGNMENT, _Kind.ATTRIBUTE}:
        name = first.text.decode("utf-8", "surrogateescape")
        raise Refused(f"{name} aligns it in some configurations and does more in others")
    if kinds == {_Kind.STORAGE, _Kind.ATTRIBUTE}:
        return _Kind.STORAGE
    if _Kind.MIXED in kinds or (_Kind.STORAGE in kinds and len(kinds) > 1):
        return _Kind.MIXED
    return kinds.pop() if len(kinds) == 1 else _Kind.TYPE


def _of_body(planner: Planner, source: Source, body: list[Token], depth: int) -> _Kind:
    """What a macro stands for; nothing at all is an attribute, too."""
    kinds: set[_Kind] = set()
    at = 0
    while at < len(body):
        end = _group_end(body, at)
        kinds.add(_kind(planner, source, body[at:end], depth + 1))
        at = end
    if len(kinds) < 2:
        return kinds.pop() if kinds else _Kind.ATTRIBUTE
    if kinds == {_Kind.STORAGE, _Kind.ATTRIBUTE}:
        return _Kind.STORAGE
    more = {_Kind.MIXED, _Kind.STORAGE} if _Kind.TYPE in kinds else {_Kind.MIXED, _Kind.ALIGNMENT}
    return _Kind.MIXED if kinds & more else _Kind.TYPE


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
