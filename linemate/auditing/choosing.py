"""Which files an audit of several files and folders takes, in which order.

Owns the choice; of a file it reads the first bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from sharing.model.errors import LinemateError
from sharing.model.folders import walk
from sharing.model.inputs import NotReadable, is_regular, open_input

_MAGICS = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
_HEAD_BYTES = 8


class _Kind(Enum):
    AUDITED = auto()
    OTHER = auto()
    CLOSED = auto()  # a regular file that cannot be opened


@dataclass(slots=True)
class Chosen:
    """The files of an audit, each once.

    ``others`` counts what is no ELF file or archive, ``closed`` names files of folders that could not be opened.
    """

    files: list[str] = field(default_factory=list)
    others: int = 0
    closed: list[str] = field(default_factory=list)


def files_of(paths: Iterable[str]) -> Chosen:
    """What begins like an ELF file or archive, of the files that were named and of all below the folders that were.

    Each inode once, under the first of its names.  Links are followed where they were named, and not within folders.
    A file that was named and cannot be opened is among the files, so that the audit says why.  Raises LinemateError for
    a name that does not exist.
    """
    chosen = Chosen()
    seen: set[tuple[int, int]] = set()

    def take(file: str, *, named: bool) -> None:
        kind, inode = _looked_at(file)
        if kind is _Kind.OTHER:
            chosen.others += 1
        elif kind is _Kind.CLOSED and not named:
            chosen.closed.append(file)
        elif inode not in seen:
            seen.add(inode)
            chosen.files.append(file)

    for path in paths:
        if not os.path.lexists(path):
            raise LinemateError(f"{path}: no such file or folder")
        if not os.path.isdir(path):
            take(path, named=True)
            continue
        for folder, folders, names in walk(path):
            folders.sort()
            for name in sorted(names):
                if os.path.islink(file := os.path.join(folder, name)):
                    chosen.others += 1
                else:
                    take(file, named=False)
    return chosen


def begins_as_program(file: str) -> bool:
    """Whether the file begins like an ELF file or archive.  Raises NotReadable."""
    with open_input(file) as stream:
        return stream.read(_HEAD_BYTES).startswith(_MAGICS)


def _looked_at(file: str) -> tuple[_Kind, tuple[int, int]]:
    """What begins there, and its device and inode."""
    try:
        with open_input(file) as stream:
            status = os.fstat(stream.fileno())
            head = stream.read(_HEAD_BYTES)
    except (NotReadable, OSError):
        return (_Kind.CLOSED, _inode(file)) if is_regular(file) else (_Kind.OTHER, (0, 0))
    kind = _Kind.AUDITED if head.startswith(_MAGICS) else _Kind.OTHER
    return kind, (status.st_dev, status.st_ino)


def _inode(file: str) -> tuple[int, int]:
    status = os.stat(file)
    return status.st_dev, status.st_ino
