"""The reader of BOLT's .fdata: taken branches by function and offset, or hits of a profiler without branch records.

Owns that text.  A branch is ``KIND FROM OFFSET KIND TO OFFSET MISPREDICTIONS COUNT``, a hit ``KIND NAME OFFSET COUNT``
below the header ``no_lbr``; a kind is 0 outside of the program, 1 a function (names with a slash are of one unit
alone), 3 to 5 the same of memory that was used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from sharing.model.errors import Malformed, Unrecognized
from sharing.model.executions import EXECUTION_DTYPE, Executions, NamedCounts
from sharing.model.inputs import open_input

MAX_LINE_BYTES = 1 << 17
MAX_ROWS = 1 << 22
MAX_COUNT = 1 << 60
BRANCH = re.compile(
    rb"([0-2]) (\S+) ([0-9a-f]{1,16}) ([0-2]) (\S+) ([0-9a-f]{1,16}) (\d{1,20}) (\d{1,20})$"
)  # names never have a blank: BOLT escapes it
HIT = re.compile(rb"([0-2]) (\S+) ([0-9a-f]{1,16}) (\d{1,20})$")
MEMORY = re.compile(rb"[3-5] ")
HEADERS = (b"no_lbr", b"boltedcollection")
FUNCTION = b"1"


def read(path: Path) -> Executions:
    """Raises Unrecognized for another format, Malformed for a broken file."""
    jumps: dict[tuple[str, int, str, int], int] = defaultdict(int)
    hits: dict[tuple[str, int], int] = defaultdict(int)
    at, rows, recorder = 0, 0, "BOLT"
    with open_input(path, "a file of counts") as file:
        while line := file.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise _wrong(path, at, rows, f"has a line of more than {MAX_LINE_BYTES} bytes")
            text = line.rstrip(b"\r\n")
            branch, hit = BRANCH.match(text), HIT.match(text)
            if branch is not None:
                if branch[1] == FUNCTION or branch[4] == FUNCTION:
                    place = (*_place(branch[1], branch[2], branch[3]), *_place(branch[4], branch[5], branch[6]))
                    jumps[place] += _count(path, at, branch[8])
            elif hit is not None:
                if hit[1] == FUNCTION:
                    hits[_place(hit[1], hit[2], hit[3])] += _count(path, at, hit[4])
            elif text and not text.startswith(HEADERS) and MEMORY.match(text) is None:
                raise _wrong(path, at, rows, "is neither a branch nor a hit in BOLT's format")
            rows += 1
            if rows > MAX_ROWS:
                raise Malformed(str(path), at, f"has more than {MAX_ROWS} lines")
            at += len(line)
    if not jumps and not hits:
        raise Unrecognized(str(path), "has no branches and no hits in BOLT's format")
    # perf2bolt samples branches; an instrumented program counts them, and nothing in the file tells which it was.
    named = NamedCounts(jumps=dict(jumps), hits=dict(hits), sampled=bool(hits))
    return Executions(np.empty(0, EXECUTION_DTYPE), (), (), (), "", recorder, named)


def _place(kind: bytes, name: bytes, offset: bytes) -> tuple[str, int]:
    """A function and an offset in it; "" outside of the program."""
    if kind != FUNCTION:
        return "", 0
    return name.decode("utf-8", "replace").partition("/")[0], int(offset, 16)


def _count(path: Path, at: int, word: bytes) -> int:
    count = int(word)
    if count > MAX_COUNT:
        raise Malformed(str(path), at, f"counts more than {MAX_COUNT} executions")
    return count


def _wrong(path: Path, at: int, rows: int, why: str) -> Malformed | Unrecognized:
    """The first line decides whose file it is."""
    return Malformed(str(path), at, why) if rows else Unrecognized(str(path), why)
