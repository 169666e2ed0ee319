"""Facts of the base revision: parsed again only where the change can be seen, the rest taken over.

Owns which units a change affects, and their commands.  The base is read in the place of the working tree, so that the
same things have the same names on both sides.

A unit is affected when it or a file that it read differs, when it read a file of the name of a deleted one (it may have
read that one before), or when it could not be analysed.  The commands are those of the working tree: what an old build
file said is not known.  What a build generates and what submodules hold is the working tree's too; a file that is new
and not yet added to git is not in the base.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from linemate import database
from linemate.cachedir import whole
from linemate.checking import factstream, gitbase
from linemate.checking.topfolder import TopFolder
from linemate.options import FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.plural import named

SOURCE_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cp"})
HEADER_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".def"})
MAX_LINKED = 50_000
NAMES_SHOWN = 5

# Runs the analyzer: a request in, the file with its stream out.
Gather = Callable[[FactsRequest], Path]


@dataclass(frozen=True, slots=True)
class BaseFacts:
    """``stream`` holds the base's facts, ``parsed`` of its units were read again; ``notes`` is what was not found."""

    stream: Path
    parsed: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CurrentFacts:
    """The working tree: the commands of the units that ``request`` asked for, and the stream of their facts."""

    entries: tuple[database.Entry, ...]
    request: FactsRequest
    stream: Path


@dataclass(frozen=True, slots=True)
class Folders:
    """``scratch`` is for new files of this run; ``trees`` keeps base trees between runs, None to keep none."""

    scratch: Path
    trees: Path | None


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Units by path: those that the change cannot have touched, those of which not all is known.  And files below the
    top that any of them read."""

    kept: set[str]
    broken: set[str]
    read: set[str]


def find_repository(entries: Iterable[database.Entry], here: str, *, trusted: bool = False) -> gitbase.Repository:
    """The repository that the sources are in: that of ``here`` if it holds one of them, else that of a source."""
    paths = [entry.path for entry in entries]
    found = gitbase.find_repository(here, trusted=trusted, wanted=True)
    if found is not None and any(os.path.realpath(path).startswith(found.top + "/") for path in paths):
        return found
    folders = dict.fromkeys(posixpath.dirname(path) for path in paths)
    for folder in list(folders)[:NAMES_SHOWN]:
        found = gitbase.find_repository(folder, trusted=trusted, wanted=True) if os.path.isdir(folder) else None
        if found is not None:
            return found
    raise LinemateError(f"--base: neither {here} nor the sources are in a git repository")


def base_facts(
    repository: gitbase.Repository, commit: str, current: CurrentFacts, folders: Folders, gather: Gather
) -> BaseFacts:
    """The facts of ``commit``, from those of the working tree and what has to be parsed again."""
    # 1. what differs, as git and the units say
    top = TopFolder(repository.top)
    for entry in current.entries:
        top.relative(entry.path)
    tracked = repository.tracked()
    ours = tuple(f"{below}/" for place in (folders.trees or folders.scratch, whole()) if (below := _below(place, top)))
    new = _new_files(repository, tracked, current.entries, top)
    new = frozenset(path for path in new if not path.startswith(ours))
    changes = repository.changes(commit)
    changes = dataclasses.replace(changes, changed=changes.changed | new)
    units = _sort_units(current.stream, changes, top)
    again = [entry for entry in current.entries if os.path.realpath(entry.path) not in units.kept]
    lost = [] if current.request.sources else _deleted_units(current.entries, changes, top)
    notes = _submodules(repository, changes)
    if not again and not lost:
        return BaseFacts(current.stream, 0, notes)
    with gitbase.base_tree(repository, commit, folders.trees) as tree:
        # 2. the base's files and commands
        gitbase.link_into(tree, repository.top, _generated(repository, tracked | new, units.read, ours))
        found = [old for entry in again if (old := _in_base(entry, tree, changes, top)) is not None]
        guessed = {f"{top.home}/{path}" for _, path in lost}
        found += [_as_unit(donor, f"{top.home}/{path}") for donor, path in lost]
        # 3. their facts among those that are kept
        out = folders.scratch / "base.jsonl"
        if not found:
            return BaseFacts(factstream.join(current.stream, units.kept, None, lambda line: line, out), 0, notes)
        _make_folders(tree, found, top)
        parsed = gather(_request(found, current.request, folders.scratch, tree, top))
        renamed = factstream.renaming(changes, top.home)
        factstream.join(current.stream, units.kept, parsed, renamed, out)
    failed = [
        os.path.relpath(path, top.home)
        for path in factstream.broken_units(parsed)
        if path not in guessed and os.path.realpath(path) not in units.broken
    ]
    return BaseFacts(out, len(found), notes + _notes(failed))


def _request(
    units: list[database.Entry], like: FactsRequest, scratch: Path, tree: Path, top: TopFolder
) -> FactsRequest:
    """The request that parses ``units`` from the base's tree in the place of the working tree."""
    commands = scratch / "base" / database.FILE_NAME
    commands.parent.mkdir(exist_ok=True)
    database.write_database(commands, units)
    return FactsRequest(
        database=str(commands), jobs=like.jobs, cache=like.cache, tops=tuple(top.spellings), tree=str(tree)
    )


