"""One check, asked by places in files: what is wrong here, on which line of memory is this variable, which edit helps.

Owns the step from bytes and columns of compilers to lines and UTF-16 columns, which editors count from 0.  Knows no
protocol.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from linemate.auditing.image import line_sizes
from linemate.byname import rows_by_name
from linemate.checking.run import judged
from linemate.options import CheckOptions
from linemate.pipeline import vocabulary
from linemate.source import images
from reports.linemap import render
from reports.locations import position
from reports.options import RenderOptions
from sharing.basics.geometry import lines_of
from sharing.basics.target import target_of
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Report, SourceEdit
from sharing.model.image import Image, SectionKind
from sharing.model.inputs import read_source
from sharing.model.linemap import LINES_SCHEMA, Excerpt, Layout, LayoutReport
from sharing.source.program import Program
from sharing.static.linemap import LineMap

HOVER_WIDTH = 100
HOVER_LINES = 4  # of memory; a longer variable is known by its beginning


@dataclass(frozen=True, slots=True)
class TextRange:
    """[start, end) on one line of a file, in UTF-16 units, all from 0."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding at one of its variables' declarations."""

    path: str
    range: TextRange
    finding: Finding


@dataclass(slots=True)
class Analysis:
    """What a check found.  ``read`` gives files as they were analysed."""

    report: Report
    program: Program
    options: CheckOptions
    _images: list[Image] = field(default_factory=list)

    @classmethod
    def of(cls, options: CheckOptions) -> Analysis:
        """Read the sources and judge them.  Raises LinemateError."""
        report, program = judged(options)
        return cls(report, program, options)

    def marks(self) -> Iterator[Mark]:
        """The first two variables of each finding, where their declarations are known."""
        rows: dict[str, Sequence[bytes]] = {}
        for finding in self.report.findings:
            for who in finding.participants[:2]:
                place = position(who.source)
                if place is None:
                    continue
                if place.path not in rows:
                    rows[place.path] = _rows(place.path)
                yield Mark(os.path.abspath(place.path), _word(rows[place.path], place.line, place.column), finding)

    def lines(self, name: str) -> str:
        """The lines of the variables of that name as text, "" where there is none."""
        if not self._images:
            knowledge = vocabulary(self.options.project)
            self._images = [image for _, image in images(self.program, self.options, knowledge)]
        layouts = [layout for image in self._images if (layout := self._layout(image, name)) is not None]
        if not layouts:
            return ""
        return render(
            LayoutReport(LINES_SCHEMA, "lines", tuple(layouts)), RenderOptions(width=HOVER_WIDTH, summary=False)
        )

    def _layout(self, image: Image, name: str) -> Layout | None:
        size, _ = line_sizes(self.options.line_size, image)
        names = rows_by_name(image)
        rows = names.get(name) or [row for known in names if known.endswith(f"::{name}") for row in names[known]]
        excerpts: list[Excerpt] = []
        for row in dict.fromkeys(rows):
            variable = image.variables[row]
            kind = next((s.kind for s in image.sections if s.index == int(variable["section"])), SectionKind.OTHER)
            table = LineMap(image, size, thread_local=kind is SectionKind.TLS)
            own = lines_of(int(variable["address"]), max(int(variable["size"]), 1), size)
            shown = range(own[0], own[-1] + size, size)
            lines = tuple(table.lines(shown[:HOVER_LINES]))
            excerpts.append(Excerpt(name, table.describe(row), lines, max(len(shown) - HOVER_LINES, 0)))
        return Layout(target_of(image, size), tuple(excerpts)) if excerpts else None


def edits_of(finding: Finding) -> tuple[str, dict[str, list[tuple[TextRange, TextRange, str]]]] | None:
    """The first remedy whose files are as they were analysed: what it does, and by file what takes which place."""
    for remedy in finding.remedies:
        if not remedy.edits:
            continue
        files: dict[str, list[tuple[TextRange, TextRange, str]]] = {}
        try:
            for edit in remedy.edits:
                start, end = _ends(edit)
                files.setdefault(os.path.abspath(edit.file), []).append((start, end, edit.replacement))
        except (LinemateError, OSError):
            continue
        return remedy.text, files
    return None


def _ends(edit: SourceEdit) -> tuple[TextRange, TextRange]:
    data = read_source(edit.file)
    if edit.sha256 and hashlib.sha256(data).hexdigest() != edit.sha256:
        raise LinemateError(f"{edit.file}: changed since it was analysed")
    return _at(data, edit.begin), _at(data, edit.end)


def _at(data: bytes, offset: int) -> TextRange:
    line = data.count(b"\n", 0, offset)
    column = _units(data[data.rfind(b"\n", 0, offset) + 1 : offset])
    return TextRange(line, column, column)


def _units(text: bytes) -> int:
    return len(text.decode("utf-8", "replace").encode("utf-16-le")) // 2


def _rows(path: str) -> Sequence[bytes]:
    """The lines of a file, none where it cannot be read."""
    try:
        return read_source(path).splitlines()
    except (LinemateError, OSError):
        return ()


def _word(rows: Sequence[bytes], line: int, column: int) -> TextRange:
    """The word at a compiler's line and column, both from 1; the whole line where the column is not known."""
    text = rows[line - 1] if line <= len(rows) else b""
    if not column:
        return TextRange(line - 1, 0, _units(text))
    end = column - 1
    while end < len(text) and (text[end : end + 1].isalnum() or text[end : end + 1] == b"_"):
        end += 1
    return TextRange(line - 1, _units(text[: column - 1]), _units(text[:end]))
