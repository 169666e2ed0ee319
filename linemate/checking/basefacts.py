"""Facts of the base revision: parsed again only where the change can be seen, the rest taken over.

Owns which units a change affects, their commands, and one stream of facts.  The base is read in the place of the
working tree, so that the same things have the same names on both sides.

A unit is affected when it or a file that it read differs, when it read a file of the name of a deleted one (it may have
read that one before), or when it could not be analysed.  The commands are today's: what an old build file said is not
known.  What a build generates and what submodules hold is today's too; a file that is new and not yet added to git is
not in the base.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import msgspec

from linemate import database
from linemate.checking import gitbase
from linemate.options import FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.facts import FactsEnd
from sharing.model.inputs import open_input

SOURCE_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cp"})
HEADER_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".def"})
MAX_LINKED = 50_000
NAMES_SHOWN = 5

# Runs the analyzer: a request in, the file with its stream out.
Gather = Callable[[FactsRequest], Path]


class _Head(msgspec.Struct, frozen=True):
    """What of a line of facts decides here; other fields are skipped."""

    kind: str
    path: str = ""
    directory: str = ""
    files: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The unit's absolute path."""
        return posixpath.join(self.directory, self.path)

    @property
    def broken(self) -> bool:
        """Nothing or not all is known of the unit."""
        return self.kind == "failure" or bool(self.errors)


@dataclass(frozen=True, slots=True)
class BaseFacts:
    """``stream`` holds the base's facts, ``parsed`` of its units were read again; ``notes`` is what was not found."""

    stream: Path
    parsed: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Roots:
    """Spellings of the top of the working tree: git's, and those that a compile database uses (through links)."""

    top: str
    aliases: list[str] = field(default_factory=list)
    known: dict[str, str | None] = field(default_factory=dict)

    def relative(self, path: str) -> str | None:
        """The path below the top, None for one outside."""
        if path not in self.known:
            self.known[path] = self._relative(path)
        return self.known[path]

    def _relative(self, path: str) -> str | None:
        clean = posixpath.normpath(path)
        for root in (self.top, *self.aliases):
            if clean.startswith(root + "/"):
                return clean[len(root) + 1 :]
        real = os.path.realpath(clean)
        if not real.startswith(self.top + "/"):
            return None
        below = real[len(self.top) + 1 :]
        if clean.endswith("/" + below):
            self.aliases.append(clean[: -len(below) - 1])
        return below

    @property
    def home(self) -> str:
        """The top as facts name it: as the compile database does."""
        return self.aliases[0] if self.aliases else self.top

    @property
    def all(self) -> list[str]:
        return [self.top, *self.aliases]


def find_repository(entries: Iterable[database.Entry], here: str, *, trusted: bool = False) -> gitbase.Repository:
    """The repository that the sources are in: that of ``here`` if it holds one of them, else that of a source."""
    paths = [entry.path for entry in entries]
    found = gitbase.find_repository(here, trusted=trusted)
    if found is not None and any(os.path.realpath(path).startswith(found.top + "/") for path in paths):
        return found
    folders = dict.fromkeys(posixpath.dirname(path) for path in paths)
    for folder in list(folders)[:NAMES_SHOWN]:
        found = gitbase.find_repository(folder, trusted=trusted) if os.path.isdir(folder) else None
        if found is not None:
            return found
    raise LinemateError(f"--base: neither {here} nor the sources are in a git repository")


