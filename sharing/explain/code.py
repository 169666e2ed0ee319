"""Whether a function's code is the same but for where things are.

Owns the comparison of two functions as tables of instructions, in which the fields that a linker sets are masked:
targets of calls and jumps out of the function, addresses relative to the instruction pointer, absolute addresses of the
image.  Decodes nothing: the tables come from the reader of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sharing.model.comparison import FileTraits
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.instructions import Holding, Table

Ids = npt.NDArray[np.int64]

MAX_BYTES = 1 << 16  # of one function; longer ones are compared by size alone
CHUNK_BYTES = 1 << 21  # of code that is decoded at once: its table is ten times as large
MOST_BYTES = 1 << 25  # of code that is decoded at all
LEAST_ADDRESS = 0x1000  # small numbers are numbers, wherever the image starts


class CodeChange(StrEnum):
    SAME = "same bytes"
    RELOCATED = "same but for addresses"
    CHANGED = "changed"
    UNKNOWN = "not compared"


@dataclass(frozen=True, slots=True)
class Code:
    """The bytes of one function, where they are, and INSTRUCTION_DTYPE, None where they were not decoded."""

    data: bytes
    address: int
    instructions: Table | None = None


def read_code(image: Image, traits: FileTraits, rows: Sequence[int]) -> tuple[list[Code | None], tuple[str, ...]]:
    """(the functions at ``rows`` of the image's table, None where the bytes are not there; why decoding failed)

    They are decoded all at once.
    """
    found = codes_of(image, traits.code, rows)
    there = [code for code in found if code is not None]
    try:
        tables = traits.instructions([(code.address, code.data) for code in there], addresses_of(image))
    except LinemateError as error:
        return found, (f"code: {image.path}: {error}",)
    if tables is None:
        return found, ()
    decoded = iter(tables)
    return [None if code is None else replace(code, instructions=next(decoded)) for code in found], ()


def addresses_of(image: Image) -> tuple[int, int]:
    """Which numbers in its code are taken for addresses: from the first, up to the second."""
    low = min((s.address for s in image.sections if s.size), default=0)
    return max(low, LEAST_ADDRESS), max((s.end for s in image.sections), default=0)


def codes_of(image: Image, file: memoryview, rows: Sequence[int]) -> list[Code | None]:
    """Functions' bytes in their file, None where they are not there."""
    chosen = np.asarray(rows, np.int64)
    table = image.functions[chosen]
    columns = (table["address"].tolist(), table["size"].tolist(), offsets_of(image, file, chosen).tolist())
    return [
        Code(bytes(file[offset : offset + size]), address) if offset >= 0 else None
        for address, size, offset in zip(*columns, strict=True)
    ]


def offsets_of(image: Image, file: memoryview, rows: Ids) -> Ids:
    """Where functions begin in their file, -1 where they are not there (.bss, cut files, very long functions)."""
    held = sorted((s for s in image.sections if s.file_offset is not None), key=lambda s: s.index)
    if not held:
        return np.full(len(rows), -1, np.int64)
    table = image.functions[rows]
    index = np.array([s.index for s in held], np.int64)
    section = table["section"]
    at = np.minimum(np.searchsorted(index, section), len(held) - 1)
    start, size, offset = (
        np.array(column, np.uint64)[at]
        for column in zip(*((s.address, s.size, s.file_offset) for s in held), strict=True)
    )
    within, length = table["address"] - start, table["size"].astype(np.uint64)
    end = within + length
    there = (index[at] == table["section"]) & (table["address"] >= start) & (end <= size)
    there &= (length > 0) & (length <= MAX_BYTES) & (offset + end <= len(file))
    return np.where(there, (offset + within).view(np.int64), -1)


def differing(old: memoryview, old_at: Ids, new: memoryview, new_at: Ids, size: Ids) -> npt.NDArray[np.bool_]:
    """Which stretches of two files, at ``old_at`` and ``new_at`` of them, differ in any byte.

    Neighbours that are as far from each other in both files are compared at once.
    """
    one, other = np.frombuffer(old, np.uint8), np.frombuffer(new, np.uint8)
    order = np.argsort(old_at, kind="stable")
    begin, distance = old_at[order], (new_at - old_at)[order]
    end = begin + size[order]
    found = np.zeros(len(order), bool)
    runs = np.flatnonzero(np.diff(distance)) + 1
    for first, last in pairwise([0, *runs.tolist(), len(order)] if len(order) else []):
        low, high, apart = int(begin[first]), int(end[first:last].max()), int(distance[first])
        places = low + np.flatnonzero(one[low:high] != other[low + apart : high + apart])
        found[first:last] = np.searchsorted(places, begin[first:last]) < np.searchsorted(places, end[first:last])
    out = np.zeros(len(order), bool)
    out[order] = found
    return out


def chunks(rows: Ids, size: npt.NDArray[np.uint64]) -> Iterator[Ids]:
    """Rows of functions of these sizes, in parts that are decoded at once; those behind MOST_BYTES are left out."""
    reach = np.cumsum(size.astype(np.int64))
    rows, reach = rows[reach <= MOST_BYTES], reach[reach <= MOST_BYTES]
    bounds = np.searchsorted(reach, np.arange(CHUNK_BYTES, MOST_BYTES + CHUNK_BYTES, CHUNK_BYTES)).tolist()
    for first, last in pairwise([0, *bounds, len(rows)]):
        if last > first:
            yield rows[first:last]


def compare_code(old: Code | None, new: Code | None) -> CodeChange:
    """How two functions of one architecture differ; UNKNOWN where bytes differ and were not decoded."""
    if old is None or new is None:
        return CodeChange.UNKNOWN
    if old.data == new.data:
        return CodeChange.SAME
    if len(old.data) != len(new.data):
        return CodeChange.CHANGED
    if old.instructions is None or new.instructions is None:
        return CodeChange.UNKNOWN
    same = old.instructions.tobytes() == new.instructions.tobytes()
    return CodeChange.RELOCATED if same else CodeChange.CHANGED


def loop_heads(code: Code) -> list[int] | None:
    """Offsets in the function that a jump behind them leads back to; None where it was not decoded."""
    rows = code.instructions
    if rows is None:
        return None
    back = (rows["jumps"] == 1) & (rows["target_is"] == Holding.INSIDE) & (rows["target"] <= rows["offset"])
    return sorted(set(rows["target"][back].tolist()))
