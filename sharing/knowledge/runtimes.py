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
from sharing.model.image import Image


class Runtime(msgspec.Struct, frozen=True):
    """One run-time.  Globs over libraries that an image needs and over its imports; names of sections; functions that
    a statically linked program contains when it uses it; functions of its own in which threads ``begin``, to call what
    the program handed over."""

    name: str
    needed: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()


@functools.cache
def runtimes() -> tuple[Runtime, ...]:
    return read_table("runtimes.json", tuple[Runtime, ...])


def starts_threads(image: Image, creators: Iterable[str], idle: frozenset[str]) -> str:
    """What says that code of this image can run on several threads, in words; "" nothing does.

    ``creators`` are imports that start a thread by what the vocabulary says of them, ``idle`` those that do not, as
    they are used.
    """
    for name in creators:
        return f"{name} is called"
    sections = {s.name for s in image.sections}
    for runtime in runtimes():
        if marks := sections.intersection(runtime.sections):
            return f"it has {min(marks)}, of {runtime.name}"
    if (needed := needed_threads(image.needed)) is not None:
        return f"it needs {needed[0]}, of {needed[1].name}"
    found = imports_threads(image.imports - idle)
    if found is not None:
        return f"it imports {found[0]}, of {found[1].name}"
    return "" if image.imports else _linked_in(image)


def beginnings(imports: Collection[str]) -> frozenset[str]:
    """Functions of run-times linked in, in which threads begin, which say nothing of what the program has them do.

    Of a run-time that is another file the name is the program's own.
    """
    linked = (runtime for runtime in runtimes() if runtime.begin and not _first(imports, runtime.imports))
    return frozenset(name for runtime in linked for name in runtime.begin)


def needed_threads(libraries: Collection[str]) -> tuple[str, Runtime] | None:
    """The first of these libraries that is of a run-time with threads, and which that is."""
    for runtime in runtimes():
        if name := _first(libraries, runtime.needed):
            return name, runtime
    return None


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
    return ""


def _first(names: Iterable[str], globs: tuple[str, ...]) -> str:
    if not globs:
        return ""
    match = _pattern(globs).match
    return min((name for name in names if match(name)), default="")


@functools.cache
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, globs)))
