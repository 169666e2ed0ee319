"""How two functions differ that differ in numbers alone: those they load, and how far behind pointers they reach.

Owns the difference and what of a number the code around it says: whether it is for a call, and for one that is seldom
made.  What the numbers are is judged elsewhere (``linenumbers``, ``growth``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.explain.code import Code
from sharing.model.arch.row import Machine
from sharing.model.instructions import Holding, Table

Numbers = frozenset[tuple[int, int]]  # before and after
NONE: Numbers = frozenset()


@dataclass(frozen=True, slots=True)
class Forms:
    """Patterns of an architecture's instructions (``Machine``), b"" where it has none."""

    loads: bytes = b""
    adds: bytes = b""
    leaves: bytes = b""
    calls_through: bytes = b""


def forms_of(machine: Machine | None) -> Forms:
    if machine is None:
        return Forms()
    return Forms(machine.number_loads, machine.number_adds, machine.leaves, machine.calls_through)


@dataclass(frozen=True, slots=True)
class Moves:
    """The numbers of two functions that differ in nothing else.

    ``numbers`` are loaded, and ``handed`` those of them that code goes straight on with to a call.  ``last`` are
    loaded only for a call from which the program does not come back, or that tells of an error: of a failed assertion,
    which no load comes to.  ``members`` are distances behind pointers, ``called`` those of them at which the function
    to call stands, ``added`` numbers that are added to a register.
    """

    numbers: Numbers = NONE
    last: Numbers = NONE
    handed: Numbers = NONE
    members: Numbers = NONE
    called: Numbers = NONE
    added: Numbers = NONE

    @property
    def distances(self) -> Numbers:
        """What may be how far a member is from the begin of its record."""
        return self.members | self.added


@dataclass(frozen=True, slots=True)
class Calls:
    """Where a function calls something, in bytes from its start in order, and which of the calls it seldom makes."""

    offset: npt.NDArray[np.int64]
    seldom: npt.NDArray[np.bool_]

    def after(self, rows: Table, row: int, leaves: bytes) -> tuple[bool, bool]:
        """(whether code goes straight on from an instruction to a call, whether to one that is seldom made)

        So is one that nothing follows: compilers leave out what is never come to.
        """
        at = int(np.searchsorted(self.offset, rows["offset"][row]))
        if at == len(self.offset):
            return False, False
        call = int(np.searchsorted(rows["offset"], self.offset[at]))
        between = rows[row:call]
        if between["jumps"].any() or any(
            re.fullmatch(leaves, bytes(one["bytes"])[: int(one["length"])], re.DOTALL) for one in between
        ):
            return False, False
        ends = call == len(rows) - 1 and not rows["jumps"][call]
        return True, bool(self.seldom[at]) or ends


NO_CALLS = Calls(np.zeros(0, np.int64), np.zeros(0, np.bool_))


def moved_numbers(old: Code | None, new: Code | None, forms: Forms, calls: Calls = NO_CALLS) -> Moves | None:
    """The numbers of two functions, where they differ in nothing else; else None.  ``calls`` are the new function's."""
    if old is None or new is None or old.instructions is None or new.instructions is None or not forms.loads:
        return None
    one, other = old.instructions, new.instructions
    if len(one) != len(other):
        return None
    rest = [name for name in one.dtype.names or () if name not in ("bytes", "other", "shape")]
    if any((one[name] != other[name]).any() for name in rest):
        return None
    behind = one["other_is"] == Holding.BEHIND
    differ = one["other"] != other["other"]
    if (differ & ~behind).any():
        return None
    found: dict[str, set[tuple[int, int]]] = {name: set() for name in ("numbers", "last", "handed", "called", "added")}
    for row in np.flatnonzero((one["bytes"] != other["bytes"]).any(axis=1)).tolist():
        sides = [bytes(side["bytes"][row])[: int(side["length"][row])] for side in (one, other)]
        if (move := _number(forms.loads, *sides)) is not None:
            straight, seldom = calls.after(other, row, forms.leaves)
            found["last" if seldom else "numbers"].add(move)
            found["handed"] |= {move} if straight and not seldom else set()
        elif (move := _number(forms.adds, *sides)) is not None:
            found["added"].add(move)
        else:
            return None
    at = np.flatnonzero(differ)
    moves = list(zip(one["other"][at].tolist(), other["other"][at].tolist(), strict=True))
    for row, move in zip(at.tolist(), moves, strict=True):
        text = bytes(other["bytes"][row])[: int(other["length"][row])]
        if forms.calls_through and re.fullmatch(forms.calls_through, text, re.DOTALL):
            found["called"].add(move)
    return Moves(members=frozenset(moves), **{name: frozenset(some) for name, some in found.items()})


def _number(pattern: bytes, *sides: bytes) -> tuple[int, int] | None:
    """The number of an instruction before and after, where both sides are the same instruction of the pattern."""
    if not pattern:
        return None
    found = [re.fullmatch(pattern, side, re.DOTALL) for side in sides]
    if found[0] is None or found[1] is None or len({f.string[: f.start(1)] for f in found if f}) > 1:
        return None
    before, after = (int.from_bytes(f[1], "little") for f in found if f)
    return before, after
