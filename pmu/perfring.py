"""The ring that the kernel writes the records of a perf event to.

Owns where its ends stand (struct perf_event_mmap_page of linux/perf_event.h), and reading around its end.  What the
records say is for those who opened the event.
"""

from __future__ import annotations

import fcntl
import mmap
import struct

_PAGE_BYTES = mmap.PAGESIZE  # the page before the data
_HEAD_AT, _TAIL_AT = 1024, 1032
_SET_OUTPUT = 0x2405  # PERF_EVENT_IOC_SET_OUTPUT


def open_ring(descriptor: int, size: int) -> mmap.mmap:
    """A ring for ``size`` bytes, a power of two of pages.  Raises OSError where the kernel has no room for it."""
    return mmap.mmap(descriptor, _PAGE_BYTES + size)


def share_ring(descriptor: int, first: int) -> None:
    """Has the kernel write what this event says to the ring of ``first``."""
    fcntl.ioctl(descriptor, _SET_OUTPUT, first)


def ends(ring: mmap.mmap) -> tuple[int, int]:
    """(where the oldest record begins that was not read, where the kernel writes next), as counts of bytes."""
    head, tail = struct.unpack_from("=QQ", ring, _HEAD_AT)
    return tail, head


def piece(ring: mmap.mmap, at: int, size: int) -> bytes:
    """Bytes of the ring's data, around its end where they are."""
    room = len(ring) - _PAGE_BYTES
    start = at % room
    first = min(size, room - start)
    data = ring[_PAGE_BYTES + start : _PAGE_BYTES + start + first]
    return data + ring[_PAGE_BYTES : _PAGE_BYTES + size - first]


def release(ring: mmap.mmap, tail: int) -> None:
    """Lets the kernel overwrite what was read, up to there."""
    struct.pack_into("=Q", ring, _TAIL_AT, tail)
