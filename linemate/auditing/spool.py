"""Answers of an audit of many files, on disk: memory does not grow with them, and an interrupted audit goes on.

Owns the file, and which answers of an earlier run still hold: those of the same linemate and options about files that
have not changed since.  A record that was cut while it was written is dropped.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from linemate.auditing.asking import Answer
from linemate.auditing.framed import frame, read_frame
from linemate.filestamp import stamp
from linemate.options import AuditOptions
from linemate.version import __version__
from sharing.model.errors import LinemateError
from sharing.model.process import scratch

SCHEMA = "linemate-partial-1"
SUFFIX = ".partial"


class _Head(msgspec.Struct, frozen=True):
    schema: str
    made_by: str  # version and options, as a digest


class _Record(msgspec.Struct, frozen=True):
    file: bytes
    stamp: tuple[int, ...]
    answer: msgspec.Raw


class Spool:
    """A context.  ``kept``: the file that outlives the run until ``remove``, None for one that nobody sees.

    ``dropped``: answers were there, of other options or of another linemate, and are no longer.
    """

    def __init__(self, options: AuditOptions, kept: Path | None = None) -> None:
        self._kept = kept
        self.dropped = False
        self._stamps: dict[bytes, tuple[int, ...]] = {}
        self._places: dict[bytes, int] = {}
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self._records = msgspec.msgpack.Decoder(_Record)
        self._file = _anonymous() if kept is None else _opened(kept)
        try:
            self._end = self._read(_Head(SCHEMA, made_by(options)))
        except BaseException:
            self._file.close()
            raise

    def has(self, file: str) -> bool:
        """Whether the answer is there, and of the file as it is now."""
        name, now = os.fsencode(file), stamp(file)
        if self._stamps.get(name) != now or not now:
            self._places.pop(name, None)
        self._stamps[name] = now
        return name in self._places

    def add(self, file: str, answer: Answer) -> None:
        """Keep an answer.  ``has`` was asked before the file was read."""
        name = os.fsencode(file)
        record = _Record(name, self._stamps[name], msgspec.Raw(msgspec.msgpack.encode(answer)))
        self._places[name] = self._end
        self._file.seek(self._end)
        self._end = self._write(frame(record))

    def answer(self, file: str) -> Answer:
        """The answer about a file; an empty one where there is none."""
        at = self._places.get(os.fsencode(file))
        if at is None:
            return Answer()
        self._file.seek(at)
        body = read_frame(self._file)
        assert body is not None
        return self._decoder.decode(self._records.decode(body).answer)

    def remove(self) -> None:
        """What was kept is no longer needed."""
        if self._kept is not None:
            with contextlib.suppress(OSError):
                self._kept.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _read(self, head: _Head) -> int:
        """Find the answers of an earlier run; the place behind the last whole one."""
        at = 0
        if os.fstat(self._file.fileno()).st_size:
            try:
                body = read_frame(self._file)
                found = msgspec.msgpack.decode(body or b"", type=_Head)
            except (msgspec.DecodeError, UnicodeDecodeError):
                found = None
            if found is None or found.schema != SCHEMA:
                raise LinemateError(f"{self._kept}: is not what an interrupted audit left: remove it or rename it")
            if found == head:
                at = self._answers_before()
            else:
                self.dropped = True
        self._file.truncate(at)
        self._file.seek(at)
        return at or self._write(frame(head))

    def _answers_before(self) -> int:
        """Note where the answers are; the place behind the last whole one."""
        at = self._file.tell()
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            while (body := read_frame(self._file)) is not None:
                record = self._records.decode(body)
                self._decoder.decode(record.answer)
                self._stamps[record.file], self._places[record.file] = record.stamp, at
                at = self._file.tell()
        return at

    def _write(self, data: bytes) -> int:
        """Write at the place where the file is; the place behind."""
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise LinemateError(f"{self._kept or scratch.folder()}: {error.strerror}") from error
        return self._file.tell()


def made_by(options: AuditOptions) -> str:
    """A digest of all that an answer depends on besides its file."""
    return hashlib.sha256(frame([__version__, replace(options, binary="")])).hexdigest()


def _anonymous() -> BinaryIO:
    return tempfile.TemporaryFile(dir=scratch.folder())


def _opened(path: Path) -> BinaryIO:
    """The file of an earlier run or a new one, for this run alone."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise LinemateError(f"{path}: {error.strerror}") from error
    file = os.fdopen(handle, "r+b")
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise LinemateError(f"{path}: is not a file of this user: nothing is taken from it")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise LinemateError(f"{path}: another run is at work on it") from None
    except BaseException:
        file.close()
        raise
    return file
