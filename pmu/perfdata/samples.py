"""PERF_RECORD_SAMPLE, many at a time, into columns of the model's table.

Owns the layout that an event's attributes define.  Does not find records (``pmu.perfdata.stream``) and keeps no state.
Source of the layout: include/uapi/linux/perf_event.h, the comment at PERF_RECORD_SAMPLE.
"""

from __future__ import annotations

import itertools
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
from sharing.model.samples import SampleFlag

Table = npt.NDArray[Any]
Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BRANCH_ENTRY_WORDS = 3
# Fields that are one word in every sample that has them.
ONE_WORD = (
    Sample.IDENTIFIER | Sample.IP | Sample.TID | Sample.TIME | Sample.ADDR | Sample.ID | Sample.STREAM_ID | Sample.CPU
    | Sample.PERIOD | Sample.WEIGHT | Sample.WEIGHT_STRUCT | Sample.DATA_SRC | Sample.PHYS_ADDR
)  # fmt: skip
REGS_ABI_32 = 1
LONG_RUN = 64  # records from which on a slice is worth its overhead
LOW_32 = np.uint64(0xFFFFFFFF)
MISC_SHIFT = np.uint64(32)  # in a header
EXACT_SHIFT = np.uint64(32 + MISC_EXACT_IP.bit_length() - SampleFlag.EXACT_IP.bit_length())

Room = dict[str, Table]  # columns that are to be filled, of one length
UNKNOWN: dict[str, int] = {"regs_intr": -1, "regs_user": -1, "pid": -1, "tid": -1, "cpu": -1}  # others 0


def columns_of(attr: Attr) -> set[str]:
    """Columns that differ between samples of an event."""
    out = {"mode", "flags"}
    for bit, names in _COLUMNS.items():
        if attr.sample_type & bit:
            out.update(names)
    return out


_COLUMNS: dict[int, tuple[str, ...]] = {
    Sample.IP: ("ip",),
    Sample.TID: ("pid", "tid"),
    Sample.TIME: ("time",),
    Sample.ADDR: ("addr",),
    Sample.CPU: ("cpu",),
    Sample.PERIOD: ("period",),
    Sample.REGS_USER: ("regs_user",),
    Sample.WEIGHT: ("weight",),
    Sample.WEIGHT_STRUCT: ("weight", "ins_latency", "stage_cycles"),
    Sample.DATA_SRC: ("data_src",),
    Sample.REGS_INTR: ("regs_intr",),
    Sample.PHYS_ADDR: ("phys_addr",),
}


def period_of(attr: Attr) -> int:
    """What each sample stands for where the event does not record it."""
    return 1 if attr.flags & FLAG_FREQUENCY else attr.period


def id_position(sample_type: int) -> int | None:
    """Which word after the header names the event; None where none does."""
    if sample_type & Sample.IDENTIFIER:
        return 0
    if not sample_type & Sample.ID:
        return None
    return (sample_type & (Sample.IP | Sample.TID | Sample.TIME | Sample.ADDR)).bit_count()


def time_position(sample_type: int) -> int | None:
    """Which word after the header is the time; None where none is."""
    if not sample_type & Sample.TIME:
        return None
    return (sample_type & (Sample.IDENTIFIER | Sample.IP | Sample.TID)).bit_count()


@dataclass(slots=True)
class Cursor:
    """A position in each of many records at once, and whether each record still makes sense.

    ``base[i] + step`` is the next word of record i: fields of fixed size only move ``step``, which costs nothing.
    Records that all have ``stride`` words and follow each other need no positions: their words are a slice.
    """

    words: Words
    base: Indices
    end: Indices
    sound: npt.NDArray[np.bool_]
    stride: int = 0
    step: int = 0

    def word(self) -> Words:
        """The next word of each record; that of an unsound record is arbitrary."""
        step = self.step
        self.step += 1
        if self.stride > step:
            first = int(self.base[0]) + step
            return self.words[first : first + self.stride * (len(self.base) - 1) + 1 : self.stride]
        here = self.words[step:]
        # A record that is too short reads its neighbour's words until ``check`` finds it out.
        return here.take(self.base, mode="clip") if len(here) else np.zeros(len(self.base), np.uint64)

    def check(self) -> Indices:
        """Words that are left of each record; those that went past their end become unsound."""
        left = self.end - self.base
        left -= self.step
        short = left < 0
        if short.any():
            self.sound &= ~short
            left[short] = 0
        return left

    def skip(self, units: Words, words_per_unit: int = 1) -> None:
        """Leaves out a part whose size each record states itself; a size beyond the record makes it unsound."""
        left = self.check()
        if self.stride and (units == units[0]).all():
            counts = int(units[0])
            if counts <= int(left[0]) // max(words_per_unit, 1):
                self.step += counts * words_per_unit
                return
        too_many = units > left.view(np.uint64) // np.uint64(max(words_per_unit, 1))
        if too_many.any():
            self.sound &= ~too_many
            units = np.where(self.sound, units, np.uint64(0))
        self.base = self.base + units.view(np.int64) * words_per_unit
        self.stride = 0


