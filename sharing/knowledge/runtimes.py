"""Libraries and language run-times that start threads, by what a file that uses them shows.

Owns the table ``runtimes.json`` and the question whether an image uses one.  Which function a thread begins in is not
asked here.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Collection, Iterable

import msgspec

from sharing.knowledge import read_table
from sharing.model.image import CLONE_CALLS, Image


class Runtime(msgspec.Struct, frozen=True):
    """One run-time.  Globs over libraries that an image needs and over its imports; names of sections; functions that
    a statically linked program contains when it uses it."""

    name: str
    needed: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


@functools.cache
def runtimes() -> tuple[Runtime, ...]:
    return read_table("runtimes.json", tuple[Runtime, ...])


def starts_threads(image: Image, creators: Iterable[str]) -> str:
    """What says that code of this image can run on several threads, in words; "" nothing does.

    ``creators`` are imports that start a thread by what the vocabulary says of them.
    """
    for name in creators:
        return f"{name} is called"
    sections = {s.name for s in image.sections}
    for runtime in runtimes():
        if marks := sections.intersection(runtime.sections):
            return f"it has {min(marks)}, of {runtime.name}"
        if library := _first(image.needed, runtime.needed):
            return f"it needs {library}, of {runtime.name}"
    found = imports_threads(image.imports)
    if found is not None:
        return f"it imports {found[0]}, of {found[1].name}"
    return "" if image.imports else _linked_in(image)


def imports_threads(names: Collection[str]) -> tuple[str, Runtime] | None:
    """The first of these imports that speaks of a run-time with threads, and which that is."""
    for runtime in runtimes():
        if name := _first(names, runtime.imports):
            return name, runtime
    return None


def _linked_in(image: Image) -> str:
    """The same of a statically linked program, which imports nothing."""
    wanted = {name: runtime.name for runtime in runtimes() for name in runtime.functions}
    rows = image.functions["name"]
    for row in rows[rows >= 0].tolist():
        name = image.names[row]
        if name in wanted:
            return f"it contains {name}, of {wanted[name]}"
    if not (rows >= 0).any() and image.counts.get(CLONE_CALLS, 0):
        return "it is linked statically, has no symbols and asks the kernel for threads or processes (clone)"
    return ""


def _first(names: Iterable[str], globs: tuple[str, ...]) -> str:
    if not globs:
        return ""
    match = _pattern(globs).match
    return min((name for name in names if match(name)), default="")


@functools.cache
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, globs)))
