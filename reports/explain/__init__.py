"""Reports of a comparison of two builds: text, JSON, Markdown, HTML.

Owns the table of emitters of ``linemate explain``; each is one module with ``render(comparison, options) -> str``.
There is no SARIF: a cause is about two files as wholes and has no place in source.
"""

from __future__ import annotations

from reports.emitters import Emitter, table
from sharing.model.comparison import Comparison

EXPLAIN_EMITTERS: dict[str, Emitter[Comparison]] = table(
    Emitter("text", "for a terminal: the answer, then what it rests on", ".txt", f"{__name__}.text"),
    Emitter(
        "json", "the whole document, see docs/schema/linemate-explain.schema.json", ".json", f"{__name__}.document"
    ),
    Emitter("markdown", "for a pull-request comment", ".md", f"{__name__}.markdown"),
    Emitter("html", "one page that needs nothing else", ".html", f"{__name__}.page"),
)

__all__ = ["EXPLAIN_EMITTERS"]