def decode(
    words: Words,
    heads: Indices,
    lengths: Indices,
    headers: Words,
    attr: Attr,
    into: Room,
    *,
    big_endian: bool,
) -> npt.NDArray[np.bool_]:
    """Fills the columns with samples of one layout, all but their event; which of them can be used.

    Register positions are word indices of the block; the caller knows where the block is.
    """
    sound = np.ones(len(heads), np.bool_)
    stride, cuts = _runs(heads, lengths)
    for first, stop in itertools.pairwise(cuts):
        part = slice(first, stop)
        at = Cursor(words, heads[part], heads[part] + lengths[part], sound[part], stride, 1)
        _fill({name: column[part] for name, column in into.items()}, at, headers[part], attr, big_endian=big_endian)
    return sound


def _runs(heads: Indices, lengths: Indices) -> tuple[int, list[int]]:
    """The length of all records, or 0, and where to cut them so that those of a part follow each other directly."""
    length = int(lengths[0])
    if (lengths == length).all():
        breaks = np.flatnonzero(heads[1:] - heads[:-1] != length) + 1
        if len(breaks) * LONG_RUN <= len(heads):
            return length, [0, *breaks.tolist(), len(heads)]
    return 0, [0, len(heads)]


@dataclass(slots=True)
class _Columns:
    """The columns of some records while they are written, and the order of bytes that the file has."""

    out: Room
    big_endian: bool
    filled: set[str]

    def put(self, name: str, values: Table) -> None:
        self.filled.add(name)
        column = self.out[name]
        column[:] = values.view(column.dtype) if values.dtype.itemsize == column.dtype.itemsize else values

    def low(self, pair: Words) -> Words:
        """The half of each word that comes first in the file."""
        return pair >> np.uint64(32) if self.big_endian else pair & LOW_32

    def half(self, pair: Words, number: int) -> Table:
        """Values of four bytes in words, in the order in which the file has them."""
        if not pair.flags.c_contiguous and pair.strides[0] % 8:
            pair = np.ascontiguousarray(pair)
        narrow = np.lib.stride_tricks.as_strided(pair, (len(pair), 1), (pair.strides[0], 8))
        each = narrow.view("<u4")
        return each[:, 1 - number if self.big_endian else number]

    def rest(self) -> None:
        """What the records do not say."""
        for name in self.out.keys() - self.filled:
            self.out[name][:] = UNKNOWN.get(name, 0)


def _fill(out: Room, at: Cursor, headers: Words, attr: Attr, *, big_endian: bool) -> None:
    """Writes the columns of the records that ``at`` stands at, in the order of perf_event_open(2)."""
    columns = _Columns(out, big_endian, {"mode", "flags", "event"})
    out["mode"][:] = headers >> MISC_SHIFT & np.uint64(MISC_CPUMODE)
    out["flags"][:] = headers >> EXACT_SHIFT & np.uint64(SampleFlag.EXACT_IP)
    _single_words(columns, at, attr)
    _lists(columns, at, attr)
    _user_state(columns, at, attr)
    _weight_and_source(columns, at, attr)
    at.check()
    columns.rest()


