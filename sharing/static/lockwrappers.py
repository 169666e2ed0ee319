"""Functions that take or release one static lock and leave it so: calls of them are what locks and unlocks.

Owns which functions these are.  They are handed nothing that says which lock it is (``queue_lock()``): ``flow`` knows
those that are.  Where none of a function's callers does the other half, itself or by such calls, that half is what
nobody sees, and its calls say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct, leading, picked, positions, stacked
from sharing.model.image import Image, Table
from sharing.static import numbers
from sharing.static.callees import functions_called
from sharing.static.executions import each_time, in_loop

Lock = tuple[int, int]  # its address and kind, a row of the vocabulary
_MAX_CALLS = 1 << 16  # of such functions, in all


class _Op(NamedTuple):
    """What is done to a lock, or a call that may do so."""

    order: int
    ip: int
    effect: int  # as of LOCK_DTYPE; 0 a call
    callee: int
    is_sure: bool  # each run of the function comes there, as a rule
    is_tried: bool = False  # so does it, in a loop


def wrapper_calls(image: Image, events: Table, unknown: Table, *, lock: int, unlock: int) -> Table:
    """Calls of such functions, as ``events`` are (LOCK_DTYPE); ``unknown`` are those of locks that nobody knows."""
    calls, callee, events = image.calls, functions_called(image), _both_ways(events, lock, unlock)
    net = _Net(events, set(unknown["function"].tolist()), (lock, unlock))
    fresh, seen, left = net.found_in(_may_leave(events)), set[int](), _MAX_CALLS
    made = events[:0]
    for _ in range(numbers.LOCK_WRAPPERS):
        rows = np.flatnonzero(among(callee, np.array(sorted(fresh), np.int64)) & (calls["function"] != callee))
        left -= len(rows)
        if not len(rows) or left < 0:
            break
        seen |= fresh
        net.add(calls[rows], callee[rows])
        made = stacked([made, _as_events(calls[rows], callee[rows], net.known, events)[0]])
        around = distinct(calls["function"][rows])
        done = np.concatenate([events[among(events["function"], around)], made[among(made["function"], around)]])
        fresh = net.found_in({*_may_leave(done), *seen.intersection(around.tolist())}) - seen
    rows = np.flatnonzero(among(callee, np.array(sorted(seen), np.int64)) & (calls["function"] >= 0))
    found, call = _as_events(calls[rows], callee[rows], net.known, events)
    return found[_answered(found, callee[rows][call], events)]


def _answered(made: Table, callee: Table, events: Table) -> npt.NDArray[np.bool_]:
    """Which of these calls leave a lock to callers of whom one does the other half itself, or is answered so.

    Where none does, the other half is done in a way that is not seen: through a pointer in a record.
    """
    does: dict[tuple[int, Lock], set[int]] = defaultdict(set)
    for table in (made, events):
        for function, address, row, effect in table[["function", "address", "row", "effect"]].tolist():
            does[function, (address, row)].add(effect)
    left = [
        ((of, (address, row)), (caller, (address, row)))
        for of, (caller, address, row) in zip(
            callee.tolist(), made[["function", "address", "row"]].tolist(), strict=True
        )
    ]
    answered = {of for of, caller in left if len(does[caller]) > 1}
    for _ in range(numbers.LOCK_WRAPPERS):
        answered |= {of for of, caller in left if caller in answered}
    return np.array([of in answered for of, _ in left], bool)


def _both_ways(events: Table, lock: int, unlock: int) -> Table:
    """Those of locks that are taken somewhere and released somewhere: no other has two halves.

    Each as one type: a lock may be taken as what begins with it, and released as itself.
    """
    taken, released = (picked(events, events["effect"] == effect) for effect in (lock, unlock))
    found: Table = picked(
        events, among(events["address"], taken["address"]) & among(events["address"], released["address"])
    )
    address, row = found["address"], found["row"]
    addresses, first = np.unique(address, return_index=True)
    found["row"] = row[first][positions(addresses, address)]
    return found


def _as_events(calls: Table, callee: Table, nets: dict[int, dict[Lock, int]], form: Table) -> tuple[Table, Table]:
    """(what calls of functions do to locks by what these do in all, as rows of this ``form``, the call of each)"""
    called = distinct(callee).tolist()
    does = [(function, *lock, effect) for function in called for lock, effect in nets.get(function, {}).items()]
    whose, address, row, effect = np.array(does, np.uint64).reshape(-1, 4).T
    first, behind = (np.searchsorted(whose, callee.astype(np.uint64), side) for side in ("left", "right"))
    times = np.where(callee >= 0, behind - first, 0)
    call = np.repeat(np.arange(len(calls)), times)
    which = np.arange(len(call)) - np.repeat(np.cumsum(times) - times - first, times)
    found = np.zeros(len(call), form.dtype)
    for name in ("ip", "function", "loop_depth", "rarity", "order"):
        own = calls[name][call]
        found[name] = own
    for name, column in (("address", address), ("row", row), ("effect", effect)):
        found[name] = column[which]
    return found, call


def _may_leave(events: Table) -> list[int]:
    """Functions that begin and end with the same effect on a lock: nearly all give back what they took."""
    rows = picked(
        events, np.lexsort([events[name] for name in ("effect", "ip", "order", "row", "address", "function")])
    )
    first = np.flatnonzero(leading(rows[["function", "address", "row"]]))
    last = np.append(first[1:], len(rows))[: len(first)] - 1
    function, effect = rows["function"], rows["effect"]
    left: list[int] = distinct(function[first[effect[first] == effect[last]]]).tolist()
    return left


class _Net:
    """What functions do to locks in all: what is so when they return and was not when they were called."""

    def __init__(self, events: Table, without: set[int], effects: tuple[int, int]) -> None:
        self._lock, self._unlock = effects
        self._without = without
        self._ops: dict[int, dict[Lock, list[_Op]]] = defaultdict(lambda: defaultdict(list))
        self._calls: dict[int, list[_Op]] = defaultdict(list)
        self.known: dict[int, dict[Lock, int]] = {}  # of functions that were asked for
        columns = (events[name].tolist() for name in ("function", "address", "row", "order", "ip", "effect"))
        tried = (each_time(events["rarity"]) & in_loop(events["loop_depth"])).tolist()
        for function, address, row, *op, sure, again in zip(*columns, _as_a_rule(events), tried, strict=True):
            self._ops[function][address, row].append(_Op(op[0], op[1], op[2], -1, sure, again))

    def add(self, calls: Table, callees: Table) -> None:
        """Calls that may take or release a lock."""
        columns = (calls[name].tolist() for name in ("function", "order", "ip"))
        for function, order, ip, callee, is_sure in zip(*columns, callees.tolist(), _as_a_rule(calls), strict=True):
            self._calls[function].append(_Op(order, ip, 0, callee, is_sure))

    def found_in(self, functions: Iterable[int]) -> set[int]:
        """Those of the functions that do anything in all, by their calls that were added."""
        fresh = {function: self._of(function) for function in functions}
        self.known |= fresh
        return {function for function, by_lock in fresh.items() if by_lock}

    def _of(self, function: int) -> dict[Lock, int]:
        """By lock ``lock`` or ``unlock``; none of a function that treats locks which nobody knows."""
        if function in self._without:
            return {}
        ops = {lock: list(some) for lock, some in self._ops.get(function, {}).items()}
        for call in self._calls.get(function, ()):
            for lock, effect in self.known[call.callee].items():
                ops.setdefault(lock, []).append(call._replace(effect=effect))
        found: dict[Lock, int] = {}
        for lock, some in ops.items():
            first, last = min(some).effect, max(some).effect
            if first != last:
                continue
            takes = all(op.effect == self._lock for op in some)
            # A loop that takes it and nothing else tries to: it is left with the lock.
            sure = any((op.is_sure or (takes and op.is_tried)) and op.effect == first for op in some)
            if sure and (takes or first == self._unlock):
                found[lock] = first
        return found


def _as_a_rule(rows: Table) -> list[bool]:
    """Which of these each run of their function comes to, and once."""
    result: list[bool] = (each_time(rows["rarity"]) & ~in_loop(rows["loop_depth"])).tolist()
    return result
