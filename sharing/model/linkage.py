"""Which language a variable is written in, by debug information or else by its linkage name.

Owns the marks of Rust's two schemes, and what readable names of C++ say that no source spells.  Reads no further: names
become readable elsewhere.
"""

from __future__ import annotations

import re

from sharing.model.image import FunctionFlag, Image, VariableFlag

RUST_V0 = re.compile(r"_R[0-9]*[A-Z][0-9A-Za-z_]*")  # RFC 2603
_HASH = re.compile(r"17h[0-9a-f]{16}E")
_LENGTH = re.compile(r"\d{1,4}")


# What demanglers and compilers write for an anonymous namespace around a name, and its part of a linkage name.
UNWRITTEN_SCOPE = "(anonymous namespace)::"
UNWRITTEN_PART = "_GLOBAL__N"


def as_written(name: str) -> str:
    """A name as source spells it, which nothing in it says of the anonymous namespaces around it.

    Two of them in two units are as apart as two statics of C with one name: by their units.
    """
    return name.replace(UNWRITTEN_SCOPE, "")


def is_rust(name: str) -> bool:
    return RUST_V0.match(name) is not None or older_rust(name) is not None


def older_rust(name: str) -> int | None:
    """Where a name of Rust's older scheme (``_ZN4core3ptr17h0123456789abcdefE``) ends, None for another name.

    Linear in its length: names are hostile.
    """
    if not name.startswith("_ZN") or "17h" not in name:
        return None
    at = 3
    while (found := _LENGTH.match(name, at)) is not None:
        if at > 3 and (hashed := _HASH.match(name, at)) is not None:
            return hashed.end()
        at = found.end() + int(found[0])
    return None


def is_cxx(language: str) -> bool:
    """Of a language as debug information calls it: "C++17", "C_plus_plus_14"."""
    return "++" in language or "plus" in language.lower()


class Languages:
    """Of the variables of one image."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._go = bool((image.functions["flags"] & FunctionFlag.GO).any())

    def of(self, variable: int) -> str:
        """Of a row of the variables; "" where nothing says it."""
        image, unit = self._image, int(self._image.variables["unit"][variable])
        if unit >= 0:
            return image.units[unit].language
        if self._go:
            return "Go"
        if image.variables["flags"][variable] & VariableFlag.RECOVERED:
            return image.language
        return "Rust" if any(map(is_rust, image.aliases.get(variable, ()))) else ""


# What compilers make for each class of C++, by readable names and by those of the Itanium C++ ABI (5.1.4.1).
_OF_CLASSES = ("vtable for ", "construction vtable for ", "VTT for ", "typeinfo for ", "typeinfo name for ")
_OF_CLASSES_LINKED = ("_ZTV", "_ZTC", "_ZTT", "_ZTI", "_ZTS")


def is_table_of_class(name: str) -> bool:
    """Whether a variable is a virtual table or type information, which no source declares."""
    return name.startswith(_OF_CLASSES) or name.startswith(_OF_CLASSES_LINKED)
