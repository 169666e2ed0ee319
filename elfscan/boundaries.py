"""Whether addresses are those of instructions of a file: what was recorded of another build hits the middle of some.

Owns the decoding of a few functions for that.  Says nothing of what instructions do (``elfscan.operands``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.elf import ElfFile

Table = npt.NDArray[Any]

MAX_FUNCTIONS = 64  # looked at, spread over the file
MAX_FUNCTION_BYTES = 1 << 16


def on_instructions(elf: ElfFile, functions: Table, addresses: Table) -> tuple[int, int]:
    """How many of ``addresses`` (sorted) in some of the functions there are, and how many are instructions'."""
    decoder = _decoder(elf.arch.name)
    if decoder is None or not len(functions):
        return 0, 0
    starts, ends = functions["address"], functions["address"] + functions["size"]
    first, last = np.searchsorted(addresses, starts), np.searchsorted(addresses, ends)
    rows = np.flatnonzero((last > first) & (functions["size"] <= MAX_FUNCTION_BYTES))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, MAX_FUNCTIONS).astype(np.int64))] if len(rows) else rows
    looked = matched = 0
    read = code_of(elf)
    for row in rows.tolist():
        start, end = int(starts[row]), int(ends[row])
        known = {one[0] for one in decoder.disasm_lite(read(start, end), start)}
        inside = addresses[first[row] : last[row]].tolist()
        looked += len(inside)
        matched += sum(address in known for address in inside)
    return looked, matched


def _decoder(architecture: str) -> Any:
    import capstone

    modes = {
        "x86-64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN),
    }
    return capstone.Cs(*modes[architecture]) if architecture in modes else None


def code_of(elf: ElfFile) -> Callable[[int, int], bytes]:
    """Reads the bytes between two link-time addresses, fewer where the file has none."""

    def read(start: int, end: int) -> bytes:
        for load in elf.loads:
            low, size = int(load["address"]), int(load["file_size"])
            if low <= start < low + size:
                return bytes(elf.bytes_at(int(load["offset"]) + start - low, min(end, low + size) - start, "code"))
        return b""

    return read
