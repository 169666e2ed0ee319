"""Where the registers of samples are kept.

Owns the choice between the mapped file and copies.  Does not know where in a sample registers are.
"""

from __future__ import annotations

import mmap
import tempfile
from typing import IO

import numpy as np
import numpy.typing as npt

from pmu.perfdata.recordstarts import Positions, Words
from pmu.perfdata.stream import Block
from sharing.model.process import scratch

MAX_COPIED_BYTES = 1 << 26
KEPT_STACK_BYTES = 1 << 10  # of each copy of a stack: a few frames


class RegisterPool:
    """Where sampled registers are: in the mapped file if they can be, else copied, to a file of our own if many."""

    def __init__(self, mapped_words: int, mapped_offset: int) -> None:
        self._mapped_words = mapped_words
        self._mapped_offset = mapped_offset  # of the first mapped word
        self._copies: list[bytes] = []
        self._copied_words = 0
        self._spilled: IO[bytes] | None = None

    def place(self, positions: Positions, block: Block, mask: int, *, stack: bool = False) -> Positions:
        """Positions of the whole profile for positions in a block; -1 stays.  ``stack``: a copy of one lies behind."""
        if block.mapped and block.file_offset is not None and (block.file_offset - self._mapped_offset) % 8 == 0:
            shift = (block.file_offset - self._mapped_offset) // 8
            if len(positions) and int(positions.min()) >= 0:
                return positions + shift
            return np.where(positions >= 0, positions + shift, -1)
        here = positions >= 0
        count = mask.bit_count()
        values = block.words[positions[here, None] + np.arange(count)]
        if stack and len(values):
            values = np.concatenate([values, _stacks(block, positions[here] + count)], axis=1)
        out = np.full(len(positions), -1, np.int64)
        out[here] = self._mapped_words + self._copied_words + values.shape[1] * np.arange(len(values))
        self._copies.append(values.tobytes())
        self._copied_words += values.size
        if 8 * self._copied_words > MAX_COPIED_BYTES:
            self._spill()
        return out

    def dense(self) -> npt.NDArray[np.uint64]:
        if self._spilled is None:
            return np.frombuffer(b"".join(self._copies), np.uint64)
        self._spill()
        self._spilled.flush()
        with self._spilled as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint64)

    def _spill(self) -> None:
        if self._spilled is None:
            self._spilled = tempfile.TemporaryFile(dir=scratch.folder())  # noqa: SIM115 — outlives this call
        self._spilled.writelines(self._copies)
        self._copies = []


def _stacks(block: Block, positions: Positions) -> Words:
    """Copies of stacks, a row each: their lower ends, where the innermost frames are."""
    words, last = block.words, len(block.words) - 1
    size = words[positions]
    room = int(min(size.max(), KEPT_STACK_BYTES)) // 8
    data = words[np.minimum(positions[:, None] + 1 + np.arange(room), last)]
    copied = np.where(size > 0, words[np.minimum(positions + 1 + (size >> np.uint64(3)).astype(np.int64), last)], 0)
    kept = np.minimum(np.minimum(copied, size), np.uint64(8 * room))
    return np.column_stack([np.full(len(size), 8 * room, np.uint64), data, kept])
