"""Rows of a table by what one of its fields says, for passes that ask the same table again and again.

Owns the order of each field that was asked for: it is sorted once for all who ask, as long as the table is there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.kept import Kept
from sharing.model.arrays import Array, among, distinct, leading, picked, sorting
from sharing.model.image import Table

Rows = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_MOST = 4  # wanted values for each so many rows: of more it is as quick to look at all rows
_SORTED = 32  # times that all rows are compared with a value before they are sorted, which takes so long
_LOOKED_UP = 4  # of these, what looking for many values takes


class _Column(NamedTuple):
    """Values of a field in order, and the rows that they are of; None: their own."""

    values: Array
    rows: Rows | None


_columns: Kept[dict[str, _Column]] = Kept(of_places=True)
_asked: Kept[dict[str, int]] = Kept(of_places=True)  # comparisons so far, of fields that are in no order
_distinct: Kept[dict[str, Array]] = Kept(of_places=True)


def having(table: Table, field: str, wanted: npt.ArrayLike) -> Bools:
    """Which rows have one of the wanted values in a field of whole numbers."""
    found = np.zeros(len(table), bool)
    found[rows_having(table, field, wanted)] = True
    return found


def rows_having(table: Table, field: str, wanted: npt.ArrayLike) -> Rows:
    """The rows that have one of the wanted values in a field of whole numbers, in order."""
    few = _alike(np.atleast_1d(np.asarray(wanted)), table.dtype[field])
    column = _column_if_worthwhile(table, field, min(len(few), _LOOKED_UP))
    if column is None or len(few) * _MOST > len(table):
        return np.flatnonzero(among(np.ascontiguousarray(table[field]), few))
    few = distinct(few)
    first, last = column.values.searchsorted(few), column.values.searchsorted(few, "right")
    many = last - first
    at = np.repeat(last - np.cumsum(many), many) + np.arange(int(many.sum()))
    return at if column.rows is None else np.sort(column.rows[at])


def those_having(table: Table, field: str, wanted: npt.ArrayLike) -> Table:
    """The same as a table."""
    return picked(table, rows_having(table, field, wanted))


def in_order(table: Table, field: str) -> tuple[Rows, Array]:
    """The rows in order of a field, and what that is; of equal ones in theirs.  Nobody changes them."""
    values, rows = _column(table, field)
    return np.arange(len(values)) if rows is None else rows, values


def distinct_in(table: Table, field: str) -> Array:
    """The distinct values of a field, in order.  Nobody changes them."""
    known = _distinct.of(table, (), dict)
    if field not in known:
        column = _columns.of(table, (), dict).get(field)
        known[field] = distinct(table[field]) if column is None else column.values[leading(column.values)]
    return known[field]


def numbered(table: Table, field: str) -> tuple[Array, Rows]:
    """The distinct values of a field, in order, and the number of each row's among them."""
    rows, values = in_order(table, field)
    first = leading(values)
    number = np.empty(len(rows), np.int64)
    number[rows] = np.cumsum(first) - 1
    return values[first], number


def _column(table: Table, field: str) -> _Column:
    known = _columns.of(table, (), dict)
    if field not in known:
        values = np.ascontiguousarray(table[field])
        if _is_in_order(values):
            known[field] = _Column(values, None)
        else:
            rows = sorting(values)
            known[field] = _Column(values[rows], rows)
    return known[field]


def _column_if_worthwhile(table: Table, field: str, compared: int) -> _Column | None:
    """None for the first few who ask for rows of a table that would have to be sorted."""
    if field not in _columns.of(table, (), dict):
        asked = _asked.of(table, (), dict)
        is_first = field not in asked
        asked[field] = asked.get(field, 0) + compared
        if asked[field] < _SORTED and not (is_first and _is_in_order(table[field])):
            return None
    return _column(table, field)


def _is_in_order(values: Array) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _alike(wanted: Array, dtype: np.dtype[np.integer[Any]]) -> Array:
    """Those that such a column can have, as it has them."""
    if not len(wanted):
        return np.zeros(0, dtype)
    if wanted.dtype == dtype:
        return wanted
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if wanted.dtype.kind == "i" and wanted.min() < low:
        wanted = wanted[wanted >= low]
    if len(wanted) and int(wanted.max()) > high:
        wanted = wanted[wanted <= np.asarray(high).astype(wanted.dtype)]
    return wanted.astype(dtype)
