"""Standard input, output and error of the process, whichever of them is closed, full or without a reader.

Owns their state at the start and at the end.  Imports nothing heavy, since every start pays for it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

TYPE_CHECKING = False  # importing typing takes longer than the rest of the start
if TYPE_CHECKING:
    from typing import TextIO

EXIT_USAGE = 2
EXIT_BROKEN_PIPE = 141
# Opened the wrong way round: who uses it is told, as for a closed one.
_WRONG_WAY = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}


class ReaderGone(Exception):
    """Nobody reads our standard output any more.  Not an OSError, since click ends the process on EPIPE itself."""


class _StandardOutput(io.FileIO):
    """Standard output: what goes wrong with it is said once, and what comes after that goes nowhere.

    Python writes what is left once more at its exit; that would end in a traceback and code 120.
    """

    failed = False

    def write(self, data: object) -> int:
        if self.failed:
            return len(data)  # type: ignore[arg-type]  # whatever a buffer passes on
        try:
            return super().write(data) or 0  # type: ignore[arg-type]
        except OSError as error:
            self.failed = True
            if isinstance(error, BrokenPipeError):
                raise ReaderGone from None
            error.filename = "standard output"
            raise


class _StandardError(io.FileIO):
    """Standard error: what nobody can be told changes no verdict and no exit code."""

    def write(self, data: object) -> int:
        try:
            return super().write(data) or 0  # type: ignore[arg-type]  # whatever a buffer passes on
        except OSError:
            return len(data)  # type: ignore[arg-type]


def open_streams() -> None:
    """Give closed standard streams their numbers back, so that no file gets one and is written to as if it were."""
    for number, way in _WRONG_WAY.items():
        try:
            os.fstat(number)
        except OSError:
            with contextlib.suppress(OSError):
                handle = os.open(os.devnull, way)
                if handle != number:
                    os.dup2(handle, number)
                    os.close(handle)
                os.set_inheritable(number, True)
    sys.stdout = _text(
        _StandardOutput(1, "w", closefd=False), sys.stdout, lines=sys.stdout is not None and sys.stdout.isatty()
    )
    sys.stderr = _text(_StandardError(2, "w", closefd=False), sys.stderr, lines=True)


def _text(raw: io.FileIO, before: TextIO | None, *, lines: bool) -> io.TextIOWrapper:
    encoding = before.encoding if before is not None else "utf-8"
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=lines)


def settled(code: int, last: str = "") -> int:
    """Write what is left (and ``last``) to standard output; the exit code after that."""
    if sys.stdout.closed:  # by a server, when its editor said good-bye
        return code
    try:
        sys.stdout.write(last)
        sys.stdout.flush()
    except ReaderGone:
        return EXIT_BROKEN_PIPE
    except OSError as error:
        print(f"linemate: error: standard output: {error.strerror}", file=sys.stderr)
        return EXIT_USAGE
    return code
