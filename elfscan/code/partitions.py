"""Functions that gcc put with those that seldom run, by where the linker put them: names and sections are gone.

Owns what the order of GNU ld's script tells, which gold follows.  The code of all objects is put together as
``.text.unlikely``, ``.text.exit``, ``.text.startup``, ``.text.hot`` and then ``.text``; what is left is one section.
Ordinary functions begin behind the C library's run-time of start and end (``crtbegin``), which is the first in
``.text`` that every file has.  In front of it gcc's alignment tells: functions of the first part are made for size and
begin anywhere, those of all others at multiples of 16.  So the last one that does not begin so is the last that is
known to be in the first part.  What runs before main, the init functions, and main are of the third.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model import FunctionFlag

Array = npt.NDArray[Any]

ALIGNMENT = 16  # bytes, of functions from -O2 on (-falign-functions)
RUNTIME_BYTES = 128  # from __do_global_dtors_aux to frame_dummy, which follows it
ORDINARY = 0.99  # share of the functions behind that keep the alignment, for it to be what this file's compiler does
FEWEST = 0.5  # share of the functions in front that do not; 7 or 15 of 16 are to be expected


def seldom_run(table: Array, initial: Sequence[int], final: Sequence[int]) -> Array:
    """Rows of the functions in the part of those that seldom run.

    ``initial`` are the functions that run before main, ``final`` those that run at the end.
    """
    none: Array = np.zeros(0, np.int64)
    begin = np.uint64(_runtime(initial, final))
    text = np.flatnonzero(table["flags"] & np.uint32(FunctionFlag.STUB) == 0)
    around = text[table["address"][text] <= begin]
    if not begin or not len(around):
        return none
    text = text[table["section"][text] == table["section"][around[-1]]]
    at = table["address"][text]
    anywhere = at % np.uint64(ALIGNMENT) != 0
    behind = anywhere[at > begin]
    limit = min(first for first in (int(begin), *initial) if first >= int(at[0]))
    front = np.flatnonzero(anywhere & (at < np.uint64(limit)))
    if not len(front) or not len(behind) or np.count_nonzero(behind) > (1.0 - ORDINARY) * len(behind):
        return none
    chosen = text[: front[-1] + 1]
    return chosen if len(front) >= FEWEST * len(chosen) else none


def _runtime(initial: Sequence[int], final: Sequence[int]) -> int:
    """Where ``crtbegin``'s function that runs at the end is, 0 where it is not seen: right before that of the start."""
    begins = np.sort(np.array(initial, np.uint64))
    for end in sorted(final):
        next_one = int(np.searchsorted(begins, np.uint64(end), "right"))
        if next_one < len(begins) and int(begins[next_one]) - end <= RUNTIME_BYTES:
            return end
    return 0