def _single_words(columns: _Columns, at: Cursor, attr: Attr) -> None:
    """Who, where and when: a word each."""
    kind = attr.sample_type
    if kind & Sample.IDENTIFIER:
        at.step += 1
    if kind & Sample.IP:
        columns.put("ip", at.word())
    if kind & Sample.TID:
        pair = at.word()
        columns.put("pid", columns.half(pair, 0))
        columns.put("tid", columns.half(pair, 1))
    if kind & Sample.TIME:
        columns.put("time", at.word())
    if kind & Sample.ADDR:
        columns.put("addr", at.word())
    at.step += (kind & (Sample.ID | Sample.STREAM_ID)).bit_count()
    if kind & Sample.CPU:
        columns.put("cpu", columns.half(at.word(), 0).astype(np.uint16))
    if kind & Sample.PERIOD:
        columns.put("period", at.word())
    elif "period" in columns.out:
        columns.filled.add("period")
        columns.out["period"][:] = period_of(attr)


def _lists(columns: _Columns, at: Cursor, attr: Attr) -> None:
    """Counts, call chains, raw data and branches: of different lengths, and not read."""
    kind = attr.sample_type
    if kind & Sample.READ:
        _skip_counts(at, attr.read_format)
    if kind & Sample.CALLCHAIN:
        at.skip(at.word())
    if kind & Sample.RAW:
        size = columns.low(at.word())
        at.step -= 1  # the data begins in the same word
        at.skip((size + np.uint64(4 + 7)) >> np.uint64(3))
    if kind & Sample.BRANCH_STACK:
        entries = at.word()
        at.step += bool(attr.branch_sample_type & BRANCH_HW_INDEX)
        at.skip(entries, BRANCH_ENTRY_WORDS + bool(attr.branch_sample_type & BRANCH_COUNTERS))


def _user_state(columns: _Columns, at: Cursor, attr: Attr) -> None:
    """Registers and stack of the user's code."""
    kind = attr.sample_type
    if kind & Sample.REGS_USER:
        columns.put("regs_user", _registers(at, attr.regs_user, columns.out["flags"]))
    if kind & Sample.STACK_USER:
        size = at.word()
        at.skip(np.where(size > 0, _words(size) + np.uint64(1), np.uint64(0)))


def _weight_and_source(columns: _Columns, at: Cursor, attr: Attr) -> None:
    """What the processor says of the access, the registers at it, and what follows."""
    kind = attr.sample_type
    if kind & Sample.WEIGHT_STRUCT:
        word = at.word()  # its parts are named from the lowest bit on, whatever the order of bytes
        columns.put("weight", (word & LOW_32).astype(np.uint32))
        columns.put("ins_latency", (word >> np.uint64(32)).astype(np.uint16))
        columns.put("stage_cycles", (word >> np.uint64(48)).astype(np.uint16))
    elif kind & Sample.WEIGHT:
        columns.put("weight", np.minimum(at.word(), LOW_32).astype(np.uint32))
    if kind & Sample.DATA_SRC:
        columns.put("data_src", at.word())
    at.step += bool(kind & Sample.TRANSACTION)
    if kind & Sample.REGS_INTR:
        columns.put("regs_intr", _registers(at, attr.regs_intr, columns.out["flags"]))
    if kind & Sample.PHYS_ADDR:
        columns.put("phys_addr", at.word())
    at.step += (kind & (Sample.CGROUP | Sample.DATA_PAGE_SIZE | Sample.CODE_PAGE_SIZE)).bit_count()
    if kind & Sample.AUX:
        at.skip(_words(at.word()))


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
    """Index of each record's first register, -1 where it has none.  ``flags`` hear of narrow ones."""
    abi = at.word()
    start = at.base + at.step
    if at.stride and (abi == abi[0]).all() and at.step + mask.bit_count() <= at.stride:
        present = bool(abi[0]) and bool(mask)
        if abi[0] == REGS_ABI_32:
            flags |= np.uint8(SampleFlag.NARROW_REGS)
        at.step += mask.bit_count() if present else 0
        return start if present else np.full(len(start), -1)
    there = abi != 0 if mask else np.zeros(len(start), np.bool_)
    at.skip(there.astype(np.uint64), mask.bit_count())
    there &= at.sound
    narrow = abi == REGS_ABI_32
    if narrow.any():
        flags |= narrow * np.uint8(SampleFlag.NARROW_REGS)
    if not there.all():
        start[~there] = -1
    return start
