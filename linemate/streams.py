"""Standard input, output and error of the process, whichever of them is closed, full or without a reader.

Owns their state at the start and at the end.  Imports nothing heavy, since every start pays for it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

EXIT_USAGE = 2
EXIT_BROKEN_PIPE = 141
# Opened the wrong way round: who uses it is told, as for a closed one.
_WRONG_WAY = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}


class _Patient(io.FileIO):
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
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8", errors="backslashreplace"
        )
    encoding = sys.stderr.encoding if sys.stderr is not None else "utf-8"
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Patient(2, "w", closefd=False)),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )


def drop_output() -> None:
    """What waits to be written goes nowhere; Python would try once more at its exit, with a traceback and code 120."""
    handle = os.open(os.devnull, os.O_WRONLY)
    os.dup2(handle, 1)
    os.close(handle)


def settled(code: int, last: str = "") -> int:
    """Write what is left (and ``last``) to standard output; the exit code after that."""
    try:
        sys.stdout.write(last)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return EXIT_BROKEN_PIPE
    except OSError as error:
        drop_output()
        print(f"linemate: error: standard output: {error.strerror}", file=sys.stderr)
        return EXIT_USAGE
    return code
