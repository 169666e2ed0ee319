"""What lies at a run-time address: whose memory, of what kind, and where in a file.

Owns the spaces of an attribution and the rules for static storage, heap, stacks and shared memory.  Evaluates no
operand.

1. Static storage.  Where a process has mapped the code of a file, its data is as far away as in the file.  So .data
   and .bss need no record of their own mapping.
2. Everything else by the mapping that held the address at that time, if the profile has such mappings.
3. Stacks.  What lies near a thread's own stack pointer, and anonymous mappings that hold the stack pointer of one
   thread at a time.

Memory is shared between processes only where the mapping says so (MAP_SHARED): a forked child's copy is another space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.addressspaces import KERNEL_PID
from sharing.model.attribution import Region, Space, SpaceKind
from sharing.model.operands import MappedFiles
from sharing.model.samples import PROT_EXEC, MappingFlag, Samples
from sharing.sampled.attribution.processes import MAX_PROCESSES, Processes

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

USER_BITS = 48  # of an address, on every 64-bit architecture with pages of 4 kB and four levels
LOW = np.uint64((1 << USER_BITS) - 1)
THREAD_BASE = 1 << 46  # where the thread pointer is put in a thread's own space
LARGE_BYTES = 1 << 17  # glibc's M_MMAP_THRESHOLD: what malloc maps is at least this
BRK_DISTANCE = (1 << 30) + (1 << 28)  # arch_randomize_brk moves the heap by at most 1 GB
NEAR_STACK = (128, 1 << 16)  # bytes below (the red zone) and above the stack pointer that are its thread's own

LOCATED_DTYPE = np.dtype(
    [
        ("place", "<u8"),
        ("link", "<u8"),
        ("space", "<i4"),
        ("data_module", "<i4"),
        ("mapping", "<i4"),
        ("region", "u1"),
        ("known", "u1"),  # 0: no mapping explains the address
        ("writable", "u1"),
        ("reserved", "u1"),
    ]
)


@dataclass(frozen=True, slots=True)
class Memory:
    """``locate`` answers for many addresses at once.  Built by ``survey``."""

    samples: Samples
    processes: Processes
    starts: npt.NDArray[np.uint64]  # static ranges: process row and run-time address
    ends: npt.NDArray[np.uint64]
    of_range: Table  # bias, file, writable
    region: npt.NDArray[np.uint8]  # by mapping
    shared: npt.NDArray[np.int32]  # by mapping: which shared object, -1 none
    stacks: npt.NDArray[np.bool_]  # by mapping: holds one thread's stack
    objects: tuple[str, ...]
    complete: bool  # the profile has data mappings: what none of them holds is not mapped
    kernel_bias: int | None

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Private memory of each process, the kernel's, physical memory, shared objects, threads' own storage."""
        private = [Space(SpaceKind.PRIVATE, pid) for pid in self.processes.pid.tolist()]
        shared = [Space(SpaceKind.SHARED, name=name) for name in self.objects]
        own = [Space(SpaceKind.THREAD, pid=pid, tid=tid) for pid, tid in self.processes.threads().tolist()]
        return (*private, Space(SpaceKind.KERNEL), Space(SpaceKind.PHYSICAL), *shared, *own)

    @property
    def kernel_space(self) -> int:
        return len(self.processes.pid)

    def thread_space(self, threads: Column) -> npt.NDArray[np.int32]:
        return np.asarray(threads + (self.kernel_space + 2 + len(self.objects)), np.int32)

    def locate(
        self,
        rows: Table,
        process: Column,
        address: npt.NDArray[np.uint64],
        stack_pointers: Callable[[Column], Column],
    ) -> Table:
        """LOCATED_DTYPE for an address of each sample; ``stack_pointers`` of some of them, 0 where unknown."""
        out = np.zeros(len(rows), LOCATED_DTYPE)
        out["place"], out["space"], out["data_module"], out["mapping"] = address, process, -1, -1
        high = address >> np.uint64(63) == 1
        if high.any():
            self._kernel(out, address, high)
        static = self._static(out, process, address, high)
        rest = np.flatnonzero(~static & ~high)
        if not len(rest):
            return out
        mapping = np.full(len(rest), -1, np.int32)
        if len(self.region):
            mapping = self.samples.spaces.resolve(rows["pid"][rest], address[rest], rows["time"][rest])
        found = mapping >= 0
        region = np.where(found, self.region[mapping] if len(self.region) else 0, int(Region.UNKNOWN))
        pointer = stack_pointers(rest)
        with np.errstate(over="ignore"):
            near = (pointer != 0) & (address[rest] - pointer + np.uint64(NEAR_STACK[0]) < np.uint64(sum(NEAR_STACK)))
        loose = np.isin(region, [Region.UNKNOWN, Region.ANONYMOUS, Region.HEAP])
        if len(self.stacks):
            near |= found & self.stacks[mapping]
        region = np.where(loose & near, int(Region.STACK), region)
        out["mapping"][rest] = mapping
        out["region"][rest] = region
        sane = (address[rest] >> np.uint64(USER_BITS) == 0) & (address[rest] >= np.uint64(4096))
        out["known"][rest] = found | (sane & (near | np.bool_(not self.complete)))
        out["writable"][rest] = 1
        if len(self.shared):
            self._shared(out, rows, rest, mapping, address)
        return out

    def _kernel(self, out: Table, address: Column, high: Column) -> None:
        out["region"][high], out["space"][high], out["known"][high] = Region.KERNEL, self.kernel_space, 1
        if self.kernel_bias is not None:
            with np.errstate(over="ignore"):
                link = address - np.uint64(self.kernel_bias)
            at = np.searchsorted(self.starts, link, "right") - 1
            inside = high & (at >= 0) & (link < self.ends[np.maximum(at, 0)]) if len(self.starts) else high & False
            out["region"][inside], out["link"][inside], out["data_module"][inside] = Region.STATIC, link[inside], 0

    def _static(self, out: Table, process: Column, address: Column, high: Column) -> npt.NDArray[np.bool_]:
        """Fills in what lies in the storage of a file; which rows do."""
        if not len(self.starts) or self.kernel_bias is not None:
            return np.zeros(len(out), np.bool_)
        key = process.astype(np.uint64) << np.uint64(USER_BITS) | address & LOW
        at = np.searchsorted(self.starts, key, "right") - 1
        inside = (at >= 0) & (key < self.ends[at]) & ~high & (process < MAX_PROCESSES)
        inside &= address >> np.uint64(USER_BITS) == 0
        here = np.flatnonzero(inside)
        of = self.of_range[at[here]]
        bias = of["bias"]
        with np.errstate(over="ignore"):
            link = address[here] - bias
        out["link"][here] = np.where(of["writable"] == 1, link, np.uint64(0))
        out["data_module"][here] = of["file"]
        out["region"][here] = np.where(of["writable"] == 1, int(Region.STATIC), int(Region.CODE))
        out["writable"][here], out["known"][here] = of["writable"], 1
        return np.asarray(inside)

    def _shared(self, out: Table, rows: Table, rest: Column, mapping: Column, address: Column) -> None:
        number = np.where(mapping >= 0, self.shared[mapping], -1)
        here = np.flatnonzero(number >= 0)
        if not len(here):
            return
        mappings, at = self.samples.mappings, mapping[here]
        into = rest[here]
        start, offset = mappings["start"][at], mappings["pgoff"][at]
        out["place"][into] = address[into] - start + offset
        out["space"][into] = self.kernel_space + 2 + number[here]
        # Where the object has no identity, physical addresses join what processes share.
        physical = (mappings["inode"][at] == 0) & (rows["phys_addr"][into] != 0)
        out["place"][into[physical]] = rows["phys_addr"][into[physical]]
        out["space"][into[physical]] = self.kernel_space + 1


