"""Where the records of a stretch of words begin.

Owns the walk over record headers.  Does not read files and does not know what records say.

A record is found only through the one before it.  So a stretch is cut into segments, the first word of each that looks
like a header is taken as a guess, and all segments are walked side by side, one step of numpy for all of them.  Where
one walk arrives at the beginning of the next, both are parts of one chain.  The chain starts at the first word, so a
wrong guess costs time and never a record: a loop steps on to the next record that a walk has found.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

SIZE_SHIFT = np.uint64(48)
# Bits that no header has: of a size that is no multiple of 8, of a type beyond those that there are.
NOT_OF_A_HEADER = np.uint64(7 << 48 | 0xFFFFFF80)
SMALLEST_HEADER = np.uint64(8 << 48)
SEGMENT_WORDS = 1024
WINDOW_WORDS = 48  # of a segment in which its first record is looked for
WHOLE_WORDS = np.uint16(0xFFFC)  # in quarters
STEPS = 16  # of all walks, between two looks at which have ended


def headers_of(first: Words, *, big_endian: bool) -> Words:
    """First words of records, as a little-endian machine writes them: type, misc, size from the lowest bit on."""
    if not big_endian:
        return first
    out: Words = first >> np.uint64(32) | (first & np.uint64(0xFFFF0000)) << np.uint64(16) | first << SIZE_SHIFT
    return out


def heads_of(words: Words, *, big_endian: bool) -> tuple[Positions, int]:
    """Index of each whole record's first word, and of the first word after them."""
    guesses = _walks(words, big_endian=big_endian)
    sizes = headers_of(words.take(guesses), big_endian=big_endian) >> SIZE_SHIFT
    ends = guesses + (sizes >> np.uint64(3)).view(np.int64)
    # A size of 0, or one that is no multiple of 8, ends the walk: as an end before the beginning it breaks every run.
    ends[(sizes & np.uint64(7) != 0) | (sizes == 0)] = -1
    # Runs of guesses in which each ends where the next begins: where they begin and end among the guesses.
    last = np.append(np.flatnonzero(ends[:-1] != guesses[1:]), len(guesses) - 1)[: len(guesses)]
    low = np.append(0, last[:-1] + 1)[: len(guesses)]
    runs = zip(
        low.tolist(), last.tolist(), guesses[low].tolist(), guesses[last].tolist(), ends[last].tolist(), strict=True
    )
    quarters = memoryview(words.view(np.uint16).data)
    lane = _size_lane(big_endian)
    found: list[Positions] = []
    single: list[int] = []
    count, at = len(words), 0
    nothing = (0, -1, count, count, count)
    first, final, begins, ends_with, stop = next(runs, nothing)
    while at < count:
        while ends_with < at:
            first, final, begins, ends_with, stop = next(runs, nothing)
        if begins <= at:
            if begins < at:
                first += int(np.searchsorted(guesses[first : final + 1], at))
            if int(guesses[first]) == at:
                whole = ends_with < stop <= count
                if single:
                    found.append(np.array(single, np.int64))
                    single = []
                found.append(guesses[first : final + whole])
                if not whole:
                    at = ends_with
                    break
                at = stop
                continue
        size = quarters[4 * at + lane]
        step = size >> 3
        if size & 7 or not step or at + step > count:
            break
        single.append(at)
        at += step
    if single:
        found.append(np.array(single, np.int64))
    return found[0] if len(found) == 1 else np.concatenate([np.zeros(0, np.int64), *found]), at


def _walks(words: Words, *, big_endian: bool) -> Positions:
    """What is found from the guesses of all segments, each up to the guess of the next; ascending."""
    count, lane = len(words), _size_lane(big_endian)
    quarters = words.view(np.uint16)
    starts = _guesses(words, big_endian=big_endian)
    at = 4 * starts + lane  # of the sizes, in quarters of a word
    stop = np.append(at[1:], 4 * count + lane)
    walk = np.arange(len(starts))
    done = np.zeros(len(starts), np.int64)
    parts: list[tuple[Positions, Positions, npt.NDArray[np.bool_]]] = []
    while len(walk):
        place = np.empty((STEPS, len(walk)), np.int64)
        for row in place:
            row[:] = at
            size = quarters.take(at, mode="clip")
            size >>= 1  # from bytes to quarters of a word
            size &= WHOLE_WORDS
            at = at + size
        inside = place < stop
        parts.append((walk, place, inside))
        done[walk] += inside.sum(axis=0)
        # A walk also ends at a size of zero, which says nothing of where the next record is.
        on = (at < stop) & (at > place[-1])
        if not on.all():
            walk, at, stop = walk[on], at[on], stop[on]
    return _joined(parts, done) >> 2


def _joined(parts: list[tuple[Positions, Positions, npt.NDArray[np.bool_]]], counts: Positions) -> Positions:
    """One walk after the other."""
    out = np.empty(int(counts.sum()), np.int64)
    to = np.cumsum(counts) - counts
    steps = np.arange(STEPS)[:, None]
    for walk, place, inside in parts:
        into = to[walk] + steps
        if inside.all():
            out[into] = place
        else:
            out[into[inside]] = place[inside]
        to[walk] += inside.sum(axis=0)
    return out


def _guesses(words: Words, *, big_endian: bool) -> Positions:
    """The first word, and of each other segment the first of its beginning that looks like a header, if any does."""
    whole = np.arange(SEGMENT_WORDS, len(words) - WINDOW_WORDS, SEGMENT_WORDS)
    if not len(whole):
        return np.zeros(min(len(words), 1), np.int64)
    windows = np.lib.stride_tricks.as_strided(
        words[SEGMENT_WORDS:], (len(whole), WINDOW_WORDS), (8 * SEGMENT_WORDS, 8), writeable=False
    )
    headers = headers_of(windows, big_endian=big_endian)
    likely = (headers & NOT_OF_A_HEADER == 0) & (headers >= SMALLEST_HEADER)
    first = likely.argmax(axis=1)
    guessed = np.take_along_axis(likely, first[:, None], axis=1)[:, 0]
    return np.append(0, (whole + first)[guessed])


def _size_lane(big_endian: bool) -> int:
    """Which 16 bits of a word in this machine's order hold a record's size: the upper ones, or the lower ones."""
    return 0 if big_endian == (sys.byteorder == "little") else 3
