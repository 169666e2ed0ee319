"""Code that reads options, of a command line or of the environment: what it sets, it sets once.

Owns which places these are.  A function that compares a text with many names finds an option by it; one that reads the
environment keeps what it found; and a loop that asks ``getopt`` for the next option ends with the command line.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having
from sharing.basics.ways import Mirrors
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, Image, Table
from sharing.static import numbers
from sharing.static.executions import in_loop
from sharing.static.rarefunctions import calls_made

Bools = npt.NDArray[np.bool_]
Addresses = npt.NDArray[np.uint64]


def option_code(
    image: Image, sites: Table, compares: Addresses, environment: Addresses, options: Addresses
) -> tuple[Bools, Bools]:
    """Which of these accesses, and which of the image's calls, are made for an option.

    ``compares``, ``environment`` and ``options`` are what compares texts, reads the environment, and tells the next
    option of a command line.
    """
    calls, stores = image.calls, sites["kind"] == AccessKind.STORE
    readers = calls_made(image, having(calls, "callee", compares)) >= numbers.MANY_NAMES
    seldom = np.append(readers, False)[sites["function"]] & stores
    asking = calls_made(image, having(calls, "callee", environment)) > 0
    seldom |= np.append(asking, False)[sites["function"]] & stores & ~in_loop(sites["loop_depth"])
    # Of a loop in another one, as of a shell, the outer one's rounds are not counted by options.
    asks = picked(calls, having(calls, "callee", options) & (calls["loop_depth"] == 1) & (calls["function"] >= 0))
    if not len(asks):
        return seldom, np.zeros(len(calls), bool)
    mirrors = Mirrors(image)
    loops = distinct(mirrors.loops(asks))
    inside = [in_loop(rows["loop_depth"]) & among(mirrors.loops(rows), loops) for rows in (sites, calls)]
    return seldom | inside[0], inside[1]
