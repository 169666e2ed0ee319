"""Functions that return a new object each time, by their names.

Owns which names these are.  Functions of a program that return what such a function made are known by their code.
"""

from __future__ import annotations

# Functions that return a new object: of C++, whose mangled names say what they are, and by how others are named.
_NEW = ("_Znwm", "_Znam", "_Znwj", "_Znaj")  # operator new, whatever its other arguments
_MAKERS = ("alloc", "alloc0", "memalign")
_OTHERS = ("realloc", "dealloc")


def makes_objects(name: str) -> bool:
    """Whether a function of this name returns a new object each time."""
    lowered = name.lower()
    return name.startswith(_NEW) or (lowered.endswith(_MAKERS) and not lowered.endswith((*_OTHERS, "posix_memalign")))
