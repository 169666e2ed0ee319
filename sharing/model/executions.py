"""Exact executions: how often each thread of a run executed each instruction of the files that it had mapped.

Owns the tables that readers of ``pmu`` fill and ``sharing.counted`` joins with an image.  Addresses are link-time
addresses of the module.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[Any]
Key = TypeVar("Key", bound=Hashable)

# How often one thread executed the instruction at one address.
EXECUTION_DTYPE = np.dtype(
    [
        ("address", "<u8"),  # link-time address
        ("executions", "<u8"),
        ("module", "<i4"),  # index of Executions.modules
        ("thread", "<i4"),  # index of Executions.threads
    ]
)


FIRST = 1  # number of the thread that a process begins with


@dataclass(frozen=True, slots=True)
class CountedThread:
    """One thread: the process and number that the recorder gave it, and all instructions that it executed.

    A recorder may give the number of a thread that has ended to a new one: such threads are one here.
    """

    process: int
    number: int
    instructions: int

    @property
    def label(self) -> str:
        return f"thread {self.number}"


@dataclass(frozen=True, slots=True)
class Part:
    """What one stretch of a file holds, so that the same counts are not added twice."""

    process: int
    number: int
    part: int
    path: str


@dataclass(frozen=True, slots=True)
class NamedCounts:
    """Counts of all threads together, by what a compiler or profiler calls a place: an image gives them addresses.

    Files are paths as the recorder writes them, functions linkage names.  ``relative`` lines are counted from the
    line that a function begins at.  ``jumps`` go from one place of a function to another, ``hits`` are executions.
    """

    lines: Mapping[tuple[str, int], int] = field(default_factory=dict)  # (file, line) → executions
    runs: Mapping[str, int] = field(default_factory=dict)  # function → how often it was entered
    relative: Mapping[tuple[str, int], int] = field(default_factory=dict)  # (function, lines) → executions
    jumps: Mapping[tuple[str, int, str, int], int] = field(default_factory=dict)  # (function, offset), twice
    hits: Mapping[tuple[str, int], int] = field(default_factory=dict)  # (function, offset)
    sampled: bool = False  # by a profiler: in proportion to executions, and no numbers of them

    def __bool__(self) -> bool:
        return any((self.lines, self.runs, self.relative, self.jumps, self.hits))

    def __add__(self, other: NamedCounts) -> NamedCounts:
        """Two runs, or two units of one program."""
        return NamedCounts(
            _both(self.lines, other.lines),
            _both(self.runs, other.runs),
            _both(self.relative, other.relative),
            _both(self.jumps, other.jumps),
            _both(self.hits, other.hits),
            self.sampled or other.sampled,
        )


def _both(a: Mapping[Key, int], b: Mapping[Key, int]) -> dict[Key, int]:
    out = dict(a)
    for key, count in b.items():
        out[key] = out.get(key, 0) + count
    return out


@dataclass(frozen=True, slots=True)
class Executions:
    """All that was counted.  ``table`` (EXECUTION_DTYPE) is sorted by module, address and thread, each named once.

    ``modules`` are paths as the recorder writes them; ``parts`` say what the table was added up from.  Where threads
    were not told apart there is no table: ``named`` has the counts.
    """

    table: Table
    modules: tuple[str, ...]
    threads: tuple[CountedThread, ...]
    parts: tuple[Part, ...] = ()
    command: str = ""
    recorder: str = ""
    named: NamedCounts = field(default_factory=NamedCounts)

    def of_module(self, modules: Iterable[int]) -> Table:
        """The rows of some modules."""
        rows: Table = self.table[np.isin(self.table["module"], np.array(list(modules), np.int32))]
        return rows

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(t.process for t in self.threads))


def summed(rows: Table) -> Table:
    """Rows with equal module, address and thread made one, in this order."""
    order = np.lexsort((rows["thread"], rows["address"], rows["module"]))
    rows = rows[order]
    if not len(rows):
        return rows
    keys = [rows[name] for name in ("module", "address", "thread")]
    new = np.r_[True, np.any([key[1:] != key[:-1] for key in keys], axis=0)]
    first = np.flatnonzero(new)
    out: Table = rows[first]
    out["executions"] = np.add.reduceat(rows["executions"], first)
    return out
