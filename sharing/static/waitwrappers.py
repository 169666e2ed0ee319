"""Functions that do nothing but wait at a barrier: calls of them are calls at it.

Owns the way from a barrier to such calls.  A program has a ``sync()`` that all its phases call, around a barrier of a
library or of its own: what lies before and behind it is in its callers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, FunctionFlag, Image, Table
from sharing.static import numbers
from sharing.static.callees import calls_of, functions_called
from sharing.static.executions import each_time, in_loop

Bools = npt.NDArray[np.bool_]


def callers_of_waits(image: Image, calls: Table, own: Bools, least: int = 2) -> Table:
    """Calls at a barrier, in the place of those in functions that do no more the calls of these.

    ``own``: functions that threads begin in, which nothing else calls; ``least``: from so many places others are.
    """
    for _ in range(numbers.LOCK_WRAPPERS):
        around = [
            one
            for one in distinct(calls["function"]).tolist()
            if not own[one] and _only_waits(image, calls, one, least)
        ]
        if not around:
            break
        outer = [calls_of(image, int(image.functions["address"][one])) for one in around]
        rows = np.concatenate([calls[~among(calls["function"], around)], image.calls[np.concatenate(outer)]])
        rows = picked(rows, rows["function"] >= 0)
        calls = rows[np.argsort(rows["ip"], kind="stable")]
    return calls


def _only_waits(image: Image, calls: Table, function: int, least: int) -> bool:
    """Whether a function, which is called by its name from several places, waits once each time and changes nothing."""
    row = image.functions[function]
    if row["flags"] & FunctionFlag.ADDRESS_TAKEN or len(calls_of(image, int(row["address"]))) < least:
        return False
    mine = picked(calls, calls["function"] == function)
    if len(mine) != 1 or in_loop(mine["loop_depth"])[0] or not each_time(mine["rarity"])[0]:
        return False
    for rows in (image.sites, image.params, image.behind.elsewhere):
        here = picked(rows, rows["function"] == function)
        if among(here["kind"], (AccessKind.STORE, AccessKind.RMW)).any():
            return False
    here = image.calls["function"] == function
    others = here & (image.calls["ip"] != mine["ip"][0])
    return not (functions_called(image)[others] >= 0).any()
