"""What source says of the instructions of an image that was made of it.

Owns where each of them is written, the locks that are held there, and which arguments of calls lead to objects of which
nobody else knows.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

# Where in the source a site, call or argument is, by its ip.
ORIGIN_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("file", "<i4"),  # index into Image.files
        ("line", "<u4"),
        ("column", "<u4"),
        ("lockset", "<i4"),  # index into Origins.locksets, -1 unknown
    ]
)


def argument_keys(ips: npt.NDArray[np.uint64], args: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """One number for each argument of a call."""
    keys: npt.NDArray[np.uint64] = ips * np.uint64(256) + args.astype(np.uint64)
    return keys


class Origins(msgspec.Struct, frozen=True):
    """Places in source by ``ip`` (ORIGIN_DTYPE, sorted), and the locks held there as addresses of lock objects.

    Locksets are the function's own doing; ``required`` (by function row) are those that annotations say it is called
    with.  ``new`` are arguments (``argument_keys``, sorted) that lead to an object which the caller makes: nobody else
    has it.  ``loops`` is what functions do in loops: function row and LOOP_COLUMNS.  ``makers`` are the rows of
    functions that allocate objects of a record, by its identity.  ``begun``: by address of a variable the number that
    its declaration begins it with, as ``gate(1)``.
    """

    table: npt.NDArray[Any]
    locksets: tuple[frozenset[int], ...]
    required: dict[int, frozenset[int]] = msgspec.field(default_factory=dict)
    new: npt.NDArray[np.uint64] = msgspec.field(default_factory=lambda: np.empty(0, np.uint64))
    makers: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    begun: dict[int, int] = msgspec.field(default_factory=dict)
    loops: npt.NDArray[np.int64] = msgspec.field(default_factory=lambda: np.empty((0, 4), np.int64))

    def rows(self, ips: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Row of each ip, -1 where nothing is recorded."""
        if not len(self.table):
            return np.full(len(ips), -1, np.int64)
        known = self.table["ip"]
        row = np.minimum(np.searchsorted(known, ips), len(known) - 1)
        return np.where(known[row] == ips, row, -1)

    def leads_to_new(self, args: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which of these arguments (ARG_DTYPE) lead to an object that nobody else has."""
        return np.isin(argument_keys(args["ip"], args["arg"]), self.new)
