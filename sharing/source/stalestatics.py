"""Variables of internal linkage that show that a linked program is the base's, of which it loads every byte.

Owns which of them no compiler drops: one that a build left out or made shorter tells nothing, so that only what has to
be there, and is there as often and as long as in the base's program, counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    CALL_COLUMNS,
    Base,
    FunctionBits,
    FunctionFacts,
    MemoryOrder,
    Passed,
    VariableBits,
    VariableFacts,
)
from sharing.model.image import AccessKind, Image, VariableFlag
from sharing.source.objects import plain_name
from sharing.source.outdated import has_storage, shown_file, signs_of
from sharing.source.program import Defined, Program

_FOLDED = frozenset({"memset", "memcpy", "memmove", "bzero"})  # a compiler writes stores for them, and drops those


def stale_statics(
    linked: Image, built: Image, program: Program, base: Program, may_name: Callable[[str], bool]
) -> list[str]:
    """What is said of a linked file that loads what ``built`` of the base's sources does, a variable each.

    ``may_name`` says that the debug information of the linked file knows a name, though it has no place in it.
    """
    if program.failed or base.failed:
        return []
    ours, theirs = _local_symbols(linked), _local_symbols(built)
    if not ours:
        return []
    names = {linked.names[i] for i in linked.functions["name"].tolist() if i >= 0}
    now, before = (_Statics(one, _linked_units(one, other, names)) for one, other in ((program, base), (base, program)))
    kept = now.kept(names) | before.kept(names)
    return list(_differences(now, before, _Tables(ours, theirs), kept, may_name))


Places = dict[str, Counter[int]]  # name without what a compiler adds -> how many there are of which size


@dataclass(frozen=True, slots=True)
class _Tables:
    ours: Places
    theirs: Places

    def same(self, name: str) -> bool:
        return self.ours.get(name, Counter()) == self.theirs.get(name, Counter())


@dataclass(frozen=True, slots=True)
class _Statics:
    """Variables of internal linkage of a program's units, those of them that are linked."""

    program: Program
    units: tuple[int, ...]

    def found(self) -> dict[str, tuple[int, VariableFacts]]:
        return {
            variable.identity: (unit, variable)
            for unit in self.units
            for variable in self.program.units[unit].variables
            if variable.bits & VariableBits.INTERNAL and has_storage(variable)
        }

    def kept(self, names: set[str]) -> set[str]:
        """Identities of what is read and written, atomic, or handed to a function that no unit defines."""
        read, written, kept = set(), set(), set()
        for defined in self._run(names):
            for identity, kind, order in _accesses(self.program, defined):
                if order != MemoryOrder.PLAIN:
                    kept.add(identity)
                if kind == AccessKind.LOAD:
                    read.add(identity)
                elif kind in (AccessKind.STORE, AccessKind.RMW):
                    written.add(identity)
            kept |= set(_handed_out(self.program, defined))
        always = VariableBits.VOLATILE | VariableBits.USED
        return kept | (read & written) | {i for i, (_, one) in self.found().items() if one.bits & always}

    def _run(self, names: set[str]) -> Iterator[Defined[FunctionFacts]]:
        """Functions that the linked file has, and those of internal linkage that they call, which may be inlined."""
        todo = []
        for unit in self.units:
            for identity, _ in self.program.units[unit].functions:
                defined = self.program.function(unit, identity)
                if defined is not None and defined.facts.symbol in names:
                    todo.append(defined)
        seen = {(defined.unit, defined.facts.identity) for defined in todo}
        while todo:
            defined = todo.pop()
            yield defined
            for callee in _callees(self.program, defined):
                called = self.program.function(defined.unit, callee)
                if called is None or not called.facts.bits & FunctionBits.INTERNAL:
                    continue
                if (called.unit, callee) not in seen:
                    seen.add((called.unit, callee))
                    todo.append(called)


def _differences(
    now: _Statics, before: _Statics, tables: _Tables, kept: set[str], may_name: Callable[[str], bool]
) -> Iterator[str]:
    ours, theirs = now.found(), before.found()
    often, was_often = (Counter(plain_name(v.symbol) for _, v in some.values()) for some in (ours, theirs))
    for identity, (unit, variable) in ours.items():
        name, file = plain_name(variable.symbol), shown_file(now.program.units[unit])
        if not tables.same(name) or identity not in kept:
            continue
        if identity not in theirs:
            if often[name] > was_often[name] and not may_name(variable.name.rpartition("::")[2]):
                yield f"lacks {variable.name}, which {file} defines"
        elif (size := theirs[identity][1].size) != variable.size and tables.ours.get(name, Counter())[size]:
            yield f"has {variable.name} with {size:,} bytes, which in {file} has {variable.size:,}"
    for identity, (unit, variable) in theirs.items():
        name = plain_name(variable.symbol)
        if identity not in ours and identity in kept and not often[name] and tables.same(name) and name in tables.ours:
            yield f"has {variable.name}, which {shown_file(before.program.units[unit])} no longer defines"


def _linked_units(program: Program, other: Program, names: set[str]) -> tuple[int, ...]:
    """Units all of whose functions that others may call are there; one with ``main`` alone where it is the only one."""
    signs = {i: signs_of(program, other, i) for i in program.members}
    mains = [i for i in program.members if any(identity == "main" for identity, _ in program.units[i].functions)]
    only = mains[0] if len(mains) == 1 else None
    return tuple(i for i, some in signs.items() if some <= names and (some or i == only))


def _local_symbols(image: Image) -> Places:
    found: Places = {}
    columns = (image.variables[c].tolist() for c in ("name", "size", "flags"))
    for name, size, flags in zip(*columns, strict=True):
        if name >= 0 and flags & VariableFlag.LOCAL and not flags & VariableFlag.RECOVERED:
            found.setdefault(plain_name(image.names[name]), Counter())[size] += 1
    return found


def _accesses(program: Program, defined: Defined[FunctionFacts]) -> Iterator[tuple[str, int, int]]:
    base, number, kind, order = (ACCESS_COLUMNS.index(column) for column in ("base", "id", "kind", "memory_order"))
    rows = defined.facts.accesses
    for at in range(0, len(rows), len(ACCESS_COLUMNS)):
        if rows[at + base] == Base.VARIABLE:
            yield program.symbol(defined.unit, rows[at + number]), rows[at + kind], rows[at + order]


def _callees(program: Program, defined: Defined[FunctionFacts]) -> list[str]:
    numbers = [*defined.facts.calls[:: len(CALL_COLUMNS)], *defined.facts.taken]
    return [program.symbol(defined.unit, number) if number >= 0 else "" for number in numbers]


def _handed_out(program: Program, defined: Defined[FunctionFacts]) -> Iterator[str]:
    """Variables whose address a call passes to what is not in these units."""
    call, kind, value = (ARG_COLUMNS.index(column) for column in ("call", "kind", "value"))
    callees, rows = _callees(program, defined), defined.facts.args
    for at in range(0, len(rows), len(ARG_COLUMNS)):
        callee = callees[rows[at + call]]
        outside = callee and callee not in program.functions and callee not in _FOLDED
        if rows[at + kind] == Passed.VARIABLE and outside:
            yield program.symbol(defined.unit, rows[at + value])
