"""Where objects of a size begin, by the calls of the program that allocate so many bytes.

Owns the alignment that all of these ask for: what is behind a pointer is one of their objects, whichever it is.  A call
whose size is computed tells nothing of any.
"""

from __future__ import annotations

import numpy as np

from sharing.basics.columns import distinct_in, having
from sharing.basics.geometry import round_up
from sharing.model.arrays import picked
from sharing.model.image import HEAP_ALIGNMENT, ArgKind, Image
from sharing.static.allocations import allocating_calls, allocation
from sharing.static.callees import names_of_callees

_STORES = "posix_memalign"  # its arguments: where the pointer goes, alignment, size (POSIX.1-2017)


def alignments(image: Image) -> list[tuple[int, int]]:
    """(bytes, alignment) of each call that asks an allocator for a number of bytes that is known."""
    callees = distinct_in(image.calls, "callee")
    named = list(zip(callees.tolist(), names_of_callees(image, callees), strict=True))
    asked = [allocation(image, ip)[:2] for ip in allocating_calls(image)["ip"].tolist()]
    storing = np.array([at for at, name in named if name.endswith(_STORES)], np.uint64)
    args = picked(image.args, having(image.args, "callee", storing) & (image.args["kind"] == ArgKind.CONSTANT))
    given = {(ip, arg): value for ip, arg, value in args[["ip", "arg", "value"]].tolist()}
    asked += [(given.get((ip, 2), 0), given.get((ip, 1), 0)) for ip in np.unique(args["ip"]).tolist()]
    return [(size, alignment) for size, alignment in asked if size]


def begin_of(size: int, asked: list[tuple[int, int]]) -> int:
    """The alignment of objects of so many bytes: what is asked for alone may be rounded up to whole alignments."""
    known = [to for many, to in asked if size <= many <= round_up(size, max(to, HEAP_ALIGNMENT))]
    least = min(known, default=0)
    return least if least & (least - 1) == 0 else 0
