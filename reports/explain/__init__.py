"""Reports of a comparison of two builds: text, JSON, Markdown, HTML.

Owns the table of emitters of ``linemate explain``; each is one module with ``render(comparison, options) -> str``.
There is no SARIF: a cause is about two files as wholes and has no place in source.
"""

from __future__ import annotations

from reports.emitters import Emitter, table
from sharing.model.comparison import Comparison

EXPLAIN_EMITTERS: dict[str, Emitter[Comparison]] = table(
    Emitter("text", "for a terminal: the answer, then what it rests on", ".txt", "reports.explain.text"),
    Emitter(
        "json", "the whole document, see docs/schema/linemate-explain.schema.json", ".json", "reports.explain.document"
    ),
    Emitter("markdown", "for a pull-request comment", ".md", "reports.explain.markdown"),
    Emitter("html", "one page that needs nothing else", ".html", "reports.explain.page"),
)

__all__ = ["EXPLAIN_EMITTERS"]
