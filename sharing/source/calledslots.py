"""Calls through pointers in source: the places that they load from, and the functions that units keep there.

Owns the numbers of these places.  A member that is a pointer to functions is one place, whichever object has it; so is
a static variable with all its elements, and a virtual function with all that override it in objects of one class and of
those that derive from that: a function is kept for its own class and each base of it.  Objects of the library that hold
functions of one signature are one place too.  Source knows which by type or name, so that two places never are one.
What is also given what is not seen tells nothing of whom it calls.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sharing.model.facts import KEPT_COLUMNS, THROUGH_SLOT, rows_of
from sharing.model.image import KEPT_DTYPE, SlotKind, Table
from sharing.source.program import Program

Ints = npt.NDArray[np.int64]
FIRST_PLACE = 1 << 24  # beyond the members of any record: no bytes behind a pointer
MOST_ARGUMENTS = 255


class CalledSlots:
    """The places of all units of a program by number; 0 is none."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._number: dict[str, int] = {}
        unseen: set[str] = set()
        for unit in program.members:
            facts = program.units[unit]
            for name in facts.slots:
                self._number.setdefault(name, FIRST_PLACE + len(self._number))
            unseen |= {
                facts.slots[slot] for slot, function, _ in rows_of(facts.kept, len(KEPT_COLUMNS)) if function < 0
            }
        for name in unseen:
            self._number[name] = 0
        lists = [[self._number.get(name, 0) for name in unit.slots] for unit in program.units]
        self._start = np.concatenate(([0], np.cumsum([len(one) for one in lists]))).astype(np.int64)
        self._flat = np.array([number for one in lists for number in one] or [0], np.int64)

    def of(self, unit: Ints, callee: Ints) -> Ints:
        """The place that each call loads its target from."""
        return self.number(unit, THROUGH_SLOT - callee)

    def say(self, calls: Table, unit: Ints, callee: Ints) -> None:
        """Notes of calls (CALL_DTYPE) the places that they load their targets from."""
        where = calls["where"]
        where[:] = self.of(unit, callee)
        calls["slot"] = np.where(where > 0, int(SlotKind.RECORD), int(SlotKind.UNKNOWN))

    def number(self, unit: Ints, slot: Ints) -> Ints:
        """The place that one of ``UnitFacts.slots`` is, of the unit beside it."""
        at = self._start[unit] + slot
        good = (slot >= 0) & (at < self._start[unit + 1])
        found: Ints = np.where(good, self._flat[np.where(good, at, 0)], 0)
        return found

    def kept(self, address: Callable[[str], int], row: dict[str, int]) -> Table:
        """What is kept at these places, as of ``Image.kept``; functions by address and by row."""
        found: dict[tuple[int, int, int, int], None] = {}
        for unit in self._program.members:
            facts = self._program.units[unit]
            for slot, function, argument in rows_of(facts.kept, len(KEPT_COLUMNS)):
                number = self._number[facts.slots[slot]]
                symbol = facts.symbols[function] if function >= 0 else ""
                if not number or symbol not in row or argument > MOST_ARGUMENTS:
                    continue
                value = address(symbol) if argument < 0 else 0
                found[value, row[symbol], number, max(argument, 0)] = None
        table = np.zeros(len(found), KEPT_DTYPE)
        table["slot"] = SlotKind.RECORD
        for at, one in enumerate(found):
            table[at]["value"], table[at]["function"], table[at]["where"], table[at]["arg"] = one
        return table


def say_arguments(calls: Table, row: Ints, argument: Ints, chosen: npt.NDArray[np.bool_]) -> None:
    """Notes of the calls (CALL_DTYPE) in the chosen rows that they call what their function was handed."""
    calls["slot"][row[chosen]], calls["where"][row[chosen]] = SlotKind.ARGUMENT, argument[chosen]
