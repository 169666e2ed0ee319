"""Addresses and lines: which lines a range of bytes is on, and who owns each byte of a line.

Pure functions over numbers.  Owns no judgement; "hot" is what the caller says.  Ranges are [start, end), sizes in
bytes, addresses SVMAs.  The line size is always a parameter: any positive number, in practice a power of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.finding import Slice

PADDING = ""  # Slice.owner of a byte that is known to belong to no object
UNKNOWN = "?"  # Slice.owner of a byte of which nothing is known
HOLE = "-"  # Slice.owner, and its mark, of a byte inside of a record that no member uses
_MARKS = {PADDING: ".", UNKNOWN: "?"}
_LAST_ADDRESS = np.uint64(2**64 - 1)

RUN_DTYPE = np.dtype([("start", "<u8"), ("end", "<u8"), ("count", "<u4")])

Addresses = npt.NDArray[np.uint64]


class Extent(msgspec.Struct, frozen=True):
    """One object: [start, end) are addresses, ``hot`` are [start, end) offsets within the object.

    ``mark`` is the letter in a picture; "" lets ``own_bytes`` choose one.
    """

    name: str
    start: int
    end: int
    hot: tuple[tuple[int, int], ...] = ()
    mark: str = ""


def round_up(value: int, alignment: int) -> int:
    """The next multiple of ``alignment``, ``value`` itself where it is one."""
    return -(-value // alignment) * alignment


def line_start(address: int, line_size: int) -> int:
    """The first byte of the line that ``address`` is on."""
    return address - address % line_size


def lines_of(address: int, size: int, line_size: int) -> range:
    """The first byte of each line that the object touches; empty for an object without bytes."""
    if size <= 0:
        return range(0)
    return range(line_start(address, line_size), address + size, line_size)


def straddles(address: int, size: int, line_size: int) -> bool:
    """True where the bytes lie on more than one line: one access to all of them is a split access."""
    return size > 0 and address % line_size + size > line_size


def own_bytes(
    line: int, line_size: int, objects: Iterable[Extent], known: Iterable[tuple[int, int]] = ()
) -> tuple[Slice, ...]:
    """Every byte of the line at ``line``, owned once: slices that cover [0, line_size) in order.

    Where objects overlap (a member in its variable, the arms of a union), the smallest owns the byte, then the one
    that starts last, then the first by name; it is hot when any object there is.  A byte without an object is
    padding inside the ``known`` address ranges (a section whose symbols are complete) and unknown elsewhere.
    The result does not depend on the order of ``objects``.
    """
    # Painted from weak to strong claims; sorting is stable, so the last of each key is the strongest.
    here = [o for o in objects if o.start < o.end and o.start < line + line_size and o.end > line]
    here.sort(key=lambda o: (o.name, o.hot, o.mark), reverse=True)
    here.sort(key=lambda o: (o.start - o.end, o.start))
    owners: list[int] = [-2] * line_size
    for start, end in known:
        _paint(owners, start - line, end - line, -1)
    hot = [False] * line_size
    for index, extent in enumerate(here):
        _paint(owners, extent.start - line, extent.end - line, index)
        for first, last in extent.hot:
            begin = max(extent.start + max(first, 0), extent.start)
            _paint(hot, begin - line, min(extent.start + last, extent.end) - line, True)
    return _slices(owners, hot, here)


def _paint(bytes_of_line: list[Any], start: int, end: int, value: object) -> None:
    start, end = max(start, 0), min(end, len(bytes_of_line))
    if start < end:
        bytes_of_line[start:end] = [value] * (end - start)


def _slices(owners: list[int], hot: list[bool], objects: list[Extent]) -> tuple[Slice, ...]:
    marks = _choose_marks(owners, objects)
    out: list[Slice] = []
    start = 0
    for at in range(1, len(owners) + 1):
        if at < len(owners) and (owners[at], hot[at]) == (owners[start], hot[start]):
            continue
        index = owners[start]
        if index < 0:
            name = PADDING if index == -1 else UNKNOWN
            out.append(Slice(name, start, at, False, _MARKS[name]))
        else:
            out.append(Slice(objects[index].name, start, at, hot[start], marks[index]))
        start = at
    return tuple(out)


def _choose_marks(owners: list[int], objects: list[Extent]) -> dict[int, str]:
    """A letter per owner in the order of first bytes; letters repeat on lines with more than 26 owners."""
    present = [index for index in dict.fromkeys(owners) if index >= 0]
    marks = {index: objects[index].mark for index in present if objects[index].mark}
    free = [letter for letter in ascii_lowercase if letter not in marks.values()] or list(ascii_lowercase)
    for number, index in enumerate(index for index in present if index not in marks):
        marks[index] = free[number % len(free)]
    return marks


def line_starts(addresses: Addresses, line_size: int) -> Addresses:
    """``line_start`` of every address."""
    starts: Addresses = addresses - addresses % np.uint64(line_size)
    return starts


def last_bytes(addresses: Addresses, sizes: Addresses) -> Addresses:
    """Address of each object's last byte, its own address for size 0; never past the end of the address space."""
    extra = np.maximum(sizes, np.uint64(1)) - np.uint64(1)
    last: Addresses = addresses + np.minimum(extra, _LAST_ADDRESS - addresses)
    return last


def straddle_mask(addresses: Addresses, sizes: Addresses, line_size: int) -> npt.NDArray[np.bool_]:
    """``straddles`` of every object."""
    crossed: npt.NDArray[np.bool_] = line_starts(addresses, line_size) != line_starts(
        last_bytes(addresses, sizes), line_size
    )
    return crossed


def occupancy(addresses: Addresses, sizes: Addresses, line_size: int) -> npt.NDArray[Any]:
    """How many objects are on each line, as runs of neighbouring lines with equal counts (RUN_DTYPE).

    Runs are sorted, do not overlap and have a count of at least 1; ``start`` and ``end`` are multiples of the line
    size.  Memory grows with the number of objects, not with their sizes.  Objects of size 0 are on no line.
    """
    real = sizes > 0
    first = line_starts(addresses[real], line_size) // np.uint64(line_size)
    after = line_starts(last_bytes(addresses[real], sizes[real]), line_size) // np.uint64(line_size) + np.uint64(1)
    numbers = np.concatenate([first, after])
    change = np.concatenate([np.ones(len(first), np.int64), np.full(len(after), -1, np.int64)])
    edges, where = np.unique(numbers, return_inverse=True)
    steps = np.bincount(where, weights=change, minlength=len(edges)).astype(np.int64)
    kept = steps != 0
    counts = np.cumsum(steps[kept])
    edges = edges[kept]
    runs = np.zeros(max(len(edges) - 1, 0), RUN_DTYPE)
    runs["start"] = edges[:-1] * np.uint64(line_size)
    runs["end"] = edges[1:] * np.uint64(line_size)
    runs["count"] = counts[:-1]
    return picked(runs, runs["count"] > 0)
