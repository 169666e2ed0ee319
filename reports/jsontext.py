"""Any result value as indented JSON text that is safe to show.

Owns the encoding that all JSON formats share: two spaces, keys in the order of their types, every character that
does not print written as an escape, so that a name stays exact and a terminal shows it harmlessly.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from reports.escape import visible

INDENT = 2

_SUSPECT = re.compile(r"[^\x00-\x7e]")


def encode(value: Any) -> str:
    """``value`` (structs, enums, dicts, lists) as JSON that ends with a newline."""
    text = msgspec.json.format(compact(value), indent=INDENT)
    return _SUSPECT.sub(_escaped, text) + "\n"


def compact(value: Any) -> str:
    """The same in one line, for files of our own.

    Bytes of a name that were not UTF-8 are lone surrogates in Python, which JSON cannot hold: they become the text
    ``\\x80`` and the like.
    """
    try:
        raw = msgspec.json.encode(value)
    except UnicodeEncodeError:
        raw = msgspec.json.encode(without_surrogates(msgspec.to_builtins(value)))
    return raw.decode()


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    if char.isprintable():
        return char
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def without_surrogates(value: Any) -> Any:
    """Builtin values with the text ``\\x80`` and the like for bytes of names that are not UTF-8."""
    if isinstance(value, str):
        return "".join(visible(char) if "\ud800" <= char <= "\udfff" else char for char in value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    return value
