"""Thread entries that arrive through memory: a function hands what a thread is to do to an entry that calls it.

Owns that pattern.  Programs wrap thread creation: ``launch(work, data)`` puts both into a record and starts a thread in
a function of its own, which calls ``work(data)`` through the pointer in the record.  The record is not followed.  Where
the entry of a started thread calls through a pointer, the code addresses that are passed to the function that starts it
are what such threads do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among
from sharing.model.image import Image, SlotKind
from sharing.static.callees import Argument
from sharing.static.executions import in_loop

MAX_ARGUMENTS = 6  # as many as are passed in registers anywhere


def handed_on(image: Image, starter: int, entry: int, callees: npt.NDArray[Any]) -> set[Argument]:
    """Arguments at which code addresses are thread entries, of a function that starts one which calls such an address.

    ``starter`` and ``entry`` are rows of the function table, ``callees`` are the called addresses, sorted.  What the
    starter stores where the entry does not call, or calls in a loop, is a callback: a part of what some thread does.
    """
    address = image.functions["address"][starter]
    at = int(np.searchsorted(callees, address))
    if at == len(callees) or callees[at] != address:
        return set()  # never called with an argument that is known
    return {(at, argument) for argument in range(MAX_ARGUMENTS)} - {
        (at, one) for one in _callbacks(image, starter, entry)
    }


def _callbacks(image: Image, starter: int, entry: int) -> set[int]:
    """Which arguments of the starter are called elsewhere, or again and again; none where the calls do not tell.

    Of source ``slotcalls`` knows whom they call.
    """
    calls = image.calls[(image.calls["function"] == entry) & (image.calls["callee"] == 0)]
    if image.origins or (calls["slot"] != SlotKind.RECORD).any():
        return set()
    once = calls["where"][~in_loop(calls["loop_depth"])]
    kept = image.kept[(image.kept["function"] == starter) & (image.kept["value"] == 0)]
    otherwise = (kept["slot"] != SlotKind.RECORD) | among(kept["where"], once)
    return set(kept["arg"].tolist()) - set(kept["arg"][otherwise].tolist())


def calls_pointers(image: Image) -> npt.NDArray[np.bool_]:
    """Functions that call through a pointer: of a thread's entry, perhaps what the starter was handed."""
    calls = image.calls
    through = (calls["callee"] == 0) & (calls["function"] >= 0)
    if image.origins:  # of calls in loops source knows whom they call, where anything is known of them
        through &= ~in_loop(calls["loop_depth"]) | ~among(calls["ip"], calls["ip"][calls["callee"] != 0])
    callers = calls["function"][through]
    result: npt.NDArray[np.bool_] = np.bincount(callers, minlength=len(image.functions)) > 0
    return result
