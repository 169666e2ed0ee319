"""Whether threads use memory behind pointers, which an image alone does not place on lines.

Owns that question.  Which object a pointer leads to is not asked: new objects have no address before the program runs.
"""

from __future__ import annotations

import numpy as np

from sharing.model.arrays import picked
from sharing.model.image import AccessKind, Image
from sharing.static.callgraph import CallGraph

NOTE = (
    "only variables in static storage are judged, single objects that a static pointer leads to from before threads "
    "start, or that threads are handed, and by debug information atomics and locks in records; what else threads use "
    "behind pointers a profile shows: "
    "linemate record -- COMMAND, then audit --samples"
)


def used_by_threads(image: Image, calls: CallGraph) -> bool:
    """Does a function that a started thread runs write through a pointer that it was handed?"""
    started = sum(1 << i for i, root in enumerate(calls.roots) if root.function >= 0 and root.name != "main")
    rows = picked(image.params, image.params["kind"] != AccessKind.ADDRESS)
    rows = picked(rows, rows["function"] >= 0)
    return bool(np.any(calls.mask[rows["function"]] & np.uint64(started)))
