"""Reports of a comparison of two builds: text, JSON, Markdown, HTML.

Owns the table of emitters of ``linemate explain``; each is one module with ``render(comparison, options) -> str``.
There is no SARIF: a cause is about two files as wholes and has no place in source.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from reports.options import RenderOptions
from sharing.model.comparison import Comparison


class _Module(Protocol):
    def render(self, comparison: Comparison, options: RenderOptions) -> str: ...


@dataclass(frozen=True, slots=True)
class ExplainEmitter:
    """One output format.  ``suffix`` is the usual file ending, ``module`` where ``render`` is."""

    name: str
    suffix: str
    module: str

    def render(self, comparison: Comparison, options: RenderOptions | None = None) -> str:
        """The whole comparison as text that ends with a newline.  Equal comparisons give equal bytes."""
        return cast(_Module, import_module(self.module)).render(comparison, options or RenderOptions())


EXPLAIN_EMITTERS: dict[str, ExplainEmitter] = {
    emitter.name: emitter
    for emitter in (
        ExplainEmitter("text", ".txt", "reports.explain.text"),
        ExplainEmitter("json", ".json", "reports.explain.document"),
        ExplainEmitter("markdown", ".md", "reports.explain.markdown"),
        ExplainEmitter("html", ".html", "reports.explain.page"),
    )
}

__all__ = ["EXPLAIN_EMITTERS", "ExplainEmitter"]
