"""Files of notes of allocations, as ``elfscan/native/heap`` writes them: whole ones, and ones that lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pmu.heaplog import HEADER_DTYPE, MAGIC
from sharing.model.heap import BEGINS, ENDS, NOTE_DTYPE


@dataclass(frozen=True, slots=True)
class Note:
    """One beginning (``size`` given) or end of an allocation."""

    time: int
    address: int
    size: int = 0
    stack: tuple[int, ...] = ()
    pid: int = 100
    kind: int = -1


def rows(notes: Sequence[Note]) -> np.ndarray[tuple[int, ...], np.dtype[np.void]]:
    out = np.zeros(len(notes), NOTE_DTYPE)
    for row, note in zip(out, notes, strict=True):
        row["time"], row["address"], row["size"], row["pid"] = note.time, note.address, note.size, note.pid
        row["kind"] = note.kind if note.kind >= 0 else BEGINS if note.size else ENDS
        row["frames"] = len(note.stack)
        known = note.stack[: len(row["stack"])]
        row["stack"][: len(known)] = known
    return out


def log(
    *notes: Note,
    used: int | None = None,
    capacity: int = 1 << 18,
    record_bytes: int = NOTE_DTYPE.itemsize,
    left_out: int = 0,
) -> bytes:
    """The notes of one process; ``used`` is what its header claims."""
    header = np.zeros(1, HEADER_DTYPE)
    header["magic"], header["record_bytes"], header["capacity"] = MAGIC, record_bytes, capacity
    header["used"], header["left_out"], header["pid"] = len(notes) if used is None else used, left_out, 100
    return header.tobytes() + rows(notes).tobytes()
