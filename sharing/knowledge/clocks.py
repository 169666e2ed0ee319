"""Whether a program can end after a time, by what it calls.

Owns the table ``clocks.json``.  A processor's time stamp counter, which takes no call, is not looked for.
"""

from __future__ import annotations

import fnmatch
import functools

import msgspec

from sharing.knowledge import read_table
from sharing.model.image import Image


class Clocks(msgspec.Struct, frozen=True):
    """Globs.  ``libraries`` end no program by themselves; ``imports`` tell the time, wait, or let others say when."""

    libraries: tuple[str, ...]
    imports: tuple[str, ...]


@functools.cache
def _clocks() -> Clocks:
    return read_table("clocks.json", Clocks)


def may_end_by_time(image: Image) -> bool:
    """False for a program that can only end when its work is done.

    It calls nothing that tells the time, waits for input or another process, or brings in more code; nor does it need a
    library that could.  What is statically linked imports nothing, and may.
    """
    clocks = _clocks()
    if not image.imports or not all(_matches(library, clocks.libraries) for library in image.needed):
        return True
    return any(_matches(name.partition("@")[0], clocks.imports) for name in image.imports)


def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)
