"""Readable names from linkage names: C++ (Itanium C++ ABI) and, by ``rustnames``, Rust.

Owns the plain nested names of C++, which most variables have, and hands the rest to ``namehelper``.  Names are as
source spells them: without the scope of an anonymous namespace, as the analyzer and ``native/dwarf`` have them too.
"""

from __future__ import annotations

import re

from elfscan.debug.namehelper import MAX_NAME_BYTES, by_helper
from elfscan.debug.rustnames import readable_rust
from sharing.model.linkage import UNWRITTEN_PART, as_written, is_rust

_SPECIAL = {
    "TV": "vtable for ",
    "TT": "VTT for ",
    "TI": "typeinfo for ",
    "TS": "typeinfo name for ",
    "GV": "guard variable for ",
}
_LENGTH = re.compile(r"L?(\d+)")


def demangle(names: list[str]) -> list[str]:
    """The readable form of each name; one that is neither C++ nor Rust, or cannot be read, stays as it is."""
    rust = [row for row, name in enumerate(names) if is_rust(name)]
    if rust:
        names = list(names)
        for row, readable in zip(rust, readable_rust([names[row] for row in rust]), strict=True):
            names[row] = readable
    result = [_simple(name) for name in names]
    hard = [row for row, name in enumerate(result) if name is None]
    for row, readable in zip(hard, by_helper([names[row] for row in hard]), strict=True):
        result[row] = as_written(readable)
    return [readable if readable else name for readable, name in zip(result, names, strict=True)]


def _simple(name: str) -> str | None:
    """``_Z3foo``, ``_ZL3foo``, ``_ZN2ns1xE`` and ``_ZTV3foo``; "" for what is none, None for all else."""
    if not name.startswith("_Z") or len(name) > MAX_NAME_BYTES or "\0" in name:
        return ""
    what, rest, nested = _SPECIAL.get(name[2:4], ""), name[2:], False
    if what:
        rest = rest[2:]
    if rest.startswith("N"):
        rest, nested = rest[1:], True
    parts: list[str] = []
    while rest and rest != "E":
        match = _LENGTH.match(rest)
        if match is None:
            return None
        length = int(match[1][:9])
        part = rest[match.end() : match.end() + length]
        if length == 0 or len(part) != length:
            return None
        if not part.startswith(UNWRITTEN_PART):
            parts.append(part)
        rest = rest[match.end() + length :]
        if not nested:
            break
    return what + "::".join(parts) if parts and rest == ("E" if nested else "") else None
