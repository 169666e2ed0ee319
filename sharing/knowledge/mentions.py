"""Which of many texts have a word in them: a first look before each is read.

Owns the search through all of them at once, which takes hardly longer than joining them.  Most names of a program say
nothing that a table of words knows, and reading one takes microseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np


def mentioning(texts: Sequence[str], words: Iterable[str]) -> list[int]:
    """Rows of the texts that have one of the words anywhere in them, in order."""
    joined = "\n".join(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    starts: list[int] = [0, *np.cumsum(lengths + 1).tolist()]
    found: set[int] = set()
    for word in words:
        at = joined.find(word)
        while at >= 0:
            row = bisect_right(starts, at) - 1
            found.add(row)
            at = joined.find(word, starts[row + 1])
    return sorted(row for row in found if row < len(texts))
