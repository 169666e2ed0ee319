"""Names as a report shows them.

Owns the shortening of C++ function names to what identifies them in a sentence: qualified name without
parameters, return type or template arguments' insides beyond a limit.  Demangling itself is passed in.
"""

from __future__ import annotations

from collections.abc import Callable

Demangle = Callable[[list[str]], list[str]]


def readable(name: str, demangle: Demangle) -> str:
    """``_Z16tc_release_tableP5Table`` as ``tc_release_table``; names that are not C++ stay as they are."""
    if not name.startswith("_Z"):
        return name
    base, dot, clone = name.partition(".")
    return without_parameters(demangle([base])[0]) + (f"{dot}{clone}" if dot else "")


def without_parameters(name: str) -> str:
    """Cut the parameter list: the last parenthesis group at template depth 0, with what follows it."""
    depth = 0
    end = len(name)
    at = len(name) - 1
    while at >= 0:
        c = name[at]
        if c in ")>" and not name.endswith("operator>", 0, at + 1):
            depth += 1
        elif c in "(<":
            depth -= 1
            if depth == 0 and c == "(":
                end = at
                break
        at -= 1
    cut = name[:end].rstrip() if at >= 0 else name
    # "(anonymous namespace)::f" and "operator()" keep their parentheses.
    if not cut or cut.endswith(("::", "operator")):
        return name
    return cut
