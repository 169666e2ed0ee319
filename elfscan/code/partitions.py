"""Functions that gcc put with those that seldom run, by where the linker put them: names and sections are gone.

Owns what the order of GNU ld's script tells, which gold follows.  The code of all objects is put together as
``.text.unlikely``, ``.text.exit``, ``.text.startup``, ``.text.hot`` and then ``.text``; what is left is one section.
Ordinary functions begin behind the C library's run-time of start and end (``crtbegin``), which is the first in
``.text`` that every file has.  In front of it gcc's alignment tells: functions of the first part are made for size and
begin anywhere, those of all others at multiples of 16.  So the last one that does not begin so is the last that is
known to be in the first part.  What runs before main, the init functions, and main are of the third, with what only
they call.  So where one of these is in front, what ordinary code calls or jumps to in front of it is of the first part
as well, however it begins.  clang leaves main with all others.  Then what ordinary code calls on branches alone is of
the first part, since nothing else of the fourth would be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.kernel import end_functions
from elfscan.fileformat.program import Program
from sharing.model import FunctionFlag
from sharing.model.arrays import picked
from sharing.model.image import ArgKind

Array = npt.NDArray[Any]

ALIGNMENT = 16  # bytes, of functions from -O2 on (-falign-functions)
RUNTIME_BYTES = 128  # from __do_global_dtors_aux to frame_dummy, which follows it
ORDINARY = 0.99  # share of the functions behind that keep the alignment, for it to be what this file's compiler does
FEWEST = 0.5  # share of the functions in front that do not; 7 or 15 of 16 are to be expected
ON_BRANCHES = 4  # steps of rarity, of a way that is gone every other time
BY_CHANCE = 1  # function in front that does by chance: of more it is not to be expected


def set_aside(
    program: Program, table: Array, initial: Sequence[int], callees: Mapping[int, str], found: Mapping[str, Array]
) -> None:
    """Flag these functions in the ``table`` of a file; see ``seldom_run``."""
    final = end_functions(program.elf, program.layout, program.linkage)
    table["flags"][seldom_run(table, initial, final, callees, found)] |= np.uint32(FunctionFlag.ASIDE)


def seldom_run(
    table: Array,
    initial: Sequence[int],
    final: Sequence[int],
    callees: Mapping[int, str] = MappingProxyType({}),
    found: Mapping[str, Array] = MappingProxyType({}),
) -> Array:
    """Rows of the functions in the part of those that seldom run.

    ``initial`` are the functions that run before main, ``final`` those that run at the end.  What the code calls tells
    more: ``callees`` are names of other files' functions, ``found`` the tables of calls and arguments.
    """
    none: Array = np.zeros(0, np.int64)
    begin = np.uint64(_runtime(initial, final))
    text = np.flatnonzero(table["flags"] & np.uint32(FunctionFlag.STUB) == 0)
    around = text[table["address"][text] <= begin]
    if not begin or not len(around):
        return none
    section = table["section"]
    text = text[section[text] == section[around[-1]]]
    at = table["address"][text]
    anywhere = at % np.uint64(ALIGNMENT) != 0
    behind = anywhere[at > begin]
    if not len(behind) or np.count_nonzero(behind) > (1.0 - ORDINARY) * len(behind):
        return none
    main = _main(callees, found["args"]) if found else 0
    limit = min(first for first in (int(begin), *initial, main) if first >= int(at[0]))
    front = np.flatnonzero(anywhere & (at < np.uint64(limit)))
    chosen = text[: front[-1] + 1] if len(front) else none
    chosen = chosen if len(front) >= FEWEST * len(chosen) else none
    if not found:
        return chosen
    calls = picked(found["calls"], found["calls"]["function"] >= 0)
    starts = np.uint64(min(first for first in initial if first > int(begin)))
    calls = picked(calls, (table["address"][calls["function"]] > starts) & (calls["callee"] < np.uint64(limit)))
    last = int(np.searchsorted(at, calls["callee"].max(initial=0), "right"))
    if limit == int(begin) and (calls["rarity"][calls["callee"] >= at[0]] < ON_BRANCHES).any():
        return chosen  # where that part ends is not seen: it may be what is often run
    others = anywhere[1:last]  # what is first in a section is aligned in any case
    sure = len(others) <= BY_CHANCE or np.count_nonzero(others) >= FEWEST * len(others)
    return text[:last] if sure and last > len(chosen) else chosen


def _main(callees: Mapping[int, str], args: Array) -> int:
    """What start-up code hands to the C library (LSB Core, "__libc_start_main"), 0 where that is not seen."""
    starts = np.array([address for address, name in callees.items() if name == "__libc_start_main"], np.uint64)
    handed = (args["arg"] == 0) & (args["kind"] == ArgKind.ADDRESS) & np.isin(args["callee"], starts)
    return int(args["value"][handed][0]) if handed.any() else 0


def _runtime(initial: Sequence[int], final: Sequence[int]) -> int:
    """Where ``crtbegin``'s function that runs at the end is, 0 where it is not seen: right before that of the start."""
    begins = np.sort(np.array(initial, np.uint64))
    for end in sorted(final):
        next_one = int(np.searchsorted(begins, np.uint64(end), "right"))
        if next_one < len(begins) and int(begins[next_one]) - end <= RUNTIME_BYTES:
            return end
    return 0
