"""How a declaration is written: type, tag, qualifiers and bounds around a name, in C and in C++.

Owns the order of words.  "" stands for what has no name that source could use: the reader fills in the type.
"""

from __future__ import annotations

from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeTable

_TAGS = {TypeKind.STRUCT: "struct", TypeKind.CLASS: "struct", TypeKind.UNION: "union", TypeKind.ENUM: "enum"}
_QUALIFIERS = {TypeKind.CONST: "const", TypeKind.VOLATILE: "volatile"}
# What debug information has in the place of a name.
_UNNAMED = ("{", "(anonymous", "(unnamed", "?", "(...)", "<lambda", "[]")


def declaration(types: TypeTable, row: int, name: str, language: str, depth: int = 0) -> str:
    """``volatile struct point *name[4]``, without storage class and semicolon; "" where the type has no name."""
    if not 0 <= row < len(types) or depth > MAX_DEPTH:
        return ""
    record = types[row]
    if record.kind in _QUALIFIERS:
        word = _QUALIFIERS[TypeKind(record.kind)]
        core = _kind(types, record.target)
        if core == TypeKind.POINTER:
            return declaration(types, record.target, f"{word} {name}", language, depth + 1)
        inner = declaration(types, record.target, name, language, depth + 1)
        # gcc states the qualifier of an array for its elements too.
        return inner if not inner or f" {word} " in f" {inner}".partition("*")[0] else f"{word} {inner}"
    if record.kind == TypeKind.ATOMIC:
        inner = declaration(types, record.target, name, language, depth + 1)
        return f"_Atomic {inner}" if inner and language == "C" else ""
    if record.kind == TypeKind.RESTRICT:
        return declaration(types, record.target, name, language, depth + 1)
    if record.kind == TypeKind.ARRAY:
        if record.count < 0:
            return ""
        return declaration(types, record.target, f"{name}{record.bounds}", language, depth + 1)
    text = record.name
    if not text or any(mark in text for mark in _UNNAMED):
        return ""
    if record.kind in _TAGS and language != "C++" and not text.startswith(("struct ", "union ", "enum ")):
        text = f"{_TAGS[TypeKind(record.kind)]} {text}"
    return f"{text}{'' if text.endswith(('*', '&')) else ' '}{name}"


def spelled(types: TypeTable, row: int, name: str, language: str) -> str:
    """The same, of a record that is declared where it is used as well, for the reader to keep its members."""
    return declaration(types, row, name, language) or _unnamed(types, row, name)


def _unnamed(types: TypeTable, row: int, name: str) -> str:
    core, qualifiers, names = types.strip(row)
    if core < 0 or types[core].kind not in RECORD_KINDS or not all(any(m in n for m in _UNNAMED) for n in names):
        return ""
    words = [word for kind, word in _QUALIFIERS.items() if kind in qualifiers]
    return f"{' '.join([*words, _TAGS[TypeKind(types[core].kind)]])} {{ /* its members as they are */ }} {name}"


def _kind(types: TypeTable, row: int) -> int:
    return types[row].kind if 0 <= row < len(types) else TypeKind.UNKNOWN
