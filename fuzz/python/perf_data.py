"""Whole perf.data files (``pmu.perfdata.reader``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fuzz.python.engine.target import Target, input_file
from pmu.__main__ import describe, rows
from pmu.perfdata import reader as perfdata
from sharing.model.samples import Samples
from tests.builders import perfdata as b
from tests.builders.perfdata import Attr, Builder

WORDS = (
    b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"\x09\0\0\0\x02\0", b"\x0a\0\0\0\x02\0", b"\x51\0\0\0\0\0",
    b"\x53\0\0\0\0\0", b"\x47\0\0\0\0\0", b"\x42\0\0\0\0\0", b"\x40\0\0\0\0\0", b"\x50\0\0\0\0\0",
)  # fmt: skip


def small(*, big: bool = False) -> Builder:
    """Two events, and a record of every kind that the reader knows more about than its name."""
    kind = b.IDENTIFIER | b.IP | b.TID | b.TIME | b.ADDR | b.CALLCHAIN | b.RAW | b.REGS_INTR | b.DATA_SRC
    builder = Builder([Attr(sample_type=kind, ids=[4], regs_intr=3), Attr(sample_type=kind, ids=[5])], big=big)
    builder.features = {
        2: builder.pack("IHHi", 67, 2, 60, -1) + bytes(24) + builder.text("/bin/a").ljust(24, b"\0"),
        6: builder.string("x86_64"),
        7: builder.pack("II", 4, 4),
        11: builder.pack("I", 1) + builder.string("perf"),
        12: builder.pack("II", 1, 16) + bytes(16) + builder.pack("I", 1) + builder.string("cycles") + builder.words(4),
    }
    builder.comm(5, 5, "name", executed=True)
    builder.mmap(5, 0x1000, 0x1000, 0, "/bin/a")
    builder.mmap2(5, 0x3000, 0x1000, 0, "/bin/b")
    builder.fork(6, 5, 6, 5, time=1)
    builder.lost(3)
    for number in range(3):
        builder.sample(number % 2, ip=0x1000 + number, pid=5, tid=5, time=number, intr=() if number % 2 else (1, 2))
    return builder


def rich() -> Builder:
    """One event with every field that a sample may have."""
    attr = Attr(
        sample_type=(1 << 25) - 1 & ~b.WEIGHT, read_format=0xF, branch=1 << 17, regs_user=7, regs_intr=5, ids=[9]
    )
    builder = Builder([attr])
    counts = (1, 7, 8, 3, 9, 0)
    for number, registers in enumerate(((1, 2, 3), ())):
        builder.sample(
            ip=number, pid=2, tid=3, counts=counts, branches=(1, 2, 3), callchain=(1, 2), raw=b"raw", stack=b"stack...",
            aux=b"aux.....", user=registers, intr=registers[:2],
        )  # fmt: skip
    for kind in (16, 17, 18, 19, 20):
        builder.other(kind)
    return builder


def seeds() -> Iterable[bytes]:
    for big in (False, True):
        yield small(big=big).file()
        yield small(big=big).pipe()
    yield rich().file()
    for odd in (False, True):
        builder = small()
        builder.compress(odd=odd)
        yield builder.file()


def used(samples: Samples) -> None:
    """What users of a profile do with it."""
    for _ in (*describe(samples), *rows(samples, 20)):
        pass
    table = samples.samples
    samples.data_mappings()
    samples.comm_rows(table["tid"], table["time"])
    everyone = np.arange(len(table))
    masks = np.array([event.regs_intr_mask.bit_count() for event in samples.events] or [0], np.int64)
    samples.registers.gathered(table["regs_intr"], masks[table["event"]])
    for bit in (0, 2):
        samples.register(everyone, bit)
        samples.register(everyone, bit, user=True)


def one(data: bytes) -> None:
    used(perfdata.read(input_file(data)))


TARGET = Target("perf.data, whole files", one, seeds, WORDS)
