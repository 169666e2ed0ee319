"""How often a place is executed in one run of its function, by its loops and its chance.

Owns the reading of ``loop_depth`` and ``rarity`` (SITE_DTYPE, CALL_DTYPE).  How many iterations a loop is taken to have
is the caller's: an estimate for the whole program and one for a thread differ in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.static import numbers

# Nobody nests loops like this: a switch whose table could not be bounded joins unrelated code into cycles.


def times(
    loop_depth: npt.NDArray[Any], rarity: npt.NDArray[Any], iterations: float | None = None
) -> npt.NDArray[np.float64]:
    """Executions of a place in one run of its function: so many iterations a loop, less its rarity."""
    iterations = shared.LOOP_FACTOR if iterations is None else iterations
    loop_depth = np.where(loop_depth >= numbers.IMPLAUSIBLE_LOOPS, 0, loop_depth)
    chance = np.exp2(-rarity.astype(np.float64) / shared.RARITY_STEPS)
    result: npt.NDArray[np.float64] = iterations ** np.minimum(loop_depth, numbers.MAX_LOOPS) * chance
    return result
