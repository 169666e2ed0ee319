"""Reports of a history of builds: text, JSON, Markdown, HTML.

Owns the table of emitters of ``linemate history``; each is one module with ``render(history, options) -> str``.
"""

from __future__ import annotations

from reports.emitters import Emitter, table
from sharing.model.history import History

HISTORY_EMITTERS: dict[str, Emitter[History]] = table(
    Emitter("text", "for a terminal: the verdict, the steps, the series", ".txt", f"{__name__}.text"),
    Emitter(
        "json",
        "the whole document, see docs/schema/linemate-history.schema.json",
        ".json",
        f"{__name__}.document",
    ),
    Emitter("markdown", "for a pull-request comment", ".md", f"{__name__}.markdown"),
    Emitter("html", "one page with charts that needs nothing else", ".html", f"{__name__}.page"),
)

__all__ = ["HISTORY_EMITTERS"]
