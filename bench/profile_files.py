"""Recordings of any number of samples, as perf record would have written them, for the benchmark of their reader.

Owns the bytes of three kinds of perf.data.  Does not measure.  Two processors flush in turn, so that times are out of
order within a round; addresses repeat as hot code does; a tenth of the samples are the kernel's.
Source of the format: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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
PID, THREADS, FILES, FILE_BYTES = 4000, 8, 60, 1 << 20
CODE, KERNEL_CODE, KERNEL_BYTES = 0x7F00_0000_0000, 0xFFFF_FFFF_8100_0000, 1 << 24
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
        "pid,tid,cpu,time,period,event,addr,data_src,weight,ip",
        4,
        SAMPLE_ID_ALL | PRECISE,
    ),
    Kind(
        "registers",
        IP | TID | TIME | CPU | PERIOD | REGS_USER | REGS_INTR,
        "pid,tid,cpu,time,period,event,ip,iregs,uregs",
    ),
    Kind("callchains", IP | TID | TIME | CPU | PERIOD | CALLCHAIN, "pid,tid,cpu,time,period,event,ip"),
)


def write(path: Path, kind: Kind, samples: int) -> None:
    """A finished file with mappings, names, rounds and so many samples."""
    with path.open("wb") as file:
        head = _head(kind)
        file.write(head)
        file.write(_mappings())
        random = np.random.default_rng(7)
        for first in range(0, samples, PART):
            file.write(_samples(kind, first, min(PART, samples - first), random))
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


def _mappings() -> bytes:
    trailer = struct.pack("<iiQII", PID, PID, 0, 0, 0)  # thread, time, CPU
    out = b""

    def text(value: str) -> bytes:
        return (value + "\0").encode().ljust(len(value) + 8 & ~7, b"\0")

    for thread in range(THREADS):
        out += _record(COMM, 0, struct.pack("<ii", PID, PID + thread) + text(f"worker{thread}") + trailer)
    body = struct.pack("<iiQQQIIQQII", -1, 0, KERNEL_CODE, KERNEL_BYTES, 0, 0, 0, 0, 0, 5, 2)
    out += _record(MMAP2, KERNEL, body + text("[kernel.kallsyms]_text") + trailer)
    for file in range(FILES):
        start = CODE + 2 * FILE_BYTES * file
        body = struct.pack("<iiQQQIIQQII", PID, PID, start, FILE_BYTES, 0, 8, 1, 100 + file, 0, 5, 2)
        out += _record(MMAP2, USER, body + text(f"/nonexistent/lib{file}.so") + trailer)
    return out


def _samples(kind: Kind, first: int, count: int, random: np.random.Generator) -> bytes:
    """Records of ``count`` samples, with the mark that ends each round."""
    kernel = random.random(count) < 0.1
    columns, present = _columns(kind, first, count, kernel, random)
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
    kind: Kind, first: int, count: int, kernel: npt.NDArray[np.bool_], random: np.random.Generator
) -> tuple[Words, npt.NDArray[np.bool_]]:
    """Every word that a sample may have, in order, and whether it has it."""
    number = first + np.arange(count)
    cpu = number % ROUND >= ROUND // 2  # each processor's half of a round comes in one piece
    when = 1_000_000_000 + 1000 * (2 * (number - ROUND // 2 * cpu) + cpu)
    hot = np.minimum(random.zipf(1.3, count), 20_000).astype(np.uint64) * np.uint64(2_654_435_761)
    code = np.uint64(CODE) + hot % np.uint64(FILES) * np.uint64(2 * FILE_BYTES) + hot % np.uint64(FILE_BYTES - 7)
    ip = np.where(kernel, np.uint64(KERNEL_CODE) + hot % np.uint64(KERNEL_BYTES), code)
    tid = PID + random.integers(0, THREADS, count)

    def times(value: Any, width: int = 1) -> list[Words]:
        return [np.broadcast_to(np.asarray(value).astype(np.uint64), count)] * width

    always = np.ones(count, np.bool_)
    fields: dict[int, Callable[[], tuple[list[Words], list[npt.NDArray[np.bool_]]]]] = {
        IP: lambda: (times(ip), [always]),
        TID: lambda: (times(PID | tid << 32), [always]),
        TIME: lambda: (times(when), [always]),
        ADDR: lambda: (times(np.uint64(0x7FFE_0000_0000) + 8 * (hot % 4096)), [always]),
        CPU: lambda: (times(cpu), [always]),
        PERIOD: lambda: (times(1000), [always]),
        CALLCHAIN: lambda: _chain(ip, kernel, random),
        REGS_USER: lambda: (times(~kernel * 2) + times(code, 3), [always] + [~kernel] * 3),
        WEIGHT: lambda: (times(hot % 500), [always]),
        DATA_SRC: lambda: (times(2 | 2 << 5 | 8 << 5 | (hot % 7 == 0) * (0x10 << 19)), [always]),
        REGS_INTR: lambda: (times(2) + times(code, INTR_MASK.bit_count()), [always] * (1 + INTR_MASK.bit_count())),
    }
    parts = [make() for bit, make in fields.items() if kind.sample_type & bit]
    columns = np.stack([column for part, _ in parts for column in part], axis=1)
    return columns, np.stack([has for _, part in parts for has in part], axis=1)


def _chain(
    ip: Any, kernel: npt.NDArray[np.bool_], random: np.random.Generator
) -> tuple[list[Words], list[npt.NDArray[np.bool_]]]:
    """3 to 30 callers, the outer ones of few call sites."""
    depth = random.integers(3, 31, len(ip))
    frames = [np.where(kernel, CONTEXT_KERNEL, CONTEXT_USER).astype(np.uint64), ip.astype(np.uint64)]
    frames += [np.uint64(CODE) + 64 * ((ip >> 4) % 1000 + level) for level in range(29)]
    has = [depth >= 0] + [depth > level for level in range(30)]
    return [(depth + 1).astype(np.uint64), *frames], [depth >= 0, *has]
