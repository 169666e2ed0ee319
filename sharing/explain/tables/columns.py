"""Rows and columns into measurements: which columns are values, which are conditions, and which way the table lies.

Owns the three ways in which tables are laid out: a metric a column, a level or a repetition a column, a build a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sharing.explain.tables.base import MAX_VALUES, Labels, Measurement, is_label, is_level, is_repetition
from sharing.explain.tables.figures import SECONDS, Figure, column_figures, number
from sharing.knowledge.metrics import Kind, kind_of_metric
from sharing.model.errors import Malformed

VALUE = "value"  # the metric of figures that nothing names
# "16", "16 threads", "c=16", "run 3"
_COUNTED = re.compile(r"(?P<before>[A-Za-z]{0,20})[ =:_-]?(?P<count>\d{1,9}) ?(?P<after>[A-Za-z]{0,20})")
_BUILD = re.compile(
    r"(?:r|rev\.?|revision|v|version|build)? ?\d+(?:\.\d+)+(?:[-_.+~]\w+)*|(?:r|rev\.?|revision|v|version|build) ?\d+"
    r"|(?=[a-f]*\d)[0-9a-f]{7,40}|old|new|before|after|base(?:line)?|patch(?:ed)?|fast|slow|master|main|head|trunk"
    r"|good|bad|with(?:out)? \S.*",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\b(ns|us|µs|μs|ms|s|secs?|min)\b")


@dataclass(frozen=True, slots=True)
class _Column:
    """``figures`` of a column of values, one a row, None where missing; None of a column of labels."""

    name: str
    cells: list[str]
    figures: list[Figure | None] | None


_FORMS = (
    "; a table is CSV with a header, lines of `name: number`, or what sysbench, wrk and others print: docs/explain.md"
)


def from_columns(
    header: Sequence[str], rows: Iterable[Sequence[str]], path: str, lines: Sequence[int]
) -> tuple[Measurement, ...]:
    """Measurements of a table.  ``lines`` are those of the text in which the header and the rows stand.

    Columns of figures are values, all others and known conditions are labels.  Raises Malformed for a row of another
    length than the header, and for a table without any value.
    """
    table = [list(row) for row in rows]
    for count, row in enumerate(table):
        if len(row) != len(header):
            raise Malformed(path, None, f"row {count + 1} has {len(row)} cells, the header {len(header)}")
    if len(table) * len(header) > MAX_VALUES:
        raise Malformed(path, None, f"more than {MAX_VALUES} cells")
    columns = _columns([name.strip() for name in header], table)
    values = [column for column in columns if column.figures is not None]
    if not values:
        raise Malformed(path, None, f"the table has no column of measured numbers{_FORMS}")
    # A column without a name numbers the rows, or names them where it holds no numbers.
    labels = [c for c in columns if c.figures is None and (c.name or any(number(cell) is None for cell in c.cells))]
    counted = _counted(labels, values)
    builds = counted is None and _are_builds(labels, values)
    out = []
    for at in range(len(table)):
        named = tuple((c.name or "name", c.cells[at].strip()) for c in labels)
        for column in values:
            figure = column.figures[at] if column.figures is not None else None
            if figure is None:
                continue
            if counted is not None:
                metric, label = counted
                made = Measurement(metric, figure.value, (*named, (label, _count(column.name))))
            elif builds:
                metric, conditions = _row_metric(named)
                made = Measurement(metric, figure.value, (*conditions, ("build", column.name)))
            else:
                metric, factor = _in_unit(column)
                made = Measurement(metric, figure.value / factor, named)
            out.append(made.at(lines[at + 1], lines[0]))
    return tuple(out)


def _columns(header: Sequence[str], table: Sequence[Sequence[str]]) -> list[_Column]:
    out = []
    for i, name in enumerate(header):
        cells = [row[i] for row in table]
        figures = column_figures(cells) if name else None
        # A column "time" in seconds is measured; one without a unit says when.
        if figures is not None and is_label(name) and not any(f is not None and f.unit == "s" for f in figures):
            figures = None
        out.append(_Column(name, cells, figures))
    if all(column.figures is None for column in out):
        return [_Column(c.name, c.cells, column_figures(c.cells) if c.name.lower() == "time" else None) for c in out]
    return out


def _counted(labels: Sequence[_Column], values: Sequence[_Column]) -> tuple[str, str] | None:
    """(metric, label) where every column is a level, such as "16 threads", or a repetition, such as "run 3"."""
    found = [_COUNTED.fullmatch(column.name) for column in values]
    if len(values) < 2 or not all(found) or len({_count(column.name) for column in values}) < len(values):
        return None
    words = {(match["before"] or match["after"]).lower().removesuffix("s") for match in found if match}
    if len(words) != 1:
        return None
    (word,) = words
    corner = labels[0].name if labels else ""
    if not word and any(is_level(column.name) for column in labels):
        return None  # the levels are rows, so the numbers are revisions
    last = found[-1]
    label = (last["before"] or last["after"]) if last else ""
    if word and not is_level(label) and not is_repetition(label):
        return None
    metric = corner if corner and not is_label(corner) and _is_measure(corner) else VALUE
    return metric, label or "level"


def _count(name: str) -> str:
    found = _COUNTED.fullmatch(name)
    return found["count"] if found else name


def _are_builds(labels: Sequence[_Column], values: Sequence[_Column]) -> bool:
    """Whether every column is a build: by its name, or because the rows are what was measured."""
    if len(values) < 2 or not labels or any(_is_measure(column.name) for column in values):
        return False
    if all(_BUILD.fullmatch(column.name) for column in values) or all(
        _is_measure(cell) and number(cell) is None for cell in labels[0].cells
    ):
        return True
    return is_level(labels[0].name) and all(column.name.isdigit() for column in values)


def _row_metric(named: Labels) -> tuple[str, Labels]:
    """The metric that a row of builds names, and the conditions that are left."""
    first = named[0][1]
    return (first, named[1:]) if _is_measure(first) else (VALUE, named)


def _in_unit(column: _Column) -> tuple[str, float]:
    """The metric, and what one of its unit is in seconds: cells with a unit are read as seconds."""
    figures = [figure for figure in column.figures or () if figure is not None]
    if not any(figure.unit == "s" for figure in figures):
        return column.name, 1.0
    unit = _UNIT.search(column.name)
    return (column.name, SECONDS[unit[0]]) if unit else (f"{column.name} (s)", 1.0)


def _is_measure(name: str) -> bool:
    return kind_of_metric(name) is not Kind.UNKNOWN
