"""A folder of datasets, on this machine or behind a URL that fsspec knows: small files that appear whole or not at all.

Owns reading and writing them.  Knows nothing of what is in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

from linemate.extras import missing
from sharing.model.errors import LinemateError
from sharing.model.inputs import read_input
from sharing.model.process.wholefile import write_whole

_URL = re.compile(r"[a-z][a-z0-9+.-]+://")
_MOST_BYTES = 1 << 30


def is_url(path: str) -> bool:
    return _URL.match(path) is not None


class Folder(Protocol):
    """``name`` is a path below the folder, with slashes."""

    def read(self, name: str) -> bytes | None:
        """The file's bytes, None where there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Make the file, or replace it, whole."""

    def has(self, name: str) -> bool: ...


def folder_at(folder: str) -> Folder:
    return _Remote(folder) if is_url(folder) else _Local(Path(folder))


class _Local:
    def __init__(self, top: Path) -> None:
        self._top = top

    def read(self, name: str) -> bytes | None:
        path = self._top / name
        return read_input(path, _MOST_BYTES) if os.path.lexists(path) else None

    def write(self, name: str, data: bytes) -> None:
        path = self._top / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError as error:
            raise LinemateError(f"{path}: {error.strerror}") from error

    def has(self, name: str) -> bool:
        return (self._top / name).is_file()


class _Remote:
    """An object appears when it is complete, which is what object stores promise."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._system, self._top = opened(url)

    def read(self, name: str) -> bytes | None:
        try:
            return cast(bytes, self._tried(self._system.cat_file, self._path(name)))
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._tried(self._system.makedirs, path.rpartition("/")[0], True)
        self._tried(self._system.pipe_file, path, data)

    def has(self, name: str) -> bool:
        return bool(self._tried(self._system.isfile, self._path(name)))

    def _path(self, name: str) -> str:
        return f"{self._top}/{name}"

    def _tried(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        return tried(self._url, ask, *arguments)


def opened(url: str) -> tuple[Any, str]:
    """The file system behind a URL, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise missing(f"{url}: URLs need fsspec", "fleet") from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise LinemateError(f"{url}: {error}") from None
    return system, str(path).rstrip("/")


def listed(url: str) -> list[str]:
    """The URLs of all files below a URL, or of the one file there, by name.  Raises LinemateError where nothing is."""
    system, path = opened(url)
    found = tried(url, system.find, path)
    if not found:
        raise LinemateError(f"{url}: nothing is there")
    return [str(system.unstrip_protocol(name)) for name in sorted(found)]


def tried(url: str, ask: Callable[..., Any], *arguments: Any) -> Any:
    """What a file system answers; FileNotFoundError passes.  Its other errors are of any kind: one line each."""
    try:
        return ask(*arguments)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise LinemateError(f"{url}: {type(error).__name__}: {error}") from error
