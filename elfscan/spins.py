"""Does an instruction wait for a value: a load, in a loop that does nothing but look at what it loaded?

Owns the look at the code between the load and itself, and at what becomes of an update's result.  A loop waits if it
reads nothing else, tests the value before it comes round, and does not move on: neither the address of the load nor
that of a store changes.  A store on the way keeps what was read.  A call on the way ends the search, but not where
another way avoids it (a pause that yields at times).  An exchange waits as well, as of a lock that is tried again.  A
compare-and-swap does not: that is an update tried again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from elfscan.effects import NONE, Flow
from sharing.model import AccessKind

if TYPE_CHECKING:
    from elfscan.operands import DecodedFunction

MAX_LENGTH = 16  # instructions of a loop that only waits, counting of turns included
MAX_STEPS = 64
_TESTS = ("cmp", "test", "bt", "tst", "cmn", "ccmp", "subs", "ands")
_EXCHANGES = ("xchg", "swp")
_WORD = re.compile(r"[a-z][a-z0-9]*")
Registers = Callable[[str], int]
NO_LOOP: frozenset[int] = frozenset()


def spins(function: DecodedFunction, row: int, register: Registers) -> bool:
    """Whether an access waits, or is a store on the way of one that does.

    ``register`` gives the number of a register's name, negative for other words.
    """
    kinds = [memory.kind for memory in function.effect(row).memory if not memory.implicit]
    if kinds == [AccessKind.STORE]:
        near = range(max(row - MAX_LENGTH, 0), min(row + MAX_LENGTH, len(function.instructions)))
        return any(row in waiting_loop(function, at, register) for at in near if at != row)
    return bool(waiting_loop(function, row, register))


def waiting_loop(function: DecodedFunction, row: int, register: Registers) -> frozenset[int]:
    """The loop in which a load does nothing but wait, empty where it does more."""
    found = function.loops.get(row)
    if found is None:
        found = function.loops[row] = _waiting_loop(function, row, register) if function.may_repeat(row) else NO_LOOP
    return found


def _waiting_loop(function: DecodedFunction, row: int, register: Registers) -> frozenset[int]:
    effect, mnemonic = function.effect(row), function.instructions[row][2]
    own = [memory for memory in effect.memory if not memory.implicit]
    if len(own) != 1 or not _may_wait(own[0].kind, mnemonic):
        return NO_LOOP
    address = {own[0].base, own[0].index} - {NONE}
    if address & effect.writes:
        return NO_LOOP
    loaded = frozenset(number for number in effect.writes if number >= 0)
    tested = int(_is_test(mnemonic))
    if not tested and not loaded:
        return NO_LOOP
    # (row, 0 not tested, 1 tested, 2 and branched, registers with the value, registers that must not change, way)
    todo = [(at, tested, loaded, frozenset(address), frozenset({row})) for at in _next(function, row)]
    for _ in range(MAX_STEPS):
        if not todo:
            break
        at, state, value, fixed, way = todo.pop()
        if at == row:
            if state == 2:
                return way
            continue
        flow = function.flows[at]
        if at in way or len(way) >= MAX_LENGTH or flow in (Flow.CALL, Flow.RETURN, Flow.SYSCALL, Flow.STOP):
            continue
        here, (_, _, mnemonic, text) = function.effect(at), function.instructions[at]
        memory = [one for one in here.memory if not one.implicit]
        if any(one.kind is not AccessKind.STORE or one.atomic or one.index != NONE for one in memory):
            continue
        fixed = fixed | {one.base for one in memory if one.base != NONE}
        if fixed & here.writes:
            continue
        uses = bool({register(word) for word in _WORD.findall(text)} & value)
        if flow is Flow.BRANCH:
            state = 2 if state or uses else 0  # cbz and the like test themselves
        elif _is_test(mnemonic):
            state = max(state, int(uses))
        else:
            value = value | here.writes if uses else value - here.writes
        todo += [(one, state, value, fixed, way | {at}) for one in _next(function, at)]
    return NO_LOOP


def uses_result(function: DecodedFunction, row: int) -> bool:
    """Whether an update keeps the value that it found or made, or branches on it."""
    name = function.instructions[row][2].rsplit(" ", 1)[-1]
    if name.startswith(("xadd", "cmpxchg", *_EXCHANGES, "ld", "cas")):
        return True
    if row + 1 >= len(function.instructions) or not function.falls_into(row + 1):
        return False
    next_name = function.instructions[row + 1][2]
    return function.flows[row + 1] is Flow.BRANCH or next_name.startswith(("set", "cmov", "cset"))


def _may_wait(kind: AccessKind, mnemonic: str) -> bool:
    if kind is AccessKind.LOAD:
        return True
    return kind is AccessKind.RMW and mnemonic.rsplit(" ", 1)[-1].startswith(_EXCHANGES)


def _is_test(mnemonic: str) -> bool:
    name = mnemonic.rsplit(" ", 1)[-1]
    return name.startswith(_TESTS) and not name.startswith(("cmpxchg", "bts", "btr", "btc"))


def _next(function: DecodedFunction, row: int) -> list[int]:
    """Where control goes from an instruction, within the function."""
    out = [] if row + 1 >= len(function.instructions) or not function.falls_into(row + 1) else [row + 1]
    if function.flows[row] in (Flow.BRANCH, Flow.JUMP):
        _, _, mnemonic, text = function.instructions[row]
        target = function.row_of.get(function.dialect.flow(mnemonic, text)[1] or -1)
        out += [target] if target is not None else []
    return out
