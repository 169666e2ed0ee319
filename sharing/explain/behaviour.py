"""What functions do where, as numbers that two builds can be compared by.

Owns which of a function's accesses and calls count.  Who is matched by them is ``match``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.image import FunctionFlag, Image

MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # splitmix64


def function_bodies(image: Image) -> npt.NDArray[np.int64]:
    """One number for what a function does where; 0 for stubs and for functions of which nothing is known."""
    functions = image.functions
    out = np.zeros(len(functions), np.uint64)
    for table, fields in ((image.sites, ("kind", "size", "loop_depth")), (image.calls, ("loop_depth", "tail"))):
        rows = picked(table, table["function"] >= 0)
        if not len(rows):
            continue
        word = mixed(rows["ip"] - functions["address"][rows["function"]])
        for field in fields:
            word = mixed(word ^ rows[field].astype(np.uint64))
        np.add.at(out, rows["function"], word)
    stub = (functions["flags"] & FunctionFlag.STUB) != 0
    sized = np.where((out != 0) & ~stub, mixed(out ^ functions["size"].astype(np.uint64)), np.uint64(0))
    return sized.view(np.int64)


def mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """splitmix64's output function."""
    words = words + MIX[0]
    words = (words ^ (words >> np.uint64(30))) * MIX[1]
    words = (words ^ (words >> np.uint64(27))) * MIX[2]
    return words ^ (words >> np.uint64(31))
