"""Which locks a function holds where, by its own dataflow and by the wrappers of other units that it calls.

Owns the step from lock expressions to addresses of lock objects.  What callers hold is added by
``sharing.static.entrylocks``.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.knowledge.locks import SPIN_LOCK
from sharing.model.facts import ACCESS_COLUMNS, AccessFlag, Base, FunctionFacts, LockFact
from sharing.model.image import AccessKind, ArgKind, Table
from sharing.source.addressing import AddressSpace
from sharing.source.events import FactRows
from sharing.source.program import Defined, Program

_BASE, _ID, _OFFSET, _KIND, _FLAGS = map(ACCESS_COLUMNS.index, ("base", "id", "offset", "kind", "flags"))
EMPTY: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Calls:
    """All calls: their rows of facts with the ip of each, and as tables of an image with their arguments."""

    facts: FactRows
    ip: npt.NDArray[np.uint64]
    made: Table
    args: Table


Words = frozenset[tuple[str, int]]


def taken_words(program: Program, functions: list[Defined[FunctionFacts]]) -> tuple[Words, Words]:
    """Words of static storage (symbol, offset) that only exchanges that find zero and stores of zero change: locks,
    where there are both, as ``sharing.static.spinlocks`` says it of code; and those that nothing gives back."""
    words = {
        (program.units[d.unit].symbols[lock.id], lock.offset)
        for d in functions
        for lock in d.facts.locks
        if lock.row == SPIN_LOCK and lock.base == Base.VARIABLE and 0 <= lock.id < len(program.units[d.unit].symbols)
    }
    taken: set[tuple[str, int]] = set()
    given: set[tuple[str, int]] = set()
    changed: set[tuple[str, int]] = set()
    for d in functions if words else ():
        symbols, width = program.units[d.unit].symbols, len(ACCESS_COLUMNS)
        rows = np.array(d.facts.accesses, np.int64)
        rows = rows[: len(rows) - len(rows) % width].reshape(-1, width)
        changes = np.isin(rows[:, _KIND], [int(AccessKind.STORE), int(AccessKind.RMW)])
        for row in rows[changes & (rows[:, _BASE] == Base.VARIABLE)].tolist():
            if not 0 <= row[_ID] < len(symbols):
                continue
            word = symbols[row[_ID]], row[_OFFSET]
            if row[_FLAGS] & AccessFlag.TAKES:
                taken.add(word)
            else:
                (given if row[_FLAGS] & AccessFlag.CLEARS else changed).add(word)
    return frozenset((words & taken & given) - changed), frozenset((words & taken) - given - changed)


def given_locks(
    functions: list[Defined[FunctionFacts]],
    address: npt.NDArray[np.uint64],
    taken: set[int],
    calls: Table,
    args: Table,
) -> dict[tuple[str, int], int]:
    """What functions are handed as which argument, by identity, where they take that for a lock and all calls hand over
    the same object: what they call is under that lock.  Those with a ``taken`` address may be called by others."""
    wanted = {
        (int(at), lock.id): (d.facts.identity, lock.id)
        for d, at in zip(functions, address.tolist(), strict=True)
        for lock in (d.facts.locks if at not in taken else ())
        if lock.base == Base.PARAMETER
    }
    callees = np.array(sorted({at for at, _ in wanted}), np.uint64)
    made = calls["callee"][np.isin(calls["callee"], callees)]
    count = dict(zip(*(column.tolist() for column in np.unique(made, return_counts=True)), strict=True))
    handed: dict[tuple[int, int], list[int]] = {}
    for row in args[np.isin(args["callee"], callees)]:
        which = int(row["callee"]), int(row["arg"])
        if which in wanted:
            is_known = row["kind"] == ArgKind.ADDRESS and not row["source"]
            handed.setdefault(which, []).append(int(row["value"]) if is_known else 0)
    return {
        wanted[which]: values[0]
        for which, values in handed.items()
        if len(values) == count.get(which[0]) and len(set(values)) == 1
    }


class Locksets:
    """Numbers for (function, index of its lockset, ip); ``sets`` lists what each stands for, as lock addresses."""

    def __init__(
        self,
        program: Program,
        functions: list[Defined[FunctionFacts]],
        calls: Calls,
        space: AddressSpace,
        address: npt.NDArray[np.uint64],
        taken: set[int],
    ) -> None:
        """``address``: of each function; ``taken``: of those whose address goes out of sight.

        ``for_good``: words that are taken and that nothing gives back, which are no locks.
        """
        self._program, self._space = program, space
        self._given = given_locks(functions, address, taken, calls.made, calls.args)
        self._words, self.for_good = taken_words(program, functions)
        self._own = [[self._addresses(d, s) for s in d.facts.locksets] for d in functions]
        row_of = {d.facts.identity: i for i, d in enumerate(functions)}
        known: list[tuple[int, int, int, int]] = []  # caller, callee, lockset, ip
        for function, callee, lockset, ip in zip(
            calls.facts.function.tolist(),
            *(calls.facts[name].tolist() for name in ("callee", "lockset")),
            calls.ip.tolist(),
            strict=True,
        ):
            symbols = self._symbols(functions[function])
            target = row_of.get(symbols[callee]) if 0 <= callee < len(symbols) else None
            if target is not None and target != function:
                known.append((function, target, lockset, ip))
        self._steps = self._wrappers(functions, known)
        self._numbers: dict[frozenset[int], int] = {}

    def _symbols(self, d: Defined[FunctionFacts]) -> tuple[str, ...]:
        return self._program.units[d.unit].symbols

    def _addresses(self, d: Defined[FunctionFacts], lockset: tuple[int, ...]) -> frozenset[int]:
        locks = d.facts.locks
        found = (self._address(d, locks[i]) for i in lockset if 0 <= i < len(locks))
        return frozenset(address for address in found if address)

    def _at(self, function: int, lockset: int, ip: int) -> frozenset[int]:
        """Held by the function's own doing: its dataflow, and wrappers of other units that it called before."""
        own = self._own[function]
        held = own[lockset] if 0 <= lockset < len(own) else EMPTY
        steps = self._steps.get(function)
        if steps is not None:
            before = bisect.bisect_left(steps, ip, key=lambda step: step[0]) - 1
            held = held | steps[before][1] if before >= 0 else held
        return held

    def _wrappers(
        self, functions: list[Defined[FunctionFacts]], calls: list[tuple[int, int, int, int]]
    ) -> dict[int, list[tuple[int, frozenset[int]]]]:
        """Per caller of lock wrappers in other units: (ip, wrapped locks held behind it), in the order of the ips.

        The analyzer sees wrappers within a unit only.  Ips follow the control flow, so that walking them in order is
        right but for a wrapper that is called on one of two branches.
        """
        effects = {
            row: (self._addresses(d, d.facts.acquires), self._addresses(d, d.facts.releases))
            for row, d in enumerate(functions)
            if d.facts.acquires or d.facts.releases
        }
        changes: dict[int, list[tuple[int, int]]] = {}
        for caller, callee, _, ip in calls:
            if callee in effects and functions[callee].unit != functions[caller].unit:
                changes.setdefault(caller, []).append((ip, callee))
        steps: dict[int, list[tuple[int, frozenset[int]]]] = {}
        for caller, events in changes.items():
            held = EMPTY
            for ip, callee in sorted(events):
                acquired, released = effects[callee]
                held = (held | acquired) - released
                steps.setdefault(caller, []).append((ip, held))
        return steps

    def _address(self, d: Defined[FunctionFacts], lock: LockFact) -> int:
        """Address of the lock object, of the record's instance for a lock in a record, 0 unknown.

        Of an array of locks all elements go by the first: data is mostly guarded by the same element each time.
        """
        if lock.base == Base.VARIABLE:
            symbols = self._symbols(d)
            if lock.row == SPIN_LOCK and not (
                0 <= lock.id < len(symbols) and (symbols[lock.id], lock.offset) in self._words
            ):
                return 0
            start = self._space.variables.get(symbols[lock.id], 0) if 0 <= lock.id < len(symbols) else 0
        elif lock.base == Base.PARAMETER and (given := self._given.get((d.facts.identity, lock.id))):
            start = given
        else:
            known = 0 <= lock.record < len(self._program.units[d.unit].records)
            start = self._space.records.get(self._program.record_key(d.unit, lock.record), 0) if known else 0
        return start + lock.offset if start else 0

    def required(self, functions: list[Defined[FunctionFacts]]) -> dict[int, frozenset[int]]:
        """By function row, the locks that annotations say it is called with."""
        found = ((row, self._addresses(d, d.facts.requires)) for row, d in enumerate(functions) if d.facts.requires)
        return {row: needed for row, needed in found if needed}

    def rows(self, function: Any, lockset: Any, ip: Any) -> npt.NDArray[np.int32]:
        """Number of the locks held at each event (function row, index of its lockset, ip); -1 unknown."""
        if not len(function):
            return np.empty(0, np.int32)
        stepped = np.isin(function, list(self._steps))
        # Where wrappers of other units are called the ip counts, elsewhere the lockset says it all.
        triples = np.stack([function, lockset, np.where(stepped, ip.astype(np.int64), 0)], axis=1)
        unique, inverse = np.unique(triples, axis=0, return_inverse=True)
        out = []
        for f, s, at in unique.tolist():
            held = self._at(f, s, at)
            # An unknown lockset may hold more than the wrappers', never less.
            out.append(-1 if s < 0 and not held else self._numbers.setdefault(held, len(self._numbers)))
        result: npt.NDArray[np.int32] = np.array(out, np.int32)[inverse.ravel()]
        return result

    def sets(self) -> tuple[frozenset[int], ...]:
        return tuple(self._numbers)
