"""Distinct values of long columns, and which of them each row has.

Owns doing so without sorting indexes, which takes most of the time of numpy's own way: columns of millions of samples
hold few distinct numbers, mostly close together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

SPAN_PER_ROW = 4  # a table of so many entries for each row still costs less than sorting
SMALL_SPAN = 1 << 16


def unique_inverse(values: Column) -> tuple[Column, npt.NDArray[np.int64]]:
    """(distinct integers in ascending order, the number of each row's among them)."""
    if not len(values):
        return values[:0], np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < max(SPAN_PER_ROW * len(values), SMALL_SPAN):
        at = (values - values.dtype.type(low)).astype(np.int64, copy=False)
        there = np.zeros(high - low + 1, np.bool_)
        there[at] = True
        found = np.flatnonzero(there)
        number = np.zeros(len(there), np.int64)
        number[found] = np.arange(len(found))
        return found.astype(values.dtype) + values.dtype.type(low), number[at]
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    distinct = ordered[first]
    return distinct, np.searchsorted(distinct, values).astype(np.int64, copy=False)


def first_rows(number: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """The first row that has each number of ``unique_inverse``."""
    out = np.full(count, len(number), np.int64)
    np.minimum.at(out, number, np.arange(len(number)))
    return out
