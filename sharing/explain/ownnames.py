"""The names that a program's own source gives to its functions and variables, for telling two programs apart.

Owns what is no name of a program's own: of start-up code, of the language's library, of what a compiler makes, and
``main``, which all have.
"""

from __future__ import annotations

import re

import numpy as np

from sharing.basics.naming import Demangle
from sharing.explain.bodies import of_the_program
from sharing.explain.identity import Objects

LIBRARIES = frozenset({"std", "core", "alloc"})  # of C++ and Rust: each program has its copies of their templates
# Static words of gcc's crtbegin.o, to which it appends numbers.
START_UP = frozenset({"completed", "dtor_idx", "object"})
_OF_COMPILER = re.compile(r"(vtable|VTT|construction vtable|typeinfo|typeinfo name|guard variable|reference) ")
_TEMPLATE = re.compile(r"<[^<>]*>")
_BEGINS = re.compile(r"[A-Za-z]\w*")


def own_names(functions: Objects, variables: Objects, demangle: Demangle) -> frozenset[tuple[str, ...]]:
    """The names of all that the program defines itself, each as its scopes and its last part."""
    rows = np.flatnonzero(functions.named & of_the_program(functions)).tolist()
    words = [functions.words[int(functions.base[row])] for row in rows]
    words += [
        base
        for row in np.flatnonzero(variables.named).tolist()
        if (label := variables.label(row).partition("@")[0]) not in variables.image.imports
        and ((base := variables.words[int(variables.base[row])]) == label or base not in START_UP)
    ]
    return frozenset(name for text in demangle(list(dict.fromkeys(words))) if (name := _own(text)))


def _own(text: str) -> tuple[str, ...]:
    """The parts of a name, () of what is none of the program's own; without arguments, and a template's result type."""
    plain = text.replace("(anonymous namespace)::", "")
    if _OF_COMPILER.match(plain) or plain.startswith("_"):
        return ()
    while _TEMPLATE.search(plain):
        plain = _TEMPLATE.sub("", plain)
    parts = plain.partition("(")[0].rpartition(" ")[2].split("::")
    if parts[0] in LIBRARIES or parts[0].startswith("_") or parts == ["main"]:
        return ()
    return tuple(part for part in parts if _BEGINS.fullmatch(part))
