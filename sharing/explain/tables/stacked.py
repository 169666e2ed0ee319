"""Tables of which every cell became a line: a row starts with ``| NAME |``, its cells follow, each ending in ``|``.

Owns that format only.  It is what is left of a web page's table after copying; builds are its columns.
"""

from __future__ import annotations

from sharing.explain.tables.base import Measurement
from sharing.explain.tables.figures import is_missing, number
from sharing.model.errors import Malformed, Unrecognized


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """Values by row name, labelled with their column as ``build``.

    A row without values is a heading for those behind it: they are labelled with it as ``under``.  Raises
    Unrecognized, Malformed.
    """
    columns: list[str] = []
    under = ""
    out: list[Measurement] = []
    table = 0
    for line, name, cells in _rows(text):
        if not name and cells:
            columns, under, table = cells, "", line
        elif not cells:
            under = name
        elif columns:
            if len(cells) != len(columns):
                raise Malformed(path, None, f"row {name!r} has {len(cells)} cells, the table {len(columns)} columns")
            for column, cell in zip(columns, cells, strict=True):
                value = number(cell)
                if is_missing(cell):
                    continue
                if value is None:
                    raise Malformed(path, None, f"row {name!r} holds {cell!r}, which is not a number")
                labels = (("build", column), *((("under", under),) if under else ()))
                out.append(Measurement(name, value, labels, line, table))
    if not out:
        raise Unrecognized(path, "no stacked table")
    return tuple(out)


def _rows(text: str) -> list[tuple[int, str, list[str]]]:
    """(line, name, cells) of each row; the header's name is empty."""
    out: list[tuple[int, str, list[str]]] = []
    open_row = False
    blank = False  # the header's empty name stands on a line of its own
    for at, line in enumerate((raw.strip() for raw in text.splitlines()), 1):
        if line == "| |":
            out.append((at, "", []))
            open_row, blank = True, True
        elif line.startswith("|") and line.endswith("|") and line.count("|") == 2 and len(line) > 2:
            out.append((at, line.strip("| "), []))
            open_row, blank = True, False
        elif line == "|" and blank:
            continue
        elif open_row and line.endswith("|") and line.count("|") == 1 and len(line) > 1:
            out[-1][2].append(line.rstrip("| "))
        elif line:
            open_row = False
    return out