def base_facts(
    repository: gitbase.Repository,
    commit: str,
    entries: tuple[database.Entry, ...],
    request: FactsRequest,
    current: Path,
    folders: tuple[Path, Path | None],
    gather: Gather,
) -> BaseFacts:
    """The facts of ``commit``, from the stream of the working tree and what has to be parsed again.

    ``entries`` are the commands of the units that ``request`` asked for, ``current`` is the stream of their facts.
    ``folders`` are one for new files of this run, and one that keeps base trees between runs, None to keep none.
    """
    scratch, trees = folders
    roots = _Roots(repository.top)
    for entry in entries:
        roots.relative(entry.path)
    tracked = repository.tracked()
    new = _new_files(repository, tracked, entries, roots)
    changes = repository.changes(commit)
    changes = dataclasses.replace(changes, changed=changes.changed | new)
    kept, broken, read = _sort_units(current, changes, roots)
    again = [entry for entry in entries if os.path.realpath(entry.path) not in kept]
    lost = [] if request.sources else _deleted_units(entries, changes, roots)
    modules = [path for path in sorted(changes.changed) if os.path.isdir(os.path.join(repository.top, path))]
    notes = tuple(f"base: {path} is a submodule that differs, its current files are used" for path in modules)
    if not again and not lost:
        return BaseFacts(current, 0, notes)
    with gitbase.base_tree(repository, commit, trees) as tree:
        gitbase.link_into(
            tree, repository.top, _generated(repository, tracked | new, read, roots.relative(str(trees or scratch)))
        )
        home = roots.home
        found = [old for entry in again if (old := _in_base(entry, tree, changes, roots)) is not None]
        guessed = {f"{home}/{path}" for _, path in lost}
        found += [_as_unit(donor, f"{home}/{path}") for donor, path in lost]
        stream = scratch / "base.jsonl"
        if not found:
            return BaseFacts(_join(current, None, kept, stream, lambda line: line), 0, notes)
        _make_folders(tree, found, roots)
        commands = scratch / "base" / database.FILE_NAME
        commands.parent.mkdir(exist_ok=True)
        database.write_database(commands, found)
        made = gather(
            FactsRequest(
                database=str(commands),
                jobs=request.jobs,
                cache=request.cache,
                tops=tuple(roots.all),
                tree=str(tree),
            )
        )
        failed = [path for path in _failures(made) if path not in guessed and os.path.realpath(path) not in broken]
        _join(current, made, kept, stream, _renaming(changes, home))
    return BaseFacts(stream, len(found), notes + _notes([os.path.relpath(path, home) for path in failed]))


def _heads(stream: Path) -> Iterator[tuple[bytes, _Head]]:
    decode = msgspec.json.Decoder(_Head).decode
    with open_input(stream) as lines:
        for line in lines:
            if line.strip():
                yield line, decode(line)


def _sort_units(stream: Path, changes: gitbase.Changes, roots: _Roots) -> tuple[set[str], set[str], set[str]]:
    """Paths of units that the change cannot have touched, of broken ones, and all files read below the top."""
    names = {posixpath.basename(path) for path in changes.deleted}
    kept: set[str] = set()
    touched: set[str] = set()
    broken: set[str] = set()
    read: set[str] = set()
    for _, head in _heads(stream):
        if head.broken:
            broken.add(os.path.realpath(head.place))
        if head.kind != "unit":
            continue
        affected = False
        for file in (head.path, *head.files):
            below = roots.relative(posixpath.join(head.directory, file))
            if below is not None:
                read.add(below)
                affected |= below in changes.changed or posixpath.basename(below) in names
        (touched if affected else kept).add(os.path.realpath(head.place))
    # One file may be compiled several times; if one of them is affected, all are read again.
    return kept - touched, broken, read


def _new_files(
    repository: gitbase.Repository, tracked: frozenset[str], entries: Iterable[database.Entry], roots: _Roots
) -> frozenset[str]:
    """Files that somebody wrote and did not yet add: neither ignored nor in a build folder, which nobody writes in."""
    folders = {folder for path in tracked for folder in _folders(path)}
    compiled_in = {roots.relative(posixpath.join(entry.directory, "x")) for entry in entries}
    build = {posixpath.dirname(path) for path in compiled_in if path is not None} - folders - {""}
    untracked = repository.untracked(ignored=False)
    return frozenset(path for path in untracked if build.isdisjoint(_folders(path)))


def _folders(path: str) -> Iterator[str]:
    """Every folder above a relative path, the nearest first, without the top itself."""
    while path := posixpath.dirname(path):
        yield path


def _generated(
    repository: gitbase.Repository, not_generated: frozenset[str], read: set[str], ours: str | None
) -> list[str]:
    """Files that the base may need and git cannot give: read by today's units, or headers that a build made.

    ``ours`` is where base trees are, if that is below the top: they hold headers too.
    """
    others = repository.untracked(ignored=True)
    headers = [path for path in others if posixpath.splitext(path)[1] in HEADER_SUFFIXES]
    wanted = [path for path in (*sorted(read), *headers) if path not in not_generated]
    own = f"{ours}/" if ours else "\0"
    return list(dict.fromkeys(path for path in wanted if not path.startswith(own)))[:MAX_LINKED]


def _deleted_units(
    entries: Iterable[database.Entry], changes: gitbase.Changes, roots: _Roots
) -> list[tuple[database.Entry, str]]:
    """Sources that are gone, each with the command of a neighbour: a folder's units are compiled alike."""
    donors: dict[tuple[str, str], database.Entry] = {}
    for entry in entries:
        below = roots.relative(entry.path)
        if below is not None:
            donors.setdefault((posixpath.dirname(below), posixpath.splitext(below)[1]), entry)
    gone = sorted(changes.deleted - set(changes.renamed.values()))
    return [
        (donors[place], path)
        for path in gone
        if (place := (posixpath.dirname(path), posixpath.splitext(path)[1]))[1] in SOURCE_SUFFIXES and place in donors
    ]


