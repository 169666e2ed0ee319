"""A run of perf.data records cut into blocks of words, with the position of every record.

Owns the order of blocks, plain and compressed, and what cannot be read.  Does not know what records say and does not
find them within a block (``pmu.perfdata.recordstarts``).
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from pmu.perfdata.recordstarts import Positions, Words, headers_of, heads_of
from pmu.perfevent import Record
from pmu.readahead import ReadAhead

FIRST_BLOCK_WORDS = 1 << 14  # more than the longest record, whose size is a 16-bit number of bytes
BLOCK_WORDS = 1 << 20
INFLATED_WORDS = 1 << 18
FORGET_BYTES = 1 << 24  # that were read are given back at once
MISC_SHIFT = np.uint64(32)
LOW_32, LOW_16 = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF)
# Compressed profiles shrink to a tenth or a fiftieth; a file that claims more than this is made to exhaust memory.
MAX_EXPANSION = 2000
MAX_INFLATED_BYTES = 1 << 36


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records.  ``words`` are in the machine's byte order, ``raw`` in the file's."""

    words: Words
    raw: memoryview
    heads: Positions  # index of each record's first word
    headers: Words  # in one order of bits whatever the file's: type, misc, size
    types: Words
    lengths: Positions  # in words
    file_offset: int | None  # of ``words``; None where they were compressed
    mapped: bool  # ``words`` are those of the file that registers may stay in

    def misc(self, at: int) -> int:
        """The flags of one record."""
        return int(self.headers[at] >> MISC_SHIFT & LOW_16)


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
    path: Path | None = None  # read from here rather than from ``data``: a block is then gone with the next one
    compressed: list[tuple[int, int]] = field(default_factory=list)  # offset, size of what is compressed
    _kept_from: int = 0  # offset of what was read last and is still in memory

    def blocks(self, start: int, end: int) -> Iterator[Block]:
        """Blocks of the records between two file offsets.  What cannot be read is counted in ``losses``."""
        if self.path is None:
            yield from self._blocks(start, end, lambda at, size: memoryview(self.data)[at : at + size])
            return
        with ReadAhead(self.path, 8 * BLOCK_WORDS, end) as file:
            yield from self._blocks(start, end, file.read)

    def _blocks(self, start: int, end: int, stretch: Callable[[int, int], memoryview]) -> Iterator[Block]:
        at, block_words = start, FIRST_BLOCK_WORDS
        while at + 8 <= end:
            count = min(block_words, (end - at) // 8)
            block, used = self._block(stretch(at, 8 * count), at)
            special = 0
            if len(block.heads):
                special = self._beyond(block)
                self._collect(block)
                yield block
                self._forget(at)
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
        heads, used = heads_of(words, big_endian=self.big_endian)
        block = self._records(words, raw, heads, used, file_offset)
        keep = _until_special(block)
        if keep < len(heads):
            used = int(heads[keep - 1] + block.lengths[keep - 1])
            block = self._records(words, raw, heads[:keep], used, file_offset)
        return block, used

    def _odd(self, padded: memoryview, at: int) -> Block:
        """One record whose length is no multiple of 8, filled up."""
        block = self._records(self._words(padded), padded, np.zeros(1, np.int64), len(padded) // 8, at)
        return replace(block, mapped=False)

    def _words(self, raw: memoryview) -> Words:
        words = np.frombuffer(raw, ">u8" if self.big_endian else "<u8").astype(np.uint64, copy=False)
        return words if words.flags.aligned else words.copy()

    def _records(self, words: Words, raw: memoryview, heads: Positions, used: int, file_offset: int | None) -> Block:
        headers = headers_of(words.take(heads), big_endian=self.big_endian)
        lengths = np.empty(len(heads), np.int64)
        if len(heads):
            np.subtract(heads[1:], heads[:-1], out=lengths[:-1])
            lengths[-1] = used - heads[-1]
        mapped = self.mapped and self.path is None and file_offset is not None
        return Block(words, raw, heads, headers, headers & LOW_32, lengths, file_offset, mapped)

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

    def _forget(self, at: int) -> None:
        """Pages before ``at`` that were read need not stay in memory; they come back when registers are asked for."""
        if isinstance(self.data, mmap.mmap) and self.path is None and at >= self._kept_from + 2 * FORGET_BYTES:
            # A block may still be decoded while the next ones are looked for: what was read last stays.
            until = (at - FORGET_BYTES) // mmap.PAGESIZE * mmap.PAGESIZE
            self.data.madvise(mmap.MADV_DONTNEED, self._kept_from, until - self._kept_from)
            self._kept_from = until


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
