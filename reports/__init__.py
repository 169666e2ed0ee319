"""Reports: the result document as text, JSON, Markdown, SARIF, JUnit, Code Quality or HTML.

Comparisons of two builds (``reports.explain``) and histories (``reports.history``) are documents with emitters of
their own.

Owns the table of emitters, from which the command line takes its choices and the documentation its list.  An
emitter is one module with ``render(report, options) -> str``; it knows ``sharing.model`` and nothing else, and
is imported only when it is used.
"""

from __future__ import annotations

from reports.emitters import Emitter, table
from reports.options import RenderOptions
from sharing.model import Report

EMITTERS: dict[str, Emitter[Report]] = table(
    Emitter("text", "for a terminal: summary, then findings, worst first", ".txt", f"{__name__}.text"),
    Emitter("json", "the whole document, see docs/schema/linemate-report.schema.json", ".json", f"{__name__}.document"),
    Emitter("markdown", "for a pull-request comment", ".md", f"{__name__}.markdown"),
    Emitter("sarif", "SARIF 2.1.0, for code scanning services", ".sarif", f"{__name__}.sarif", shows_rules=True),
    Emitter("junit", "JUnit XML: a test case a finding, for any continuous integration", ".xml", f"{__name__}.junit"),
    Emitter("codequality", "GitLab's Code Quality, beside lines of a merge request", "", f"{__name__}.codequality"),
    Emitter("html", "one page that needs nothing else", ".html", f"{__name__}.page", shows_rules=True),
)

__all__ = ["EMITTERS", "Emitter", "RenderOptions"]
