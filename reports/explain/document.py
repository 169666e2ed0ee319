"""The comparison as JSON: the document itself, fields in the order of their types.

Owns writing and reading back; the shape is ``sharing.model.comparison``, described for other programs by
``docs/schema/linemate-explain.schema.json``.
"""

from __future__ import annotations

import msgspec

from reports.jsontext import encode
from reports.options import RenderOptions
from sharing.model.comparison import Comparison


def render(comparison: Comparison, options: RenderOptions) -> str:
    """The whole document.  Options change nothing."""
    return encode(comparison)


def decode(text: str | bytes) -> Comparison:
    """A saved comparison, to be rendered again.  Raises msgspec.ValidationError where it is not one."""
    return msgspec.json.decode(text, type=Comparison)
