"""Which C library native files need: the newest version among the symbols that they import of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

_VERSION = re.compile(rb"\bGLIBC_(\d+)\.(\d+)")


def oldest_that_runs(files: Iterable[Path]) -> tuple[int, int]:
    """(major, minor).  Raises RuntimeError where none of the files needs a C library."""
    shown = subprocess.run(["objdump", "-p", *map(str, files)], capture_output=True, check=True).stdout
    needed = [(int(major), int(minor)) for major, minor in _VERSION.findall(shown)]
    if not needed:
        raise RuntimeError("no native tool needs a C library: not built?")
    return max(needed)
