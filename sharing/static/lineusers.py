"""Who uses which bytes of a stretch of memory: functions by what they load, store, lock or take the address of.

Owns the step from access sites and lock calls to names of functions, and where the elements are that a computed index
may choose: all of the array that it steps through, since nothing says which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.model.arrays import among, picked
from sharing.model.image import AccessKind, FunctionFlag, Image, ImageKind, SiteFlag, Table
from sharing.static import numbers
from sharing.static.callees import function_name

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

Users = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]  # who locks, who reads, who writes

STORES = (AccessKind.STORE, AccessKind.RMW)
MAX_ARRAY_BYTES = 1 << 40
_NO_STEP = 1 << 62  # bytes to the next element of what is no array: beyond any stretch
_WIDEST = {"target": 65535, "address": 255}  # strides of sites and of locks that stand for any larger one


class Uses:
    """All access sites and lock calls (``flow.LOCK_DTYPE``) of an image, to be looked at by stretches of memory."""

    def __init__(self, image: Image, locks: Table) -> None:
        self._image = image
        self._sites = _Uses(image, image.sites, "target", image.sites["flags"] & SiteFlag.INDEXED != 0)
        self._locks = _Uses(image, locks, "address", np.ones(len(locks), bool))

    def within(self, start: int, end: int, rows: Sequence[int]) -> LineUsers:
        """Those with a byte in [start, end); ``rows`` are the variables there."""
        return LineUsers(self._image, start, self._sites.within(start, end, rows), self._locks.within(start, end, rows))


class LineUsers:
    """The access sites and lock calls of one stretch of memory."""

    def __init__(self, image: Image, start: int, sites: _Placed, locks: _Placed) -> None:
        self._image = image
        self._start = start
        self._sites = sites
        self._locks = locks

    def functions(self, start: int, end: int, *kinds: AccessKind) -> tuple[str, ...]:
        """Functions that access a byte of [start, end) in one of the ways, most sites first, loops weighted."""
        sites = self._sites
        return self._named(picked(sites.rows, self._touching(sites, start, end) & among(sites.rows["kind"], kinds)))

    def updaters(self, start: int, end: int) -> tuple[str, ...]:
        """Functions that change a byte of [start, end) atomically."""
        rows = self._sites.rows
        atomic = among(rows["kind"], STORES) & (rows["flags"] & SiteFlag.ATOMIC != 0)
        return self._named(rows[self._touching(self._sites, start, end) & atomic])

    def lockers(self, start: int, end: int) -> tuple[str, ...]:
        """Functions that lock or unlock what begins in [start, end)."""
        return self._named(self._locks.rows[self._touching(self._locks, start, end)])

    def touched(self, start: int, end: int) -> list[tuple[int, int]]:
        """Distinct ranges within [start, end) that one access of ordinary size touches, by address."""
        table = self._sites.rows
        first, size = table["target"], table["size"]
        last = first + size
        chosen = (size > 0) & (size <= shared.SCALAR_BYTES) & (first >= np.uint64(start)) & (last <= np.uint64(end))
        ranges = zip(first[chosen].tolist(), last[chosen].tolist(), strict=True)
        return sorted({span for span in ranges if span != (start, end)})

    def fitting(self, members: Sequence[tuple[int, int, int]], start: int, end: int) -> tuple[list[Users], Users]:
        """(who locks, reads and writes each member (start, end, stride) by what fits it alone; the same of the rest)

        An access fits a member that begins where it does and is as large, or an element of one.
        """
        fits, begins = [], []
        for first, last, stride in members:
            size = stride if stride else last - first
            low, high = first - self._start, last - self._start
            at = self._sites.beginning(low)
            inside = (at < np.minimum(self._sites.limit, high)) & ((at - low) % size == 0)
            fits.append(inside & (self._sites.rows["size"] == size))
            at = self._locks.beginning(low)
            begins.append((at == low) & (at < self._locks.limit))
        alone = [[one & (sum(table[1:], table[0].astype(np.int64)) == 1) for one in table] for table in (fits, begins)]
        left = self._touching(self._sites, start, end) & ~np.logical_or.reduce(alone[0])
        locked = self._touching(self._locks, start, end) & ~np.logical_or.reduce(alone[1])
        return [self._users(*pair) for pair in zip(*alone, strict=True)], self._users(left, locked)

    def _touching(self, placed: _Placed, start: int, end: int) -> Bools:
        return placed.touching(start - self._start, end - self._start)

    def _users(self, sites: Bools, locks: Bools) -> Users:
        rows = self._sites.rows
        return (
            self._named(self._locks.rows[locks]),
            self._named(picked(rows, sites & (rows["kind"] == AccessKind.LOAD))),
            self._named(picked(rows, sites & among(rows["kind"], STORES))),
        )

    def _named(self, rows: Table) -> tuple[str, ...]:
        weights: dict[str, float] = defaultdict(float)
        for row in rows:
            loops = min(int(row["loop_depth"]), numbers.MAX_LOOPS)
            weights[function_name(self._image, int(row["function"]))] += shared.LOOP_FACTOR**loops
        return tuple(name for name, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0])))


class _Placed(NamedTuple):
    """Rows of sites or lock calls, and where their elements are, in bytes from the start of the stretch."""

    rows: Table
    first: Ints
    limit: Ints  # no element begins there or behind
    step: Ints
    size: Ints

    def beginning(self, at: Any) -> Ints:
        """Where the first element at or behind a byte begins; where there is none, at ``limit`` or behind."""
        steps = np.maximum(-((self.first - at) // self.step), 0)
        begins: Ints = self.first + steps * self.step
        return begins

    def touching(self, start: int, end: int) -> Bools:
        """Which have an element with a byte in [start, end)."""
        touches: Bools = self.beginning(start - self.size + 1) < np.minimum(self.limit, end)
        return touches


class _Uses:
    """One table, what steps through an array apart."""

    def __init__(self, image: Image, table: Table, column: str, indexed: Bools) -> None:
        stepping = indexed & (table["stride"] > 0) & (table["stride"] < _WIDEST[column])
        self._image, self._column = image, column
        self._plain, self._stepping = table[~stepping], table[stepping]
        self._variable = image.variables_at(self._stepping[column])

    def within(self, start: int, end: int, rows: Sequence[int]) -> _Placed:
        plain = self._plain[_touching(self._plain, self._column, start, end)]
        near = among(self._variable, np.array(rows, np.int64))
        near |= _touching(self._stepping, self._column, start, end)
        stepping, variable = self._stepping[near], self._variable[near]
        table = np.concatenate([plain, stepping])
        # Modulo 2**64, so that the addresses of a kernel are as near to each other as they are.
        first = (table[self._column] - np.uint64(start % 2**64)).astype(np.int64)
        limit, step = first + 1, np.full(len(table), _NO_STEP, np.int64)
        for at, (site, row) in enumerate(zip(stepping, variable.tolist(), strict=True), len(plain)):
            if (series := _series(self._image, row, site, self._column)) is not None:
                step[at] = int(site["stride"])
                first[at] += series[0]
                limit[at] = first[at] - series[0] + series[1]
        size = (
            np.maximum(table["size"], 1).astype(np.int64) if self._column == "target" else np.ones(len(table), np.int64)
        )
        placed = _Placed(table, first, limit, step, size)
        kept = placed.touching(0, end - start) & _after_boot(self._image, table)
        return _Placed(*(column[kept] for column in placed))


def _series(image: Image, row: int, site: Any, column: str) -> tuple[int, int] | None:
    """Where the first element begins that a computed index may choose, and where they end, in bytes from the place
    that the site names; None where no array is known that it steps through.

    A variable without a type is an array where the index begins in its first element and it is a number of them.
    """
    if row < 0:
        return None
    variable, stride = image.variables[row], int(site["stride"])
    offset, kind = int(site[column]) - int(variable["address"]), int(variable["type"])
    size = int(variable["size"])
    if size > MAX_ARRAY_BYTES:
        return None
    if kind < 0:
        return (0, size - offset) if offset < stride < size and size % stride == 0 else None
    leaf = image.types.leaf(kind, offset)
    if leaf is None or leaf.stride <= 0 or stride % leaf.stride or not stride < leaf.stride * leaf.count <= size:
        return None
    before = offset - leaf.offset
    return -(before // stride) * stride, leaf.stride * leaf.count - before


def _after_boot(image: Image, rows: Table) -> Bools:
    """Rows of code that runs once a kernel is up: code of its boot alone is done before anything else runs."""
    function = rows["function"]
    every = np.ones(len(rows), bool)
    if image.kind not in (ImageKind.KERNEL, ImageKind.MODULE) or not len(image.functions):
        return every
    boot = image.functions["flags"][np.maximum(function, 0)] & FunctionFlag.INIT != 0
    later: Bools = ~((function >= 0) & boot)
    return later


def _touching(table: Table, column: str, start: int, end: int) -> Bools:
    extent = np.maximum(table["size"], 1).astype(np.uint64) if column == "target" else np.uint64(1)
    touches: Bools = (table[column] < np.uint64(end)) & (table[column] + extent > np.uint64(start))
    return touches
