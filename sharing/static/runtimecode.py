"""A run-time that is linked into each program of its language, taken for what it is to others: another file.

Owns what an image is without its inside.  Its scheduler and collector are busier than most programs, on data that no
program can move; calls of its functions stay, and what they do is not looked into.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.image import FunctionFlag, Image
from sharing.static.callees import function_name


def without_runtime(image: Image, knowledge: Knowledge) -> Image:
    """Without what the functions of Go's run-time access, call and hand over."""
    go = np.flatnonzero(image.functions["flags"] & FunctionFlag.GO)
    inside = [row for row in go.tolist() if knowledge.is_runtime_code(function_name(image, row))]
    if not inside:
        return image
    of_program = np.ones(len(image.functions) + 1, bool)  # the last one for -1
    of_program[inside] = False
    tables = ("sites", "calls", "args", "params")
    left = {name: getattr(image, name)[of_program[getattr(image, name)["function"]]] for name in tables}
    return dataclasses.replace(image, **left)
