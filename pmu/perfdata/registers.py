"""Where the registers of samples are kept.

Owns the choice between the mapped file and copies.  Does not know where in a sample registers are.
"""

from __future__ import annotations

import mmap
import tempfile
from typing import IO

import numpy as np
import numpy.typing as npt

from pmu.perfdata.recordstarts import Positions
from pmu.perfdata.stream import Block
from sharing.model.process import scratch

MAX_COPIED_BYTES = 1 << 26


class RegisterPool:
    """Where sampled registers are: in the mapped file if they can be, else copied, to a file of our own if many."""

    def __init__(self, mapped_words: int, mapped_offset: int) -> None:
        self._mapped_words = mapped_words
        self._mapped_offset = mapped_offset  # of the first mapped word
        self._copies: list[bytes] = []
        self._copied_words = 0
        self._spilled: IO[bytes] | None = None

    def place(self, positions: Positions, block: Block, mask: int) -> Positions:
        """Positions of the whole profile for positions in a block; -1 stays."""
        if block.mapped and block.file_offset is not None and (block.file_offset - self._mapped_offset) % 8 == 0:
            shift = (block.file_offset - self._mapped_offset) // 8
            if len(positions) and int(positions.min()) >= 0:
                return positions + shift
            return np.where(positions >= 0, positions + shift, -1)
        here = positions >= 0
        count = mask.bit_count()
        values = block.words[positions[here, None] + np.arange(count)]
        out = np.full(len(positions), -1, np.int64)
        out[here] = self._mapped_words + self._copied_words + count * np.arange(len(values))
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
