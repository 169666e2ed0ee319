"""Bytes of a typed variable at which no member is: the padding inside of records.

Owns the question for a stretch of a variable.  What is drawn of it is the caller's.
"""

from __future__ import annotations

import numpy as np

from sharing.model.image import Image
from sharing.model.profile import Range
from sharing.model.types import MAX_LEAVES


def described(image: Image, row: int) -> int:
    """Bytes of a variable, from its first, of which the type says all members; 0 where it says none.

    A record that ends in an array without bounds is larger as a variable than as a type.
    """
    kind, size = int(image.variables["type"][row]), int(image.variables["size"][row])
    if kind < 0:
        return 0
    members = image.types.flatten(kind)
    scalar = len(members) == 1 and not members[0].path and not members[0].stride
    # Beyond the cut of a giant type nothing is known, so nothing there may be called a hole.
    if not members or scalar or len(members) >= MAX_LEAVES:
        return 0
    return min(max(image.types.size(kind), 0), size)


def holes(image: Image, row: int, start: int, end: int) -> list[Range]:
    """Addresses within [start, end) that are in a variable and in none of its members."""
    base = int(image.variables["address"][row])
    low, high = max(start, base), min(end, base + described(image, row))
    if low >= high:
        return []
    free = np.ones(high - low, np.bool_)
    for member in image.types.flatten(int(image.variables["type"][row])):
        several = member.stride > 0 and "[]" in member.path
        first = base + member.offset
        numbers = range(1)
        if several:
            begin = max((low - first - member.size) // member.stride + 1, 0)
            numbers = range(begin, min(-(-(high - first) // member.stride), member.count))
        for number in numbers:
            at = first + number * member.stride - low
            free[max(at, 0) : max(at + member.size, 0)] = False
    edges = np.flatnonzero(np.diff(free, prepend=False, append=False)).reshape(-1, 2)
    return [(low + begin, low + stop) for begin, stop in edges.tolist()]
