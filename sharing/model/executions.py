"""Exact executions: how often each thread of a run executed each instruction of the files that it had mapped.

Owns the tables that readers of ``pmu`` fill and ``sharing.counted`` joins with an image.  Addresses are link-time
addresses of the module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[Any]

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
class Executions:
    """All that was counted.  ``table`` (EXECUTION_DTYPE) is sorted by module, address and thread, each named once.

    ``modules`` are paths as the recorder writes them; ``parts`` say what the table was added up from.
    """

    table: Table
    modules: tuple[str, ...]
    threads: tuple[CountedThread, ...]
    parts: tuple[Part, ...] = ()
    command: str = ""
    recorder: str = ""

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
    keys = ("module", "address", "thread")
    new = np.r_[True, np.any([rows[k][1:] != rows[k][:-1] for k in keys], axis=0)]
    first = np.flatnonzero(new)
    out: Table = rows[first]
    out["executions"] = np.add.reduceat(rows["executions"], first)
    return out
