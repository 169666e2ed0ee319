"""Compile databases: finding one, reading its entries, writing one.

Owns the format of compile_commands.json (as Clang documents it).  What a unit means is the analyzer's.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sharing.model.errors import LinemateError, Malformed
from sharing.model.inputs import read_input

if TYPE_CHECKING:
    from linemate.options import FactsRequest

FILE_NAME = "compile_commands.json"
MAX_BYTES = 256 << 20
MAX_PATH_CHARS = 4096  # Linux opens no longer one, and each is joined to every argument
HOW_TO_GET_ONE = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON or 'bear -- make' makes one; or give flags after --"


class Entry(msgspec.Struct, frozen=True):
    """One command.  ``file`` may be relative to ``directory``; ``arguments`` or else ``command`` (shell) is given."""

    directory: str
    file: str
    arguments: tuple[str, ...] = ()
    command: str = ""
    output: str = ""

    @property
    def path(self) -> str:
        """The unit's absolute path, without links resolved."""
        return _join(self.directory, self.file)

    def names_source(self, argument: str) -> bool:
        """Whether an argument is the source, however it is spelled."""
        return argument[:1] != "-" and _join(self.directory, argument) == self.path


def find_database(start: Path) -> Path:
    """The nearest compile_commands.json in ``start``, its ``build`` folder, or a folder above and its ``build``."""
    for folder in (start, *start.parents):
        for candidate in (folder / FILE_NAME, folder / "build" / FILE_NAME):
            if candidate.is_file():
                return candidate
    raise LinemateError(f"no {FILE_NAME} here, in build or in a folder above: {HOW_TO_GET_ONE}")


def named_database(path: str) -> Path:
    """The file that ``-p`` means: itself, or the compile database in that folder."""
    named = Path(path)
    if named.is_dir():
        if not (named / FILE_NAME).exists():
            raise LinemateError(f"{path}: no {FILE_NAME} in it: {HOW_TO_GET_ONE}")
        return named / FILE_NAME
    if not named.exists():
        raise LinemateError(f"{path}: no such file or folder: {HOW_TO_GET_ONE}")
    return named


def read_database(path: Path) -> tuple[Entry, ...]:
    """All entries, each with ``arguments``.  Raises Malformed where the file is not a compile database."""
    try:
        data = read_input(path, MAX_BYTES, "a compile database")
        entries = msgspec.json.decode(data, type=tuple[Entry, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(str(path), None, f"not a compile database: {error}") from error
    return tuple(_with_arguments(path, number, entry) for number, entry in enumerate(entries))


def _with_arguments(path: Path, number: int, entry: Entry) -> Entry:
    if "\0" in entry.directory or "\0" in entry.file:
        raise Malformed(str(path), None, f"entry {number}: a path with a null character")
    if max(len(entry.directory), len(entry.file)) > MAX_PATH_CHARS:
        raise Malformed(str(path), None, f"entry {number}: a path of more than {MAX_PATH_CHARS} characters")
    if not posixpath.isabs(entry.directory):
        # Clang takes it from the folder of the database; an absolute one is the rule.
        entry = msgspec.structs.replace(entry, directory=str(path.absolute().parent / entry.directory))
    if entry.arguments:
        return entry
    try:
        return msgspec.structs.replace(entry, arguments=tuple(shlex.split(entry.command)), command="")
    except ValueError as error:
        raise Malformed(str(path), None, f"entry {number}: command: {error}") from error


def fixed_entries(sources: Sequence[str], flags: Sequence[str], directory: str) -> tuple[Entry, ...]:
    """Entries for sources that are all compiled with the same flags."""
    return tuple(Entry(directory, source, ("clang-tool", *flags, "-c", source)) for source in dict.fromkeys(sources))


def entries_of(request: FactsRequest, here: str) -> tuple[Entry, ...]:
    """The commands of the units that were asked for in the folder ``here``."""
    if not request.database:
        return fixed_entries(request.sources, request.flags, here)
    entries = read_database(Path(request.database))
    if not request.sources:
        return entries
    wanted = {os.path.realpath(source) for source in request.sources}
    return tuple(entry for entry in entries if os.path.realpath(entry.path) in wanted)


def write_database(path: Path, entries: Sequence[Entry]) -> None:
    """A compile database of ``entries``."""
    rows = [{"directory": e.directory, "file": e.file, "arguments": e.arguments} for e in entries]
    path.write_bytes(msgspec.json.encode(rows))


def _join(directory: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))