def _submodules(repository: gitbase.Repository, changes: gitbase.Changes) -> tuple[str, ...]:
    paths = [path for path in sorted(changes.changed) if os.path.isdir(os.path.join(repository.top, path))]
    return tuple(f"base: {path} is a submodule that differs, its current files are used" for path in paths)


def _sort_units(stream: Path, changes: gitbase.Changes, top: TopFolder) -> _Sorted:
    names = {posixpath.basename(path) for path in changes.deleted}
    kept: set[str] = set()
    touched: set[str] = set()
    broken: set[str] = set()
    read: set[str] = set()
    for _, head in factstream.heads(stream):
        if head.broken:
            broken.add(head.key)
        if head.kind != "unit":
            continue
        affected = False
        for file in (head.path, *head.files):
            below = top.relative(posixpath.join(head.directory, file))
            if below is not None:
                read.add(below)
                affected |= below in changes.changed or posixpath.basename(below) in names
        (touched if affected else kept).add(head.key)
    # One file may be compiled several times; if one of them is affected, all are read again.
    return _Sorted(kept - touched, broken, read)


def _new_files(
    repository: gitbase.Repository, tracked: frozenset[str], entries: Iterable[database.Entry], top: TopFolder
) -> frozenset[str]:
    """Files that somebody wrote and did not yet add: neither ignored nor in a build folder, which nobody writes in."""
    folders = {folder for path in tracked for folder in _folders(path)}
    compiled_in = {top.relative(posixpath.join(entry.directory, "x")) for entry in entries}
    build = {posixpath.dirname(path) for path in compiled_in if path is not None} - folders - {""}
    untracked = repository.untracked(ignored=False)
    return frozenset(path for path in untracked if build.isdisjoint(_folders(path)))


def _folders(path: str) -> Iterator[str]:
    """Every folder above a relative path, the nearest first, without the top itself."""
    while path := posixpath.dirname(path):
        yield path


def _below(place: Path | None, top: TopFolder) -> str | None:
    return top.relative(str(place)) if place is not None else None


def _generated(
    repository: gitbase.Repository, not_generated: frozenset[str], read: set[str], ours: tuple[str, ...]
) -> list[str]:
    """Files that the base may need and git cannot give: what units of the working tree read, and headers of a build.

    ``ours`` is where base trees and the cache are, if that is below the top: they hold headers too.
    """
    others = repository.untracked(ignored=True)
    headers = [path for path in others if posixpath.splitext(path)[1] in HEADER_SUFFIXES]
    wanted = [path for path in (*sorted(read), *headers) if path not in not_generated]
    return list(dict.fromkeys(path for path in wanted if not path.startswith(ours)))[:MAX_LINKED]


def _deleted_units(
    entries: Iterable[database.Entry], changes: gitbase.Changes, top: TopFolder
) -> list[tuple[database.Entry, str]]:
    """Sources that are gone, each with the command of a neighbour: a folder's units are compiled alike."""
    donors: dict[tuple[str, str], database.Entry] = {}
    for entry in entries:
        below = top.relative(entry.path)
        if below is not None:
            donors.setdefault((posixpath.dirname(below), posixpath.splitext(below)[1]), entry)
    gone = sorted(changes.deleted - set(changes.renamed.values()))
    return [
        (donors[alike], path)
        for path in gone
        if (alike := (posixpath.dirname(path), posixpath.splitext(path)[1]))[1] in SOURCE_SUFFIXES and alike in donors
    ]


def _in_base(entry: database.Entry, tree: Path, changes: gitbase.Changes, top: TopFolder) -> database.Entry | None:
    """The command as it compiles the base, None for a unit that the base lacks."""
    below = top.relative(entry.path)
    if below is None:
        return entry
    old = changes.renamed.get(below, below)
    if not (tree / old).exists():
        return None
    return entry if old == below else _as_unit(entry, f"{top.home}/{old}")


def _make_folders(tree: Path, entries: Iterable[database.Entry], top: TopFolder) -> None:
    """Folders to compile in: mostly a build's, which git does not know."""
    for folder in dict.fromkeys(entry.directory for entry in entries):
        below = top.relative(posixpath.join(folder, "x"))
        if below is not None and Path(os.path.realpath(made := tree / below)).is_relative_to(tree):
            made.parent.mkdir(parents=True, exist_ok=True)


def _as_unit(entry: database.Entry, path: str) -> database.Entry:
    """The command with another source."""
    arguments = tuple(path if entry.names_source(argument) else argument for argument in entry.arguments)
    return msgspec.structs.replace(entry, file=path, arguments=arguments)


def _notes(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"base: {named(names, NAMES_SHOWN)} could not be analysed there, what they contribute counts as new",)
