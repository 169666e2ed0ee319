"""Files of exact counts → ``Executions``.  One reader per format, tried in the order of this table.

Owns the choice of the reader, which files belong to a name, and adding up what several files say.  Does not join counts
with variables (``sharing.counted``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sharing.model.errors import LinemateError, Unrecognized
from sharing.model.executions import EXECUTION_DTYPE, CountedThread, Executions, NamedCounts, summed

MAX_FILES = 1 << 13
# What callgrind appends to the name that it was given: the number of the dump, of the thread, or of both.
_PART = r"(?:\.\d{1,9})?(?:-\d{1,6})?"


@dataclass(frozen=True, slots=True)
class CountReader:
    """A format.  ``read`` raises Unrecognized where the file is of another one, Malformed where it is broken."""

    name: str
    summary: str
    read: Callable[[Path], Executions]


def count_readers() -> tuple[CountReader, ...]:
    """Every reader, the strictest about what it accepts first."""
    from pmu.counts import autofdo, bolt, callgrind, gcov, llvmcov, llvmprofdata

    return (
        CountReader("callgrind", "what callgrind writes for each thread, with --dump-instr=yes", callgrind.read),
        CountReader("gcov", "gcov --json-format, also compressed", gcov.read),
        CountReader("llvm-cov", "llvm-cov export --format=text", llvmcov.read),
        CountReader("llvm-profdata", "llvm-profdata show --all-functions --counts", llvmprofdata.read),
        CountReader("bolt", "BOLT's .fdata, of perf2bolt or of an instrumented program", bolt.read),
        CountReader("autofdo", "AutoFDO's profile as text", autofdo.read),
    )


def read_executions(paths: Sequence[str | Path]) -> Executions:
    """What all files say together; a name that callgrind was given stands for the files that it made of it.

    Raises Malformed for a broken file, LinemateError for one that cannot be read, that no reader knows, or whose counts
    another one has already given.
    """
    files = list(dict.fromkeys(file for path in paths for file in parts_of(Path(path))))
    if len(files) > MAX_FILES:
        raise LinemateError(f"{paths[0]}: {len(files)} files of counts are too many")
    return combined([_read(file) for file in files])


def parts_of(path: Path) -> list[Path]:
    """The file, and those for each dump and thread beside it: callgrind leaves the file with the bare name empty."""
    pattern = re.compile(re.escape(path.name) + _PART, re.DOTALL)
    try:
        names = [n for n in os.listdir(path.parent) if n != path.name and pattern.fullmatch(n)]
        empty = path.exists() and not path.stat().st_size
    except OSError as error:
        raise LinemateError(f"{path}: {error.strerror or error}") from error
    beside = sorted(path.parent / name for name in names)
    return beside if beside and (empty or not path.exists()) else [path]


def _read(path: Path) -> Executions:
    refusals: list[str] = []
    for reader in count_readers():
        try:
            return reader.read(path)
        except Unrecognized as refusal:
            refusals.append(f"{reader.name}: {refusal.why}")
        except OSError as error:
            raise LinemateError(f"{path}: {error.strerror or error}") from error
    raise LinemateError(f"{path}: not a file of counts that linemate reads ({'; '.join(refusals)})")


def combined(several: Sequence[Executions]) -> Executions:
    """Counts of one program added up: parts of a thread join, threads of other processes stay apart."""
    modules: dict[str, int] = {}
    threads: dict[tuple[int, int], int] = {}
    instructions: list[int] = []
    tables = []
    given: dict[tuple[int, int, int], str] = {}
    for one in several:
        for part in one.parts:
            before = given.setdefault((part.process, part.number, part.part), part.path)
            if before != part.path:
                what = f"part {part.part} of thread {part.number} of process {part.process}"
                raise LinemateError(f"{part.path}: is {what}, as {before} is")
        to_module = [modules.setdefault(name, len(modules)) for name in one.modules]
        to_thread = []
        for thread in one.threads:
            row = threads.setdefault((thread.process, thread.number), len(threads))
            instructions[len(instructions) :] = [0] * (row + 1 - len(instructions))
            instructions[row] += thread.instructions
            to_thread.append(row)
        rows = one.table.copy()
        if len(rows):
            of_module, of_thread = rows["module"], rows["thread"]
            of_module[:] = np.array(to_module, np.int32)[of_module]
            of_thread[:] = np.array(to_thread, np.int32)[of_thread]
        tables.append(rows)
    table = summed(np.concatenate(tables)) if tables else np.empty(0, EXECUTION_DTYPE)
    first = several[0] if several else Executions(table, (), ())
    return Executions(
        table,
        tuple(modules),
        tuple(CountedThread(p, n, instructions[row]) for (p, n), row in threads.items()),
        tuple(part for one in several for part in one.parts),
        first.command,
        first.recorder,
        _named(several),
    )


def _named(several: Sequence[Executions]) -> NamedCounts:
    """Counts that name no address, added up.  They do not go together with counts by thread."""
    named = [one.named for one in several if one.named]
    by_thread = [one.parts[0].path for one in several if one.parts]
    if named and by_thread:
        raise LinemateError(
            f"{by_thread[0]}: counts each thread, and another file all threads together: give one kind at a time"
        )
    return sum(named, NamedCounts())
