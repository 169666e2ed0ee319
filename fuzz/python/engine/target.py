"""What a target is.  Owns its shape, and the folder in which it may write the input as a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MEMORY_FOLDER = Path("/dev/shm")  # files that live for a millisecond do not belong on a disk


@dataclass(frozen=True, slots=True)
class Target:
    """One reader.

    ``one`` reads the input; it may return or raise LinemateError, everything else is a fault.  ``words`` are parts
    of the format that chance would hardly make.
    """

    reads: str
    one: Callable[[bytes], object]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[bytes, ...] = ()
    max_bytes: int = 4096


class _Scratch:
    """The folder of this process for inputs as files."""

    folder: Path | None = None


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for the inputs that readers want as files; it goes with everything in it."""
    parent = MEMORY_FOLDER if os.access(MEMORY_FOLDER, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="linemate-fuzz-", dir=parent) as name, use_folder(Path(name)) as folder:
        yield folder


@contextmanager
def use_folder(folder: Path) -> Iterator[Path]:
    """The same with a folder that someone else removes."""
    before, _Scratch.folder = _Scratch.folder, folder
    try:
        yield folder
    finally:
        _Scratch.folder = before


def input_folder() -> Path:
    """Where this input's files may be written."""
    assert _Scratch.folder is not None, "targets run within scratch_folder()"
    return _Scratch.folder


def input_file(data: bytes, name: str = "input") -> Path:
    """The input as a file.  A new one each time: an earlier one may still be mapped."""
    path = input_folder() / name
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path
