"""The longest part of two sequences that is in the same order in both.

Owns the algorithm (patience sorting with weights); knows nothing of what is ordered.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


def longest_increasing(first: Ids, last: Ids, weight: Ids) -> Ids:
    """Positions of the heaviest subsequence of blocks, where each begins after its predecessor ends.

    Block i covers the places first[i]..last[i]; blocks do not overlap.  O(n log n).
    """
    n = len(first)
    if not n:
        return np.zeros(0, np.int64)
    if bool((first[1:] > last[:-1]).all()):
        return np.arange(n)
    # ends[k] grows, heaviest[k] grows: the best chain that ends at or before a place is the last such entry.
    ends: list[int] = []
    heaviest: list[int] = []
    tail: list[int] = []
    before = [-1] * n
    for i, (begin, end, heavy) in enumerate(zip(first.tolist(), last.tolist(), weight.tolist(), strict=True)):
        at = bisect_left(ends, begin)
        total = heavy + (heaviest[at - 1] if at else 0)
        before[i] = tail[at - 1] if at else -1
        at = bisect_right(ends, end)
        if at and heaviest[at - 1] >= total:
            continue
        stop = at
        while stop < len(ends) and heaviest[stop] <= total:
            stop += 1
        ends[at:stop], heaviest[at:stop], tail[at:stop] = [end], [total], [i]
    chain = []
    i = tail[-1]
    while i >= 0:
        chain.append(i)
        i = before[i]
    return np.array(chain[::-1], np.int64)
