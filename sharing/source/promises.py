"""The alignment that allocations promise, through functions of other units as well, and where records begin by it.

Owns the step from what functions return (``FunctionFacts.promises``) to what was allocated with them, and from that to
the alignment of a record's objects.  Whether an allocation is wrong is ``heap_alignment``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import msgspec

from sharing.model.facts import ACCESS_COLUMNS, ARG_COLUMNS, AllocationFact, FunctionFacts, VariableBits
from sharing.model.image import HEAP_ALIGNMENT
from sharing.source.declarations import element, record_of
from sharing.source.program import Defined, Program

Functions = dict[str, Defined[FunctionFacts]]


def with_promises(functions: Functions) -> Functions:
    """The functions, with what those of other units promise put into allocations that name them."""
    promised: dict[str, int] = {}
    for defined in functions.values():
        name = _unqualified(defined.facts.name)
        promised[name] = min(promised.get(name, defined.facts.promises), defined.facts.promises)
    promised = {name: promise for name, promise in promised.items() if promise}
    if not promised:
        return functions
    return {identity: _promising(defined, promised) for identity, defined in functions.items()}


def _promising(defined: Defined[FunctionFacts], promised: dict[str, int]) -> Defined[FunctionFacts]:
    told = tuple(
        msgspec.structs.replace(one, guarantee=max(one.guarantee, promised.get(_unqualified(one.api), 0)))
        for one in defined.facts.allocations
    )
    if told == defined.facts.allocations:
        return defined
    return Defined(msgspec.structs.replace(defined.facts, allocations=told), defined.unit)


def _unqualified(name: str) -> str:
    return name.partition("(")[0].rpartition("::")[2]


def allocated_alignment(program: Program) -> dict[str, int]:
    """At which multiples the objects of records begin, by key: those that only allocations with a promise make, and
    variables in static storage that are declared so.

    A member of another record begins where that has it, and of an array only the first element as was promised.
    """
    least: dict[str, int] = {}
    for key, one in _allocations(program):
        promise = max(one.guarantee, HEAP_ALIGNMENT)
        least[key] = min(least.get(key, promise), promise)
    for key, declared in _declared(program):
        promise = max(declared, HEAP_ALIGNMENT)
        least[key] = min(least.get(key, promise), promise)
    least = {key: promise for key, promise in least.items() if promise > HEAP_ALIGNMENT}
    if not least:
        return {}
    for key in _embedded(program) & least.keys():
        del least[key]
    for key in _indexed(program) & least.keys():
        least[key] = gcd(least[key], max(program.records[key].facts.size, 1))
    return least


def _allocations(program: Program) -> Iterator[tuple[str, AllocationFact]]:
    for defined in program.functions.values():
        for one in defined.facts.allocations:
            record = program.record(defined.unit, one.record)
            if record is not None:
                yield record.facts.key, one


def _declared(program: Program) -> Iterator[tuple[str, int]]:
    """Alignment in bytes at which variables in static storage, or all elements of such arrays, begin, by record."""
    for defined in program.variables.values():
        facts = defined.facts
        tree, count = element(facts.type)
        record = record_of(program, defined.unit, tree)
        if record is not None and not facts.bits & VariableBits.THREAD:
            yield record.facts.key, gcd(facts.align, record.facts.size) if count > 1 else facts.align


def _embedded(program: Program) -> set[str]:
    """Records that are members or bases of others, or elements of arrays there."""
    found = set()
    for whole in program.records.values():
        for member in whole.facts.members:
            tree = member.type
            while tree.inner is not None:
                tree = tree.inner
            if 0 <= tree.count < len(program.units[whole.unit].records):
                found.add(program.record_key(whole.unit, tree.count))
    return found


def _indexed(program: Program) -> set[str]:
    """Records of which elements of an array are used, or handed on, at an index."""
    found = set()
    stride, record = ACCESS_COLUMNS.index("stride"), ACCESS_COLUMNS.index("record")
    passed, value = ARG_COLUMNS.index("stride"), ARG_COLUMNS.index("value")
    for defined in program.functions.values():
        facts, unit = defined.facts, program.units[defined.unit]
        keys = {
            *zip(
                facts.accesses[stride :: len(ACCESS_COLUMNS)],
                facts.accesses[record :: len(ACCESS_COLUMNS)],
                strict=False,
            ),
            *zip(facts.args[passed :: len(ARG_COLUMNS)], facts.args[value :: len(ARG_COLUMNS)], strict=False),
        }
        found |= {unit.records[index][0] for step, index in keys if step and 0 <= index < len(unit.records)}
    return found
