"""Reports: the result document as text, JSON, Markdown, SARIF or HTML.

Comparisons of two builds (``reports.explain``) and histories (``reports.history``) are documents with emitters of
their own.

Owns the table of emitters, from which the command line takes its choices and the documentation its list.  An
emitter is one module with ``render(report, options) -> str``; it knows ``sharing.model`` and nothing else, and
is imported only when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from reports.options import RenderOptions
from sharing.model import Report


class _Module(Protocol):
    def render(self, report: Report, options: RenderOptions) -> str: ...


@dataclass(frozen=True, slots=True)
class Emitter:
    """One output format.  ``suffix`` is the usual file ending, ``module`` where ``render`` is."""

    name: str
    description: str
    suffix: str
    module: str

    def render(self, report: Report, options: RenderOptions | None = None) -> str:
        """The whole report as text that ends with a newline.  Equal reports give equal bytes."""
        return cast(_Module, import_module(self.module)).render(report, options or RenderOptions())


EMITTERS: dict[str, Emitter] = {
    emitter.name: emitter
    for emitter in (
        Emitter("text", "for a terminal: summary, then findings, worst first", ".txt", "reports.text"),
        Emitter("json", "the whole document, see docs/schema/linemate-report.schema.json", ".json", "reports.document"),
        Emitter("markdown", "for a pull-request comment", ".md", "reports.markdown"),
        Emitter("sarif", "SARIF 2.1.0, for code scanning services", ".sarif", "reports.sarif"),
        Emitter("html", "one page that needs nothing else", ".html", "reports.page"),
    )
}

__all__ = ["EMITTERS", "Emitter", "RenderOptions"]
