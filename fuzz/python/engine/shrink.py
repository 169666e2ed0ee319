"""A faulty input made small.  Owns the search; what counts as the same fault is the caller's."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 20.0
PLAIN = b"0"


def shrunk(data: bytes, same: Callable[[bytes], bool], seconds: float = SECONDS) -> bytes:
    """The shortest input found in that time for which ``same`` still holds."""
    until = time.monotonic() + seconds
    size = max(len(data) // 2, 1)
    while size and time.monotonic() < until:
        at, removed = 0, False
        while at < len(data) and time.monotonic() < until:
            fewer = data[:at] + data[at + size :]
            if same(fewer):
                data, removed = fewer, True
            else:
                at += size
        if not removed or size > 1:
            size //= 2
    # What has no meaning should look like it.
    for at in range(min(len(data), 512)):
        if time.monotonic() >= until:
            break
        plainer = data[:at] + PLAIN + data[at + 1 :]
        if plainer != data and same(plainer):
            data = plainer
    return data
