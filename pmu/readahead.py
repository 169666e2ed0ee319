"""Stretches of a file, one after the other, each read while the one before is worked on.

Owns two buffers and a thread.  Knows no format.

Whoever cuts a file into records asks for the next stretch from inside the one before, since the last record there was
not whole.  So what is read ahead begins where a stretch ends, and the end of the stretch is put in front of it.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from sharing.model.inputs import open_input

OVERLAP_BYTES = 1 << 16  # of a stretch that the next one may begin with


class ReadAhead:
    """Stretches of up to ``most_bytes`` of a file, none beyond ``end``.  Each is gone with the next call."""

    def __init__(self, path: Path, most_bytes: int, end: int) -> None:
        self._file = open_input(path, "a profile")
        self._most, self._end = most_bytes, end
        # The file is read behind the room for what is left of the stretch before.
        self._now, self._next = (memoryview(np.empty(OVERLAP_BYTES + most_bytes, np.uint8).data) for _ in range(2))
        self._given = OVERLAP_BYTES  # where in ``_now`` what was given last ends
        self._offset, self._size = -1, 0  # the same in the file, and how much it was
        self._worker = ThreadPoolExecutor(1)
        self._ahead: Future[int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._worker.shutdown()
        self._file.close()

    def read(self, at: int, size: int) -> memoryview:
        """So many bytes from ``at`` on; zeros where the file has become shorter."""
        left = self._offset - at
        if self._ahead is not None and 0 <= left <= min(OVERLAP_BYTES, self._size):
            got = self._ahead.result()
            self._next[OVERLAP_BYTES - left : OVERLAP_BYTES] = self._now[self._given - left : self._given]
        else:
            if self._ahead is not None:
                self._ahead.result()
            left, got = 0, self._fill(self._next, at, size)
        self._now, self._next = self._next, self._now
        first = OVERLAP_BYTES - left
        self._given, self._offset, self._size = first + size, at + size, size
        self._now[min(OVERLAP_BYTES + got, self._given) : self._given] = bytes(max(size - left - got, 0))
        ahead = min(self._most, self._end - self._offset)
        self._ahead = self._worker.submit(self._fill, self._next, self._offset, ahead) if ahead > 0 else None
        return self._now[first : self._given]

    def _fill(self, buffer: memoryview, at: int, size: int) -> int:
        """Reads to its place in the buffer; how many bytes there were."""
        got = 0
        while got < size:
            part = os.preadv(self._file.fileno(), [buffer[OVERLAP_BYTES + got : OVERLAP_BYTES + size]], at + got)
            if not part:
                break
            got += part
        return got
