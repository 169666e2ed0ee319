"""Whose stack an address is on: said of mappings that are one thread's at a time, and of nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmu import read_samples
from sharing.model.attribution import THREAD_KEY_DTYPE, UNKNOWN_THREAD, Region
from sharing.sampled.attribution.processes import Processes
from sharing.sampled.attribution.regions import SP_DTYPE, Memory
from sharing.sampled.attribution.stackowners import StackOwners
from tests.attribution.conftest import Placed
from tests.attribution.test_attribution_places import rows_of
from tests.builders import perfdata as b

FIRST, SECOND, POOL, SIZE = 0x7FFD_0000_0000, 0x7F10_0000_0000, 0x7F20_0000_0000, 0x80_0000
PID = 5


@pytest.fixture
def owners(tmp_path: Path) -> StackOwners:
    """A process with its own stack, one that two threads had one after the other, and a pool of many at once."""
    made = b.Builder([b.Attr()])
    for start, path in ((FIRST, "[stack]"), (SECOND, "//anon"), (POOL, "//anon")):
        made.mmap2(PID, start, SIZE, 0, path, inode=0)
    made.sample(ip=0x1000, pid=PID, tid=PID, time=1)
    (tmp_path / "p").write_bytes(made.file())
    samples = read_samples(tmp_path / "p")
    stacks = samples.mappings["start"] == SECOND
    nothing = np.zeros(0, np.uint64)
    keys = Processes.number(samples, np.array([PID << 32 | PID], np.int64))
    region = np.full(len(stacks), int(Region.ANONYMOUS), np.uint8)
    of_files: Any = (nothing, nothing, nothing)
    memory = Memory(samples, keys, *of_files, region, np.full(len(stacks), -1, np.int32), stacks, (), True, None)
    threads = np.array([(PID, 6), (PID, 7)], THREAD_KEY_DTYPE)
    pointers = np.zeros(4, SP_DTYPE)
    pointers["pid"], pointers["thread"] = PID, (0, 1, 0, 1)
    pointers["time"], pointers["pointer"] = (100, 900, 100, 900), (SECOND + 64, SECOND + 128, POOL + 64, POOL + 128)
    return StackOwners(memory, pointers, threads)


@pytest.mark.parametrize(
    ("address", "time", "thread"),
    [
        (FIRST + 64, 500, PID),
        (SECOND + 8192, 50, 6),
        (SECOND + 8192, 400, 6),
        (SECOND + 8192, 600, 7),
        (SECOND + SIZE, 600, UNKNOWN_THREAD),
        (POOL + 64, 100, UNKNOWN_THREAD),
        (0x1000, 100, UNKNOWN_THREAD),
    ],
)
def test_a_stack_is_its_threads(owners: StackOwners, address: int, time: int, thread: int) -> None:
    assert owners.thread(PID, address, time) == thread
    assert owners.thread(PID + 1, address, time) == UNKNOWN_THREAD, "another process's memory"


def test_an_object_on_a_threads_own_stack_is_its(placed: Placed) -> None:
    a = placed.attribution
    for row in rows_of(placed, "add", Region.STACK)[::50]:
        pid, tid = a.threads[row["thread"]].tolist()
        time = int(a.samples.samples["time"][-1])
        assert a.stack_owner(pid, int(row["place"]), time) == tid
