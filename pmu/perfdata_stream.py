"""A run of perf.data records cut into blocks of words, with the position of every record.

Owns the walk over record headers, plain and compressed.  Does not know what records say.

Records have different lengths, so a header is found only through the one before it.  Most recordings consist of long
runs of records of one size: those are verified with one comparison of numpy each; between them a loop steps.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from pmu.perfevent import Record

Words = npt.NDArray[np.uint64]

FIRST_BLOCK_WORDS = 1 << 14  # more than the longest record, whose size is a 16-bit number of bytes
BLOCK_WORDS = 1 << 17  # a block and the rows made of it stay in a core's second-level cache
INFLATED_WORDS = 1 << 18
STREAK = 8  # equal sizes in a row after which a run is tried
RUN = 1 << 16
# Compressed profiles shrink to a tenth or a fiftieth; a file that claims more than this is made to exhaust memory.
MAX_EXPANSION = 2000
MAX_INFLATED_BYTES = 1 << 36


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records.  ``words`` are in the machine's byte order, ``raw`` in the file's."""

    words: Words
    raw: memoryview
    heads: npt.NDArray[np.int64]  # index of each record's first word
    types: npt.NDArray[np.int64]
    misc: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]  # in words
    file_offset: int | None  # of ``words``; None where they were compressed
    mapped: bool  # ``words`` are those of the file that registers may stay in


@dataclass(slots=True)
class Losses:
    """What the walk could not use."""

    missing_bytes: int = 0
    notes: list[str] = field(default_factory=list)

    def lose(self, size_bytes: int, why: str) -> None:
        self.missing_bytes += size_bytes
        self.notes.append(f"{why}: {size_bytes} bytes are lost")


