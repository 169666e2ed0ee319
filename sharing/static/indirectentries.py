"""Thread entries that arrive through memory: a function hands what a thread is to do to an entry that calls it.

Owns that pattern.  Programs wrap thread creation: ``launch(work, data)`` puts both into a record and starts a thread in
a function of its own, which calls ``work(data)`` through the pointer in the record.  The record is not followed.  Where
the entry of a started thread calls through a pointer, the code addresses that are passed to the function that starts it
are what such threads do.  So are those that another function keeps, as it makes the record for a thread that is started
later, where the entry alone calls what is kept so far behind the begin of a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, those_having
from sharing.model.arrays import among, picked
from sharing.model.image import Image, SlotKind
from sharing.static.callees import Argument
from sharing.static.executions import in_loop

MAX_ARGUMENTS = 6  # as many as are passed in registers anywhere


def handed_on(image: Image, starter: int, entry: int, callees: npt.NDArray[Any]) -> set[Argument]:
    """Arguments at which code addresses are thread entries, of a function that starts one which calls such an address.

    ``starter`` and ``entry`` are rows of the function table, ``callees`` are the called addresses, sorted.  What the
    starter stores where the entry does not call, or calls in a loop, is a callback: a part of what some thread does.
    """
    at = _number(callees, image.functions["address"][starter])
    if at < 0:
        return set()  # never called with an argument that is known
    return {(at, argument) for argument in range(MAX_ARGUMENTS)} - {
        (at, one) for one in _callbacks(image, starter, entry)
    }


def _number(callees: npt.NDArray[Any], address: int) -> int:
    """The number of a callee by its address, -1 of none."""
    at = int(np.searchsorted(callees, address))
    return at if at < len(callees) and callees[at] == address else -1


def kept_for(image: Image, starter: int, entry: int, callees: npt.NDArray[Any]) -> Iterator[Argument]:
    """Arguments of other functions that these keep where the entry's one call through a pointer loads its target.

    Each run of such a function makes one thread, wherever that is started.
    Of source ``slotcalls`` knows whom it calls.
    """
    mine = those_having(image.calls, "function", entry)
    mine = picked(mine, (mine["callee"] == 0) & (mine["slot"] == SlotKind.RECORD))
    if image.origins or len(mine) != 1 or in_loop(mine["loop_depth"])[0]:
        return
    through = those_having(image.calls, "callee", 0)
    through = picked(through, through["function"] >= 0)
    if ((through["slot"] == SlotKind.RECORD) & (through["where"] == mine["where"][0])).sum() > 1:
        return
    kept = picked(image.kept, (image.kept["slot"] == SlotKind.RECORD) & (image.kept["where"] == mine["where"][0]))
    kept = picked(kept, (kept["value"] == 0) & (kept["function"] != starter) & (kept["function"] >= 0))
    for function, argument in zip(kept["function"].tolist(), kept["arg"].tolist(), strict=True):
        if (at := _number(callees, image.functions["address"][function])) >= 0:
            yield at, argument


def _callbacks(image: Image, starter: int, entry: int) -> set[int]:
    """Which arguments of the starter are called elsewhere, or again and again; none where the calls do not tell.

    Of source ``slotcalls`` knows whom they call.
    """
    calls = those_having(image.calls, "function", entry)
    calls = picked(calls, calls["callee"] == 0)
    if image.origins or (calls["slot"] != SlotKind.RECORD).any():
        return set()
    once = calls["where"][~in_loop(calls["loop_depth"])]
    kept = picked(image.kept, (image.kept["function"] == starter) & (image.kept["value"] == 0))
    otherwise = (kept["slot"] != SlotKind.RECORD) | among(kept["where"], once)
    return set(kept["arg"].tolist()) - set(kept["arg"][otherwise].tolist())


def calls_pointers(image: Image, *, once: bool = False) -> npt.NDArray[np.bool_]:
    """Functions that call through a pointer: of a thread's entry, perhaps what the starter was handed.

    ``once``: outside of loops, as what runs a callable object calls what that holds.
    """
    calls = image.calls
    through = (calls["callee"] == 0) & (calls["function"] >= 0)
    if once:
        through &= ~in_loop(calls["loop_depth"])
    if image.origins:  # of calls in loops source knows whom they call, where anything is known of them
        through &= ~in_loop(calls["loop_depth"]) | ~having(calls, "ip", calls["ip"][calls["callee"] != 0])
    callers = calls["function"][through]
    result: npt.NDArray[np.bool_] = np.bincount(callers, minlength=len(image.functions)) > 0
    return result
