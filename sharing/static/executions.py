"""How often a place is executed in one run of its function, by its loops and its chance.

Owns the reading of ``loop_depth`` and ``rarity`` (SITE_DTYPE, CALL_DTYPE).  How many iterations a loop is taken to have
is the caller's: an estimate for the whole program and one for a thread differ in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.numbers import LOOP_FACTOR, RARITY_STEPS

# Nobody nests loops like this: a switch whose table could not be bounded joins unrelated code into cycles.
IMPLAUSIBLE_LOOPS = 8
MAX_LOOPS = 3  # deeper nests count like this: nobody's hot path is 10^6 iterations of a scan
SELDOM = 40  # rarity of what runs once or next to never among what repeats: 2^-10


def times(
    loop_depth: npt.NDArray[Any], rarity: npt.NDArray[Any], iterations: float = LOOP_FACTOR
) -> npt.NDArray[np.float64]:
    """Executions of a place in one run of its function: so many iterations a loop, less its rarity."""
    loop_depth = np.where(loop_depth >= IMPLAUSIBLE_LOOPS, 0, loop_depth)
    chance = np.exp2(-rarity.astype(np.float64) / RARITY_STEPS)
    result: npt.NDArray[np.float64] = iterations ** np.minimum(loop_depth, MAX_LOOPS) * chance
    return result
