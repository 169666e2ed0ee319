"""Functions of a program that code which is not among its units may call.

Owns which calls of a program hand one over: itself, or in a variable or a record that holds some; and which virtual
functions override those of a class that others have written, where nobody here calls these.  What others do with them
nothing here tells.  Records in the frame of who calls are not followed.
"""

from __future__ import annotations

import functools
from collections import defaultdict

from sharing.knowledge.mangled import Parts, parse
from sharing.model.facts import ARG_COLUMNS, CALL_COLUMNS, KEPT_COLUMNS, THROUGH_SLOT, Passed, UnitFacts, rows_of
from sharing.source.program import Program

_VIRTUAL = "virtual "
_STANDARD = ("std", "__gnu_cxx", "__cxxabiv1")
_FUNCTION_OBJECTS = ("St8function", "18move_only_function")  # parameters, as linkage names have them


def handed_out(program: Program) -> dict[str, list[str]]:
    """By name of a function that no unit defines, identities of the program's own that it is handed.

    What is handed a ``std::function`` may have any of those whose address the caller takes, lambdas as well.  The
    standard library's templates, which are defined nowhere, call back.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    held = _held(program)
    in_records = [_in_records(unit, program) for unit in program.units]
    standard = functools.cache(_is_standard)
    for defined in program.functions.values():
        unit = program.units[defined.unit]
        calls = list(rows_of(defined.facts.calls, len(CALL_COLUMNS)))
        taken = [unit.symbols[one] for one in defined.facts.taken if unit.symbols[one] in program.functions]
        for callee, *_ in calls if taken else ():
            name = unit.symbols[callee] if callee >= 0 else ""
            if any(one in name for one in _FUNCTION_OBJECTS) and name not in program.functions and not standard(name):
                found[name].update(dict.fromkeys(taken))
        for call, _, kind, value, *_ in rows_of(defined.facts.args, len(ARG_COLUMNS)):
            callee = calls[call][0]
            if callee < 0 or (name := unit.symbols[callee]) in program.functions or standard(name):
                continue
            function = ""
            if kind == Passed.FUNCTION and unit.symbols[value] in program.functions:
                function = unit.symbols[value]
            elif kind == Passed.VARIABLE:
                function = held.get(unit.symbols[value], "")
            elif kind == Passed.RECORD:
                function = in_records[defined.unit].get(value, "")
            if function:
                found[name][function] = None
    return {name: list(functions) for name, functions in found.items()}


def overriding(program: Program) -> dict[str, list[str]]:
    """By name of a class of others, identities of the program's functions that these call: what overrides a virtual
    function of the class that nobody here calls.  The standard library's classes start no threads."""
    scope = functools.cache(_scope)
    named = {symbol for unit in program.members for symbol in program.units[unit].symbols}
    elsewhere = {scope(symbol) for symbol in named if symbol not in program.functions}
    called = {
        program.units[defined.unit].slots[THROUGH_SLOT - callee].split(" ")[1]
        for defined in program.functions.values()
        for callee, *_ in rows_of(defined.facts.calls, len(CALL_COLUMNS))
        if callee <= THROUGH_SLOT
    }
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for number in program.members:
        unit = program.units[number]
        for slot, function, _ in rows_of(unit.kept, len(KEPT_COLUMNS)):
            name = unit.slots[slot]
            first = name.removeprefix(_VIRTUAL)
            symbol = unit.symbols[function] if function >= 0 else ""
            if first in (name, symbol) or " " in first or first in called or symbol not in program.functions:
                continue
            of = scope(first)
            if of and of in elsewhere and of[0] not in _STANDARD:
                found["::".join(of)][symbol] = None
    return {name: list(functions) for name, functions in found.items()}


def _is_standard(symbol: str) -> bool:
    scope = _scope(symbol)
    return bool(scope) and scope[0] in _STANDARD


def _scope(symbol: str) -> Parts:
    """The class or namespace of a function."""
    name = parse(symbol)
    return name.parts[:-1] if name is not None else ()


def _held(program: Program) -> dict[str, str]:
    """By identity of a variable, the first function of the program in its initialiser."""
    found = {}
    for identity, defined in program.variables.items():
        symbols = (program.symbol(defined.unit, one) for one in defined.facts.refers)
        if function := next((one for one in symbols if one in program.functions), ""):
            found[identity] = function
    return found


def _in_records(unit: UnitFacts, program: Program) -> dict[int, str]:
    """By index of a record, the first function of the program that its unit keeps in a member of one."""
    members: dict[str, str] = {}
    for slot, function, _ in rows_of(unit.kept, len(KEPT_COLUMNS)):
        what, _, place = unit.slots[slot].partition(" ")
        if what == "member" and function >= 0 and unit.symbols[function] in program.functions:
            members.setdefault(place.rpartition(".")[0], unit.symbols[function])
    names = [key.partition("@")[0] for key, _ in unit.records]
    return {index: members[name] for index, name in enumerate(names) if name in members}
