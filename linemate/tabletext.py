"""The text of a table of measurements, whichever command it is for.

Owns the bound on its size.  What the text means is ``sharing.explain.tables``'s.
"""

from __future__ import annotations

from pathlib import Path

from sharing.model.errors import LinemateError

MAX_TABLE_BYTES = 64 << 20


def table_text(path: str) -> str:
    """The file as text, bytes that are none replaced.  Raises LinemateError where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_TABLE_BYTES + 1)
    except OSError as error:
        raise LinemateError(f"{path}: {error.strerror or error}") from error
    if len(data) > MAX_TABLE_BYTES:
        raise LinemateError(f"{path}: a table of more than {MAX_TABLE_BYTES >> 20} MiB")
    return data.decode("utf-8", "replace")
