"""What ``vmstat N`` prints: one row every N seconds under a header of column names.

Owns that format only.  The first row after a header is an average since boot and is left out where others follow.
"""

from __future__ import annotations

from sharing.explain.tables.base import Measurement
from sharing.explain.tables.figures import number
from sharing.model.errors import Malformed, Unrecognized

_NEEDED = {"in", "cs", "us", "sy", "id"}


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """All columns of all rows, as repetitions.  Raises Unrecognized, Malformed."""
    header: list[str] = []
    rows: list[tuple[int, list[float]]] = []
    for count, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if set(words) >= _NEEDED:
            if not header:
                header = words
        elif header and words and all(number(w) is not None for w in words):
            if len(words) != len(header):
                raise Malformed(path, None, f"line {count} has {len(words)} numbers, the header {len(header)} names")
            rows.append((count, [value for w in words if (value := number(w)) is not None]))
    if not rows:
        raise Unrecognized(path, "no vmstat output")
    if len(rows) > 1:
        rows = rows[1:]
    return tuple(
        Measurement(name, value, (), line, rows[0][0])
        for line, row in rows
        for name, value in zip(header, row, strict=True)
    )
