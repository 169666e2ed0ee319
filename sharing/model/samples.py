"""Profiles as the judge sees them: samples, mappings, events, threads and sampled registers in numpy tables.

Owns the record layouts and the two kinds of address.  Does not read files (``pmu`` does), does not place samples
on variables and does not judge.  ``ip`` and ``addr`` of a sample are run-time addresses; ``link_addresses`` turns them
into the addresses that an ``Image`` speaks of.  Field meanings: perf_event_open(2) and include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Any, NewType

import numpy as np
import numpy.typing as npt

from sharing.model.addressspaces import KERNEL_PID, AddressSpaces
from sharing.model.sampletable import SampleRows

Table = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]

# Addresses of one kind are never compared with those of another: a function says which it takes and gives.
RuntimeAddress = NewType("RuntimeAddress", int)  # in a process, as the processor saw it
LinkAddress = NewType("LinkAddress", int)  # in a file's own terms: what symbols and ``Image`` tables hold
RuntimeAddresses = NewType("RuntimeAddresses", np.ndarray[tuple[Any, ...], np.dtype[np.uint64]])
LinkAddresses = NewType("LinkAddresses", np.ndarray[tuple[Any, ...], np.dtype[np.uint64]])


class Mode(IntEnum):
    """Where the processor was; values are those of PERF_RECORD_MISC_CPUMODE_MASK."""

    UNKNOWN = 0
    KERNEL = 1
    USER = 2
    HYPERVISOR = 3
    GUEST_KERNEL = 4
    GUEST_USER = 5


class SampleFlag(IntFlag):
    EXACT_IP = 1  # the ip is the sampled instruction itself, no skid
    NARROW_REGS = 2  # registers are those of a 32-bit process


class Field(IntFlag):
    """What an event records about each sample.  A field that is not recorded is unknown, not zero."""

    IP = 1
    THREAD = 2
    TIME = 4
    ADDR = 8
    CPU = 16
    PERIOD = 32
    WEIGHT = 64
    DATA_SRC = 128
    PHYS_ADDR = 256
    REGS_INTR = 512
    REGS_USER = 1024
    SYMBOL = 2048
    CALLCHAIN = 4096  # was there; skipped
    INS_LATENCY = 8192
    MODE = 16384
    STACK_USER = 32768  # behind the registers of user mode: see ``Registers.stack``


NO_FIELD = Field(0)


class MappingFlag(IntFlag):
    DATA = 1  # not executable: recorded with `perf record --data`
    KERNEL = 2
    SHARED = 4  # MAP_SHARED: what one process writes there others see


# Bits of union perf_mem_data_src that verdicts rest on.
DATA_SRC_LOAD, DATA_SRC_STORE = 2, 4
DATA_SRC_HITM = 0x10 << 19  # the line was modified in another cache
DATA_SRC_LOCKED = 2 << 24  # a locked instruction
DATA_SRC_REMOTE = 1 << 37  # another socket
DATA_SRC_PEER = 2 << 38  # another core's cache, which need not have modified it (Arm)

# One sample, or one line of a listing that stands for several (``period`` says for how many events).
SAMPLE_DTYPE = np.dtype(
    [
        ("ip", "<u8"),  # run-time address of the instruction
        ("addr", "<u8"),  # run-time address of the data; 0: this sample has none
        ("phys_addr", "<u8"),
        ("time", "<u8"),  # nanoseconds of the recording's clock; without Field.TIME the place in the file
        ("period", "<u8"),  # events since the last sample; without Field.PERIOD the event's fixed one, or 1
        ("data_src", "<u8"),  # union perf_mem_data_src
        ("regs_intr", "<i8"),  # where the registers at the interrupt are in ``Registers``, -1 none
        ("regs_user", "<i8"),  # as of the last switch from user mode, -1 none
        ("pid", "<i4"),  # -1 unknown
        ("tid", "<i4"),  # -1 unknown
        ("mapping", "<i4"),  # row of the mapping that holds ``ip``, -1 none
        ("symbol", "<i4"),  # row of ``Samples.symbols`` where the profile names functions itself, -1 none
        ("weight", "<u4"),  # cycles or what the event counts as cost; saturates
        ("ins_latency", "<u2"),  # cycles of the whole instruction
        ("stage_cycles", "<u2"),  # third part of PERF_SAMPLE_WEIGHT_STRUCT
        ("cpu", "<i2"),  # -1 unknown
        ("event", "<u2"),  # row of ``Samples.events``
        ("mode", "u1"),  # Mode
        ("flags", "u1"),  # SampleFlag
        ("reserved", "<u2"),
    ]
)

# One mapping of a file (or of anonymous memory) into a process.
MAPPING_DTYPE = np.dtype(
    [
        ("start", "<u8"),  # run-time address
        ("end", "<u8"),  # one past the last byte
        ("pgoff", "<u8"),  # file offset of ``start``
        ("time", "<u8"),  # from when; 0 where it was there before the recording began
        ("inode", "<u8"),  # 0 unknown
        ("generation", "<u8"),  # of the inode
        ("major", "<u4"),
        ("minor", "<u4"),
        ("pid", "<i4"),  # KERNEL_PID for the kernel and its modules
        ("path", "<i4"),  # row of ``Samples.paths``
        ("build_id", "<i4"),  # row of ``Samples.build_ids``, -1 unknown
        ("protection", "<u4"),  # PROT_* bits, 0 where the record says none
        ("flags", "<u4"),  # MappingFlag
        ("reserved", "<u4"),
    ]
)

# What a thread was called from a time on.
THREAD_DTYPE = np.dtype(
    [("time", "<u8"), ("pid", "<i4"), ("tid", "<i4"), ("comm", "<i4"), ("exec", "u1"), ("reserved", "u1", (3,))]
)

# One loaded segment of a file: the part of a program header that turns file offsets into link-time addresses.
LOAD_DTYPE = np.dtype(
    [
        ("offset", "<u8"),
        ("address", "<u8"),
        ("size", "<u8"),  # in the file
        ("flags", "<u4"),  # PF_* bits, 0 unknown
        ("reserved", "<u4"),
    ]
)
PF_X, PF_W = 1, 2  # ELF's
MAX_STACK_BYTES = 1 << 16  # a record is no longer
_GATHERED = 1 << 14  # samples whose registers are copied between two releases
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4  # mmap's


@dataclass(frozen=True, slots=True)
class Event:
    """One counted event.  ``config`` and what follows are those of struct perf_event_attr, 0 where not known."""

    name: str
    fields: Field = NO_FIELD
    type: int = -1  # PERF_TYPE_*, -1 unknown
    config: int = 0
    config1: int = 0  # a breakpoint's address
    config2: int = 0  # a breakpoint's length
    breakpoint_type: int = 0  # HW_BREAKPOINT_*: 1 read, 2 write, 4 execute
    precise: int = 0  # 0 arbitrary skid .. 3 none
    sample_type: int = 0  # PERF_SAMPLE_*
    sample_period: int = 0  # events between two samples, 0 where a frequency is kept
    sample_frequency: int = 0  # samples a second asked for
    regs_intr_mask: int = 0
    regs_user_mask: int = 0
    label: str = ""  # what sets apart listings of one file
    listed_total: int = 0  # all samples of a listing that may show only its top, by its percentages; 0 unknown


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function as a profile names it; ``image`` is a path or a bare file name, "" unknown."""

    name: str
    image: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """What was read and what was not.  Every record of the file is in ``records``."""

    records: Mapping[str, int] = field(default_factory=dict)  # by type name
    samples: int = 0  # that can be used; ``Samples.samples`` has fewer where a reader was told to keep only some
    unknown_records: int = 0  # of a type this reader does not know
    unknown_events: int = 0  # samples whose id belongs to no event
    malformed_records: int = 0  # samples and mappings that contradict their own layout
    lost_records: int = 0  # what the kernel says it dropped
    lost_samples: int = 0
    throttled: int = 0  # times that the kernel stopped an event
    missing_bytes: int = 0  # of a file that was cut, or whose rest makes no sense
    notes: tuple[str, ...] = ()  # each loss in words

    @property
    def skipped_samples(self) -> int:
        """Samples that the file holds and ``Samples.samples`` does not."""
        return self.unknown_events + self.malformed_records


