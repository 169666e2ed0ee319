"""Tables with borders: of database clients, of Markdown, of boxes drawn in Unicode.

Owns these forms only; other text around the tables is passed over.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Measurement
from sharing.explain.tables.columns import from_columns
from sharing.model.errors import Malformed, Unrecognized

# Lines of boxes, and dashes that a typesetter made longer.
_BOXES = str.maketrans(
    dict.fromkeys("│┃║", "|") | dict.fromkeys("─━═—–", "-") | dict.fromkeys("┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝┏┳┓┣╋┫┗┻┛╞╪╡╟╫╢", "+")
)
_BORDER = re.compile(r"[|+]?\s*:?[-=]{2,}:?\s*(?:[|+]\s*:?[-=]+:?\s*)*[|+]?")


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """The measurements of all bordered tables of a text.  Raises Unrecognized, Malformed.

    A table of words alone is passed over where others have figures.
    """
    lines = text.splitlines()
    found = list(_tables(lines))
    out: list[Measurement] = []
    refused: Malformed | None = None
    for rows in found:
        if len(rows) < 2:
            raise Malformed(path, None, "a table has a header and no rows")
        (_, header), *cells = rows
        try:
            out += from_columns(header, [row for _, row in cells], path, [at for at, _ in rows])
        except Malformed as error:
            if any(len(row) != len(header) for _, row in cells):
                raise
            refused = error
    if not out:
        raise refused or Unrecognized(path, "no table with borders")
    return tuple(out)


def _tables(lines: list[str]) -> list[list[tuple[int, list[str]]]]:
    """The rows of each table with the lines in which they stand, the header first."""
    out: list[list[tuple[int, list[str]]]] = []
    rows: list[tuple[int, list[str]]] = []
    bordered = False
    for number, line in enumerate([*lines, ""], 1):
        drawn = line.strip().translate(_BOXES)
        if _is_border(drawn):
            bordered = True
        elif "|" in drawn:
            # A pipe at each end, or at neither.
            inner = drawn.removeprefix("|").removesuffix("|") if drawn.startswith("|") else drawn
            rows.append((number, [cell.strip() for cell in inner.split("|")]))
        else:
            if bordered and rows:
                out.append(rows)
            rows, bordered = [], False
    return out


def _is_border(line: str) -> bool:
    return ("|" in line or "+" in line) and _BORDER.fullmatch(line) is not None
