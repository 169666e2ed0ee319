"""Where records begin: whatever the words, the chain from the first word on is found, and nothing else."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmu.perfdata.recordstarts import SEGMENT_WORDS, heads_of

SAMPLE, MMAP = 9, 1
# Words that look like headers of samples, and others.
TEMPTING = [0, SAMPLE, SAMPLE | 72 << 48, SAMPLE | 16 << 48, MMAP | 2 << 32 | 8 << 48, (1 << 64) - 1]
BROKEN = [0, SAMPLE | 4 << 48, SAMPLE | 73 << 48, SAMPLE | 65528 << 48]


def step_by_step(words: list[int]) -> tuple[list[int], int]:
    """The plain way: each record's size says where the next is."""
    at, found = 0, []
    while at < len(words):
        size = words[at] >> 48
        if size % 8 or not size or at + size // 8 > len(words):
            break
        found.append(at)
        at += size // 8
    return found, at


def as_read(words: list[int], *, big: bool) -> npt.NDArray[np.uint64]:
    """Words of a file of the other byte order have type, flags and size in the opposite order."""
    if big:
        words = [(w & 0xFFFFFFFF) << 32 | (w >> 32 & 0xFFFF) << 16 | w >> 48 for w in words]
    return np.array(words, np.uint64)


@pytest.mark.skipif(sys.byteorder == "big", reason="the words above are those of a little-endian machine")
@settings(deadline=None)
@given(st.data())
def test_records_are_those_of_the_chain(data: st.DataObject) -> None:
    random = data.draw(st.randoms(use_true_random=False))
    longest = data.draw(st.sampled_from([2, 9, 40, 700, 3 * SEGMENT_WORDS]))
    count = data.draw(st.integers(0, 6 * SEGMENT_WORDS))
    words: list[int] = []
    while len(words) < count:
        length = random.randint(1, longest)
        words.append(random.choice([SAMPLE, MMAP, 300]) | 2 << 32 | 8 * length << 48)
        words += [random.choice(TEMPTING) for _ in range(length - 1)]
    for _ in range(data.draw(st.integers(0, 3)) if words else 0):
        words[random.randrange(len(words))] = random.choice(BROKEN)
    big = data.draw(st.booleans())
    heads, used = heads_of(as_read(words, big=big), big_endian=big)
    assert (heads.tolist(), used) == step_by_step(words)


def test_words_that_only_look_like_records_cost_no_record() -> None:
    """Every record is full of what looks like records that fit together."""
    length = 100
    inside = [SAMPLE | 24 << 48, 0, 0] * (length // 3)
    words = [SAMPLE | 8 * length << 48, *inside] * 200
    heads, used = heads_of(np.array(words, np.uint64), big_endian=False)
    assert heads.tolist() == list(range(0, len(words), length))
    assert used == len(words)
