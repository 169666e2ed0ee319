"""The difference of two reports as JSON, described by ``docs/schema/linemate-diff.schema.json``."""

from __future__ import annotations

from reports.jsontext import encode
from reports.options import RenderOptions
from sharing.model.reportdiff import ReportDiff


def render(diff: ReportDiff, options: RenderOptions) -> str:
    """The whole document.  Options change nothing."""
    return encode(diff)
