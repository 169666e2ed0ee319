"""Where records begin (``pmu.perfdata.recordstarts``), held against the plain walk from one record to the next.

Owns that walk.  Inputs are repeated until they fill several segments, since shorter stretches are not cut.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fuzz.python.engine.target import Target
from fuzz.python.perf_data import small
from pmu.perfdata.recordstarts import SEGMENT_WORDS, Words, heads_of

_WORDS = 3 * SEGMENT_WORDS


def _seeds() -> Iterable[bytes]:
    for big in (False, True):
        yield bytes([big]) + b"".join(small(big=big).records)
    yield b"\0" + (8).to_bytes(8, "big") * 8


def plain_walk(words: Words, big_endian: bool) -> tuple[list[int], int]:
    """What ``heads_of`` has to find, one record at a time."""
    found, at = [], 0
    while at < len(words):
        word = int(words[at])
        size = word & 0xFFFF if big_endian else word >> 48
        if size % 8 or not size or at + size // 8 > len(words):
            break
        found.append(at)
        at += size // 8
    return found, at


def one(data: bytes) -> None:
    body = data[1:]
    if len(body) < 8:
        return
    big_endian = bool(data[0] & 1)
    raw = (body * (8 * _WORDS // len(body) + 1))[: 8 * _WORDS]
    words = np.frombuffer(raw, ">u8" if big_endian else "<u8").astype(np.uint64)
    heads, used = heads_of(words, big_endian=big_endian)
    assert (heads.tolist(), used) == plain_walk(words, big_endian)


TARGET = Target("the search for records, against a plain walk", one, _seeds, max_bytes=2048)
