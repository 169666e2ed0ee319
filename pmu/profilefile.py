"""The files of a recording: which existing ones may be replaced, and how new ones come into place.

Owns never losing a file that ``record`` did not write.  A sidecar beside a profile, with its size and digest, is what
says that it did.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pmu.heaplog import heap_of
from pmu.perfdata.header import MAGIC
from pmu.sidecar import read_sidecar, sidecar_of, solo_of
from sharing.model.errors import LinemateError
from sharing.model.inputs import open_input
from sharing.model.process.scratch import beside
from sharing.model.recorded import RecordedHeap, RecordedProfile

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Files:
    """Where a recording goes: written in ``folder`` first, moved into place when everything is whole."""

    folder: Path
    profile: Path
    solo: Path
    sidecar: Path
    heap: Path
    earlier: frozenset[str]  # names of the files of the recording that is replaced

    def part(self, level: str) -> Path:
        """A file to record into."""
        return self.folder / level

    def drop_earlier(self, path: Path) -> None:
        """Delete a file of the recording that is being replaced: it says nothing about the new one."""
        if path.name in self.earlier:
            path.unlink(missing_ok=True)


def check_replaceable(profile: Path, *, solo: bool, heap: bool = False) -> frozenset[str]:
    """Raises LinemateError unless all files of a recording are new, or an earlier recording's own.

    Gives the names of the earlier one's files.
    """
    if not profile.name or profile.is_dir():
        raise LinemateError(f"{profile}: is a directory")
    if not profile.parent.is_dir():
        raise LinemateError(f"{profile}: no directory {profile.parent}")
    sidecar = sidecar_of(profile)
    ours: dict[str, RecordedProfile | RecordedHeap] = {}
    if _there(sidecar):
        if sidecar.is_symlink() or not sidecar.is_file():
            raise LinemateError(f"{sidecar}: is not a regular file, not replaced")
        try:
            earlier = read_sidecar(sidecar)
            ours |= {row.file: row for row in earlier.profiles}
            ours |= {earlier.heap.file: earlier.heap} if earlier.heap is not None else {}
        except LinemateError as error:
            raise LinemateError(
                f"{sidecar}: not written by linemate record, not replaced; choose another -o"
            ) from error
    beside_it = ((solo_of(profile), solo), (heap_of(profile), heap))
    for path in (profile, *(path for path, wanted in beside_it if wanted or path.name in ours)):
        if not _there(path):
            continue
        if path.is_symlink() or not path.is_file():
            raise LinemateError(f"{path}: is not a regular file, not replaced")
        row = ours.get(path.name)
        if row is None or row.size_bytes != path.stat().st_size or row.sha256 != digest(path):
            what = "a profile" if _is_profile(path) else "not a profile"
            raise LinemateError(
                f"{path}: {what}, and not as linemate record wrote it: not replaced; move it or choose another -o"
            )
    return frozenset(ours)


@contextlib.contextmanager
def replacing(profile: Path, *, solo: bool, heap: bool = False) -> Iterator[Files]:
    """A folder beside the profile to record in, gone afterwards."""
    earlier = check_replaceable(profile, solo=solo, heap=heap)
    with beside(profile) as folder:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise LinemateError(f"{profile}: cannot be written here: {error.strerror}") from error
        yield Files(folder, profile, solo_of(profile), sidecar_of(profile), heap_of(profile), earlier)


def put_in_place(files: Files, level: str, part: Path) -> None:
    """A whole part becomes the profile of its level."""
    os.replace(part, files.profile if level == "spread" else files.solo)


def digest(path: Path) -> str:
    """sha256 of the file, in hexadecimal."""
    total = hashlib.sha256()
    with open_input(path, "a profile") as file:
        while block := file.read(_BLOCK_BYTES):
            total.update(block)
    return total.hexdigest()


def _there(path: Path) -> bool:
    return os.path.lexists(path)


def _is_profile(path: Path) -> bool:
    try:
        with open_input(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (LinemateError, OSError):
        return False
