"""Tables of measurements as commands take them: ``FILE``, or ``FILE#PART`` for a part of it.

Owns the bound on the size of the text, what a part names, and the words for what was taken.  What the text means is
``sharing.explain.tables``'s.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from linemate.filepart import split_part
from sharing.explain.tables import Table, read_tables
from sharing.explain.tables.base import Labels, Measurement
from sharing.explain.tables.columns import VALUE
from sharing.model.errors import LinemateError
from sharing.model.inputs import read_input
from sharing.model.plural import named

MAX_TABLE_BYTES = 64 << 20
MAX_NAMED = 12  # labels and tables in a message
_LINE = re.compile(r"line (\d{1,9})")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was taken of a file.  ``took`` says which of its text, "" where that is all of a plain file."""

    text: str
    measurements: tuple[Measurement, ...]
    took: str


def table_text(path: str) -> str:
    """The file as text, bytes that are none replaced; ``-`` is standard input.  Raises LinemateError."""
    return read_input(path, MAX_TABLE_BYTES, "a table", stream=True).decode("utf-8", "replace")


def chosen(given: str) -> Chosen:
    """The measurements that ``FILE#PART#PART`` names, each part one of these, the first that applies:

    the text of a label (``revno=950``, ``950``), a line of a table (``line 57``), a column, a part of one label's text,
    words of a table's heading.  Raises LinemateError where that names nothing, or tables of which one must be chosen.
    """
    path, part = split_part(given)
    text = table_text(path)
    tables = read_tables(text, path)
    several = len(tables) > 1
    for one in part.split("#") if part else ():
        tables = _part_of(tables, one, path)
    _ask(tables, path, part)
    took = ""
    if part or several:
        took = f"{given}: " + "; ".join(_where(table) for table in tables[:MAX_NAMED])
    return Chosen(text, tuple(m for table in tables for m in table.measurements), took)


def _ask(tables: Sequence[Table], path: str, part: str) -> None:
    """Raise LinemateError where tables under different headings have the same figures: these are no repetitions."""
    headings: dict[tuple[str, Labels], set[str]] = defaultdict(set)
    for table in tables:
        for measured in table.measurements:
            headings[measured.metric, measured.labels].add(table.heading)
    for (metric, _), found in headings.items():
        if len(found) > 1:
            rest = f"#{part}" if part else ""
            texts = [f"{path}#line {t.line}{rest} ({t.name})" for t in tables if t.heading in found]
            raise LinemateError(f"{path}: several tables have {metric}: choose one: {'; '.join(texts[:MAX_NAMED])}")


def _part_of(tables: Sequence[Table], part: str, path: str) -> tuple[Table, ...]:
    found = _labelled(tables, part)
    if not found and (line := _LINE.fullmatch(part)):
        found = [table for table in tables if table.line <= int(line[1]) <= table.last]
    if not found:
        found = [
            replace(table, measurements=rows)
            for table in tables
            # Whoever chooses a column takes it for a build's: its name is no metric.
            if (rows := tuple(replace(m, metric=VALUE) for m in table.measurements if m.metric == part))
        ]
    texts = sorted({text for table in tables for m in table.measurements for _, text in m.labels})
    if not found and len(alike := [text for text in texts if part.lower() in text.lower()]) == 1:
        found = _labelled(tables, alike[0])
    if not found:
        found = [table for table in tables if part.lower() in table.heading.lower()]
    if found:
        return tuple(found)
    raise LinemateError(
        f"{path}: nothing is labelled {part!r}; labels are {_listed([repr(text) for text in texts])}; tables are "
        f"{_listed([f'line {table.line} ({table.name})' for table in tables])}"
    )


def _labelled(tables: Sequence[Table], part: str) -> list[Table]:
    name, equals, value = part.rpartition("=")
    out = []
    for table in tables:
        rows = []
        for measured in table.measurements:
            at = [i for i, (k, v) in enumerate(measured.labels) if v == value and (not equals or k == name)]
            if at:
                # What the part was chosen by is no condition that the other build could share.
                kept = tuple(label for i, label in enumerate(measured.labels) if i != at[0])
                rows.append(replace(measured, labels=kept))
        if rows:
            out.append(replace(table, measurements=tuple(rows)))
    return out


def _where(table: Table) -> str:
    lines = [m.line for m in table.measurements]
    figures = f"{len(lines)} figure" + "s" * (len(lines) > 1)
    if not max(lines):
        return f"{table.format}, {figures}"
    first, last = min(lines), max(lines)
    heading = f" under {table.name!r}" if table.heading else ""
    return f"{table.format}{heading}, {f'lines {first}-{last}' if first < last else f'line {first}'}, {figures}"


def _listed(texts: Sequence[str]) -> str:
    return named(texts, MAX_NAMED) or "none"
