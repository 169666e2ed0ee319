"""Functions that are given the number of the thread that runs them: an index made of it is that thread's own.

Owns which functions those are: entries of threads that start several times, and what such an entry calls once, outside
of loops, and nobody else does.  That an index is made of what a function is given say its facts
(``AccessFlag.GIVEN``).  Tasks of a pool are numbered as well, but that is no number of a thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sharing.knowledge import Knowledge
from sharing.model.facts import ARG_COLUMNS, CALL_COLUMNS, FunctionFacts, Passed
from sharing.source.program import Defined, Program

_CALLEE, _DEPTH = CALL_COLUMNS.index("callee"), CALL_COLUMNS.index("loop_depth")
_SEVERAL = 2


def numbered_functions(program: Program, knowledge: Knowledge) -> frozenset[str]:
    """Identities of functions whose numbers are those of their thread."""
    started: Counter[str] = Counter()
    for defined in program.functions.values():
        for entry, times in _starts(program, defined, knowledge):
            started[entry] += times
    entries = {entry for entry, times in started.items() if times >= _SEVERAL}
    if not entries:
        return frozenset()
    outside: set[str] = set()
    inside: set[str] = set()
    for defined in program.functions.values():
        is_entry = defined.facts.identity in entries
        for callee, depth in _calls(program, defined):
            (inside if is_entry and not depth else outside).add(callee)
    return frozenset(entries | (inside - outside))


def _starts(program: Program, defined: Defined[FunctionFacts], knowledge: Knowledge) -> Iterator[tuple[str, int]]:
    """Entries of the threads that a function starts, and of how many; in a loop of several."""
    function, unit, width = defined.facts, defined.unit, len(ARG_COLUMNS)
    for start in function.starts:
        if not start.many and 0 <= start.entry < len(program.units[unit].symbols):
            yield program.symbol(unit, start.entry), _SEVERAL if start.loop_depth else 1
    for at in range(0, len(function.args) - width + 1, width):
        call, number, kind, value, _, _ = function.args[at : at + width]
        if kind != Passed.FUNCTION or value < 0 or call < 0:
            continue
        callee, depth = _call(function, call)
        row = knowledge.thread_start(program.symbol(unit, callee)) if callee >= 0 else None
        if row is not None and not row.many and number == row.entry_argument:
            yield program.symbol(unit, value), _SEVERAL if depth else 1


def _calls(program: Program, defined: Defined[FunctionFacts]) -> Iterator[tuple[str, int]]:
    """What a function calls, and within how many loops."""
    for call in range(len(defined.facts.calls) // len(CALL_COLUMNS)):
        callee, depth = _call(defined.facts, call)
        if callee >= 0:
            yield program.symbol(defined.unit, callee), depth


def _call(function: FunctionFacts, call: int) -> tuple[int, int]:
    """The symbol that is called, and the loops around the call."""
    row = call * len(CALL_COLUMNS)
    return function.calls[row + _CALLEE], function.calls[row + _DEPTH]
