"""The kernel's sampling interface in numbers: record types, sample fields, attributes, event names.

Owns the constants and struct perf_event_attr.  Does not read files.  Source: include/uapi/linux/perf_event.h, and
tools/lib/perf/include/perf/event.h for the types from 64 on, which perf itself writes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from sharing.model.samples import Event, Field


class Record(IntEnum):
    MMAP = 1
    LOST = 2
    COMM = 3
    EXIT = 4
    THROTTLE = 5
    UNTHROTTLE = 6
    FORK = 7
    READ = 8
    SAMPLE = 9
    MMAP2 = 10
    AUX = 11
    ITRACE_START = 12
    LOST_SAMPLES = 13
    SWITCH = 14
    SWITCH_CPU_WIDE = 15
    NAMESPACES = 16
    KSYMBOL = 17
    BPF_EVENT = 18
    CGROUP = 19
    TEXT_POKE = 20
    AUX_OUTPUT_HW_ID = 21
    CALLCHAIN_DEFERRED = 22
    HEADER_ATTR = 64
    HEADER_EVENT_TYPE = 65
    HEADER_TRACING_DATA = 66
    HEADER_BUILD_ID = 67
    FINISHED_ROUND = 68
    ID_INDEX = 69
    AUXTRACE_INFO = 70
    AUXTRACE = 71
    AUXTRACE_ERROR = 72
    THREAD_MAP = 73
    CPU_MAP = 74
    STAT_CONFIG = 75
    STAT = 76
    STAT_ROUND = 77
    EVENT_UPDATE = 78
    TIME_CONV = 79
    HEADER_FEATURE = 80
    COMPRESSED = 81
    FINISHED_INIT = 82
    COMPRESSED2 = 83
    BPF_METADATA = 84


# Bits of perf_event_header.misc; what the upper ones mean depends on the record's type.
MISC_CPUMODE = 7
MISC_MMAP_DATA = 1 << 13
MISC_COMM_EXEC = 1 << 13
MISC_FORK_EXEC = 1 << 13  # made up by perf for a process that was there before: it inherits nothing
MISC_EXACT_IP = 1 << 14
MISC_MMAP_BUILD_ID = 1 << 14
MISC_BUILD_ID_SIZE = 1 << 15


class Sample(IntEnum):
    """PERF_SAMPLE_*."""

    IP = 1 << 0
    TID = 1 << 1
    TIME = 1 << 2
    ADDR = 1 << 3
    READ = 1 << 4
    CALLCHAIN = 1 << 5
    ID = 1 << 6
    CPU = 1 << 7
    PERIOD = 1 << 8
    STREAM_ID = 1 << 9
    RAW = 1 << 10
    BRANCH_STACK = 1 << 11
    REGS_USER = 1 << 12
    STACK_USER = 1 << 13
    WEIGHT = 1 << 14
    DATA_SRC = 1 << 15
    IDENTIFIER = 1 << 16
    TRANSACTION = 1 << 17
    REGS_INTR = 1 << 18
    PHYS_ADDR = 1 << 19
    AUX = 1 << 20
    CGROUP = 1 << 21
    DATA_PAGE_SIZE = 1 << 22
    CODE_PAGE_SIZE = 1 << 23
    WEIGHT_STRUCT = 1 << 24


KNOWN_SAMPLE_BITS = (1 << 25) - 1
READ_TIME_ENABLED, READ_TIME_RUNNING, READ_ID, READ_GROUP, READ_LOST = 1, 2, 4, 8, 16
BRANCH_HW_INDEX, BRANCH_COUNTERS = 1 << 17, 1 << 19

# Bits of perf_event_attr's flags.
FLAG_FREQUENCY = 1 << 10
PRECISE_SHIFT, PRECISE_MASK = 15, 3
FLAG_SAMPLE_ID_ALL = 1 << 18
FLAG_CLOCK = 1 << 25

FIELD_OF = {
    Sample.IP: Field.IP | Field.MODE,
    Sample.TID: Field.THREAD,
    Sample.TIME: Field.TIME,
    Sample.ADDR: Field.ADDR,
    Sample.CPU: Field.CPU,
    Sample.PERIOD: Field.PERIOD,
    Sample.WEIGHT: Field.WEIGHT,
    Sample.WEIGHT_STRUCT: Field.WEIGHT | Field.INS_LATENCY,
    Sample.DATA_SRC: Field.DATA_SRC,
    Sample.PHYS_ADDR: Field.PHYS_ADDR,
    Sample.REGS_INTR: Field.REGS_INTR,
    Sample.REGS_USER: Field.REGS_USER,
    Sample.STACK_USER: Field.STACK_USER,
    Sample.CALLCHAIN: Field.CALLCHAIN,
}

TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT, TYPE_CACHE, TYPE_RAW, TYPE_BREAKPOINT = range(6)
HARDWARE_NAMES = (
    "cpu-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
)
SOFTWARE_NAMES = (
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
)
CACHES = ("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node")
CACHE_OPERATIONS = ("load", "store", "prefetch")

# struct perf_event_attr up to config2, then the fields that later kernels added.
ATTR_MIN_BYTES = 64
_ATTR = "IIQQQQQIIQQQQIiQI"
_ATTR_BYTES = 108


@dataclass(frozen=True, slots=True)
class Attr:
    """What decides how an event's samples are laid out, and what the event is."""

    type: int
    config: int
    period: int
    sample_type: int
    read_format: int
    flags: int
    breakpoint_type: int
    config1: int
    config2: int
    branch_sample_type: int
    regs_user: int
    regs_intr: int
    clock: int = -1  # clockid of clock_gettime(2) that times are of, -1 the kernel's own

    @property
    def sample_id_all(self) -> bool:
        return bool(self.flags & FLAG_SAMPLE_ID_ALL)

    @property
    def layout(self) -> tuple[int, int, int, int, int]:
        """Events with the same value have samples of the same layout."""
        return (self.sample_type, self.read_format, self.branch_sample_type, self.regs_user, self.regs_intr)


