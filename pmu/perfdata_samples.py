"""PERF_RECORD_SAMPLE, many at a time, into rows of the model's table.

Owns the layout that an event's attributes define.  Does not find records (``perfdata_stream``) and keeps no state.
Source of the layout: include/uapi/linux/perf_event.h, the comment at PERF_RECORD_SAMPLE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pmu.perfevent import (
    BRANCH_COUNTERS,
    BRANCH_HW_INDEX,
    FLAG_FREQUENCY,
    MISC_CPUMODE,
    MISC_EXACT_IP,
    READ_GROUP,
    READ_ID,
    READ_LOST,
    READ_TIME_ENABLED,
    READ_TIME_RUNNING,
    Attr,
    Sample,
)
from sharing.model.samples import SAMPLE_DTYPE, SampleFlag

Table = npt.NDArray[Any]
Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BRANCH_ENTRY_WORDS = 3
REGS_ABI_32 = 1
LOW_32, LOW_16 = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF)


def id_position(sample_type: int) -> int | None:
    """Which word after the header names the event; None where none does."""
    if sample_type & Sample.IDENTIFIER:
        return 0
    if not sample_type & Sample.ID:
        return None
    return (sample_type & (Sample.IP | Sample.TID | Sample.TIME | Sample.ADDR)).bit_count()


@dataclass(slots=True)
class Cursor:
    """A position in each of many records at once, and whether each record still makes sense.

    ``base[i] + step`` is the next word of record i: fields of fixed size only move ``step``, which costs nothing.
    """

    words: Words
    base: Indices
    end: Indices
    sound: npt.NDArray[np.bool_]
    step: int = 0

    def word(self) -> Words:
        """The next word of each record; that of an unsound record is arbitrary."""
        here = self.words[self.step :]
        self.step += 1
        # A record that is too short reads its neighbour's words until ``check`` finds it out.
        return here.take(self.base, mode="clip") if len(here) else np.zeros(len(self.base), np.uint64)

    def check(self) -> Indices:
        """Words that are left of each record; those that went past their end become unsound."""
        left = self.end - self.base - self.step
        short = left < 0
        if short.any():
            self.sound &= ~short
            left[short] = 0
        return left

    def skip(self, units: Words, words_per_unit: int = 1) -> None:
        """Leaves out a part whose size each record states itself; a size beyond the record makes it unsound."""
        left = self.check()
        too_many = units > left.astype(np.uint64) // np.uint64(max(words_per_unit, 1))
        self.sound &= ~too_many
        counts = np.where(too_many | ~self.sound, np.uint64(0), units).astype(np.int64)
        self.base = self.base + counts * words_per_unit


@dataclass(frozen=True, slots=True)
class Decoded:
    """Rows in the order of the records, and which of them can be used.

    Register positions are word indices of the block; the caller knows where the block is.
    """

    rows: Table
    sound: npt.NDArray[np.bool_]


def decode(
    words: Words,
    heads: Indices,
    lengths: Indices,
    misc: Indices,
    attr: Attr,
    *,
    big_endian: bool,
    into: Table | None = None,
) -> Decoded:
    """Samples of one layout.  ``event`` of the rows is left 0.  ``into``: zeroed room for the rows, if there is any."""
    kind = attr.sample_type
    rows = np.zeros(len(heads), SAMPLE_DTYPE) if into is None else into
    for name in ("regs_intr", "regs_user", "pid", "tid", "mapping", "symbol", "cpu"):
        rows[name] = -1
    rows["mode"] = misc & MISC_CPUMODE
    rows["flags"] = np.where(misc & MISC_EXACT_IP, int(SampleFlag.EXACT_IP), 0)
    if not kind & Sample.PERIOD:
        rows["period"] = 1 if attr.flags & FLAG_FREQUENCY else attr.period
    at = Cursor(words, heads + 1, heads + lengths, np.ones(len(heads), np.bool_))

    def pair() -> tuple[Words, Words]:
        both = at.word()
        first, second = both & LOW_32, both >> np.uint64(32)
        return (second, first) if big_endian else (first, second)

    def signed(half: Words) -> npt.NDArray[np.int32]:
        return half.astype(np.uint32).view(np.int32)

    if kind & Sample.IDENTIFIER:
        at.step += 1
    if kind & Sample.IP:
        rows["ip"] = at.word()
    if kind & Sample.TID:
        pid, tid = pair()
        rows["pid"], rows["tid"] = signed(pid), signed(tid)
    if kind & Sample.TIME:
        rows["time"] = at.word()
    if kind & Sample.ADDR:
        rows["addr"] = at.word()
    at.step += (kind & (Sample.ID | Sample.STREAM_ID)).bit_count()
    if kind & Sample.CPU:
        rows["cpu"] = signed(pair()[0])
    if kind & Sample.PERIOD:
        rows["period"] = at.word()
    if kind & Sample.READ:
        _skip_counts(at, attr.read_format)
    if kind & Sample.CALLCHAIN:
        at.skip(at.word())
    if kind & Sample.RAW:
        size = pair()[0]
        at.step -= 1  # the data begins in the same word
        at.skip((size + np.uint64(4 + 7)) >> np.uint64(3))
    if kind & Sample.BRANCH_STACK:
        entries = at.word()
        at.step += bool(attr.branch_sample_type & BRANCH_HW_INDEX)
        at.skip(entries, BRANCH_ENTRY_WORDS + bool(attr.branch_sample_type & BRANCH_COUNTERS))
    if kind & Sample.REGS_USER:
        rows["regs_user"] = _registers(at, attr.regs_user, rows["flags"])
    if kind & Sample.STACK_USER:
        size = at.word()
        at.skip(np.where(size > 0, _words(size) + np.uint64(1), np.uint64(0)))
    if kind & (Sample.WEIGHT | Sample.WEIGHT_STRUCT):
        weight = at.word()
        if kind & Sample.WEIGHT_STRUCT:
            rows["weight"] = weight & LOW_32
            rows["ins_latency"] = weight >> np.uint64(32) & LOW_16
            rows["stage_cycles"] = weight >> np.uint64(48)
        else:
            rows["weight"] = np.minimum(weight, LOW_32)
    if kind & Sample.DATA_SRC:
        rows["data_src"] = at.word()
    at.step += bool(kind & Sample.TRANSACTION)
    if kind & Sample.REGS_INTR:
        rows["regs_intr"] = _registers(at, attr.regs_intr, rows["flags"])
    if kind & Sample.PHYS_ADDR:
        rows["phys_addr"] = at.word()
    at.step += (kind & (Sample.CGROUP | Sample.DATA_PAGE_SIZE | Sample.CODE_PAGE_SIZE)).bit_count()
    if kind & Sample.AUX:
        at.skip(_words(at.word()))
    at.check()
    return Decoded(rows, at.sound)


def _words(size_bytes: Words) -> Words:
    """Words that hold so many bytes; does not wrap for sizes near 2**64."""
    return (size_bytes >> np.uint64(3)) + (size_bytes & np.uint64(7) > 0)


def _skip_counts(at: Cursor, read_format: int) -> None:
    times = (read_format & (READ_TIME_ENABLED | READ_TIME_RUNNING)).bit_count()
    each = 1 + (read_format & (READ_ID | READ_LOST)).bit_count()
    if read_format & READ_GROUP:
        members = at.word()
        at.step += times
        at.skip(members, each)
    else:
        at.step += times + each


def _registers(at: Cursor, mask: int, flags: Table) -> Indices:
    """Index of each record's first register, -1 where it has none."""
    abi = at.word()
    start = at.base + at.step
    present = (abi != 0) & (mask != 0)
    at.skip(present.astype(np.uint64), mask.bit_count())
    present &= at.sound
    flags |= np.where(abi == REGS_ABI_32, int(SampleFlag.NARROW_REGS), 0).astype(flags.dtype)
    return np.where(present, start, -1)
