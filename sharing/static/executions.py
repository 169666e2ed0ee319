"""Is a place in a loop, is it passed as a rule, and how often is it executed in one run of its function?

Owns the reading of ``loop_depth`` and ``rarity`` (SITE_DTYPE, CALL_DTYPE).  How many iterations a loop is taken to have
is the caller's: an estimate for the whole program and one for a thread differ in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.static import numbers

Bools = npt.NDArray[np.bool_]


def in_loop(loop_depth: npt.NDArray[Any]) -> Bools:
    """Is it in a loop?  Code with implausibly many is, in fewer."""
    result: Bools = loop_depth > 0
    return result


def each_time(rarity: npt.NDArray[Any]) -> Bools:
    """Is it done as a rule where it is passed?"""
    result: Bools = rarity <= numbers.EACH_TIME
    return result


def mostly(rarity: npt.NDArray[Any]) -> Bools:
    """Is it done more often than not where it is passed?"""
    result: Bools = rarity < shared.RARITY_STEPS
    return result


def times(
    loop_depth: npt.NDArray[Any], rarity: npt.NDArray[Any], iterations: float | None = None
) -> npt.NDArray[np.float64]:
    """Executions of a place in one run of its function: so many iterations a loop, less its rarity."""
    iterations = shared.LOOP_FACTOR if iterations is None else iterations
    loop_depth = np.where(loop_depth >= numbers.IMPLAUSIBLE_LOOPS, 0, loop_depth)
    chance = np.exp2(-rarity.astype(np.float64) / shared.RARITY_STEPS)
    result: npt.NDArray[np.float64] = iterations ** np.minimum(loop_depth, numbers.MAX_LOOPS) * chance
    return result


def longer(loop_depth: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """How many times as often as by the estimate for one thread a place in so many loops is executed by the other."""
    always = np.zeros(len(loop_depth))
    result: npt.NDArray[np.float64] = times(loop_depth, always) / times(loop_depth, always, numbers.THREAD_LOOP)
    return result
