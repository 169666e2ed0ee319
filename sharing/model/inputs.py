"""Opening what somebody else made: the one place where linemate opens its inputs.

Owns what counts as an input (a regular file, and a pipe where a command says so), that opening one never blocks and
never acts on a device, the bound on what is read of it, and the one-line error for everything else.  Mapped files are
``sharing.model.guard``'s.  Knows no format.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from sharing.model.errors import LinemateError, Malformed
from sharing.model.guard import GuardedMap, map_descriptor

MAX_SOURCE_BYTES = 256 << 20
_FIRST_BYTES = 32 << 10  # most inputs are small, and memory for more than they have is work for the system
_BLOCK_BYTES = 1 << 20
# O_NONBLOCK: what became a pipe after it was looked at must not hang.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
# Names of what this process was given open, as ``<(command)`` of a shell makes them.
_GIVEN = re.compile(r"/dev/(?:fd/\d{1,9}|stdin)|/proc/self/fd/\d{1,9}")
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)

PathLike = str | os.PathLike[str]


class NotReadable(LinemateError):
    """An input that cannot be opened at all: missing, no permission, no regular file."""

    def __init__(self, path: str, why: str, number: int = errno.EINVAL) -> None:
        super().__init__(f"{path}: {why}")
        self.why = why
        self.errno = number


def open_input(path: PathLike, expected: str = "a regular file") -> io.BufferedReader:
    """The file at its first byte.  Raises NotReadable; never waits for a writer and never opens a device."""
    return io.BufferedReader(io.FileIO(descriptor_of(path, expected), "rb"))


def read_input(path: PathLike, most_bytes: int, expected: str = "a regular file", *, stream: bool = False) -> bytes:
    """All bytes, whatever the file says that its size is.  Raises LinemateError for more than ``most_bytes``.

    ``stream``: ``-`` is standard input, and a pipe that this process was given open (``/dev/fd/63``) is read to its
    end.  A named pipe is refused all the same: nobody may ever write to it.
    """
    name = os.fspath(path)
    try:
        if stream and is_stream(path):
            if name == "-":
                return _bounded(sys.stdin.buffer, name, most_bytes, expected)
            with open(name, "rb") as given:
                if stat.S_ISDIR(os.fstat(given.fileno()).st_mode):
                    raise NotReadable(name, f"is a directory, expected {expected}")
                return _bounded(given, name, most_bytes, expected)
        with open_input(path, expected) as file:
            return _bounded(file, name, most_bytes, expected)
    except OSError as error:
        raise NotReadable(name, error.strerror or "cannot be read", error.errno or errno.EIO) from None


def read_files(folder: str, names: Iterable[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Small files of a folder that only the system writes, in turn; one that cannot be read is left out.

    For thousands of them: no name is looked at before it is opened, and nothing is read in parts.  Raises OSError for
    the folder.
    """
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            with contextlib.suppress(OSError):
                descriptor = os.open(name, _READ_FLAGS, dir_fd=place)
                try:
                    status = os.fstat(descriptor)
                    if stat.S_ISREG(status.st_mode) and status.st_size <= most_bytes:
                        yield name, os.read(descriptor, status.st_size)
                finally:
                    os.close(descriptor)
    finally:
        os.close(place)


def read_source(path: PathLike) -> bytes:
    """A file of source, whose readers expect OSError where it cannot be read."""
    try:
        return read_input(path, MAX_SOURCE_BYTES, "a file of source")
    except NotReadable as error:
        raise OSError(error.errno, error.why, os.fspath(path)) from None
    except Malformed as error:
        raise OSError(errno.EFBIG, error.why, os.fspath(path)) from None


def map_input(path: PathLike, expected: str = "a regular file") -> GuardedMap:
    """The whole file, mapped for reading.  Raises NotReadable, and Malformed where it is empty."""
    name = os.fspath(path)
    descriptor = descriptor_of(path, expected)
    try:
        if os.fstat(descriptor).st_size == 0:
            raise Malformed(name, 0, "the file is empty")
        return map_descriptor(name, descriptor)
    except OSError as error:
        raise NotReadable(name, error.strerror or "cannot be read", error.errno or errno.EIO) from None
    finally:
        os.close(descriptor)


def descriptor_of(path: PathLike, expected: str = "a regular file") -> int:
    """A descriptor of a regular file, which the caller closes."""
    name = os.fspath(path)
    try:
        # Looked at before it is opened: to open a device can already do something.
        _refuse(name, os.stat(name), expected)
        descriptor = os.open(name, _READ_FLAGS)
    except OSError as error:
        raise NotReadable(name, error.strerror or "cannot be opened", error.errno or errno.EIO) from None
    except ValueError:
        raise NotReadable(repr(name), "not a usable file name") from None
    try:
        _refuse(name, os.fstat(descriptor), expected)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_stream(path: PathLike) -> bool:
    """Whether the name is standard input's or that of a pipe or file that this process was given open."""
    name = os.fspath(path)
    return name == "-" or _GIVEN.fullmatch(name) is not None


def is_regular(path: PathLike) -> bool:
    """Whether there is a regular file that an input could be."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _refuse(name: str, status: os.stat_result, expected: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((words for test, words in _KINDS if test(status.st_mode)), "is no file")
        raise NotReadable(name, f"{kind}, expected {expected}")


def _bounded(file: BinaryIO, name: str, most_bytes: int, expected: str) -> bytes:
    blocks: list[bytes] = []
    left, size = most_bytes, _FIRST_BYTES
    while block := file.read(min(size, left + 1)):
        blocks.append(block)
        left -= len(block)
        size = min(2 * size, _BLOCK_BYTES)
        if left < 0:
            raise Malformed(name, None, f"larger than {_size_words(most_bytes)}: not {expected}")
    return b"".join(blocks)


def _size_words(size: int) -> str:
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} bytes"
