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
from sharing.model.image import Image
from sharing.static.callees import Argument
from sharing.static.executions import in_loop

MAX_ARGUMENTS = 6  # as many as are passed in registers anywhere


def handed_on(image: Image, starter: int, callees: npt.NDArray[Any]) -> set[Argument]:
    """Arguments at which code addresses are thread entries, of a function that starts one which calls such an address.

    ``starter`` is a row of the function table, ``callees`` are the called addresses, sorted.
    """
    address = image.functions["address"][starter]
    at = int(np.searchsorted(callees, address))
    if at == len(callees) or callees[at] != address:
        return set()  # never called with an argument that is known
    return {(at, argument) for argument in range(MAX_ARGUMENTS)}


def calls_pointers(image: Image) -> npt.NDArray[np.bool_]:
    """Functions that call through a pointer: of a thread's entry, perhaps what the starter was handed."""
    calls = image.calls
    through = (calls["callee"] == 0) & (calls["function"] >= 0)
    if image.origins:  # of calls in loops source knows whom they call, where anything is known of them
        through &= ~in_loop(calls["loop_depth"]) | ~among(calls["ip"], calls["ip"][calls["callee"] != 0])
    callers = calls["function"][through]
    result: npt.NDArray[np.bool_] = np.bincount(callers, minlength=len(image.functions)) > 0
    return result
