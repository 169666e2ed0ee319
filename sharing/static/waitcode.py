"""Loops in which the C++ library waits for a word to change: no work of the program, however often they go around.

Owns which functions these are and the image without their loops.  A latch, a semaphore and ``std::atomic::wait`` ask a
few times, yield the processor and sleep in the end (bits/atomic_wait.h of libstdc++; __atomic/atomic_sync.h of libc++).
Compilers keep that in functions of their own, which are handed the word, so that each caller seemed to read the word
more often than anything else is used.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from sharing.model.arrays import among
from sharing.model.image import Image, Table

# Linkage names begin so (Itanium C++ ABI, 5.1): a name's length stands before it.
_WAITS = [f"__atomic_wait_address{how}{end}" for how in ("", "_for", "_until") for end in ("", "_v", "_bare")]
_WAITING = (
    *(f"_ZSt{len(name)}{name}" for name in _WAITS),
    "_ZNSt8__detail13__atomic_spin",
    "_ZNSt8__detail13__waiter_base",
    "_ZNSt8__detail13__waiter_pool",
    "_ZNSt8__detail18__waiter_pool_base",
    "_ZNSt8__detail8__waiter",
    "_ZNSt8__detail14__timed_waiter",
    "_ZNSt3__133__libcpp_thread_poll_with_backoff",
)


def without_waiting_loops(image: Image) -> Image:
    """The image in which such functions do once what they do in loops."""
    names = [at for at, name in enumerate(image.names) if name.startswith(_WAITING)]
    waiting = np.append(among(image.functions["name"], names), False)  # the last one for -1
    if not waiting.any():
        return image

    def flat(rows: Table) -> Table:
        rows = rows.copy()
        function, depth = rows["function"], rows["loop_depth"]
        depth[waiting[function]] = 0
        return rows

    return dataclasses.replace(image, sites=flat(image.sites), calls=flat(image.calls), params=flat(image.params))
