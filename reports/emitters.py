"""What an emitter is: one output format of one kind of document, in a module that is imported when it is used.

Owns the row of a table of formats, and the choice by a file's ending.  The tables stand with their documents:
``reports`` (findings), ``reports.explain`` (comparisons), ``reports.history.wording``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Generic, Protocol, TypeVar, cast

from reports.options import RenderOptions
from sharing.model.errors import LinemateError

Document = TypeVar("Document")
DocumentRead = TypeVar("DocumentRead", contravariant=True)
TEXT = "text"


class _Module(Protocol[DocumentRead]):
    def render(self, document: DocumentRead, options: RenderOptions, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Emitter(Generic[Document]):
    """One output format.

    ``suffix`` is the usual file ending, "" where another format has it; ``module`` is where ``render`` is, by its full
    name.  ``shows_rules``: it shows the pages of rules.
    """

    name: str
    description: str
    suffix: str
    module: str
    shows_rules: bool = False

    def render(self, document: Document, options: RenderOptions | None = None) -> str:
        """The whole document as text that ends with a newline.  Equal documents give equal bytes."""
        return cast(_Module[Document], import_module(self.module)).render(document, options or RenderOptions())


def table(*emitters: Emitter[Document]) -> dict[str, Emitter[Document]]:
    """Emitters by name, in order."""
    return {emitter.name: emitter for emitter in emitters}


def by_ending(emitters: Mapping[str, Emitter[Document]], output: str | None) -> str:
    """The name of the format that a file's ending says; text where it has none.

    Raises LinemateError for an ending of no format: a report that nothing can read is noticed late.
    """
    suffix = PurePath(output).suffix if output and not _is_device(output) else ""
    if not suffix:
        return TEXT
    chosen = next((name for name, emitter in emitters.items() if emitter.suffix == suffix.lower()), None)
    if chosen is None:
        known = ", ".join(f"{emitter.suffix} ({name})" for name, emitter in emitters.items() if emitter.suffix)
        raise LinemateError(f"{output}: no format ends in {suffix}: {known}; or name one with --format")
    return chosen


def _is_device(output: str) -> bool:
    return output.startswith(("/dev/", "/proc/"))
