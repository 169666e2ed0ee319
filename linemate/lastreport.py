"""What ``audit`` or ``check`` said last, for ``linemate show``.  Owns where it is kept.

A convenience: where nothing can be kept, nothing is said of it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from linemate.cachedir import quiet_folder
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.process.wholefile import write_whole

_NAME = "last.json"
MAX_BYTES = 64 << 20  # more is not worth keeping: the report was meant for a program


def keep(report: Report) -> None:
    """Remember the report; it replaces the one before."""
    from reports.jsontext import compact

    with contextlib.suppress(OSError):
        folder = quiet_folder("reports")
        if folder is not None and len(text := compact(report).encode()) <= MAX_BYTES:
            write_whole(folder / _NAME, text)


def last_report() -> tuple[Report, str]:
    """The report that was kept last, and its file.  Raises LinemateError where there is none."""
    from linemate.saved import read_report

    folder = quiet_folder("reports")
    path = folder / _NAME if folder is not None else Path()
    if folder is None or not os.path.lexists(path):
        raise LinemateError("no report is kept from an earlier run: name one with --in FILE")
    return read_report(str(path)), str(path)
