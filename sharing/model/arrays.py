"""Small array operations that several readers share.  Owns no knowledge of any format.

numpy's own ``unique`` and ``isin`` load its masked-array package at first use (20 ms) and sort more than is
needed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_FEW = 4  # values that are compared one by one more quickly than looked for
_MANY = 1 << 12  # values of which those are left out first that cannot be one of the wanted
_SIEVE_BITS = 16
_DIGIT = 16  # bits of numbers that numpy sorts without comparing them
_FAR = 1 << 2 * _DIGIT
_DENSE = 8  # numbers there may be for each that there is, so that it is as quick to mark them
_WORD = (1 << 64) - 1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: neighbours end far from each other


class _Near(NamedTuple):
    """Whole numbers as distances from the least one: ``most`` at most.

    ``zero``: from the least one but zero, which is 0 itself and stands for no address where all others are one.
    """

    distances: npt.NDArray[np.uint64]
    most: int
    low: int
    zero: bool

    @classmethod
    def of(cls, values: Array) -> _Near | None:
        """None of others, and of such as are too far apart."""
        if values.dtype.kind not in "iu" or not len(values):
            return None
        low, high = int(values.min()), int(values.max())
        zero = low == 0 and high > _FAR
        if zero:
            low = int(values[values != 0].min())
        if high - low + zero >= _FAR:
            return None
        distances = values.astype(np.uint64)
        distances -= np.uint64((low - zero) & _WORD)
        if zero:
            distances[values == 0] = 0
        return cls(distances, high - low + zero, low - zero, zero)

    def back(self, distances: Array, dtype: np.dtype[Any]) -> Array:
        """The numbers that are at these distances, which are in order."""
        values = distances.astype(np.uint64)
        values += np.uint64(self.low & _WORD)
        if self.zero:
            values[:1] = 0
        return values.astype(dtype)


def distinct(values: Array) -> Array:
    """The distinct values, sorted."""
    # In tables equal ones stand in a row as a rule, and often all is in order.
    left = values[leading(values)]
    if left.dtype.kind != "V" and (left[1:] > left[:-1]).all():  # rows are in no order
        return left
    near = _Near.of(left) if len(left) > _MANY else None
    if near is None:
        left.sort()
        return left[leading(left)]
    if near.most < len(left) * _DENSE:
        there = np.zeros(near.most + 1, bool)
        there[near.distances.view(np.int64)] = True
        return near.back(np.flatnonzero(there), left.dtype)
    ordered = np.sort(near.distances.astype(np.uint32))  # two thirds of the time that wide numbers take
    return near.back(ordered[leading(ordered)], left.dtype)


def union(first: Array, second: Array) -> Array:
    """The distinct values of both, sorted."""
    return distinct(np.concatenate((first, second)))


def picked(table: Array, which: Array) -> Array:
    """The rows at these places, or those that a mask chooses.

    Brackets say the same, and copy each row of a table field by field: ten times as slowly.
    """
    return table.take(np.flatnonzero(which) if which.dtype.kind == "b" else which)


def stacked(tables: Sequence[Array]) -> Array:
    """Tables of one kind as one, the rows copied as ``picked`` does."""
    kind = tables[0].dtype
    if any(table.dtype != kind for table in tables):
        return np.concatenate(tables)
    return np.concatenate([table.view(_whole(kind)) for table in tables]).view(kind)


def copied(table: Array) -> Array:
    """The same rows to change, copied as ``picked`` does."""
    return table.view(_whole(table.dtype)).copy().view(table.dtype)


def _whole(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The bytes of a row as one value."""
    return np.dtype((np.void, kind.itemsize))


def joined_by_ip(rows: Array, more: Array) -> Array:
    """Two tables that are in order of instructions' addresses (``ip``) as one; ``rows`` come first of equal ones."""
    if not len(more):
        return rows
    both = stacked([rows, more])
    return picked(both, np.argsort(both["ip"], kind="stable"))


