"""Two scratch copies of a source tree, one with the edits: what is built and measured, never the user's files.

Owns copying and the search for what a build made.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linemate.checking.gitbase import find_repository
from sharing.model.errors import LinemateError
from sharing.model.folders import walk
from sharing.model.inputs import open_input
from sharing.model.process.scratch import subfolder

MAX_TREE_BYTES = 8 << 30
MAX_TREE_LEVELS = 200  # shutil.copytree calls itself for every level
_HISTORY = (".git", ".hg", ".svn")  # of version control
_ELF_MAGIC = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Trees:
    """``before`` and ``after`` are copies of ``root``; ``inside`` is where in them commands run."""

    root: Path
    before: Path
    after: Path
    inside: Path  # relative

    def folder(self, tree: Path) -> Path:
        return tree / self.inside

    def moved(self, path: Path, tree: Path) -> Path:
        """Where a path of the user's tree is in a copy."""
        return tree / path.relative_to(self.root)


def tree_root(folder: Path, files: list[Path]) -> Path:
    """The working tree of git around ``folder``, else the deepest folder that holds it and all files."""
    try:
        found = find_repository(str(folder))
    except LinemateError:
        found = None  # without git the copies are of less
    if found is not None and all(file.is_relative_to(found.top) for file in files):
        return Path(found.top)
    root = Path(os.path.commonpath([folder, *(file.parent for file in files)]))
    if root == Path(root.anchor) or root == Path.home():
        raise LinemateError(f"the edited files and {folder} have only {root} in common: run it in the source tree")
    return root


@contextlib.contextmanager
def scratch_copies(root: Path, inside: Path) -> Iterator[Trees]:
    """Copies of everything below ``root`` but version control and configured CMake folders, which point back at it."""
    _check_size(root)
    with subfolder("fix") as scratch:
        trees = Trees(root, scratch / "before" / root.name, scratch / "after" / root.name, inside)
        for tree in (trees.before, trees.after):
            try:
                shutil.copytree(root, tree, symlinks=True, ignore=_left_out, ignore_dangling_symlinks=True)
            except (shutil.Error, OSError) as error:
                raise LinemateError(f"{root}: could not be copied: {_first(error)}") from error
        yield trees


def configured_folders(root: Path) -> list[str]:
    """The configured CMake folders below ``root``, relative to it, that copies leave out."""
    found = []
    for folder, names, _ in walk(root):
        configured = [name for name in names if _is_configured(os.path.join(folder, name))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in configured]
        names[:] = [name for name in names if name not in (*configured, *_HISTORY)]
    return sorted(found)


def _is_configured(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "CMakeCache.txt"))


def _left_out(folder: str, names: list[str]) -> set[str]:
    out = {name for name in names if name in _HISTORY}
    for name in names:
        path = os.path.join(folder, name)
        if _is_configured(path) or not (os.path.islink(path) or os.path.isdir(path) or os.path.isfile(path)):
            out.add(name)  # sockets and pipes too
    return out


def _check_size(root: Path) -> None:
    total = 0
    for folder, names, files in walk(root):
        left_out = _left_out(folder, names + files)
        names[:] = [name for name in names if name not in left_out]
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
        if folder.count(os.sep) - str(root).count(os.sep) > MAX_TREE_LEVELS:
            raise LinemateError(f"{root} holds folders nested deeper than {MAX_TREE_LEVELS} levels: it is not copied")
        if total > MAX_TREE_BYTES:
            raise LinemateError(f"{root} holds more than {MAX_TREE_BYTES >> 30} GB: run it in the source tree")


def _first(error: Exception) -> str:
    if isinstance(error, shutil.Error) and error.args and error.args[0]:
        return str(error.args[0][0][-1])
    return getattr(error, "strerror", None) or str(error)


def made_binaries(folder: Path, since_ns: int) -> list[Path]:
    """Linked ELF files below ``folder`` that were written after ``since_ns``."""
    found = []
    for where, names, files in walk(folder):
        names[:] = [name for name in names if name not in _HISTORY]
        for name in files:
            path = Path(where) / name
            with contextlib.suppress(OSError):
                status = path.lstat()
                if path.is_file() and not path.is_symlink() and status.st_mtime_ns >= since_ns and _is_linked(path):
                    found.append(path)
    return sorted(found)


def _is_linked(path: Path) -> bool:
    with open_input(path) as file:
        head = file.read(18)
    if len(head) < 18 or not head.startswith(_ELF_MAGIC):
        return False
    kind = int.from_bytes(head[16:18], "little" if head[5] == 1 else "big")
    return kind in (2, 3)  # ET_EXEC, ET_DYN (gABI 4.1, e_type)
