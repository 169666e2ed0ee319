"""Reports of what two saved reports differ in: text, JSON, Markdown.

Owns the table of emitters of ``linemate diff``; each is one module with ``render(diff, options) -> str``.
"""

from __future__ import annotations

from reports.emitters import Emitter, table
from sharing.model.reportdiff import ReportDiff

DIFF_EMITTERS: dict[str, Emitter[ReportDiff]] = table(
    Emitter("text", "for a terminal: a row a finding", ".txt", f"{__name__}.text"),
    Emitter("json", "the whole document, see docs/schema/linemate-diff.schema.json", ".json", f"{__name__}.document"),
    Emitter("markdown", "for a pull-request comment", ".md", f"{__name__}.markdown"),
)

__all__ = ["DIFF_EMITTERS"]
