"""The text of a table of measurements, whichever command it is for.

Owns the bound on its size.  What the text means is ``sharing.explain.tables``'s.
"""

from __future__ import annotations

from sharing.model.inputs import read_input

MAX_TABLE_BYTES = 64 << 20


def table_text(path: str) -> str:
    """The file as text, bytes that are none replaced; ``-`` is standard input.  Raises LinemateError."""
    return read_input(path, MAX_TABLE_BYTES, "a table", stream=True).decode("utf-8", "replace")
