"""Starts of threads behind a variable that tells whether the thread runs already: ``if (!running) start();``.

Owns which calls are so.  However often their function is called, from however many places, a second thread is not
started while the first one runs: who stops it clears the variable.
"""

from __future__ import annotations

import numpy as np

from sharing.model.arrays import among
from sharing.model.image import AccessKind, ArgKind, Image, SiteFlag, Table, ZeroRange
from sharing.static.executions import in_loop


def behind_its_mark(image: Image, ip: int, entry: int) -> bool:
    """Whether this call, which starts a thread at function number ``entry``, runs only where a variable was found to be
    zero that is set behind the same test, or by the thread when it begins.

    It is set by a store, or by a call that is handed its address: the handle of a thread is the usual mark.
    """
    ranges, at = image.zero_ranges, np.uint64(ip)
    around = (ranges["what"] == ZeroRange.IS_ZERO) & (ranges["begin"] <= at) & (at < ranges["end"])
    return any(_is_set(image, ranges[row : row + 1], entry) for row in np.flatnonzero(around).tolist())


def _is_set(image: Image, one: Table, entry: int) -> bool:
    """Is the variable of this range set in it or by the entry, to something that is not zero as far as that is seen?"""
    begin, end = one["begin"], one["end"]

    def within(rows: Table) -> Table:
        ip = rows["ip"]
        return rows[(begin <= ip) & (ip < end)]

    first = (image.sites["function"] == entry) & ~in_loop(image.sites["loop_depth"])
    sites, args = np.concatenate([within(image.sites), image.sites[first]]), within(image.args)
    stored = among(sites["kind"], (AccessKind.STORE, AccessKind.RMW)) & (sites["flags"] & SiteFlag.CLEARS == 0)
    handed = (args["kind"] == ArgKind.ADDRESS) & (args["value"].astype(np.uint64) == one["variable"])
    return bool((stored & (sites["target"] == one["variable"])).any() or handed.any())
