"""A whole program as facts: every unit, and one of each function, variable and record.

Owns the merged tables and lookups in them.  ``sharing.source.merge`` builds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sharing.model.facts import FunctionFacts, RecordFacts, UnitFacts, VariableFacts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Defined(Generic[T]):
    """A fact with the unit whose tables its indexes refer to (a row of ``Program.units``)."""

    facts: T
    unit: int


@dataclass(frozen=True, slots=True)
class Program:
    """``variables`` are definitions by identity, ``declared`` those that no analysed unit defines.

    ``functions`` and ``records`` hold each identity or key once, from the first unit that has it; ``others`` are
    further definitions of external functions (of ``main``), by identity and unit.  ``members`` are the units that the
    program is made of: those of one executable share ``units`` with the whole.  ``failed`` are (path, reason) of units
    without facts.
    """

    units: tuple[UnitFacts, ...]
    variables: dict[str, Defined[VariableFacts]]
    declared: dict[str, Defined[VariableFacts]]
    functions: dict[str, Defined[FunctionFacts]]
    records: dict[str, Defined[RecordFacts]]
    members: tuple[int, ...]
    others: dict[tuple[str, int], Defined[FunctionFacts]] = field(default_factory=dict)
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    def path(self, unit: int, file: int) -> str:
        """Path of a unit's file index."""
        return self.units[unit].files[file]

    def function(self, unit: int, identity: str) -> Defined[FunctionFacts] | None:
        """A unit's own definition of a function, or an equal one of another unit."""
        return self.others.get((identity, unit)) or self.functions.get(identity)

    def symbol(self, unit: int, index: int) -> str:
        """Identity behind a unit's symbol index."""
        return self.units[unit].symbols[index]

    def record_key(self, unit: int, index: int) -> str:
        return self.units[unit].records[index][0]

    def record(self, unit: int, index: int) -> Defined[RecordFacts] | None:
        """The record behind a unit's record index, None for -1 or one that is nowhere complete."""
        return self.records.get(self.record_key(unit, index)) if index >= 0 else None
