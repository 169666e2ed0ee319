"""How a thread comes to functions that it runs once: from its entry through calls that are made there alone.

Without optimisation what a ``std::thread`` runs is called by the library's templates, a row of small functions; what a
program calls from one place in a thread's entry is like code of the entry as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from sharing.model.image import FunctionFlag, Image
from sharing.static.edges import Edges
from sharing.static.executions import in_loop

MAX_WAY = 16  # functions; libstdc++ has six


def ways_in(
    functions: Collection[int], entries: Mapping[int, int], image: Image, edges: Edges
) -> dict[int, tuple[int, ...]]:
    """Of those of these functions that an entry runs once, the functions on the way there, the entry first.

    ``entries``: roots by function.  No two functions of one root: of the code of one thread a row is known in one.
    """
    callers = np.bincount(edges.callee, minlength=edges.functions)
    taken = image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN != 0
    found: dict[int, tuple[int, ...]] = {}
    roots = [entries[one] for one in functions if one in entries]
    for function in functions:
        way = [function]
        while way[-1] not in entries and len(way) <= MAX_WAY and callers[way[-1]] == 1 and not taken[way[-1]]:
            edge = int(np.flatnonzero(edges.callee == way[-1])[0])
            if in_loop(edges.depth[edge : edge + 1])[0]:
                break
            way.append(int(edges.caller[edge]))
        if len(way) > 1 and way[-1] in entries:
            found[function] = tuple(reversed(way[1:]))
            roots.append(entries[way[-1]])
    return {function: way for function, way in found.items() if roots.count(entries[way[0]]) == 1}
