"""Numbers in code that say where its source is: ``__LINE__``, which assertions, logs and instruments hand on.

Owns how they are told from other constants.  A line added in front moves the numbers of all that follow, each another
one, by the same distance; a constant that the programmer changed goes from one value to one other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from sharing.explain import numbers
from sharing.explain.code import Code

Moves = frozenset[tuple[int, int]]  # numbers before and after


def moved_numbers(old: Code | None, new: Code | None, loads: bytes) -> Moves:
    """The numbers that instructions load, where two functions differ in nothing else; else none.

    ``loads`` is the pattern of such an instruction, with the number as its group.
    """
    if old is None or new is None or old.instructions is None or new.instructions is None or not loads:
        return frozenset()
    one, other = old.instructions, new.instructions
    if len(one) != len(other):
        return frozenset()
    rest = [name for name in one.dtype.names or () if name != "bytes"]
    if any((one[name] != other[name]).any() for name in rest):
        return frozenset()
    out = set()
    for row in np.flatnonzero((one["bytes"] != other["bytes"]).any(axis=1)).tolist():
        length = int(one["length"][row])
        found = [re.fullmatch(loads, bytes(side["bytes"][row])[:length], re.DOTALL) for side in (one, other)]
        if found[0] is None or found[1] is None or len({f.string[: f.start(1)] for f in found if f}) > 1:
            return frozenset()
        before, after = (int.from_bytes(f[1], "little") for f in found if f)
        out.add((before, after))
    return frozenset(out)


def line_numbers(changed: Mapping[int, Moves]) -> set[int]:
    """The keys of those functions in which nothing but line numbers changed, of all that changed in numbers alone."""
    different: defaultdict[int, set[int]] = defaultdict(set)
    for before, after in _all(changed.values()):
        if max(before, after) <= numbers.LAST_LINE:
            different[after - before].add(before)
    shifts = {by for by, lines in different.items() if len(lines) >= numbers.LINES_MOVED}
    return {key for key, moves in changed.items() if moves and all(b - a in shifts for a, b in moves)}


def _all(moves: Iterable[Moves]) -> Iterable[tuple[int, int]]:
    return (move for one in moves for move in one)
