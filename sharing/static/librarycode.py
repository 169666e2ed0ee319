"""Functions of Rust and Go that a program has from a library, as everybody's programs do.

Owns which of an image's functions those are, by name.  What libraries of other languages are called is not known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from sharing.knowledge import Knowledge
from sharing.knowledge.names import rust_path
from sharing.model.image import FunctionFlag, Image
from sharing.static.callees import function_name

# Of a closure, which is anybody's: ``core::ops::function::FnOnce::call_once{{vtable.shim}}``.
_CLOSURES = "core::ops::function::Fn"


def library_code(image: Image, knowledge: Knowledge) -> Callable[[int], bool]:
    """Is the function of this row a library's?"""

    of_go = (image.functions["flags"] & FunctionFlag.GO != 0).tolist()

    @functools.cache
    def is_library(row: int) -> bool:
        name = function_name(image, row)
        if of_go[row]:
            return knowledge.is_runtime_code(name) or knowledge.is_library_data(name, "Go")
        if "::" not in name or name.startswith(_CLOSURES):
            return False
        return knowledge.is_library_data(rust_home(name), "Rust")

    return is_library


def rust_home(name: str) -> str:
    """The path of what a function of Rust belongs to: its type's, or where any type will do, that of the trait."""
    own = rust_path(name)
    if not name.startswith("<") or "::" in own.rpartition("::")[0]:
        return own
    trait = name.partition(" as ")[2].lstrip("&")
    return rust_path(trait) if trait else own