def sorting(values: Array) -> Array:
    """The places of whole numbers in the order of these, of equal ones in theirs: as of a stable ``np.argsort``.

    numpy sorts numbers of 16 bits in one pass.  Of wide ones a number and its place are sorted as one number, which
    takes a fifth of the time.
    """
    if not len(values):
        return np.zeros(0, np.int64)
    if (near := _Near.of(values)) is not None:
        return _by_digits(near)
    low, high = int(values.min()), int(values.max())
    bits = len(values).bit_length()
    if high - low >= 1 << 64 - bits:
        return np.argsort(values, kind="stable")
    both = values.astype(np.uint64) - np.uint64(low & _WORD)
    both <<= np.uint64(bits)
    both |= np.arange(len(values), dtype=np.uint64)
    both.sort()
    both &= np.uint64((1 << bits) - 1)
    return both.astype(np.int64)


def _by_digits(near: _Near) -> Array:
    order = np.argsort(near.distances.astype(np.uint16), kind="stable")
    if near.most >= 1 << _DIGIT:
        upper = (near.distances >> np.uint64(_DIGIT)).astype(np.uint16)
        order = order[np.argsort(upper[order], kind="stable")]
    return order


def leading(ordered: Array) -> Array:
    """Which elements of a sorted array differ from the one before."""
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def positions(ordered: Array, values: Array) -> Array:
    """Where each value is in a sorted array, -1 for values that are not in it."""
    if not len(ordered):
        return np.full(len(values), -1, np.int64)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[at] == values, at, -1)


def among(values: Array, wanted: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which of the values are one of the wanted."""
    wanted = np.asarray(wanted)
    whole = values.dtype.kind in "iu"
    if whole and wanted.dtype.kind in "iu" and min(len(wanted), len(values)) <= _FEW:
        if len(values) <= _FEW:
            return np.array([bool((wanted == one).any()) for one in values.tolist()], bool)
        few = np.zeros(len(values), bool)
        for one in wanted.tolist():
            few |= values == one
        return few
    if values.dtype.kind != wanted.dtype.kind or len(wanted) <= _FEW:
        return np.isin(values, wanted)  # compares with each of a few; else widens both
    if whole and len(wanted) > _MANY and _sifts(values):
        wanted = wanted[_maybe(wanted, values)]
    if not whole or len(values) <= _MANY or not _sifts(wanted):
        everywhere: npt.NDArray[np.bool_] = positions(distinct(wanted), values) >= 0
        return everywhere
    left = np.flatnonzero(_maybe(values, wanted))
    found = np.zeros(len(values), bool)
    found[left] = positions(distinct(wanted), values[left]) >= 0
    return found


def _sifts(wanted: Array) -> bool:
    """Whether a sieve of these leaves out most of others."""
    return len(wanted) < 1 << (_SIEVE_BITS - 3)


def _maybe(values: Array, wanted: Array) -> npt.NDArray[np.bool_]:
    """Which whole numbers may be one of the wanted: all that are, and a few others."""
    sieve = np.zeros(1 << _SIEVE_BITS, bool)
    sieve[_places(wanted)] = True
    found: npt.NDArray[np.bool_] = sieve[_places(values)]
    return found


def _places(values: Array) -> Array:
    """Where in the sieve whole numbers are."""
    return values.astype(np.uint64) * _SPREAD >> np.uint64(64 - _SIEVE_BITS)


def words_at(data: Array, offsets: Array, dtype: str) -> Array:
    """Words of ``dtype`` (with byte order, as ``"<i4"``) at arbitrary byte offsets, in native order.

    The caller has checked that ``offsets + size`` are inside of ``data`` (uint8).
    """
    size = np.dtype(dtype).itemsize
    picked = data[offsets.astype(np.int64)[:, None] + np.arange(size)]
    words = np.ascontiguousarray(picked).view(dtype).ravel()
    return words.astype(words.dtype.newbyteorder("="), copy=False)
