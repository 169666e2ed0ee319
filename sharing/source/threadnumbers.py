"""Functions that are given the number of the thread that runs them: an index made of it is that thread's own.

Owns which functions those are: entries of threads that start several times, what such an entry calls once, outside of
loops, and nobody else does, and what only such functions call and hand no other number. That an index is made of what a
function is given, or takes from a counter, say its facts (``AccessFlag.GIVEN``, ``COUNTED``). Tasks of a pool are
numbered as well, but that is no number of a thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sharing.knowledge import Knowledge
from sharing.model.facts import ARG_COLUMNS, CALL_COLUMNS, FunctionFacts, Passed
from sharing.source.program import Defined, Program

_CALLEE, _DEPTH = CALL_COLUMNS.index("callee"), CALL_COLUMNS.index("loop_depth")
_KIND = ARG_COLUMNS.index("kind")
_SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Numbered:
    """Identities of functions whose numbers are those of their thread; ``repeated`` are those called in its loops.

    ``once`` are those that a thread comes to once: what these take from a counter is a number of that thread.
    """

    functions: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()

    def own(self, function: str, loop_depth: int) -> bool:
        """Is an index of what the function is given one that its thread uses again and again?

        Outside of loops a thread comes by once.
        """
        return function in self.functions and (loop_depth > 0 or function in self.repeated)

    def counted(self, function: str, loop_depth: int) -> bool:
        """The same of an index of what the function takes from a counter."""
        return function in self.once and loop_depth > 0


def numbered_functions(program: Program, knowledge: Knowledge) -> Numbered:
    """All of them: 1. entries; 2. what entries call once; 3. what these hand their number."""
    started: Counter[str] = Counter()
    for defined in program.functions.values():
        for entry, times in _starts(program, defined, knowledge):
            started[entry] += times
    entries = {entry for entry, times in started.items() if times >= _SEVERAL}
    if not entries:
        return Numbered()
    outside: set[str] = set()
    inside: set[str] = set()
    for defined in program.functions.values():
        is_entry = defined.facts.identity in entries
        for callee, depth in _calls(program, defined):
            (inside if is_entry and not depth else outside).add(callee)
    return _handed_on(program, entries | (inside - outside))


def _handed_on(program: Program, numbered: set[str]) -> Numbered:
    """With the functions that are called by ``numbered`` ones alone, which hand them the number and no other."""
    calls = [
        (defined.facts.identity, callee, depth, hands)
        for defined in program.functions.values()
        for callee, depth, hands in _handing(program, defined)
    ]
    callers: dict[str, set[str]] = {}
    other: set[str] = set()  # handed another number somewhere
    for caller, callee, _, hands in calls:
        callers.setdefault(callee, set()).add(caller)
        if not hands:
            other.add(callee)
    functions, size = set(numbered), -1
    while len(functions) != size:
        size = len(functions)
        functions |= {callee for callee, by in callers.items() if callee not in other and by <= functions}
    repeated: set[str] = set()
    size = -1
    while len(repeated) != size:
        size = len(repeated)
        repeated |= {
            callee
            for caller, callee, depth, hands in calls
            if hands and caller in functions and callee in functions and (depth or caller in repeated)
        }
    return Numbered(frozenset(functions), frozenset(repeated), frozenset(numbered))


def _handing(program: Program, defined: Defined[FunctionFacts]) -> Iterator[tuple[str, int, bool]]:
    """What a function calls, within how many loops, and whether it hands the number that it was given."""
    args, width = defined.facts.args, len(ARG_COLUMNS)
    rows = range(0, len(args) - width + 1, width)
    handing = {args[at] for at in rows if args[at + _KIND] == Passed.NUMBER}
    for call in range(len(defined.facts.calls) // len(CALL_COLUMNS)):
        callee, depth = _call(defined.facts, call)
        if callee >= 0:
            yield program.symbol(defined.unit, callee), depth, call in handing


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
