"""Whether addresses are those of instructions of a file: what was recorded of another build hits the middle of some.

Owns the decoding of a few functions for that.  Decoding is ``elfscan.code.query``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.code.query import read_operands
from elfscan.fileformat.elf import ElfFile
from sharing.model.operands import PointFlag

Table = npt.NDArray[Any]

MAX_FUNCTIONS = 64  # looked at, spread over the file
MAX_FUNCTION_BYTES = 1 << 16


def on_instructions(elf: ElfFile, functions: Table, addresses: Table) -> tuple[int, int]:
    """How many of ``addresses`` (sorted) in some of the functions there are, and how many are instructions'."""
    if not elf.arch.decodes or not len(functions):
        return 0, 0
    starts, sizes = functions["address"], functions["size"]
    ends = starts + sizes
    first, last = np.searchsorted(addresses, starts), np.searchsorted(addresses, ends)
    rows = np.flatnonzero((last > first) & (sizes <= MAX_FUNCTION_BYTES))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, MAX_FUNCTIONS).astype(np.int64))] if len(rows) else rows
    asked = [addresses[:0], *(addresses[first[row] : last[row]] for row in rows.tolist())]
    inside = np.unique(np.concatenate(asked))
    points, _ = read_operands(elf.arch, inside, starts[rows], ends[rows], code_of(elf))
    return len(inside), int((points["flags"] & PointFlag.DECODED != 0).sum())


def code_of(elf: ElfFile) -> Callable[[int, int], bytes]:
    """Reads the bytes between two link-time addresses, fewer where the file has none."""

    def read(start: int, end: int) -> bytes:
        for load in elf.loads:
            low, size = int(load["address"]), int(load["file_size"])
            if low <= start < low + size:
                return bytes(elf.bytes_at(int(load["offset"]) + start - low, min(end, low + size) - start, "code"))
        return b""

    return read
