"""Recordings of any number of samples, as perf record would have written them, for the benchmark of their reader.

Owns the bytes of three kinds of perf.data.  Does not measure.  Two processors flush in turn, so that times are out of
order within a round; instructions are those of a real program and its C library, and repeat as hot code does; a tenth
of the samples are the kernel's.  An instruction touches a variable, objects of the heap or its thread's stack.
Source of the format: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.profile_code import Code

Words = npt.NDArray[np.uint64]

# PERF_SAMPLE_*
IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 7, 1 << 8
REGS_USER, WEIGHT, DATA_SRC, REGS_INTR = 1 << 12, 1 << 14, 1 << 15, 1 << 18
INTR_MASK = 0xFF0FFF  # what perf record -I asks for on x86-64
USER_MASK = 1 << 7 | 1 << 8 | 1 << 5  # sp, ip, di
SAMPLE_ID_ALL, PRECISE = 1 << 18, 2 << 15
SAMPLE, MMAP2, COMM, FINISHED_ROUND = 9, 10, 3, 68
KERNEL, USER = 1, 2
CONTEXT_KERNEL, CONTEXT_USER = (1 << 64) - 128, (1 << 64) - 512
PID, THREADS = 4000, 8
KERNEL_CODE, KERNEL_BYTES = 0xFFFF_FFFF_8100_0000, 1 << 24
HEAP, HEAP_BYTES = 0x5555_5556_0000, 1 << 22
STACK, STACK_BYTES = 0x7F12_0000_0000, 1 << 23  # of the first thread, and between two of them
ROUND = 4000  # samples of both processors between two flushes
PART = 1 << 18  # samples that are made at once


@dataclass(frozen=True, slots=True)
class Kind:
    """One way of recording: what a sample holds, and what perf script has to print to say as much."""

    name: str
    sample_type: int
    script_fields: str
    type: int = 1  # PERF_TYPE_SOFTWARE
    flags: int = SAMPLE_ID_ALL


KINDS = (
    Kind(
        "memory",
        IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT | DATA_SRC,
        "comm,pid,tid,cpu,time,period,event,addr,data_src,weight,ip,sym,dso",
        4,
        SAMPLE_ID_ALL | PRECISE,
    ),
    Kind(
        "registers",
        IP | TID | TIME | CPU | PERIOD | REGS_USER | REGS_INTR,
        "comm,pid,tid,cpu,time,period,event,ip,sym,dso,iregs,uregs",
    ),
    Kind("callchains", IP | TID | TIME | CPU | PERIOD | CALLCHAIN, "comm,pid,tid,cpu,time,period,event,ip,sym,dso"),
)


def write(path: Path, kind: Kind, samples: int, code: Code) -> None:
    """A finished file with mappings, names, rounds and so many samples."""
    with path.open("wb") as file:
        head = _head(kind)
        file.write(head)
        file.write(_mappings(code))
        random = np.random.default_rng(7)
        for first in range(0, samples, PART):
            file.write(_samples(kind, first, min(PART, samples - first), random, code))
        size = file.tell() - len(head)
        file.seek(48)
        file.write(struct.pack("<Q", size))


def _head(kind: Kind) -> bytes:
    attr = struct.pack("<IIQQQQQ", kind.type, 128, 0, 1000, kind.sample_type, 0, kind.flags).ljust(80, b"\0")
    attr = (attr + struct.pack("<QIiQ", USER_MASK, 0, 0, INTR_MASK)).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    place = struct.pack("<QQQQQQQ", 104, len(attr), 104, len(attr), 104 + len(attr), 0, 0)
    return (b"PERFILE2" + place).ljust(104, b"\0") + attr


def _record(kind: int, misc: int, body: bytes) -> bytes:
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def _mappings(code: Code) -> bytes:
    trailer = struct.pack("<iiQII", PID, PID, 0, 0, 0)  # thread, time, CPU
    out = b""

    def text(value: str) -> bytes:
        return (value + "\0").encode().ljust(len(value) + 8 & ~7, b"\0")

    for thread in range(THREADS):
        out += _record(COMM, 0, struct.pack("<ii", PID, PID + thread) + text(f"worker{thread}") + trailer)
    body = struct.pack("<iiQQQIIQQII", -1, 0, KERNEL_CODE, KERNEL_BYTES, 0, 0, 0, 0, 0, 5, 2)
    out += _record(MMAP2, KERNEL, body + text("[kernel.kallsyms]_text") + trailer)
    for segment in code.segments:
        status = segment.path.stat()
        place = struct.pack("<QQQ", segment.start, segment.size, segment.offset)
        device = struct.pack("<IIQQ", os.major(status.st_dev), os.minor(status.st_dev), status.st_ino, 0)
        body = struct.pack("<ii", PID, PID) + place + device + struct.pack("<II", 5, 2)
        out += _record(MMAP2, USER, body + text(str(segment.path)) + trailer)
    return out


def _samples(kind: Kind, first: int, count: int, random: np.random.Generator, code: Code) -> bytes:
    """Records of ``count`` samples, with the mark that ends each round."""
    kernel = random.random(count) < 0.1
    columns, present = _columns(kind, first, count, kernel, random, code)
    lengths = 1 + present.sum(axis=1)
    rounds = np.arange(count) % ROUND == ROUND - 1
    heads = np.cumsum(lengths + rounds) - lengths - rounds
    words = np.empty(int((lengths + rounds).sum()), np.uint64)
    misc = np.where(kernel, KERNEL, USER).astype(np.uint64)
    words[heads] = np.uint64(SAMPLE) | misc << np.uint64(32) | (8 * lengths).astype(np.uint64) << np.uint64(48)
    places = heads[:, None] + np.cumsum(present, axis=1)
    words[places[present]] = columns[present]
    words[(heads + lengths)[rounds]] = FINISHED_ROUND | 8 << 48
    return words.tobytes()


def _columns(
    kind: Kind, first: int, count: int, kernel: npt.NDArray[np.bool_], random: np.random.Generator, code: Code
) -> tuple[Words, npt.NDArray[np.bool_]]:
    """Every word that a sample may have, in order, and whether it has it."""
    number = first + np.arange(count)
    cpu = number % ROUND >= ROUND // 2  # each processor's half of a round comes in one piece
    when = 1_000_000_000 + 1000 * (2 * (number - ROUND // 2 * cpu) + cpu)
    # Few instructions have most of the samples, and the others some.
    hot = np.minimum(random.zipf(1.3, count), 20_000).astype(np.uint64) * np.uint64(2_654_435_761)
    own, library = (one[hot % np.uint64(len(one))] for one in (code.own, code.library))
    is_own = ~kernel & (random.random(count) < 0.8)
    user = np.where(is_own, own, library)
    ip = np.where(kernel, np.uint64(KERNEL_CODE) + hot % np.uint64(KERNEL_BYTES), user)
    tid = PID + random.integers(0, THREADS, count)

    def times(value: Any, width: int = 1) -> list[Words]:
        return [np.broadcast_to(np.asarray(value).astype(np.uint64), count)] * width

    at = ip * np.uint64(0x9E37_79B9_7F4A_7C15) >> np.uint64(40)  # an instruction has one offset in what it touches

    def places(which: np.uint64) -> Words:
        """Addresses of data: of a variable, of an object of the heap, of the thread's own stack; ``which`` of many."""
        objects = np.minimum(random.zipf(1.5, count), HEAP_BYTES // 64 - 1).astype(np.uint64) * np.uint64(64)
        heap = np.uint64(HEAP) + objects + (which + at) % np.uint64(8) * np.uint64(8)
        stack = np.uint64(STACK) + (tid - PID).astype(np.uint64) * np.uint64(STACK_BYTES)
        stack += (which + at) % np.uint64(512) * np.uint64(8)
        variable = code.data[(which + at) % np.uint64(len(code.data))]
        kind = (which + at) % np.uint64(10)
        return np.where((kind < 5) & is_own, variable, np.where(kind < 8, heap, stack))

    def registers(width: int) -> list[Words]:
        some = [
            places(np.uint64(number)) for number in range(4)
        ]  # registers of one sample differ, and making them all takes long
        return [some[number % 4] for number in range(width)]

    always = np.ones(count, np.bool_)
    fields: dict[int, Callable[[], tuple[list[Words], list[npt.NDArray[np.bool_]]]]] = {
        IP: lambda: (times(ip), [always]),
        TID: lambda: (times(PID | tid << 32), [always]),
        TIME: lambda: (times(when), [always]),
        ADDR: lambda: ([places(np.uint64(0))], [always]),
        CPU: lambda: (times(cpu), [always]),
        PERIOD: lambda: (times(1000), [always]),
        CALLCHAIN: lambda: _chain(ip, kernel, random, code),
        REGS_USER: lambda: (times(~kernel * 2) + registers(3), [always] + [~kernel] * 3),
        WEIGHT: lambda: (times(hot % 500), [always]),
        DATA_SRC: lambda: (times(2 | 2 << 5 | 8 << 5 | (hot % 7 == 0) * (0x10 << 19)), [always]),
        REGS_INTR: lambda: (times(2) + registers(INTR_MASK.bit_count()), [always] * (1 + INTR_MASK.bit_count())),
    }
    parts = [make() for bit, make in fields.items() if kind.sample_type & bit]
    columns = np.stack([column for part, _ in parts for column in part], axis=1)
    return columns, np.stack([has for _, part in parts for has in part], axis=1)


def _chain(
    ip: Any, kernel: npt.NDArray[np.bool_], random: np.random.Generator, code: Code
) -> tuple[list[Words], list[npt.NDArray[np.bool_]]]:
    """3 to 30 callers, the outer ones of few call sites."""
    depth = random.integers(3, 31, len(ip))
    frames = [np.where(kernel, CONTEXT_KERNEL, CONTEXT_USER).astype(np.uint64), ip.astype(np.uint64)]
    frames += [code.own[((ip >> np.uint64(4)) + np.uint64(level)) % np.uint64(len(code.own))] for level in range(29)]
    has = [depth >= 0] + [depth > level for level in range(30)]
    return [(depth + 1).astype(np.uint64), *frames], [depth >= 0, *has]
