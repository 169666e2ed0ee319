"""The report as JSON: the result document itself, two spaces of indentation, fields in the order of their types.

Owns the encoding only; the shape is ``sharing.model.Report``, described for other programs by
``docs/schema/linemate-report.schema.json``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reports.escape import visible
from reports.options import RenderOptions
from sharing.model import Report

INDENT = 2


def render(report: Report, options: RenderOptions) -> str:
    """The document, complete and unescaped beyond what JSON itself asks for.  Options change nothing."""
    return encode(report)


def encode(document: msgspec.Struct) -> str:
    """Any result struct as indented JSON that ends with a newline.

    Names that were not UTF-8 carry surrogate escapes, which JSON cannot hold: they become ``\\x80`` and the like.
    """
    try:
        raw = msgspec.json.encode(document)
    except UnicodeEncodeError:
        raw = msgspec.json.encode(_utf8(msgspec.to_builtins(document)))
    return msgspec.json.format(raw, indent=INDENT).decode() + "\n"


def decode(text: str | bytes) -> Report:
    """A saved report, to be rendered again.  Raises msgspec.ValidationError where it is not one."""
    return msgspec.json.decode(text, type=Report)


def _utf8(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(visible(char) if "\ud800" <= char <= "\udfff" else char for char in value)
    if isinstance(value, dict):
        return {_utf8(key): _utf8(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_utf8(item) for item in value]
    return value