RANGE_DTYPE = np.dtype([("bias", "<u8"), ("file", "<i4"), ("writable", "<i4")])


def survey(samples: Samples, files: MappedFiles, processes: Processes, stack_samples: Table) -> Memory:
    """``stack_samples`` (SP_DTYPE): some samples of every thread with their stack pointers."""
    mappings = samples.mappings
    region, shared, objects = _classify(samples, files)
    starts, ends, of_range = _static_ranges(samples, files, processes)
    kernel_bias = None
    if files.kernel:
        at = np.flatnonzero(files.bias_known)
        kernel_bias = int(files.bias[at[0]]) if len(at) else 0
        spans = files.files[0].spans
        starts, ends, of_range = spans["start"], spans["end"], np.zeros(len(spans), RANGE_DTYPE)
    stacks = _stacks(samples, region, stack_samples)
    complete = bool((mappings["flags"] & MappingFlag.DATA != 0).any())
    return Memory(samples, processes, starts, ends, of_range, region, shared, stacks, objects, complete, kernel_bias)


SP_DTYPE = np.dtype([("time", "<u8"), ("pointer", "<u8"), ("pid", "<i4"), ("thread", "<i4")])


def _classify(samples: Samples, files: MappedFiles) -> tuple[Column, Column, tuple[str, ...]]:
    """(Region, shared object or -1) by mapping, names of the shared objects."""
    mappings = samples.mappings
    region = np.full(len(mappings), int(Region.ANONYMOUS), np.uint8)
    shared = np.full(len(mappings), -1, np.int32)
    objects: dict[Any, int] = {}
    names: list[str] = []
    ends: dict[int, int] = {}
    for row in np.flatnonzero(files.of_mapping == 0).tolist():
        pid = int(mappings["pid"][row])
        ends[pid] = max(ends.get(pid, 0), int(mappings["end"][row]))
    for row, one in enumerate(mappings):
        path = samples.paths[int(one["path"])]
        start, size = int(one["start"]), int(one["end"]) - int(one["start"])
        if one["pid"] == KERNEL_PID:
            region[row] = Region.KERNEL
        elif one["flags"] & MappingFlag.SHARED:
            region[row] = Region.SHARED
            inode = tuple(int(one[name]) for name in ("major", "minor", "inode", "generation"))
            key = inode if inode[2] else path
            if key not in objects:
                objects[key] = len(names)
                names.append(path)
            shared[row] = objects[key]
        elif path.startswith("[heap"):
            region[row] = Region.HEAP
        elif path.startswith("[stack"):
            region[row] = Region.STACK
        elif one["protection"] & PROT_EXEC and path.startswith("/") and not path.startswith("//"):
            region[row] = Region.CODE
        elif path in ("", "//anon", "/anon_hugepage") or path.startswith("[anon"):
            end = ends.get(int(one["pid"]), 0)
            if size >= LARGE_BYTES or (end and 0 <= start - end < BRK_DISTANCE):
                region[row] = Region.HEAP
    return region, shared, tuple(names)