def _in_base(entry: database.Entry, tree: Path, changes: gitbase.Changes, roots: _Roots) -> database.Entry | None:
    """The command as it compiles the base, None for a unit that the base lacks."""
    below = roots.relative(entry.path)
    if below is None:
        return entry
    old = changes.renamed.get(below, below)
    if not (tree / old).exists():
        return None
    return entry if old == below else _as_unit(entry, f"{roots.home}/{old}")


def _make_folders(tree: Path, entries: Iterable[database.Entry], roots: _Roots) -> None:
    """Folders to compile in: mostly a build's, which git does not know."""
    for folder in dict.fromkeys(entry.directory for entry in entries):
        below = roots.relative(posixpath.join(folder, "x"))
        if below is not None and Path(os.path.realpath(made := tree / below)).is_relative_to(tree):
            made.parent.mkdir(parents=True, exist_ok=True)


def _as_unit(entry: database.Entry, path: str) -> database.Entry:
    """The command with another source."""
    arguments = tuple(path if entry.names_source(argument) else argument for argument in entry.arguments)
    return msgspec.structs.replace(entry, file=path, arguments=arguments)


def _failures(stream: Path) -> list[str]:
    return [head.place for _, head in _heads(stream) if head.broken]


def _renaming(changes: gitbase.Changes, home: str) -> Callable[[bytes], bytes]:
    """Turns names of files in a line of facts into those that they have today, below ``home``."""
    renamed = {_in_json(f"{home}/{old}"): _in_json(f"{home}/{new}") for new, old in changes.renamed.items()}
    longest = sorted(renamed, key=len, reverse=True)
    if not renamed:
        return lambda line: line
    pattern = re.compile(b"(" + b"|".join(map(re.escape, longest)) + rb')(?=["\\:@])')
    return lambda line: pattern.sub(lambda found: renamed[found[1]], line)


def _in_json(text: str) -> bytes:
    return msgspec.json.encode(os.fsencode(text).decode("utf-8", "replace"))[1:-1]


def _join(current: Path, made: Path | None, kept: set[str], out: Path, change: Callable[[bytes], bytes]) -> Path:
    """One stream: the units of ``current`` that are kept and those of ``made``, changed, in the order of ``current``.

    The order of units decides the predicted layout: a unit that was parsed again stands where it stands today, or an
    edit of a comment would move it and what it meets.  Units that today lacks come last.
    """
    units = 0
    with out.open("wb") as stream, _ParsedAgain(made, change) as again:
        for line, head in _heads(current):
            if head.kind == "header":
                stream.write(line)
            elif head.kind in ("unit", "failure"):
                place = os.path.realpath(head.place)
                found = line if head.kind == "unit" and place in kept else again.take(place)
                if found is not None:
                    stream.write(found)
                    units += 1
        for line in again.rest():
            stream.write(line)
            units += 1
        stream.write(msgspec.json.encode(FactsEnd(units=units, failed=0, cached=0)) + b"\n")
    return out


class _ParsedAgain:
    """The units of a stream by their place in the working tree; their lines stay in the file until they are taken."""

    def __init__(self, stream: Path | None, change: Callable[[bytes], bytes]) -> None:
        self._change = change
        self._file = open_input(stream) if stream is not None else None
        self._places: dict[str, deque[tuple[int, int]]] = defaultdict(deque)
        begin = 0
        for line in self._file or ():
            if line.strip() and (head := msgspec.json.decode(change(line), type=_Head)).kind == "unit":
                self._places[os.path.realpath(head.place)].append((begin, len(line)))
            begin += len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def take(self, place: str) -> bytes | None:
        """The next unit of that path: a source may be compiled more than once."""
        waiting = self._places.get(place)
        return self._read(*waiting.popleft()) if waiting else None

    def rest(self) -> Iterator[bytes]:
        """What nobody took, in the order of the stream."""
        for begin, size in sorted(span for waiting in self._places.values() for span in waiting):
            yield self._read(begin, size)

    def _read(self, begin: int, size: int) -> bytes:
        assert self._file is not None
        self._file.seek(begin)
        return self._change(self._file.read(size))


def _notes(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    shown = ", ".join(names[:NAMES_SHOWN])
    return (f"base: {shown}{more} could not be analysed there, what they contribute counts as new",)
