"""Where linemate keeps what it can make again: facts of unchanged units, trees and builds of revisions.

Owns the choice of the folder, whom it has to belong to, and the folders in it; nothing in those.  What is kept decides
verdicts, so a folder that somebody else could have written to is not used.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from reports.escape import visible
from sharing.model.process import scratch

VARIABLE = "LINEMATE_CACHE"
_said: set[str] = set()


def facts_folder() -> Path | None:
    """For the analyzer's facts, by content; None where nothing can be kept, which a note then says."""
    folder = _kept("facts")
    if folder is not None:
        _remove_halves(folder)
    return folder


def bases_folder() -> Path | None:
    """For the trees of base revisions; None where nothing can be kept."""
    return _kept("bases")


def builds_folder(name: str) -> Path:
    """For what is worth making even where it cannot be kept: then among this run's temporary files."""
    kept = _kept(name)
    if kept is not None:
        return kept
    folder = Path(scratch.folder(), "cache", name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def whole() -> Path | None:
    """Where all of it is, whether there is anything yet or not; None where it has no place."""
    return _base()


def quiet_folder(name: str) -> Path | None:
    """For what nobody misses; None, without a note, where nothing can be kept."""
    folder, _ = _made(name)
    return folder


def _kept(name: str) -> Path | None:
    folder, why = _made(name)
    if folder is None:
        _refuse(why)
    return folder


def _made(name: str) -> tuple[Path | None, str]:
    """A folder of that name in the cache, made where it is missing, or why there is none."""
    base = _base()
    if base is None:
        return None, "no cache: there is no home folder"
    for folder in (base, base / name):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            why = _fault(folder)
        except OSError as error:
            why = error.strerror or str(error)
        if why:
            return None, f"cache {folder} is not used: {why}"
    return base / name, ""


def _remove_halves(folder: Path) -> None:
    """Entries that a killed analyzer was writing; their names end in its number."""
    for name in os.listdir(folder):
        entry, _, number = name.rpartition(".")
        if entry.endswith(".facts") and number.isdigit() and not os.path.isdir(f"/proc/{number}"):
            (folder / name).unlink(missing_ok=True)


def _base() -> Path | None:
    """``$LINEMATE_CACHE``, else ``linemate`` in the user's cache folder (XDG base directories)."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification says that a relative path there is to be ignored.
    folder = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return Path(folder, "linemate") if os.path.isabs(folder) else None


def _fault(folder: Path) -> str:
    """Why a folder cannot be used, "" where it can."""
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return f"it belongs to another user (number {status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write to it (chmod go-w)"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written to"


def _refuse(why: str) -> None:
    """Say it once a run."""
    text = f"linemate: note: {why}; {VARIABLE} names another place"
    if text not in _said:
        _said.add(text)
        print(visible(text), file=sys.stderr)
