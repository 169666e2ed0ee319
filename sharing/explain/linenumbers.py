"""Numbers in code that say where its source is: ``__LINE__``, which assertions, logs and instruments hand on.

Owns how they are told from other constants.  A line added in front moves the numbers of all that follow, each another
one, by the same distance; a constant that the programmer changed goes from one value to one other.  What is handed on
only where an assertion failed is no change of what runs, be it a single number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.code import Code
from sharing.model.instructions import Table

Numbers = frozenset[tuple[int, int]]  # before and after


@dataclass(frozen=True, slots=True)
class Moves:
    """The numbers that two functions load, where they differ in nothing else.

    ``last`` are those that are only loaded for a call from which the program does not come back, or that tells of an
    error: of a failed assertion, which no load comes to.
    """

    numbers: Numbers = frozenset()
    last: Numbers = frozenset()


@dataclass(frozen=True, slots=True)
class Calls:
    """Where a function calls something, in bytes from its start in order, and which of the calls it seldom makes."""

    offset: npt.NDArray[np.int64]
    seldom: npt.NDArray[np.bool_]

    def is_for_seldom(self, rows: Table, row: int, leaves: bytes) -> bool:
        """Whether code goes straight on from an instruction to a call that is seldom made.

        So is one that nothing follows: compilers leave out what is never come to.
        """
        at = int(np.searchsorted(self.offset, rows["offset"][row]))
        if at == len(self.offset):
            return False
        call = int(np.searchsorted(rows["offset"], self.offset[at]))
        if not self.seldom[at] and (call != len(rows) - 1 or rows["jumps"][call]):
            return False
        between = rows[row:call]
        return not between["jumps"].any() and not any(
            re.fullmatch(leaves, bytes(one["bytes"])[: int(one["length"])], re.DOTALL) for one in between
        )


NO_CALLS = Calls(np.zeros(0, np.int64), np.zeros(0, np.bool_))


def moved_numbers(
    old: Code | None, new: Code | None, loads: bytes, leaves: bytes = b"", calls: Calls = NO_CALLS
) -> Moves | None:
    """The numbers that instructions load, where two functions differ in nothing else; else None.

    ``loads`` is the pattern of such an instruction, with the number as its group, ``leaves`` of one behind which code
    does not go on, ``calls`` are those of the new function.
    """
    if old is None or new is None or old.instructions is None or new.instructions is None or not loads:
        return None
    one, other = old.instructions, new.instructions
    if len(one) != len(other):
        return None
    rest = [name for name in one.dtype.names or () if name != "bytes"]
    if any((one[name] != other[name]).any() for name in rest):
        return None
    out: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    for row in np.flatnonzero((one["bytes"] != other["bytes"]).any(axis=1)).tolist():
        length = int(one["length"][row])
        found = [re.fullmatch(loads, bytes(side["bytes"][row])[:length], re.DOTALL) for side in (one, other)]
        if found[0] is None or found[1] is None or len({f.string[: f.start(1)] for f in found if f}) > 1:
            return None
        before, after = (int.from_bytes(f[1], "little") for f in found if f)
        out[calls.is_for_seldom(other, row, leaves)].add((before, after))
    return Moves(frozenset(out[0]), frozenset(out[1]))


def line_numbers(changed: Mapping[int, Moves | None]) -> set[int]:
    """The keys of those functions in which nothing but line numbers changed, of all that changed in numbers alone.

    A number that is loaded for the last call alone is a line, or as little to the speed as one.
    """
    different: defaultdict[int, set[int]] = defaultdict(set)
    known = {key: moves for key, moves in changed.items() if moves is not None}
    for before, after in (move for moves in known.values() for move in moves.numbers | moves.last):
        if max(before, after) <= numbers.LAST_LINE:
            different[after - before].add(before)
    shifts = {by for by, lines in different.items() if len(lines) >= numbers.LINES_MOVED}
    return {key for key, moves in known.items() if all(b - a in shifts for a, b in moves.numbers)}
