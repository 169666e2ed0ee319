"""Counted accesses of a program, kept small: by place in the source how often each thread made them, and which line
moved because of which two of them.

Owns the two formats: what the run-time writes, and what is kept of it, JSON compressed with xz.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.truth.store import Made
from elfscan.debug.linetable import read_lines
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.image import AccessKind, Image
from sharing.static.callees import function_name

FORMAT = "linemate-accesses-1"
SUFFIX = ".accesses.xz"  # beside the counts of instructions of the same program
_KINDS = (AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW)
_HEAD = ("threads", "transfers", "lost")


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the source that accesses so many bytes; ``made`` is how often, by number of the thread from 1."""

    file: str
    line: int
    column: int
    function: str
    kind: AccessKind
    size: int
    made: dict[int, int]


@dataclass(frozen=True, slots=True)
class Moved:
    """How often a line moved because ``use`` used it after ``wrote`` had written it: places, by number.

    What was written begins ``distance`` bytes behind what was used, and is of the same object of the heap or not
    (``same``).  ``needed``: whoever got the line used what was written; ``vain``: nothing of that.  ``allocation`` is
    the function that made the object, "" where it is not known.
    """

    use: int
    wrote: int  # -1 unknown
    distance: int
    same: bool
    needed: int
    vain: int
    allocation: str


@dataclass(frozen=True, slots=True)
class Accesses:
    """One run of one program."""

    made: Made
    threads: int
    transfers: int
    sites: tuple[Site, ...]
    moved: tuple[Moved, ...]


Place = tuple[str, int, int, str, AccessKind, int]  # the first columns of a site


def read(out: Path, image: Image, made: Made) -> Accesses:
    """What the run-time wrote, with the places of an instrumented program named."""
    head: dict[str, int] = {}
    sites: list[list[str]] = []
    pairs: list[list[int]] = []
    for text in out.read_text().splitlines():
        what, *rest = text.split()
        if what in _HEAD:
            head[what] = int(rest[0])
        elif what == "site":
            sites.append(rest)
        elif what == "pair":
            pairs.append([int(part) for part in rest])
    places: dict[Place, dict[int, int]] = {}
    place_of: dict[int, Place] = {}
    for row, place in zip(sites, _places(image, sites), strict=True):
        counts = places.setdefault(place, defaultdict(int))
        place_of[int(row[0])] = place
        for part in row[4:]:
            thread, _, count = part.partition(":")
            counts[int(thread) + 1] += int(count)
    number = {place: at for at, place in enumerate(places)}
    at = {0: -1, **{site: number[place] for site, place in place_of.items()}}
    moved: dict[tuple[int, int, int, bool, str], list[int]] = defaultdict(lambda: [0, 0])
    for use, wrote, allocation, distance, same, needed, vain in pairs:
        by = place_of[allocation][3] if allocation else ""
        total = moved[at[use], at[wrote], distance, bool(same), by]
        total[0] += needed
        total[1] += vain
    return Accesses(
        made,
        head["threads"],
        head["transfers"],
        tuple(Site(*place, dict(count)) for place, count in places.items()),
        tuple(Moved(u, w, d, s, n, v, by) for (u, w, d, s, by), (n, v) in moved.items()),
    )


def _places(image: Image, sites: list[list[str]]) -> Iterator[Place]:
    lines = read_lines(ElfFile(image.path, map_file(image.path)))
    # The address is the one behind the call.
    calls = np.array([int(row[1], 16) for row in sites], np.uint64) - np.uint64(1)
    functions = np.searchsorted(image.functions["address"], calls, "right").astype(np.int64) - 1
    for row, at, function in zip(sites, lines.at(calls).tolist(), functions.tolist(), strict=True):
        file, line, column = "", 0, 0
        if at >= 0:
            where = lines.rows[at]
            file, line, column = lines.files[where["file"]], int(where["line"]), int(where["column"])
        yield file, line, column, function_name(image, function), _KINDS[int(row[2])], int(row[3])


def save(into: Path, accesses: Accesses, least: int) -> None:
    """Keep it, without pairs that moved a line less often than that; places that nothing is known of then go, too."""
    pairs = [m for m in accesses.moved if m.needed + m.vain >= least]
    files, functions = _Numbers(), _Numbers()
    sites = [
        [files(s.file), s.line, s.column, functions(s.function), int(s.kind), s.size, sorted(s.made.items())]
        for s in accesses.sites
    ]
    rows = [[m.use, m.wrote, m.distance, int(m.same), m.needed, m.vain, functions(m.allocation)] for m in pairs]
    document = {
        "format": FORMAT,
        "made": asdict(accesses.made),
        "threads": accesses.threads,
        "transfers": accesses.transfers,
        "files": files.names,
        "functions": functions.names,
        "sites": sites,
        "moved": rows,
    }
    text = json.dumps(document, separators=(",", ":"))
    into.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


class _Numbers:
    """Names and the number of each."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self._known.setdefault(name, len(self._known))

    @property
    def names(self) -> list[str]:
        return list(self._known)


def load(path: Path) -> Accesses:
    document = json.loads(lzma.decompress(path.read_bytes()))
    if document.get("format") != FORMAT:
        raise ValueError(f"{path}: is not of the format {FORMAT}")
    files, functions = document["files"], document["functions"]
    sites = (
        Site(files[f], line, column, functions[fn], AccessKind(kind), size, dict(made))
        for f, line, column, fn, kind, size, made in document["sites"]
    )
    moved = (Moved(u, w, d, bool(s), n, v, functions[by]) for u, w, d, s, n, v, by in document["moved"])
    return Accesses(Made(**document["made"]), document["threads"], document["transfers"], tuple(sites), tuple(moved))
