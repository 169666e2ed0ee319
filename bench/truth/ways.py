"""How well the ways through functions are estimated, apart from how often a function runs.

Owns that measure.  A place of a function that ran is executed so many times a run of it, by the counts and by its loops
and its rarity; the orders of the two are compared.  Whatever is made of it later, which functions run and on which
threads, has no part in it, so that an improvement shows here where heat of a few variables is chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.truth.score import ranks
from sharing.model.arrays import picked
from sharing.model.executions import Executions
from sharing.model.image import AccessKind, Image, Table
from sharing.static.executions import times

RUNS = 10  # of a function, so that a share of them can be told
MOST = 10.0  # powers of two: what is rarer, or repeats more often, counts like this
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WaysScore:
    """``correlation``: Spearman's; ``off``: by how many powers of two the estimate is wrong, in the mean."""

    places: int
    correlation: float
    off: float

    def __str__(self) -> str:
        return f"{self.places} places, rank correlation {self.correlation:.2f}, off by 2^{self.off:.1f}"


def ways_score(image: Image, executions: Executions) -> WaysScore | None:
    """Hold accesses and calls of ``image`` against all threads' counts; None where too few functions ran."""
    counted_at = executions.table["address"]
    address, row = np.unique(counted_at, return_inverse=True)
    made = np.bincount(row, executions.table["executions"].astype(np.float64), len(address))

    def counted(at: npt.NDArray[np.uint64]) -> Floats:
        place = np.minimum(np.searchsorted(address, at), max(len(address) - 1, 0))
        return np.where(address[place] == at, made[place], 0.0) if len(address) else np.zeros(len(at))

    entered = counted(image.functions["address"].astype(np.uint64))
    touching = picked(image.sites, image.sites["kind"] != AccessKind.ADDRESS)
    pairs = [_each(rows, entered, counted) for rows in (image.calls, touching)]
    true, said = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    if len(true) < 3 or not np.ptp(true) or not np.ptp(said):
        return None
    correlation = float(np.corrcoef(ranks(true), ranks(said))[0, 1])
    return WaysScore(len(true), correlation, float(np.abs(true - said).mean()))


def _each(rows: Table, entered: Floats, counted: Callable[[npt.NDArray[np.uint64]], Floats]) -> tuple[Floats, Floats]:
    """Of each instruction of a function that ran often, executions a run as powers of two: counted, and estimated."""
    rows = picked(rows, rows["function"] >= 0)
    rows = rows[np.unique(rows["ip"], return_index=True)[1]]
    runs = entered[rows["function"]]
    rows, runs = rows[runs >= RUNS], runs[runs >= RUNS]
    with np.errstate(divide="ignore"):
        true = np.log2(counted(rows["ip"].astype(np.uint64)) / runs)
    said = np.log2(times(rows["loop_depth"], rows["rarity"]))
    return np.clip(true, -MOST, MOST), np.clip(said, -MOST, MOST)
