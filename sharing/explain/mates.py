"""Which bytes share a line in one layout and not in the other.

Owns the geometry of both layouts at once, on whole tables: line mates and straddles that one side has and the other
has not.  What "gained" means is the same on both sides: explain(A, B) gains what explain(B, A) loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain.identity import Ids

MISSING = np.iinfo(np.int64).min  # address of what is not in a layout; kernel addresses are negative numbers here
MAX_ON_LINE = 256  # spans of one line that are paired; more only a hostile table has,
MAX_PAIRS = 4_000_000  # and more pairs than this in all

# Spans of bytes in use, or of whole variables, as they lie here and would lie there.
SPAN_DTYPE = np.dtype(
    [
        ("row", "<i8"),  # of the variable
        ("here", "<i8"),  # address
        ("there", "<i8"),  # address in the other layout, MISSING where the variable is not in it
        ("extent", "<i8"),
    ]
)


@dataclass(frozen=True, slots=True)
class MatePairs:
    """Pairs of spans (positions in the table of spans) that are on one line here, and not in the other layout."""

    first: Ids
    second: Ids
    line: Ids  # address of the first such line


def gained(spans: npt.NDArray[Any], line_size: int) -> MatePairs:
    """Pairs on a common line here that are not on one there, or of which one does not exist there."""
    first, second, line = _together(spans["here"], spans["extent"], line_size)
    start, extent = spans["there"], spans["extent"]
    low, high = start // line_size, (start + extent - 1) // line_size
    exists = start != MISSING
    together = np.maximum(low[first], low[second]) <= np.minimum(high[first], high[second])
    new = ~(exists[first] & exists[second] & together)
    return MatePairs(first[new], second[new], line[new])


def _together(start: Ids, extent: Ids, line_size: int) -> tuple[Ids, Ids, Ids]:
    """Pairs of spans with a byte on a common line: at the first or at the last line of one of them."""
    n = len(start)
    head, tail = start // line_size, (start + extent - 1) // line_size
    long = head != tail
    line = np.concatenate([head, tail[long]])
    span = np.concatenate([np.arange(n), np.flatnonzero(long)])
    order = np.lexsort((start[span], line))
    line, span = line[order], span[order]
    found: list[tuple[Ids, Ids, Ids]] = []
    for step in range(1, MAX_ON_LINE):
        same = line[step:] == line[:-step]
        if not same.any():
            break
        at = np.flatnonzero(same)
        if sum(len(column[0]) for column in found) + len(at) > MAX_PAIRS:
            break
        found.append((span[at], span[at + step], line[at]))
    if not found:
        none = np.zeros(0, np.int64)
        return none, none, none
    one, other, where = (np.concatenate(column) for column in zip(*found, strict=True))
    low, high = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((where, high, low))
    low, high, where = low[order], high[order], where[order]
    fresh = np.ones(len(low), bool)
    fresh[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return low[fresh], high[fresh], where[fresh] * line_size


def gained_straddles(spans: npt.NDArray[Any], line_size: int) -> Ids:
    """Spans no longer than a line that cross the end of one here and do not there."""
    here, there, extent = spans["here"], spans["there"], spans["extent"]
    crosses = (here % line_size + extent > line_size) & (extent <= line_size)
    fits = (there != MISSING) & (there % line_size + extent <= line_size)
    return np.flatnonzero(crosses & fits)
