"""Readable names of Rust symbols: both schemes of rustc, without the hash that changes from build to build.

Owns the older scheme (``_ZN4core3ptr...17h0123456789abcdefE``), whose parts are plain text
with escapes; names of the v0 scheme (``_RNv...``, RFC 2603) are read by LLVM in the native helper.
"""

from __future__ import annotations

import re

from elfscan.debug.namehelper import MAX_NAME_BYTES, by_helper
from sharing.model.linkage import RUST_V0, older_rust

MAX_NAMES = 1 << 20

HASH_CHARS = len("17h0123456789abcdefE")

# In a table of names, to tell cheaply that a file has any.
RUST_NAME = re.compile(rb"\x00_R[0-9]*[A-Z]|17h[0-9a-f]{16}E")

_PARTITION = re.compile(r"\.llvm\.\d+$")  # added where LLVM makes a local name global
_LENGTH = re.compile(r"\d{1,4}")
_ESCAPE = re.compile(r"\$(SP|BP|RF|LT|GT|LP|RP|C|u[0-9a-f]{1,6})\$|\.\.")
_ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}


def readable_rust(names: list[str]) -> list[str]:
    """The readable form of each name; what is no Rust name, or cannot be read, stays as it is."""
    result = list(names)
    hard: dict[str, list[int]] = {}
    for row, name in enumerate(names[:MAX_NAMES]):
        found = RUST_V0.match(name)
        if found is not None:
            if len(name) <= MAX_NAME_BYTES:
                hard.setdefault(found[0], []).append(row)
        elif (end := older_rust(name)) is not None:
            result[row] = "::".join(_parts(name[3 : end - HASH_CHARS])) + _rest(name, end)
    for linkage, readable in zip(hard, by_helper(list(hard)), strict=True):
        for row in hard[linkage] if readable else ():
            result[row] = readable + _rest(names[row], len(linkage))
    return result


def told_apart(names: list[str]) -> list[str]:
    """Readable names, a number behind each further function of one name: copies for other types, in order."""
    seen: dict[str, int] = {}
    result = list(names)
    for row, name in enumerate(names):
        if "::" in name:
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                result[row] = f"{name} #{seen[name]}"
    return result


def _rest(name: str, end: int) -> str:
    """What a compiler added behind a linkage name: ``.cold``, ``.0`` of a part of a variable."""
    return _PARTITION.sub("", name[end:])


def _parts(text: str) -> list[str]:
    """The parts of a name of the older scheme, readable."""
    parts = []
    at = 0
    while (found := _LENGTH.match(text, at)) is not None:
        at = found.end() + int(found[0])
        part = text[found.end() : at]
        parts.append(_ESCAPE.sub(_plain, part.removeprefix("_") if part.startswith("_$") else part))
    return parts


def _plain(escape: re.Match[str]) -> str:
    code = escape[1]
    if code is None:
        return "::"
    if code in _ESCAPES:
        return _ESCAPES[code]
    number = int(code[1:], 16)
    return chr(number) if number < 0x110000 and chr(number).isprintable() else escape[0]
