"""Tables with borders, as database clients print them: ``| revno | c | tps |``.

Owns that format only; other text around the table is passed over.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Measurement, from_columns
from sharing.model.errors import Malformed, Unrecognized

_BORDER = re.compile(r"^\s*\+(?:-+\+)+\s*$|^\s*\|?(?::?-{3,}:?\|)+(?::?-{3,}:?)?\s*$")
_ROW = re.compile(r"^\s*\|(?P<cells>.*)\|\s*$")


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """The measurements of all bordered tables of a text.  Raises Unrecognized, Malformed."""
    out: list[Measurement] = []
    header: list[str] = []
    rows: list[list[str]] = []
    bordered = False
    for line in [*text.splitlines(), ""]:
        if _BORDER.match(line):
            bordered = True
        elif found := _ROW.match(line):
            cells = [cell.strip() for cell in found["cells"].split("|")]
            if not header:
                header = cells
            else:
                rows.append(cells)
        else:
            if bordered and header:
                if not rows:
                    raise Malformed(path, None, "a table has a header and no rows")
                out += from_columns(header, rows, path)
            header, rows, bordered = [], [], False
    if not out:
        raise Unrecognized(path, "no table with borders")
    return tuple(out)
