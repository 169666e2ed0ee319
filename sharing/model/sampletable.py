"""Samples as columns: a profile of millions of samples takes memory only for what its events record.

Owns access to columns and rows.  Does not say what a column means (``sharing.model.samples``).

A column that no event records is one value, seen as many.  Chosen rows are gathered column by column when a column is
asked for: who wants three columns of many samples pays for three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]


class SampleRows(Protocol):
    """What users of samples need: a column by name, rows by slice, index array or mask.

    A structured array of SAMPLE_DTYPE is one too.
    """

    def __getitem__(self, key: Any, /) -> Any: ...

    def __setitem__(self, key: Any, value: Any, /) -> None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


class SampleTable:
    """Columns of one length."""

    __slots__ = ("_chosen", "_columns", "_count")

    def __init__(self, columns: Mapping[str, Column], count: int) -> None:
        self._columns = dict(columns)
        self._count = count
        self._chosen: tuple[dict[str, Column], npt.NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(self._count))

    def __getitem__(self, key: Any) -> Any:
        """A column by name, a row by number, else the chosen rows as another table."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, int | np.integer):
            if not -self._count <= key < self._count:
                raise IndexError(f"row {key} of {self._count}")
            return {name: self._column(name)[key] for name in self._names()}
        if isinstance(key, slice):
            start, stop, step = key.indices(self._count)
            return SampleTable({name: self._column(name)[key] for name in self._names()}, len(range(start, stop, step)))
        rows = np.asarray(key)
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64, copy=False)
        out = SampleTable({}, len(rows))
        out._chosen = {name: self._column(name) for name in self._names()}, rows
        return out

    def __setitem__(self, name: str, values: Any) -> None:
        """Replaces a column."""
        old = self._column(name)
        self._columns[name] = np.broadcast_to(np.asarray(values), old.shape).astype(old.dtype, copy=False)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns that take any."""
        columns = [self._column(name) for name in self._names()]
        return sum(one.nbytes for one in columns if one.strides != (0,))

    def _names(self) -> Iterator[str]:
        return iter(self._columns if self._chosen is None else self._chosen[0])

    def _column(self, name: str) -> Column:
        if self._chosen is not None and name not in self._columns:
            columns, rows = self._chosen
            self._columns[name] = _take(columns[name], rows)
        return self._columns[name]


def _take(column: Column, rows: npt.NDArray[np.int64]) -> Column:
    if column.strides == (0,) and len(column):
        return np.broadcast_to(column[0], len(rows))
    return column.take(rows)