@dataclass(slots=True)
class Walk:
    """Reads one stretch of records after another; remembers compressed parts for ``inflated``."""

    data: mmap.mmap | bytes
    big_endian: bool
    losses: Losses
    mapped: bool = True
    compressed: list[tuple[int, int]] = field(default_factory=list)  # offset, size of what is compressed

    def blocks(self, start: int, end: int) -> Iterator[Block]:
        """Blocks of the records between two file offsets.  What cannot be read is counted in ``losses``."""
        at, block_words = start, FIRST_BLOCK_WORDS
        while at + 8 <= end:
            count = min(block_words, (end - at) // 8)
            block, used = self._block(memoryview(self.data)[at : at + 8 * count], at)
            special = 0
            if len(block.heads):
                special = self._beyond(block)
                self._collect(block)
                yield block
                self._forget(at, 8 * used)
            at += 8 * used
            if special:
                at, block_words = at + special, FIRST_BLOCK_WORDS
            elif used < count:
                size = self._size_at(at)
                if size < 8:
                    return self.losses.lose(end - at, f"a record of {size} bytes at {at:#x}")
                if at + size > end:
                    break
                if size % 8:
                    # Descriptions and compressed records may have any length.
                    padded = memoryview(bytes(self.data[at : at + size]).ljust(size + 7 & ~7, b"\0"))
                    odd = self._odd(padded, at)
                    if odd.types[0] == Record.COMPRESSED:
                        self.compressed.append((at + 8, size - 8))
                    yield odd
                    at, block_words = at + size, FIRST_BLOCK_WORDS
                    continue
                block_words = min(2 * block_words, BLOCK_WORDS)
            else:
                block_words = min(2 * block_words, BLOCK_WORDS)
        if at < end:
            self.losses.lose(end - at, f"the last record, at {at:#x}, is not complete")
        elif at > end:
            self.losses.lose(at - end, "data that belongs to the last record is not there")
        return None

    def inflated(self) -> Iterator[Block]:
        """Blocks of the records that were compressed, in order."""
        if not self.compressed:
            return
        import zstandard

        allowed = min(MAX_EXPANSION * sum(size for _, size in self.compressed), MAX_INFLATED_BYTES)
        pieces = cast(IO[bytes], _Pieces(self.data, self.compressed))
        reader = zstandard.ZstdDecompressor().stream_reader(pieces, read_across_frames=True)
        rest = b""
        while True:
            try:
                part = reader.read(8 * INFLATED_WORDS - len(rest))
            except (zstandard.ZstdError, MemoryError) as error:
                self.losses.notes.append(f"compressed records cannot be read further: {error}")
                self.losses.missing_bytes += len(rest)
                return
            allowed -= len(part)
            if allowed < 0:
                self.losses.lose(len(rest), f"compressed records expand more than {MAX_EXPANSION} times")
                return
            whole = rest + part if rest else part
            block, used = self._block(memoryview(whole)[: len(whole) // 8 * 8], None)
            if len(block.heads):
                yield block
            rest = bytes(whole[8 * used :])
            size = self._size(rest) if len(rest) >= 8 else 8
            if size < 8 or size % 8:
                self.losses.lose(len(rest), f"a compressed record of {size} bytes, and what follows it")
                return
            if not part:
                if rest:
                    self.losses.lose(len(rest), "the last compressed record is not complete")
                return

    def _block(self, raw: memoryview, file_offset: int | None) -> tuple[Block, int]:
        """The whole records at the beginning of ``raw``, and how many words they are."""
        words = self._words(raw)
        heads, used = _heads(words, lane=_size_lane(self.big_endian))
        block = self._records(words, raw, heads, file_offset)
        keep = _until_special(block)
        if keep < len(heads):
            used = int(heads[keep - 1] + block.lengths[keep - 1])
            block = self._records(words, raw, heads[:keep], file_offset)
        return block, used

    def _odd(self, padded: memoryview, at: int) -> Block:
        """One record whose length is no multiple of 8, filled up."""
        block = self._records(self._words(padded), padded, np.zeros(1, np.int64), at)
        return replace(block, lengths=np.full(1, len(padded) // 8), mapped=False)

    def _words(self, raw: memoryview) -> Words:
        words = np.frombuffer(raw, ">u8" if self.big_endian else "<u8").astype(np.uint64, copy=False)
        return words if words.flags.aligned else words.copy()

    def _records(self, words: Words, raw: memoryview, heads: npt.NDArray[np.int64], file_offset: int | None) -> Block:
        first = words[heads]
        if self.big_endian:
            types, misc, sizes = first >> np.uint64(32), first >> np.uint64(16), first
        else:
            types, misc, sizes = first & np.uint64(0xFFFFFFFF), first >> np.uint64(32), first >> np.uint64(48)
        low = np.uint64(0xFFFF)
        return Block(
            words,
            raw,
            heads,
            types.astype(np.int64),
            (misc & low).astype(np.int64),
            ((sizes & low) >> np.uint64(3)).astype(np.int64),
            file_offset,
            self.mapped and file_offset is not None,
        )

    def _beyond(self, block: Block) -> int:
        """Bytes that follow the last record without being part of it."""
        kind = int(block.types[-1])
        at = 8 * int(block.heads[-1]) + 8
        order: Any = "big" if self.big_endian else "little"
        if kind == Record.AUXTRACE and block.lengths[-1] > 1:
            return int.from_bytes(block.raw[at : at + 8], order)
        if kind == Record.HEADER_TRACING_DATA and block.lengths[-1] > 1:
            return int.from_bytes(block.raw[at : at + 4], order) + 7 & ~7
        return 0

    def _collect(self, block: Block) -> None:
        """Notes where compressed payloads are."""
        if block.file_offset is None:
            return
        packed = (block.types == Record.COMPRESSED) | (block.types == Record.COMPRESSED2)
        for index in np.flatnonzero(packed).tolist():
            at = 8 * int(block.heads[index])
            self._payload(int(block.types[index]), block.file_offset + at, 8 * int(block.lengths[index]))

    def _payload(self, kind: int, at: int, size: int) -> None:
        if kind == Record.COMPRESSED:
            self.compressed.append((at + 8, size - 8))
        elif size >= 16:
            order: Any = "big" if self.big_endian else "little"
            length = int.from_bytes(self.data[at + 8 : at + 16], order)
            self.compressed.append((at + 16, min(length, size - 16)))

    def _size_at(self, at: int) -> int:
        return self._size(bytes(self.data[at : at + 8]))

    def _size(self, head: bytes) -> int:
        return int.from_bytes(head[6:8], "big" if self.big_endian else "little")

    def _forget(self, at: int, size: int) -> None:
        """Pages that were read need not stay in memory; they come back when registers are asked for."""
        if isinstance(self.data, mmap.mmap) and size >= 1 << 19:
            first = -(-at // mmap.PAGESIZE) * mmap.PAGESIZE
            length = (at + size - first) // mmap.PAGESIZE * mmap.PAGESIZE
            if length > 0:
                self.data.madvise(mmap.MADV_DONTNEED, first, length)


def _size_lane(big_endian: bool) -> int:
    """Which 16 bits of a word in this machine's order hold a record's size: the upper ones, or the lower ones."""
    import sys

    return 0 if big_endian == (sys.byteorder == "little") else 3


def _heads(words: Words, lane: int) -> tuple[npt.NDArray[np.int64], int]:
    """Index of each whole record's first word, and of the first word that belongs to none of them."""
    quarters = words.view(np.uint16)
    sizes = memoryview(quarters.data)
    count, at, last, streak = len(words), 0, 0, 0
    found: list[npt.NDArray[np.int64]] = []
    single: list[int] = []
    while at < count:
        size = sizes[4 * at + lane]
        step = size >> 3
        if size & 7 or not step or at + step > count:
            break
        single.append(at)
        at += step
        if step != last:
            last, streak = step, 0
            continue
        streak += 1
        if streak < STREAK:
            continue
        streak, length = 0, 64
        while True:
            whole = min(length, (count - at) // step)
            differs = quarters[4 * at + lane : 4 * (at + whole * step) : 4 * step] != size
            same = int(differs.argmax()) if differs.any() else whole
            if same:
                found.append(np.array(single, np.int64))
                single = []
                found.append(np.arange(at, at + same * step, step, dtype=np.int64))
                at += same * step
            if same < length:
                break
            length = min(2 * length, RUN)
    found.append(np.array(single, np.int64))
    return np.concatenate(found), at


def _until_special(block: Block) -> int:
    """How many records there are up to the first that other data follows, that one included."""
    special = np.flatnonzero((block.types == Record.AUXTRACE) | (block.types == Record.HEADER_TRACING_DATA))
    return int(special[0]) + 1 if len(special) else len(block.heads)


class _Pieces:
    """The compressed parts of a file as one stream that can be read."""

    def __init__(self, data: mmap.mmap | bytes, parts: list[tuple[int, int]]) -> None:
        self._data = data
        self._parts = iter(parts)
        self._at = self._end = 0

    def read(self, size: int = -1) -> bytes:
        while self._at >= self._end:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._at, self._end = part[0], part[0] + part[1]
        stop = self._end if size < 0 else min(self._at + size, self._end)
        out = bytes(self._data[self._at : stop])
        self._at = stop
        return out