def parse_attr(data: bytes, *, big_endian: bool) -> Attr:
    """struct perf_event_attr of any version; what an old one lacks is 0.  ``data`` holds 64 bytes or more."""
    order = ">" if big_endian else "<"
    own_size = struct.unpack_from(order + "I", data, 4)[0]
    if ATTR_MIN_BYTES <= own_size < len(data):
        data = data[:own_size]
    v = struct.unpack(order + _ATTR, data[:_ATTR_BYTES].ljust(_ATTR_BYTES, b"\0"))
    flags = v[6]
    if big_endian:  # bit fields start at the other end of the word
        flags = int(f"{flags:064b}"[::-1], 2)
    return Attr(
        v[0], v[2], v[3], v[4], v[5], flags, v[8], v[9], v[10], v[11], v[12], v[15], v[14] if flags & FLAG_CLOCK else -1
    )


def event_of(attr: Attr, name: str) -> Event:
    """The event in the model's terms."""
    fields = Field(0)
    for bit, meaning in FIELD_OF.items():
        if attr.sample_type & bit:
            fields |= meaning
    frequency = bool(attr.flags & FLAG_FREQUENCY)
    return Event(
        name=name or event_name(attr),
        fields=fields,
        type=attr.type,
        config=attr.config,
        config1=attr.config1,
        config2=attr.config2,
        breakpoint_type=attr.breakpoint_type,
        precise=attr.flags >> PRECISE_SHIFT & PRECISE_MASK,
        sample_type=attr.sample_type,
        sample_period=0 if frequency else attr.period,
        sample_frequency=attr.period if frequency else 0,
        regs_intr_mask=attr.regs_intr if attr.sample_type & Sample.REGS_INTR else 0,
        regs_user_mask=attr.regs_user if attr.sample_type & Sample.REGS_USER else 0,
    )


def event_name(attr: Attr) -> str:
    """What perf would call an event whose name is not recorded."""
    config = attr.config
    if attr.type == TYPE_HARDWARE and config & 0xFFFFFFFF < len(HARDWARE_NAMES):
        return HARDWARE_NAMES[config & 0xFFFFFFFF]
    if attr.type == TYPE_SOFTWARE and config < len(SOFTWARE_NAMES):
        return SOFTWARE_NAMES[config]
    if attr.type == TYPE_TRACEPOINT:
        return f"tracepoint:{config}"
    if attr.type == TYPE_BREAKPOINT:
        access = "".join(letter for bit, letter in ((1, "r"), (2, "w"), (4, "x")) if attr.breakpoint_type & bit)
        return f"mem:{attr.config1:#x}:{access}"
    if attr.type == TYPE_CACHE:
        cache, operation, missed = config & 0xFF, config >> 8 & 0xFF, config >> 16 & 0xFF
        if cache < len(CACHES) and operation < len(CACHE_OPERATIONS):
            return f"{CACHES[cache]}-{CACHE_OPERATIONS[operation]}{'-misses' if missed else 's'}"
    if attr.type == TYPE_RAW:
        return f"r{config:x}"
    return f"type {attr.type} config {config:#x}"
