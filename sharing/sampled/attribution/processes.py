"""Threads and processes of a profile as dense rows.

Owns their numbering.  A process that executes another program begins a new address space, so each execution is a row
of its own here; a forked child is too, by its id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.attribution import THREAD_KEY_DTYPE
from sharing.model.samples import Samples

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

END_OF_TIME = np.uint64((1 << 64) - 1)
MAX_PROCESSES = 1 << 15  # rows in the upper bits of keys; more are counted as having no known memory


def keys(rows: Table) -> npt.NDArray[np.int64]:
    """One number for each (process, thread)."""
    return np.asarray(rows["pid"].astype(np.int64) << 32 | rows["tid"].astype(np.int64) & 0xFFFF_FFFF)


@dataclass(frozen=True, slots=True)
class Processes:
    """``pid`` and ``until`` are columns by process row; ``until`` is the last moment of it."""

    thread_keys: npt.NDArray[np.int64]
    first_of: npt.NDArray[np.int32]  # first process row of each thread's id
    executions: dict[int, npt.NDArray[np.uint64]]
    pid: npt.NDArray[np.int32]
    until: npt.NDArray[np.uint64]
    settled: int  # when the last of them executed another program
    last_of: npt.NDArray[np.int32]  # how many executions each thread's process has behind it then

    @classmethod
    def number(cls, samples: Samples, thread_keys: npt.NDArray[np.int64]) -> Processes:
        """From the sorted distinct ``keys`` of all samples."""
        pids = (thread_keys >> 32).astype(np.int32)
        about = samples.threads
        tid, pid_of = about["tid"], about["pid"]
        executed = picked(about, (about["exec"] == 1) & (tid == pid_of))
        executions = {int(p): np.sort(executed["time"][executed["pid"] == p]) for p in np.unique(executed["pid"])}
        first: dict[int, int] = {}
        pid: list[int] = []
        until: list[int] = []
        for one in np.unique(pids).tolist():
            first[one] = len(pid)
            times = executions.get(one, np.zeros(0, np.uint64)).tolist()
            pid += [one] * (len(times) + 1)
            until += [max(time, 1) - 1 for time in times] + [int(END_OF_TIME)]
        return cls(
            thread_keys,
            np.array([first[p] for p in pids.tolist()], np.int32),
            {p: times for p, times in executions.items() if p in first},
            np.array(pid, np.int32),
            np.array(until, np.uint64),
            max((int(times[-1]) for p, times in executions.items() if p in first), default=0),
            np.array([len(executions.get(p, ())) for p in pids.tolist()], np.int32),
        )

    def threads(self) -> Table:
        out = np.zeros(len(self.thread_keys), THREAD_KEY_DTYPE)
        out["pid"] = self.thread_keys >> 32
        out["tid"] = (self.thread_keys & 0xFFFF_FFFF).astype(np.uint32).view(np.int32)
        return out

    def thread_rows(self, rows: Table) -> npt.NDArray[np.int32]:
        return np.searchsorted(self.thread_keys, keys(rows)).astype(np.int32)

    def process_rows(self, rows: Table, threads: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        out = self.first_of[threads]
        if self.executions and len(rows) and rows["time"].min() >= self.settled:
            return out + self.last_of[threads]
        for pid, times in self.executions.items():
            here = np.flatnonzero(rows["pid"] == pid)
            if len(here):
                out[here] += np.searchsorted(times, rows["time"][here], "right").astype(np.int32)
        return out
