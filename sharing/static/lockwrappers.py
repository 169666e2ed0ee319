"""Functions that take or release one static lock and leave it so: calls of them are what locks and unlocks.

Owns which functions these are.  They are handed nothing that says which lock it is (``queue_lock()``): ``flow`` knows
those that are.  Where no function takes a lock so, or none releases it so, nor any of their callers by itself, its
other half is what nobody sees.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from sharing.model.arrays import among, distinct, leading
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
    calls, callee = image.calls, functions_called(image)
    net = _Net(events, set(unknown["function"].tolist()), (lock, unlock))
    fresh, seen, left = {function for function in _may_leave(events) if net.of(function)}, set[int](), _MAX_CALLS
    made = events[:0]
    for _ in range(numbers.LOCK_WRAPPERS):
        rows = np.flatnonzero(among(callee, np.array(sorted(fresh), np.int64)))
        left -= len(rows)
        if not len(rows) or left < 0:
            break
        seen |= fresh
        net.add(calls[rows], callee[rows])
        made = np.concatenate([made, _as_events(calls[rows], callee[rows], net, sorted(fresh), events)])
        around = distinct(calls["function"][rows])
        done = np.concatenate([events[among(events["function"], around)], made[among(made["function"], around)]])
        fresh = {caller for caller in _may_leave(done) if net.of(caller)} - seen
    net.forget()
    nets = {function: net.of(function) for function in sorted(seen)}
    both = {(lock, effect) for by_lock in nets.values() for lock, effect in by_lock.items()}
    both |= _by_callers(calls["function"], callee, nets, events)
    paired = {which for which, _ in both if {(which, lock), (which, unlock)} <= both}
    wrappers = [function for function, by_lock in nets.items() if not paired.isdisjoint(by_lock)]
    rows = np.flatnonzero(among(callee, np.array(wrappers, np.int64)) & (calls["function"] >= 0))
    found = _as_events(calls[rows], callee[rows], net, wrappers, events)
    return found[[(address, kind) in paired for address, kind in found[["address", "row"]].tolist()]]


def _as_events(calls: Table, callee: Table, net: _Net, functions: list[int], form: Table) -> Table:
    """What calls of these functions (sorted) do to locks, call by call, as rows of this ``form``."""
    does = [(function, *lock, effect) for function in functions for lock, effect in net.of(function).items()]
    whose, address, row, effect = np.array(does, np.uint64).reshape(-1, 4).T
    first, behind = (np.searchsorted(whose, callee.astype(np.uint64), side) for side in ("left", "right"))
    times = np.where(callee >= 0, behind - first, 0)
    call = np.repeat(np.arange(len(calls)), times)
    which = np.arange(len(call)) - np.repeat(np.cumsum(times) - times - first, times)
    found = np.zeros(len(call), form.dtype)
    for name in ("ip", "function", "loop_depth", "rarity", "order"):
        found[name] = calls[name][call]
    for name, column in (("address", address), ("row", row), ("effect", effect)):
        found[name] = column[which]
    return found


def _may_leave(events: Table) -> list[int]:
    """Functions that begin and end with the same effect on a lock: nearly all give back what they took."""
    rows = events[np.lexsort([events[name] for name in ("effect", "ip", "order", "row", "address", "function")])]
    first = np.flatnonzero(leading(rows[["function", "address", "row"]]))
    last = np.append(first[1:], len(rows))[: len(first)] - 1
    left: list[int] = distinct(rows["function"][first[rows["effect"][first] == rows["effect"][last]]]).tolist()
    return left


def _by_callers(caller: Table, callee: Table, nets: dict[int, dict[Lock, int]], events: Table) -> set[tuple[Lock, int]]:
    """What callers of such functions do to these locks themselves."""
    rows = np.flatnonzero(among(callee, np.array([row for row, by_lock in nets.items() if by_lock], np.int64)))
    treated = {
        (at, lock) for at, of in zip(caller[rows].tolist(), callee[rows].tolist(), strict=True) for lock in nets[of]
    }
    columns = (events[name].tolist() for name in ("function", "address", "row", "effect"))
    return {
        ((address, kind), effect)
        for function, address, kind, effect in zip(*columns, strict=True)
        if (function, (address, kind)) in treated
    }


class _Net:
    """What functions do to locks in all: what is so when they return and was not when they were called."""

    def __init__(self, events: Table, without: set[int], effects: tuple[int, int]) -> None:
        self._lock, self._unlock = effects
        self._without = without
        self._ops: dict[int, dict[Lock, list[_Op]]] = defaultdict(lambda: defaultdict(list))
        self._calls: dict[int, list[_Op]] = defaultdict(list)
        self._known: dict[int, dict[Lock, int]] = {}
        columns = (events[name].tolist() for name in ("function", "address", "row", "order", "ip", "effect"))
        tried = (each_time(events["rarity"]) & in_loop(events["loop_depth"])).tolist()
        for function, address, row, *op, sure, again in zip(*columns, _as_a_rule(events), tried, strict=True):
            self._ops[function][address, row].append(_Op(op[0], op[1], op[2], -1, sure, again))

    def add(self, calls: Table, callees: Table) -> None:
        """Calls that may take or release a lock."""
        columns = (calls[name].tolist() for name in ("function", "order", "ip"))
        for function, order, ip, callee, is_sure in zip(*columns, callees.tolist(), _as_a_rule(calls), strict=True):
            self._known.pop(function, None)
            self._calls[function].append(_Op(order, ip, 0, callee, is_sure))

    def forget(self) -> None:
        """What was said before all calls were known."""
        self._known.clear()

    def of(self, function: int, depth: int = 0) -> dict[Lock, int]:
        """By lock ``lock`` or ``unlock``; none of a function that treats locks which nobody knows."""
        if function in self._known:
            return self._known[function]
        self._known[function] = {}  # one that calls itself does nothing
        if function in self._without or depth > numbers.LOCK_WRAPPERS:
            return {}
        ops = {lock: list(some) for lock, some in self._ops.get(function, {}).items()}
        for call in self._calls.get(function, ()):
            for lock, effect in self.of(call.callee, depth + 1).items():
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
        self._known[function] = found
        return found


def _as_a_rule(rows: Table) -> list[bool]:
    """Which of these each run of their function comes to, and once."""
    result: list[bool] = (each_time(rows["rarity"]) & ~in_loop(rows["loop_depth"])).tolist()
    return result
