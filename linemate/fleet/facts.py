"""Facts of many units, read by the workers of a Dask cluster: the stream that one machine would have made.

Owns what a task is, and the joining of what the tasks gave in the order of the compile database, which decides the
predicted layout.  A worker starts ``linemate-facts`` as ``analyzer.run`` does, confined, and reads no source itself.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import msgspec
import zstandard

from analyzer.run import run_facts
from elfscan.tools import tool_path
from linemate.auditing.framed import body_of
from linemate.cachedir import facts_folder
from linemate.database import FILE_NAME, Entry, entries_of, write_database
from linemate.fleet.cluster import results
from linemate.options import FactsRequest
from linemate.output import progress
from sharing.model.errors import LinemateError
from sharing.model.facts import FactsEnd, FactsFailure
from sharing.model.inputs import open_input, read_input
from sharing.model.plural import count
from sharing.model.process import children, scratch
from sharing.model.project import ProjectConfig

UNITS = 16  # of one task, neighbours in the database: what they begin with is parsed once
MOST_BYTES = 1 << 30  # of their facts


class UnitsTask(msgspec.Struct, frozen=True):
    """Units for one worker.  ``cached``: facts are kept in the worker's own cache."""

    entries: tuple[Entry, ...]
    project: ProjectConfig
    cached: bool


class _Kind(msgspec.Struct, frozen=True):
    kind: str


def gather_on_cluster(request: FactsRequest, project: ProjectConfig, within: Path) -> Path:
    """The file with the stream of all units that ``request`` names, in a new folder in ``within``.

    Units whose task was tried in vain are failures in it.  Raises LinemateError where there is no cluster.
    """
    entries = entries_of(request, os.getcwd())
    groups = [entries[at : at + UNITS] for at in range(0, len(entries), UNITS)]
    tasks = (
        (str(at), body_of(UnitsTask(group, project, request.cache is not None))) for at, group in enumerate(groups)
    )
    folder = Path(tempfile.mkdtemp(dir=within, prefix="facts-"))
    failed: dict[int, str] = {}
    with progress("linemate: reading source", quiet=False) as say:
        jobs = request.jobs or len(os.sched_getaffinity(0))
        for done, result in enumerate(results(read_units, tasks, request.scheduler or None, jobs), 1):
            if result.given is None:
                failed[int(result.name)] = result.why
            else:
                (folder / result.name).write_bytes(result.given)
            say(f"{min(done * UNITS, len(entries)):,} of {count(len(entries), 'unit')}")
    if len(failed) == len(groups):
        raise LinemateError(next(iter(failed.values()), "the compile database names no unit"))
    with (folder / "facts.jsonl").open("wb") as stream:
        _join(folder, groups, failed, stream)
    return folder / "facts.jsonl"


def read_units(task: bytes) -> bytes:
    """Within a worker: the stream of a task's units, compressed.  An error makes the scheduler try again."""
    asked = msgspec.msgpack.decode(task, type=UnitsTask)
    children.use_spawner(lambda: str(tool_path("linemate-spawn")))
    with scratch.subfolder("units") as folder:
        write_database(folder / FILE_NAME, asked.entries)
        cache = facts_folder() if asked.cached else None
        request = FactsRequest(database=str(folder), jobs=1, cache=str(cache) if cache else None)
        return zstandard.compress(read_input(run_facts(request, asked.project, folder), MOST_BYTES))


def _join(folder: Path, groups: Sequence[Sequence[Entry]], failed: dict[int, str], stream: IO[bytes]) -> None:
    """One stream of those of the tasks, which are removed; what failed comes last."""
    header = b""
    lost = sum(len(groups[at]) for at in failed)
    end = FactsEnd(lost, lost, 0)
    for part in (folder / str(at) for at in range(len(groups)) if at not in failed):
        with open_input(part) as packed, zstandard.ZstdDecompressor().stream_reader(packed) as raw:
            for line in io.BufferedReader(cast(io.RawIOBase, raw)):
                kind = msgspec.json.decode(line, type=_Kind).kind
                if kind == "end":
                    more = msgspec.json.decode(line, type=FactsEnd)
                    end = FactsEnd(end.units + more.units, end.failed + more.failed, end.cached + more.cached)
                elif kind != "header" or not header:
                    stream.write(line)
                if kind == "header" and line != (header := header or line):
                    raise LinemateError("the workers of the cluster have different versions of linemate")
        part.unlink()
    for at, why in failed.items():
        for entry in groups[at]:
            stream.write(msgspec.json.encode(FactsFailure(entry.path, why)) + b"\n")
    stream.write(msgspec.json.encode(end) + b"\n")