def _static_ranges(samples: Samples, files: MappedFiles, processes: Processes) -> tuple[Column, Column, Table]:
    """Sorted ranges of (process row, address) of every file's storage in every process."""
    starts: list[Column] = []
    ends: list[Column] = []
    about: list[Table] = []
    count = min(len(processes.pid), MAX_PROCESSES)
    pid, until = processes.pid[:count], processes.until[:count]
    mappings = samples.mappings
    executable = (mappings["protection"] & PROT_EXEC != 0) | (mappings["protection"] == 0)
    executable &= mappings["flags"] & MappingFlag.DATA == 0
    for number, one in enumerate(files.files):
        if not len(one.spans):
            continue
        if files.unmapped:
            here, bias = np.arange(count), np.zeros(count, np.uint64)
        else:
            wanted = (files.of_mapping == number) & files.bias_known & executable
            if not wanted.any():
                continue
            row = samples.spaces.latest(wanted, pid, until)
            here = np.flatnonzero(row >= 0)
            bias = files.bias[row[here]]
        for span in one.spans:
            with np.errstate(over="ignore"):
                low, high = span["start"] + bias, span["end"] + bias
            good = (low < high) & (high <= LOW)
            process = here[good].astype(np.uint64) << np.uint64(USER_BITS)
            starts.append(process | low[good])
            ends.append(process | high[good])
            part = np.zeros(int(good.sum()), RANGE_DTYPE)
            part["bias"], part["file"], part["writable"] = bias[good], number, span["writable"]
            about.append(part)
    if not starts:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, RANGE_DTYPE)
    start, end, table = np.concatenate(starts), np.concatenate(ends), np.concatenate(about)
    order = np.argsort(start, kind="stable")
    return start[order], end[order], table[order]


def _stacks(samples: Samples, region: Column, pointers: Table) -> npt.NDArray[np.bool_]:
    """Which anonymous mappings hold the stack pointers of one thread at a time.

    A heap of coroutine stacks holds those of several threads at once, and stays a heap.
    """
    out = np.zeros(len(region), np.bool_)
    if not len(pointers) or not len(region):
        return out
    pointers = pointers[np.argsort(pointers["time"], kind="stable")]
    mapping = samples.spaces.resolve(pointers["pid"], pointers["pointer"], pointers["time"])
    anonymous = np.isin(region, [Region.ANONYMOUS, Region.HEAP])
    use = (mapping >= 0) & anonymous[mapping]
    lives: dict[int, dict[int, tuple[int, int]]] = {}
    for row, thread, time in zip(
        mapping[use].tolist(), pointers["thread"][use].tolist(), pointers["time"][use].tolist(), strict=True
    ):
        life = lives.setdefault(row, {})
        life[thread] = (life.get(thread, (time, time))[0], time)
    for row, life in lives.items():
        spans = sorted(life.values())
        named = samples.paths[int(samples.mappings["path"][row])].startswith("[heap")
        out[row] = not named and all(a[1] <= b[0] for a, b in pairwise(spans))
    return out
