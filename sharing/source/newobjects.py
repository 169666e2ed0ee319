"""Arguments of calls that lead to objects which their function makes: nobody else has these yet.

Owns these arguments, as ``Origins.new`` has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.facts import Passed
from sharing.model.origins import argument_keys
from sharing.source.events import FactRows


def new_objects(calls: FactRows, args: FactRows, ip: Any) -> npt.NDArray[np.uint64]:
    """The arguments that lead to what their function makes, sorted and as numbers."""
    rows = np.flatnonzero((args["kind"] == Passed.NEW) & (args["call"] >= 0) & (args["arg"] < 256))
    row = calls.first[args.function[rows]] + args["call"][rows]
    inside = row < calls.first[args.function[rows] + 1]
    return np.unique(argument_keys(ip[row[inside]], args["arg"][rows][inside]))
