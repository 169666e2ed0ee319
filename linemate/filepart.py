"""``FILE#PART`` as a user writes it on a command line.

Owns the split alone, which commands need before anything else; what a part names is ``linemate.tabletext``'s.
"""

from __future__ import annotations

from pathlib import Path


def split_part(given: str) -> tuple[str, str]:
    """``FILE#PART`` in two; a file of that very name is a file."""
    at = given.find("#", 1)
    while at > 0 and not Path(given).exists():
        if Path(given[:at]).exists() or given[:at] == "-":
            return given[:at], given[at + 1 :]
        at = given.find("#", at + 1)
    return given, ""
