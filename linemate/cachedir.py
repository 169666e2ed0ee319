"""Where linemate keeps what it can make again: facts of unchanged units, trees of base revisions.

Owns the choice of the folder and of the two in it, and nothing in those.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "LINEMATE_CACHE"


def cache_folder() -> Path:
    """``$LINEMATE_CACHE``, else ``linemate`` in the user's cache folder (XDG base directories); may not exist yet."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification says that a relative path there is to be ignored.
    folder = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".cache"
    return folder / "linemate"


def facts_folder() -> Path:
    """For the analyzer's facts, by content."""
    return cache_folder() / "facts"


def bases_folder() -> Path:
    """For the trees of base revisions."""
    return cache_folder() / "bases"
