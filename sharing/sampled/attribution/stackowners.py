"""Whose stack memory is: the process's first thread's, or that of the thread whose stack pointer was sampled there.

Owns that answer for single addresses.  Which mappings are stacks is ``regions``' to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.attribution import UNKNOWN_THREAD
from sharing.sampled.attribution.regions import Memory

Table = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class StackOwners:
    """``pointers`` (SP_DTYPE) are samples of every thread, ``threads`` (THREAD_KEY_DTYPE) what their rows mean."""

    memory: Memory
    pointers: Table
    threads: Table

    def thread(self, pid: int, address: int, time: int) -> int:
        """The id of the thread on whose stack an address was at that time, UNKNOWN_THREAD where nobody knows.

        A thread may get the stack of one that has ended: the nearest in time counts.
        """
        samples = self.memory.samples
        row = self._mapping(np.array([pid]), np.array([address], np.uint64), np.array([time], np.uint64)).item()
        if row < 0:
            return UNKNOWN_THREAD
        if samples.paths[int(samples.mappings["path"][row])] == "[stack]":
            return pid
        if not self.memory.stacks[row]:
            return UNKNOWN_THREAD
        own = picked(self.pointers, self.pointers["pid"] == pid)
        own = picked(own, self._mapping(own["pid"], own["pointer"], own["time"]) == row)
        if not len(own):
            return UNKNOWN_THREAD
        apart = np.maximum(own["time"], np.uint64(time)) - np.minimum(own["time"], np.uint64(time))
        return int(self.threads["tid"][own["thread"][np.argmin(apart)]])

    def _mapping(self, pid: Table, address: Table, time: Table) -> Table:
        return self.memory.samples.spaces.resolve(pid, address, time)
