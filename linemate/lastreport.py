"""What ``audit`` and ``check`` said last, for ``linemate show``.  Owns where it is kept, and how much.

A convenience: where nothing can be kept, nothing is said of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from linemate.cachedir import quiet_folder
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.inputs import read_input
from sharing.model.process.wholefile import write_whole

KEPT = 64  # reports: some days of a person's work
_NAMES = tuple(f"last{number or ''}.json" for number in range(KEPT))  # the newest first
MAX_BYTES = 64 << 20  # of all together; more is not worth keeping: such a report was meant for a program


def keep(report: Report) -> None:
    """Remember the report; those before stay as far as there is room."""
    from reports.jsontext import compact

    with contextlib.suppress(OSError):
        folder = quiet_folder("reports")
        if folder is None or len(text := compact(report).encode()) > MAX_BYTES:
            return
        _make_room(folder, MAX_BYTES - len(text))
        write_whole(folder / _NAMES[0], text)


def _make_room(folder: Path, left: int) -> None:
    """Every report becomes one older, those go that are too old or exceed ``left`` bytes."""
    for number in reversed(range(len(_NAMES) - 1)):
        with contextlib.suppress(FileNotFoundError):
            (folder / _NAMES[number]).replace(folder / _NAMES[number + 1])
    for name in _NAMES[1:]:
        with contextlib.suppress(FileNotFoundError):
            left -= (folder / name).stat().st_size
            if left < 0:
                (folder / name).unlink()


def kept_files() -> list[Path]:
    """The files of the reports that were kept, the last first.  Raises LinemateError where there is none."""
    folder = quiet_folder("reports")
    paths = [folder / name for name in _NAMES if os.path.lexists(folder / name)] if folder is not None else []
    if not paths:
        raise LinemateError("no report is kept from an earlier run: name one with --in FILE")
    return paths


def last_reports(having: Sequence[str] = ()) -> Iterator[tuple[Report, str]]:
    """The reports that were kept, the last first, each with its file; of the others those alone with these words.

    To search some text takes far less than to read it as a report.  What another version kept, or a run has just
    dropped, is passed over.  Raises LinemateError where there is none.
    """
    from linemate.saved import read_report

    words = [word.encode() for word in having]
    newest: LinemateError | None = None
    read = 0
    for path in kept_files():
        try:
            if read and words:
                text = read_input(str(path), MAX_BYTES)
                if not all(word in text for word in words):
                    continue
            report = read_report(str(path))
        except LinemateError as error:
            newest = newest or error
            continue
        read += 1
        yield report, str(path)
    if not read and newest is not None:
        raise newest
