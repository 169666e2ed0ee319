"""How often threads do what they do if loops go round as often as a program's loops may.

Owns the second estimate, which what is called sure has to meet as well.  ``perthread`` takes loops to go round three
times, which orders uses best: most are short.  A thread that compresses, sorts or renders a block between two uses is
in loops within loops for as long, and its uses are seldom for each instruction however few calls are on the way.
What it does in loops is counted by operations, whatever these are on: accesses to what threads may share are few there.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sharing.model.image import Image
from sharing.static.edges import Edges
from sharing.static.executions import longer, times

Floats = npt.NDArray[np.float64]


def longer_calls(edges: Edges) -> Edges:
    """Calls in one run of each caller, as often as its loops then go round."""
    return dataclasses.replace(edges, once=edges.once * longer(edges.depth))


def operations(image: Image) -> Floats:
    """By function what one run does in its loops, in operations; nothing where no source tells."""
    result = np.zeros(len(image.functions))
    if image.origins is None or not len(image.origins.loops):
        return result
    function, depth, rarity, made = image.origins.loops.T
    often = times(depth, rarity) * made
    return result + np.bincount(function, often, len(result))
