"""Notes of allocations: what ``record --heap`` saw of a program's allocator.

Owns the table.  Reading it from a file is ``pmu.heaplog``'s, asking it for an address ``sharing.sampled.heap``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

BEGINS, ENDS = 1, 2

NOTE_DTYPE = np.dtype(
    [
        ("time", "<u8"),  # nanoseconds of the monotonic clock
        ("address", "<u8"),  # run-time address of the first byte
        ("size", "<u8"),  # in bytes, as asked for; 0 of an end
        ("pid", "<u4"),
        ("kind", "u1"),  # BEGINS or ENDS
        ("frames", "u1"),  # how many of ``stack`` are known
        ("reserved", "<u2"),
        ("stack", "<u8", (16,)),  # return addresses, the allocator's caller first
    ]
)


@dataclass(frozen=True, slots=True)
class Notes:
    """``rows`` (NOTE_DTYPE) in order of time; ``left_out`` more had no room."""

    rows: npt.NDArray[Any]
    left_out: int = 0
