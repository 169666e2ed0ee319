"""Where a command's text goes: standard output or a file, with colour or without, and progress meanwhile.

Owns the terminal decisions and the atomic write.  Does not build any text of a report.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from reports.options import MAX_PROSE_WIDTH
from sharing.model.errors import LinemateError
from sharing.model.guard import check_inputs
from sharing.model.process.wholefile import write_whole

PROGRESS_AFTER_S = 1.0
PROGRESS_EVERY_S = 0.2
MAX_WIDTH = 1000  # columns of a terminal that are believed


def wants_color(stream: TextIO) -> bool:
    """Colour on a terminal unless NO_COLOR is set to anything or the terminal is dumb (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width(stream: TextIO, default: int, most: int = MAX_PROSE_WIDTH) -> int:
    """Columns of the terminal, at most ``most``; in a pipe those of COLUMNS, else ``default``."""
    if not stream.isatty():
        columns = os.environ.get("COLUMNS", "")
        return min(int(columns), most) if columns.isdecimal() and len(columns) < 6 and int(columns) else default
    return min(shutil.get_terminal_size((default, 24)).columns, most)


def write_text(text: str, output: str | None, inputs: Iterable[str | None]) -> None:
    """Write to ``output``, to standard output when it is None or ``-``.

    A file appears whole or not at all.  Raises LinemateError where ``output`` is one of ``inputs``, and Malformed where
    an input was truncated while it was read: then nothing is written.
    """
    check_inputs()
    if output is None or output == "-":
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            raise LinemateError(f"standard output: {error.strerror}") from error
        return
    path = Path(output)
    check_output(output, inputs)
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            _write_through(output, text)
        else:
            write_whole(path.resolve(), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise LinemateError(f"{output}: {error.strerror}") from error


def _write_through(output: str, text: str) -> None:
    """Write to a pipe or device, which nothing can replace.  A named pipe that nobody reads is not waited for."""
    try:
        handle = os.open(output, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise LinemateError(f"{output}: is a pipe that nobody reads") from error
        raise
    os.set_blocking(handle, True)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def check_output(output: str | None, inputs: Iterable[str | None]) -> None:
    """Raise LinemateError where writing ``output`` would destroy an input or what a link leads to in another folder.

    Called before the long work too.
    """
    if output is None or output == "-":
        return
    path = Path(output)
    try:
        for name in inputs:
            if name is not None and path.exists() and Path(name).exists() and path.samefile(name):
                raise LinemateError(f"{output}: is the input itself, not overwritten")
        _refuse_led_away(path)
        if path.is_dir():
            raise LinemateError(f"{output}: is a directory")
        if not path.parent.is_dir():
            raise LinemateError(f"{output}: no directory {path.parent}")
    except OSError as error:
        raise LinemateError(f"{output}: {error.strerror}") from error


def _refuse_led_away(path: Path) -> None:
    """Raise LinemateError for a link out of its folder: a change from elsewhere may have put it where a report goes."""
    if not path.is_symlink():
        return
    folder, target = path.parent.resolve(), path.resolve()
    # /dev/stdout is a link to whatever the shell opened.
    if folder.is_relative_to("/dev") or folder.is_relative_to("/proc") or target.parent == folder:
        return
    if not target.exists() or target.is_file():
        raise LinemateError(f"{path}: is a link to {target}, in another folder: name that, or remove the link")


@contextmanager
def progress(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Say on standard error that work goes on, when it takes over a second and a person is watching.

    The value is to be called with how far it has got, in a few words.
    """
    reached = [""]

    def say(how_far: str) -> None:
        reached[0] = f", {how_far}"

    if quiet or not sys.stderr.isatty():
        yield say
        return
    done = threading.Event()

    def watch() -> None:
        started = time.monotonic()
        if done.wait(PROGRESS_AFTER_S):
            return
        while not done.wait(PROGRESS_EVERY_S):
            sys.stderr.write(f"\r\x1b[K{what}{reached[0]}: {time.monotonic() - started:.0f} s")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield say
    finally:
        done.set()
        thread.join()
