"""The report as JSON: the result document itself, fields in the order of their types.

Owns reading and writing of saved reports; the shape is ``sharing.model.Report``, described for other programs by
``docs/schema/linemate-report.schema.json``.
"""

from __future__ import annotations

import msgspec

from reports.jsontext import encode
from reports.options import RenderOptions
from sharing.model import Report


def render(report: Report, options: RenderOptions) -> str:
    """The whole document.  Options change nothing."""
    return encode(report)


def decode(text: str | bytes) -> Report:
    """A saved report, to be rendered again.  Raises msgspec.ValidationError where it is not one."""
    return msgspec.json.decode(text, type=Report)
