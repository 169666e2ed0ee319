"""Threads that end after a few rounds, started once: what they do takes no line away for longer than a moment.

Owns which functions only such threads run.  A thread's rounds are those of loops that count up to a constant, there and
in all that it calls; who starts it comes by once, and all loops there count up: they start and join a few.
"""

from __future__ import annotations

from collections import Counter

from sharing.basics import numbers as shared
from sharing.knowledge import Knowledge
from sharing.model.facts import FunctionBits, FunctionFacts
from sharing.source.program import Defined, Program
from sharing.source.threadnumbers import calls_of, starts_of

MAX_CALLERS = 8  # of callers of callers


class _Once:
    """Which functions a program comes by once, as far as their callers are known."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._callers: dict[str, list[tuple[str, int]]] = {}
        self._taken: set[str] = set()
        for defined in program.functions.values():
            facts = defined.facts
            self._taken.update(program.symbol(defined.unit, at) for at in facts.taken)
            for callee, depth in calls_of(program, defined):
                self._callers.setdefault(callee, []).append((facts.identity, depth))

    def callers(self, function: str) -> list[tuple[str, int]]:
        return self._callers.get(function, [])

    def comes_by(self, function: str, steps: int = 0) -> bool:
        """Is it main, or called by such functions alone, outside of loops, from one place?"""
        defined = self._program.functions.get(function)
        if defined is None or function in self._taken or steps > MAX_CALLERS:
            return False
        if function == "main":
            return True
        if defined.facts.bits & FunctionBits.VIRTUAL:
            return False
        callers = self.callers(function)
        if not callers:
            return self._makes_the_only_object(defined, steps)
        return len(callers) == 1 and not callers[0][1] and self.comes_by(callers[0][0], steps + 1)

    def _makes_the_only_object(self, defined: Defined[FunctionFacts], steps: int) -> bool:
        """Is it a constructor of what is allocated once, where there is no loop?"""
        owner, _, name = defined.facts.name.partition("(")[0].rpartition("::")
        if not owner or owner.rpartition("::")[2] != name:
            return False
        made = [
            made
            for made in self._program.functions.values()
            for one in made.facts.allocations
            if (record := self._program.record(made.unit, one.record)) is not None and record.facts.name == owner
        ]
        return len(made) == 1 and made[0].facts.rounds == 1 and self.comes_by(made[0].facts.identity, steps + 1)


def brief_functions(program: Program, knowledge: Knowledge) -> frozenset[str]:
    """Identities of functions that only such threads run."""
    if "main" not in program.functions:
        return frozenset()
    starters: dict[str, list[Defined[FunctionFacts]]] = {}
    for defined in program.functions.values():
        for entry, _ in starts_of(program, defined, knowledge):
            starters.setdefault(entry, []).append(defined)
    short = {entry for entry in starters if 0 < _rounds(program, entry) * shared.TRANSFER_NS <= shared.BRIEF_NS}
    once = _Once(program) if short else None
    brief = {
        entry
        for entry in short
        if once is not None
        and not once.callers(entry)
        and all(by.facts.rounds and once.comes_by(by.facts.identity) for by in starters[entry])
    }
    size = -1
    while once is not None and len(brief) != size:
        size = len(brief)
        called = Counter(c for entry in brief for c, _ in calls_of(program, program.functions[entry]))
        brief |= {c for c, times in called.items() if c in program.functions and len(once.callers(c)) == times}
    return frozenset(brief)


def _rounds(program: Program, function: str, around: tuple[str, ...] = ()) -> int:
    """At most so many rounds of all loops of a function and of what it calls; 0 not known."""
    defined = program.functions.get(function)
    if defined is None or defined.facts.rounds <= 0 or function in around or len(around) > MAX_CALLERS:
        return 0
    inside = 1
    for callee, _ in {*calls_of(program, defined, unknown="?")}:
        rounds = _rounds(program, callee, (*around, function))
        if not rounds:
            return 0
        inside = max(inside, rounds)
    return defined.facts.rounds * inside