@dataclass(frozen=True, slots=True)
class Recording:
    """What the profile says about itself; "" or 0 where it says nothing."""

    format: str
    architecture: str = ""  # as uname -m
    os_release: str = ""
    cpu: str = ""
    cpus: int = 0
    recorder: str = ""
    command: tuple[str, ...] = ()
    big_endian: bool = False


@dataclass(frozen=True, slots=True)
class Registers:
    """Sampled registers.  A position is the index of a sample's first register; the others follow in mask order.

    ``mapped`` are words of the profile itself (in its byte order), so that registers cost no memory until they are
    asked for; positions from ``len(mapped)`` on are in ``dense``, which holds what has no place in the file.
    """

    mapped: Table
    dense: npt.NDArray[np.uint64]
    release: Callable[[], object] = lambda: None  # gives back the memory of what was read of ``mapped``

    def gathered(self, positions: Rows, counts: Rows) -> tuple[Rows, npt.NDArray[np.uint64]]:
        """The registers of some samples alone: position of each in the words returned, -1 where it has none.

        ``counts`` are the registers of each sample.  Bounded in memory: what was read is given back on the way.
        """
        held = np.where(positions >= 0, counts, 0)
        starts = np.cumsum(held) - held
        words = np.empty(int(held.sum()), np.uint64)
        for count in np.unique(held[held > 0]).tolist():
            rows = np.flatnonzero(held == count)
            for part in np.array_split(rows, -(-len(rows) // _GATHERED)):
                at = positions[part][:, None] + np.arange(count)
                low = at < len(self.mapped)
                values = np.empty(at.shape, np.uint64)
                values[low] = self.mapped[at[low]]
                values[~low] = self.dense[at[~low] - len(self.mapped)]
                words[starts[part][:, None] + np.arange(count)] = values
                self.release()
        return np.where(positions >= 0, starts, -1), words

    def at(self, positions: Rows) -> npt.NDArray[np.uint64]:
        """The words at positions, each of which must be one."""
        split = len(self.mapped)
        low = positions < split
        if low.all():
            return np.asarray(self.mapped[positions], np.uint64)
        out = np.empty(len(positions), np.uint64)
        out[low] = self.mapped[positions[low]]
        out[~low] = self.dense[positions[~low] - split]
        return out

    def stack(self, positions: Rows, offsets: Rows) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """Words of copied stacks, ``offsets`` bytes above the stack pointer, and whether the copy has them.

        A copy begins at its position, behind the registers of user mode: how many bytes there is room for, they
        themselves, and how many of them were copied.
        """
        last = np.int64(len(self.mapped) + len(self.dense) - 1)
        values, known = np.zeros(len(positions), np.uint64), (positions >= 0) & (positions <= last)
        room = np.zeros(len(positions), np.int64)
        room[known] = np.minimum(self.at(positions[known]), np.uint64(MAX_STACK_BYTES)).astype(np.int64)
        end = positions + 1 + room // 8
        known &= (room > 0) & (end <= last)
        copied = np.zeros(len(positions), np.int64)
        copied[known] = np.minimum(self.at(end[known]), np.uint64(MAX_STACK_BYTES)).astype(np.int64)
        known &= (offsets >= 0) & (offsets % 8 == 0) & (offsets + 8 <= np.minimum(room, copied))
        values[known] = self.at((positions + 1 + offsets // 8)[known])
        return values, known

    def values(self, positions: npt.NDArray[np.int64], mask: int, bits: Sequence[int]) -> npt.NDArray[np.uint64]:
        """Registers ``bits`` (numbers as in the mask) at each position, shape (positions, bits).

        Every position must be a real one (not -1) and every bit one of the mask's: ValueError otherwise.
        """
        if any(not mask >> bit & 1 for bit in bits):
            raise ValueError(f"registers {list(bits)} are not all in mask {mask:#x}")
        if len(positions) and int(positions.min()) < 0:
            raise ValueError("a sample without registers was asked for them")
        ranks = np.array([(mask & ((1 << bit) - 1)).bit_count() for bit in bits], np.int64)
        out = np.empty((len(positions), len(bits)), np.uint64)
        in_file = positions < len(self.mapped)
        if len(self.mapped):
            out[in_file] = self.mapped[positions[in_file, None] + ranks]
        if not in_file.all():
            out[~in_file] = self.dense[positions[~in_file, None] - len(self.mapped) + ranks]
        return out


@dataclass(frozen=True, slots=True)
class Samples:
    """A profile.  Samples are in order of time, and of the file where times are equal or unknown."""

    samples: SampleRows  # columns of SAMPLE_DTYPE
    events: tuple[Event, ...]
    mappings: Table
    paths: tuple[str, ...]
    build_ids: tuple[str, ...]  # in hexadecimal
    threads: Table  # sorted by tid, then time
    comms: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    registers: Registers
    spaces: AddressSpaces
    counts: Counts
    recording: Recording

    def data_mappings(self) -> npt.NDArray[np.int32]:
        """For each sample the row of the mapping that holds ``addr``, -1 none (or not recorded)."""
        s = self.samples
        high = s["addr"] >> np.uint64(63) == 1  # the upper half belongs to the kernel on every 64-bit architecture
        found = self.spaces.resolve(np.where(high, KERNEL_PID, s["pid"]), s["addr"], s["time"])
        found[s["addr"] == 0] = -1
        return found

    def register(
        self, rows: Rows, bit: int, *, user: bool = False
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """Register number ``bit`` of the samples ``rows``, and whether it was sampled at all."""
        position = self.samples["regs_user" if user else "regs_intr"][rows]
        event = self.samples["event"][rows]
        values, known = np.zeros(len(rows), np.uint64), np.zeros(len(rows), np.bool_)
        for number, about in enumerate(self.events):
            mask = about.regs_user_mask if user else about.regs_intr_mask
            if mask >> bit & 1:
                here = (event == number) & (position >= 0)
                values[here] = self.registers.values(position[here], mask, (bit,))[:, 0]
                known |= here
        return values, known

    def comm_rows(self, tid: npt.NDArray[Any], time: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Row of ``comms`` for each (thread, time), -1 unknown."""
        out = np.full(len(tid), -1, np.int32)
        for thread in np.unique(tid[tid >= 0]):
            first, last = np.searchsorted(self.threads["tid"], [thread, thread + 1])
            here = np.flatnonzero(tid == thread)
            at = np.searchsorted(self.threads["time"][first:last], time[here], "right") - 1
            if last > first:
                out[here] = np.where(at >= 0, self.threads["comm"][first:last][np.maximum(at, 0)], -1)
        return out

    def image_of(self, row: int) -> str:
        """Path of the file that holds a sample's ip, or that the profile names; "" unknown."""
        sample = self.samples[row]
        if sample["mapping"] >= 0:
            return self.paths[int(self.mappings["path"][sample["mapping"]])]
        return self.symbols[sample["symbol"]].image if sample["symbol"] >= 0 else ""


def load_biases(mappings: Table, loads: Table) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Run-time minus link-time address (modulo 2**64) for each mapping of one file, and whether it is known.

    ``loads`` (LOAD_DTYPE) are the file's own segments.  Two segments may share a page of the file, which is then mapped
    twice: protection tells them apart.  A mapping that two segments explain differently is not known (executable ones
    always are; what became read-only after relocation looks like constants).
    """
    bias, known = np.zeros(len(mappings), np.uint64), np.zeros(len(mappings), np.bool_)
    torn = np.zeros(len(mappings), np.bool_)
    start, end, pgoff, protection = (mappings[name] for name in ("start", "end", "pgoff", "protection"))
    length = end - start
    for load in loads:
        offset, address, flags = np.uint64(load["offset"]), np.uint64(load["address"]), int(load["flags"])
        here = (pgoff < offset + np.uint64(load["size"])) & (pgoff + length > offset)
        executable, writable = protection & PROT_EXEC != 0, protection & PROT_WRITE != 0
        fits = (executable == bool(flags & PF_X)) & (~writable | bool(flags & PF_W))
        here &= (protection == 0) | (flags == 0) | fits
        with np.errstate(over="ignore"):
            own = start - (address + (pgoff - offset))
        torn |= here & known & (own != bias)
        bias[here] = own[here]
        known |= here
    return bias, known & ~torn


def link_addresses(
    runtime: RuntimeAddresses, mapping_rows: npt.NDArray[np.int32], biases: npt.NDArray[np.uint64]
) -> LinkAddresses:
    """Link-time addresses of run-time addresses whose mapping row (not -1) and its bias are known."""
    with np.errstate(over="ignore"):
        return LinkAddresses(np.asarray(runtime) - biases[mapping_rows])


def file_offsets(
    runtime: RuntimeAddresses, mappings: Table, mapping_rows: npt.NDArray[np.int32]
) -> npt.NDArray[np.uint64]:
    """Offsets in the mapped file of run-time addresses whose mapping row (not -1) is known."""
    start, offset = mappings["start"][mapping_rows], mappings["pgoff"][mapping_rows]
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(runtime) - start + offset)
