"""Both builds of ``explain``, read and looked at for themselves: by two processes where they are large.

Owns what a build may be given as, and when a second process pays.  Comparing is ``sharing.explain``'s.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Self

import msgspec

from elfscan.debug.debugfile import search_also, searched
from elfscan.debug.demangle import demangle
from elfscan.image import read_images
from elfscan.listing import read_listing
from elfscan.traits import read_traits
from linemate.auditing.framed import Child
from linemate.auditing.image import line_sizes
from linemate.filepart import split_part
from linemate.pipeline import vocabulary
from sharing.explain.causes.base import is_file
from sharing.explain.compare import ExplainOptions, Side, side
from sharing.model.comparison import FileTraits
from sharing.model.errors import LinemateError, Unrecognized
from sharing.model.image import Image
from sharing.model.project import ProjectConfig

APART_BYTES = 8 << 20  # of each file: below, a process takes longer to start than it saves


class BuildRequest(msgspec.Struct, frozen=True):
    """A build by the bytes of its name, and how to look at it.  ``debug_folders`` are searched for debug files."""

    path: bytes
    debug_file: bytes | None
    line_size: int | None
    project: ProjectConfig
    debug_folders: tuple[str, ...]

    @classmethod
    def of(cls, path: str, debug_file: str | None, line_size: int | None, project: ProjectConfig) -> Self:
        named = None if debug_file is None else os.fsencode(debug_file)
        return cls(os.fsencode(path), named, line_size, project, searched())


class Answer(msgspec.Struct, frozen=True):
    """``file`` holds the pickled image and activity of a side; or ``error`` says why there is none."""

    file: str = ""
    error: str = ""


def both(old: BuildRequest, new: BuildRequest) -> tuple[Side, Side]:
    """The old and the new build.  Raises LinemateError where one cannot be read."""
    if not (_is_large(old) and _is_large(new)) or len(os.sched_getaffinity(0)) < 2 or not sys.executable:
        # Side by side all the same: helpers are processes, and numpy lets another thread run.
        with ThreadPoolExecutor(2) as pool:
            sides = [pool.submit(side_of, one) for one in (old, new)]
            return sides[0].result(), sides[1].result()
    with _Reader() as other:
        other.ask(old)
        after = side_of(new)
        return other.side(old), after


def side_of(asked: BuildRequest) -> Side:
    """A build by this process.  Raises LinemateError where it cannot be read."""
    image, traits = _read(os.fsdecode(asked.path), None if asked.debug_file is None else os.fsdecode(asked.debug_file))
    sizes = line_sizes(asked.line_size, image)
    return side(image, traits, vocabulary(asked.project), ExplainOptions(*sizes, demangle))


def write_side(asked: BuildRequest, file: Path) -> None:
    """A build into a file, for the process that compares.  Raises LinemateError where it cannot be read."""
    for folder in asked.debug_folders:
        search_also(folder)
    found = side_of(asked)
    with file.open("wb") as out:
        pickle.dump((found.image, found.activity), out, pickle.HIGHEST_PROTOCOL)


def _is_large(asked: BuildRequest) -> bool:
    try:
        return os.stat(asked.path).st_size >= APART_BYTES
    except OSError:
        return False  # whoever reads it says so


class _Reader(Child[Answer]):
    """The second process.  What it was lost with is done here."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.child", Answer)

    def side(self, asked: BuildRequest) -> Side:
        answer = self.answer()
        if answer is None:
            return side_of(asked)
        if answer.error:
            raise LinemateError(answer.error)
        with open(answer.file, "rb") as file:
            image, activity = pickle.load(file)  # written by a process of this run, into its own folder
        return Side(image, activity, read_traits(image.path) if is_file(image) else FileTraits())


def _read(path: str, debug_file: str | None) -> tuple[Image, FileTraits]:
    """A linked or relocatable file, or a listing of one; FILE#PART are notes of addresses under a heading."""
    if debug_file is not None and not Path(debug_file).exists():
        raise LinemateError(f"{debug_file}: no such file")
    file, part = split_part(path)
    if part:
        return dataclasses.replace(read_listing(file, part), path=path), FileTraits()
    try:
        image = only_image(path, debug_file)
    except Unrecognized as refusal:
        try:
            return read_listing(path), FileTraits()
        except Unrecognized as other:
            raise LinemateError(f"{path}: {refusal.why}; {other.why}") from None
    traits = read_traits(path)
    more = tuple(note for note in traits.notes if note not in image.notes)
    if more:
        image = dataclasses.replace(image, notes=(*more, *image.notes), incomplete=True)
    return image, traits


def only_image(path: str, debug_file: str | None = None, called: str = "") -> Image:
    """The image of a file that holds one.  ``called`` is what messages call the file, "" its path.

    Raises LinemateError for an archive.
    """
    images = list(islice(read_images(path, debug_file=debug_file), 2))
    if len(images) != 1 or images[0].member:
        name = called or path
        raise LinemateError(f"{name}: is an archive; give the program that it is linked into, or a member of it")
    return images[0]
