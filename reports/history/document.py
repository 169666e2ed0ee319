"""The history document as JSON, described by ``docs/schema/linemate-history.schema.json``."""

from __future__ import annotations

import msgspec

from reports.jsontext import encode
from reports.options import RenderOptions
from sharing.model.history import History


def render(history: History, options: RenderOptions) -> str:
    """The whole document.  Options change nothing."""
    return encode(history)


def decode(text: str | bytes) -> History:
    """A saved history.  Raises msgspec.ValidationError where it is not one."""
    return msgspec.json.decode(text, type=History)
