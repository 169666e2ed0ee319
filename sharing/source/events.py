"""Events of functions as columns, and the synthetic address of each: where an instruction would be in a binary.

Owns those addresses: a function is as long as it has events (accesses, calls, lock operations, thread starts), and an
event's ``ip`` is its rank by block, line and column, so that what comes earlier in the source of a block has the lower
address.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.facts import LOOP_COLUMNS, FunctionFacts

# Code for each access and call: three instructions, the median of the functions of six programs in source and as built.
EVENT_BYTES = 12

Ints = npt.NDArray[np.int64]


class FactRows:
    """Flat fact rows of all functions in one array, with the function that each belongs to."""

    def __init__(self, columns: tuple[str, ...], flat: list[tuple[int, ...]]) -> None:
        width = len(columns)
        lengths = [len(f) // width for f in flat]
        joined: list[int] = []
        for f, n in zip(flat, lengths, strict=True):
            joined.extend(f[: n * width])
        self._table = np.array(joined, np.int64).reshape(-1, width)
        self.columns = columns
        self.function: Ints = np.repeat(np.arange(len(flat)), lengths)
        self.first: Ints = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> Ints:
        result: Ints = self._table[:, self.columns.index(column)]
        return result


def in_loops(functions: list[FunctionFacts]) -> Ints:
    """What functions do in loops: the row of each function, and LOOP_COLUMNS."""
    rows = FactRows(LOOP_COLUMNS, [f.loops for f in functions])
    return np.column_stack([rows.function, *(rows[name] for name in LOOP_COLUMNS)])


class BlockStarts:
    """Where the events of a block begin; ``keys`` are those of all events, sorted (``_block_key``)."""

    def __init__(self, keys: Ints, address: npt.NDArray[np.uint64]) -> None:
        self._keys, self._address = keys, address

    def find(self, function: Ints, order: Ints) -> npt.NDArray[np.uint64]:
        """The address of the first event that is not before a block."""
        rank = np.searchsorted(self._keys, _block_key(function, order)) - np.searchsorted(
            self._keys, _block_key(function, np.zeros_like(order))
        )
        return _event_address(self._address, function, rank)


def _block_key(function: Ints, order: Ints) -> Ints:
    return (function << 17) | order  # one more than the last order of a function is less than the first of the next


def _event_address(address: npt.NDArray[np.uint64], function: Ints, rank: Ints) -> npt.NDArray[np.uint64]:
    return address[function] + np.uint64(1) + np.uint64(EVENT_BYTES) * rank.astype(np.uint64)


def ranked(
    rows: list[FactRows], starts: list[tuple[int, Any]], address: npt.NDArray[np.uint64]
) -> tuple[list[Any], BlockStarts]:
    """Unique instruction addresses: by function, block order, line and column, calls behind the accesses they need."""
    function = np.concatenate([*(r.function for r in rows), np.array([row for row, _ in starts], np.int64)])
    if not len(function):
        return [np.empty(0, np.uint64) for _ in range(len(rows) + 1)], BlockStarts(function, address)
    key = [
        np.concatenate([*(r[name] for r in rows), np.array([getattr(s, name) for _, s in starts], np.int64)])
        for name in ("order", "line", "column")
    ]
    sort = np.lexsort((key[2], key[1], key[0], function))
    first = np.searchsorted(function[sort], np.arange(len(address)))
    rank = np.empty(len(sort), np.int64)
    rank[sort] = np.arange(len(sort)) - first[function[sort]]
    ip = _event_address(address, function, rank)
    ends = np.cumsum([len(r) for r in rows])
    return list(np.split(ip, ends)), BlockStarts(_block_key(function[sort], key[0][sort]), address)
