"""Walking folders that somebody else made, however deep they are nested.

Owns the walk, the making and the removal.  ``os.walk``, ``shutil.rmtree`` and ``Path.rglob`` call themselves for every
level: a few hundred nested folders, which git or an archive brings within an ordinary path's length, end them by
RecursionError.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

_MOST_LEVELS = 100  # that shutil.rmtree is left with; it also holds a descriptor for each


def walk(top: str | os.PathLike[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Like ``os.walk``: (folder, names of folders, names of others), from the top down.

    Names that are taken out of the list of folders are not walked into; links to folders never are.  Folders that
    cannot be read are left out.
    """
    for folder, folders, files, _ in _levels(os.fspath(top)):
        yield folder, folders, files


def _levels(top: str) -> Iterator[tuple[str, list[str], list[str], int]]:
    waiting = [(top, 0)]
    while waiting:
        folder, level = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (folders if _is_folder(entry) else files).append(entry.name)
        except OSError:
            continue
        yield folder, folders, files, level
        paths = (os.path.join(folder, name) for name in reversed(folders))
        waiting += [(path, level + 1) for path in paths if not os.path.islink(path)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def remove_tree(top: str | os.PathLike[str]) -> None:
    """Remove a folder with all in it, as far as that is possible; links are not followed."""
    name = os.fspath(top)
    with contextlib.suppress(RecursionError):
        shutil.rmtree(name, ignore_errors=True)
    if os.path.lexists(name):
        _flatten(name)
        shutil.rmtree(name, ignore_errors=True)


def make_below(top: Path, folder: Path) -> None:
    """Make ``folder``, which is below ``top``, with all folders on the way.  Raises OSError."""
    for part in folder.relative_to(top).parts:
        top = top / part
        top.mkdir(exist_ok=True)


def _flatten(top: str) -> None:
    """Bring folders that are nested deep up to the top, level by level."""
    found = True
    while found:
        found = False
        for folder, folders, _, level in _levels(top):
            if level < _MOST_LEVELS:
                continue
            for name in folders:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    continue
                with contextlib.suppress(OSError):
                    os.rename(path, os.path.join(top, f"deep-{secrets.token_hex(8)}"))
                    found = True
            folders.clear()
