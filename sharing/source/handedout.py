"""Functions of a program that it hands to others whose code is not among its units.

Owns which calls of a program hand one over: itself, or in a variable or a record that holds some.  What others do with
it nothing here tells.  Records in the frame of who calls are not followed.
"""

from __future__ import annotations

from sharing.model.facts import ARG_COLUMNS, CALL_COLUMNS, KEPT_COLUMNS, Passed, UnitFacts, rows_of
from sharing.source.program import Program


def handed_out(program: Program) -> dict[str, str]:
    """By name of a function that no unit defines, one of the program's own that it is handed."""
    found: dict[str, str] = {}
    held = _held(program)
    in_records = [_in_records(unit, program) for unit in program.units]
    for defined in program.functions.values():
        unit = program.units[defined.unit]
        calls = list(rows_of(defined.facts.calls, len(CALL_COLUMNS)))
        for call, _, kind, value, *_ in rows_of(defined.facts.args, len(ARG_COLUMNS)):
            callee = calls[call][0]
            if callee < 0 or (name := unit.symbols[callee]) in program.functions:
                continue
            function = ""
            if kind == Passed.FUNCTION and unit.symbols[value] in program.functions:
                function = unit.symbols[value]
            elif kind == Passed.VARIABLE:
                function = held.get(unit.symbols[value], "")
            elif kind == Passed.RECORD:
                function = in_records[defined.unit].get(value, "")
            if function:
                found.setdefault(name, program.functions[function].facts.name)
    return found


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
