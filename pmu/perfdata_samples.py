"""PERF_RECORD_SAMPLE, many at a time, into rows of the model's table.

Owns the layout that an event's attributes define.  Does not find records (``perfdata_stream``) and keeps no state.
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
from sharing.model.samples import SAMPLE_DTYPE, SampleFlag

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
LOW_32, LOW_16 = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF)
NONE = np.uint64(0xFFFFFFFFFFFFFFFF)

# Rows as words: where a column is, or the columns that share a word.
_FIELDS = SAMPLE_DTYPE.fields or {}
WORDS = SAMPLE_DTYPE.itemsize // 8
_WORD = {name: place[1] // 8 for name, place in _FIELDS.items()}
IP, ADDR, PHYS_ADDR, TIME = (_WORD[name] for name in ("ip", "addr", "phys_addr", "time"))
PERIOD, DATA_SRC, REGS_INTR, REGS_USER = (_WORD[name] for name in ("period", "data_src", "regs_intr", "regs_user"))
THREAD, PLACE, WEIGHT, LAST = (_WORD[name] for name in ("pid", "mapping", "weight", "cpu"))
UNKNOWN = np.zeros(WORDS, np.uint64)
UNKNOWN[[REGS_INTR, REGS_USER, THREAD, PLACE]] = NONE
# The last word: cpu, event, mode, flags, from the lowest bit on.  The mode is where a header has it.
EVENT_SHIFT, MODE_SHIFT, FLAGS_SHIFT = (8 * (_FIELDS[name][1] % 8) for name in ("event", "mode", "flags"))
MISC_SHIFT = 32  # in a header
MODE = np.uint64(MISC_CPUMODE << MODE_SHIFT)
EXACT_TO_FLAG = np.uint64(MISC_SHIFT + MISC_EXACT_IP.bit_length() - SampleFlag.EXACT_IP.bit_length() - FLAGS_SHIFT)
EXACT_FLAG = np.uint64(SampleFlag.EXACT_IP << FLAGS_SHIFT)
NARROW_FLAG = np.uint64(SampleFlag.NARROW_REGS << FLAGS_SHIFT)


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
    headers: Words,
    attr: Attr,
    *,
    big_endian: bool,
    event: Indices | int = 0,
    into: Table | None = None,
) -> Decoded:
    """Samples of one layout, of one event or of one each.  ``into``: room for the rows, if there is any."""
    rows = np.empty(len(heads), SAMPLE_DTYPE) if into is None else into
    sound = np.ones(len(heads), np.bool_)
    stride, cuts = _runs(heads, lengths)
    for first, stop in itertools.pairwise(cuts):
        part = slice(first, stop)
        at = Cursor(words, heads[part], heads[part] + lengths[part], sound[part], stride, 1)
        events = event if isinstance(event, int) else event[part]
        _fill(rows[part], at, headers[part], attr, events, big_endian=big_endian)
    return Decoded(rows, sound)


def _runs(heads: Indices, lengths: Indices) -> tuple[int, list[int]]:
    """The length of all records, or 0, and where to cut them so that those of a part follow each other directly."""
    length = int(lengths[0])
    if (lengths == length).all():
        breaks = np.flatnonzero(heads[1:] - heads[:-1] != length) + 1
        if len(breaks) * LONG_RUN <= len(heads):
            return length, [0, *breaks.tolist(), len(heads)]
    return 0, [0, len(heads)]


def _fill(rows: Table, at: Cursor, headers: Words, attr: Attr, event: Indices | int, *, big_endian: bool) -> None:
    """Writes the rows of the records that ``at`` stands at."""
    kind = attr.sample_type
    # Writing whole words is several times faster than writing the narrow columns that share them.
    cells = rows.view("<u8").reshape(len(rows), WORDS)
    cells[:] = UNKNOWN
    last = headers & MODE
    last |= headers >> EXACT_TO_FLAG & EXACT_FLAG
    if isinstance(event, int):
        last |= np.uint64(event << EVENT_SHIFT)
    else:
        last |= event.view(np.uint64) << np.uint64(EVENT_SHIFT)
    if not kind & Sample.PERIOD:
        cells[:, PERIOD] = 1 if attr.flags & FLAG_FREQUENCY else attr.period

    def low(pair: Words) -> Words:
        return pair >> np.uint64(32) if big_endian else pair & LOW_32

    if kind & Sample.IDENTIFIER:
        at.step += 1
    if kind & Sample.IP:
        cells[:, IP] = at.word()
    if kind & Sample.TID:
        pair = at.word()
        cells[:, THREAD] = pair << np.uint64(32) | pair >> np.uint64(32) if big_endian else pair
    if kind & Sample.TIME:
        cells[:, TIME] = at.word()
    if kind & Sample.ADDR:
        cells[:, ADDR] = at.word()
    at.step += (kind & (Sample.ID | Sample.STREAM_ID)).bit_count()
    last |= low(at.word()) & LOW_16 if kind & Sample.CPU else LOW_16
    if kind & Sample.PERIOD:
        cells[:, PERIOD] = at.word()
    if kind & Sample.READ:
        _skip_counts(at, attr.read_format)
    if kind & Sample.CALLCHAIN:
        at.skip(at.word())
    if kind & Sample.RAW:
        size = low(at.word())
        at.step -= 1  # the data begins in the same word
        at.skip((size + np.uint64(4 + 7)) >> np.uint64(3))
    if kind & Sample.BRANCH_STACK:
        entries = at.word()
        at.step += bool(attr.branch_sample_type & BRANCH_HW_INDEX)
        at.skip(entries, BRANCH_ENTRY_WORDS + bool(attr.branch_sample_type & BRANCH_COUNTERS))
    if kind & Sample.REGS_USER:
        cells[:, REGS_USER] = _registers(at, attr.regs_user, last)
    if kind & Sample.STACK_USER:
        size = at.word()
        at.skip(np.where(size > 0, _words(size) + np.uint64(1), np.uint64(0)))
    if kind & Sample.WEIGHT_STRUCT:
        cells[:, WEIGHT] = at.word()  # the union's parts lie as the row's do
    elif kind & Sample.WEIGHT:
        cells[:, WEIGHT] = np.minimum(at.word(), LOW_32)
    if kind & Sample.DATA_SRC:
        cells[:, DATA_SRC] = at.word()
    at.step += bool(kind & Sample.TRANSACTION)
    if kind & Sample.REGS_INTR:
        cells[:, REGS_INTR] = _registers(at, attr.regs_intr, last)
    if kind & Sample.PHYS_ADDR:
        cells[:, PHYS_ADDR] = at.word()
    at.step += (kind & (Sample.CGROUP | Sample.DATA_PAGE_SIZE | Sample.CODE_PAGE_SIZE)).bit_count()
    if kind & Sample.AUX:
        at.skip(_words(at.word()))
    at.check()
    cells[:, LAST] = last


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


def _registers(at: Cursor, mask: int, last: Words) -> Words:
    """Index of each record's first register, all bits set where it has none.  ``last``: the words with the flags."""
    abi = at.word()
    start = at.base + at.step
    if at.stride and (abi == abi[0]).all() and at.step + mask.bit_count() <= at.stride:
        present = bool(abi[0]) and bool(mask)
        if abi[0] == REGS_ABI_32:
            last |= NARROW_FLAG
        at.step += mask.bit_count() if present else 0
        return start.view(np.uint64) if present else np.full(len(start), NONE)
    there = abi != 0 if mask else np.zeros(len(start), np.bool_)
    at.skip(there.astype(np.uint64), mask.bit_count())
    there &= at.sound
    narrow = abi == REGS_ABI_32
    if narrow.any():
        last |= np.where(narrow, NARROW_FLAG, np.uint64(0))
    if not there.all():
        start[~there] = -1
    return start.view(np.uint64)
