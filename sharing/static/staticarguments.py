"""Which arguments are known to lead to objects of static storage, by what calls give.

Owns for which accesses through an argument the accesses to variables already speak (``sharing.static.flow``): what a
function does to what a pointer of another object leads to, nobody sees there.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from sharing.basics.columns import those_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import picked
from sharing.model.image import HELD, ArgKind, Image
from sharing.static import numbers
from sharing.static.callees import function_at, functions_called
from sharing.static.flow import objects_by_entry

Argument = tuple[int, int]  # row of a function, its number


def static_arguments(image: Image, knowledge: Knowledge) -> frozenset[Argument]:
    """Arguments that all calls, and starts of threads, are seen to give the address of such an object."""
    args, calls = image.args, functions_called(image)
    called = Counter(calls[calls >= 0].tolist())
    given = picked(args, (args["kind"] == ArgKind.ADDRESS) & (args["value"].astype(np.uint64) & HELD == 0))
    known = Counter(zip(function_at(image, given["callee"]).tolist(), given["arg"].tolist(), strict=True))
    started = {
        key: all(not data & int(HELD) for data, _ in objects)
        for key, objects in objects_by_entry(image, knowledge).items()
    }
    passed = picked(args, args["kind"] == ArgKind.PARAM)
    to = function_at(image, passed["callee"]).tolist()
    ways = list(zip(passed["function"].tolist(), passed["source"].tolist(), to, passed["arg"].tolist(), strict=True))
    found = set[Argument]()
    for _ in range(numbers.PARAM_ROUNDS + 1):
        every = known + Counter((callee, arg) for function, source, callee, arg in ways if (function, source) in found)
        found = {
            key
            for key in every.keys() | started.keys()
            if every[key] == called[key[0]] and started.get(key, bool(every[key]))
        }
    return frozenset(found)


def through_arguments(image: Image, arguments: frozenset[Argument]) -> frozenset[int]:
    """Instructions that access what one of these arguments leads to."""
    params = image.params
    rows = those_having(params, "function", np.array(sorted({row for row, _ in arguments}), np.int64))
    return frozenset(
        ip
        for ip, row, number in zip(rows["ip"].tolist(), rows["function"].tolist(), rows["arg"].tolist(), strict=True)
        if (row, number) in arguments
    )
