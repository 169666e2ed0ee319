"""Units into a program: every function, variable and record once, and which units make one executable.

Owns the merge by identity and the grouping by references.  A compile database usually covers several executables
(a server, its client, its tests): their globals never share a line, and each ``main`` is judged with what it needs.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from os.path import commonpath
from typing import TypeVar

import msgspec

from sharing.basics.sourcepath import of_system
from sharing.model.errors import Malformed
from sharing.model.facts import (
    FactsFailure,
    FactsLine,
    FactsNote,
    FunctionBits,
    FunctionFacts,
    RecordBits,
    RecordFacts,
    UnitFacts,
    VariableBits,
    VariableFacts,
)
from sharing.source.checked import check_function, check_record, check_unit
from sharing.source.program import Defined, Program
from sharing.source.promises import with_promises

MAX_EXECUTABLES = 24
MAX_NOTES = 5  # of all units together; the others are counted

_T = TypeVar("_T")
_RECORD = msgspec.json.Decoder(RecordFacts)
_DROPPED = msgspec.Raw(b"null")
_FUNCTION = msgspec.json.Decoder(FunctionFacts)


def merge(lines: Iterable[FactsLine]) -> Program:
    """One program of all units, in the order of the stream.

    Raises Malformed where a record or function document does not have the form of the schema.
    """
    merger = _Merger()
    failed: list[tuple[str, str]] = []
    notes: list[str] = []
    for line in lines:
        if isinstance(line, UnitFacts):
            merger.add(line)
        elif isinstance(line, FactsFailure):
            failed.append((line.path, line.reason))
        elif isinstance(line, FactsNote):
            notes.append(line.text)
    return merger.program(failed, notes)


def assemble(units: Iterable[UnitFacts], failed: Iterable[tuple[str, str]] = (), notes: Iterable[str] = ()) -> Program:
    """Merge units: definitions win over declarations, of several definitions the first."""
    merger = _Merger()
    for unit in units:
        merger.add(unit)
    return merger.program(list(failed), list(notes))


def _told(units: Iterable[UnitFacts]) -> list[str]:
    """What units say of themselves, that of a header once."""
    first: dict[str, str] = {}
    for unit in units:
        for note in unit.notes:
            first.setdefault(note, f"{unit.path}: {note}")
    told = list(first.values())
    more = len(told) - MAX_NOTES
    return [*told[:MAX_NOTES], *([f"{more} more notes about units"] if more > 0 else [])]


class _Merger:
    """Takes one unit after the other and keeps of it what the program does not have yet."""

    def __init__(self) -> None:
        self._units: list[UnitFacts] = []
        self._functions: dict[str, Defined[FunctionFacts]] = {}
        self._others: dict[tuple[str, int], Defined[FunctionFacts]] = {}
        self._records: dict[str, Defined[RecordFacts]] = {}

    def add(self, unit: UnitFacts) -> None:
        """Raises Malformed where a document does not have the form of the schema, or an index leads nowhere."""
        check_unit(unit)
        index = len(self._units)
        for identity, raw in unit.functions:
            known = self._functions.get(identity)
            if known is None:
                self._functions[identity] = Defined(_function(raw, identity, unit), index)
            elif not known.facts.bits & (FunctionBits.INTERNAL | FunctionBits.INLINE | FunctionBits.REGION):
                self._others[identity, index] = Defined(_function(raw, identity, unit), index)
        for key, raw in unit.records:
            if key not in self._records:
                self._records[key] = Defined(_record(raw, key, unit), index)
        # Headers make most names and documents equal in all units: each is kept once.
        self._units.append(
            msgspec.structs.replace(
                unit,
                records=tuple((sys.intern(key), _DROPPED) for key, _ in unit.records),
                functions=tuple((sys.intern(identity), _DROPPED) for identity, _ in unit.functions),
                symbols=tuple(map(sys.intern, unit.symbols)),
                files=tuple(map(sys.intern, unit.files)),
                file_hashes=tuple(map(sys.intern, unit.file_hashes)),
            )
        )

    def program(self, failed: list[tuple[str, str]], notes: list[str]) -> Program:
        units = tuple(self._units)
        broken = [u for u in units if u.errors]
        notes = notes + [
            f"{u.path}: analysed in part: {u.errors[0]}"
            + (f" and {len(u.errors) - 1} more" if len(u.errors) > 1 else "")
            for u in broken
        ]
        notes += [f"{path}: not analysed: {reason}" for path, reason in failed]
        notes += _told(units)
        variables, declared = _variables(units, range(len(units)))
        return Program(
            units=units,
            variables=variables,
            declared=declared,
            functions=with_promises(self._functions),
            records=self._records,
            members=tuple(range(len(units))),
            others=self._others,
            failed=tuple(failed),
            notes=tuple(notes),
            counts={
                "units": len(units),
                "units_failed": len(failed),
                "units_in_part": len(broken),
                "functions": len(self._functions),
                "variables": len(variables),
                "records": len(self._records),
            },
        )


def _variables(
    units: Sequence[UnitFacts], members: Iterable[int]
) -> tuple[dict[str, Defined[VariableFacts]], dict[str, Defined[VariableFacts]]]:
    """Definitions of some units by identity, and what is only declared in them."""
    variables: dict[str, Defined[VariableFacts]] = {}
    declared: dict[str, Defined[VariableFacts]] = {}
    for index in members:
        for variable in units[index].variables:
            table = declared if variable.bits & VariableBits.DECLARED_ONLY else variables
            if variable.identity not in table:
                table[variable.identity] = Defined(variable, index)
    return variables, {i: d for i, d in declared.items() if i not in variables}


def _function(raw: msgspec.Raw, identity: str, unit: UnitFacts) -> FunctionFacts:
    function = _decode(_FUNCTION, raw, unit, f"function {identity!r:.80}")
    check_function(function, identity, unit)
    return function


def _record(raw: msgspec.Raw, key: str, unit: UnitFacts) -> RecordFacts:
    record = _decode(_RECORD, raw, unit, f"record {key!r:.80}")
    check_record(record, key, unit)
    if 0 <= record.file < len(unit.files) and of_system(unit.files[record.file]):
        # However a command came to the header: with -I of its folder a compiler takes it for the project's.
        return msgspec.structs.replace(record, bits=record.bits | RecordBits.SYSTEM)
    return record


def _decode(decoder: msgspec.json.Decoder[_T], raw: msgspec.Raw, unit: UnitFacts, what: str) -> _T:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(unit.path, None, f"facts: {what}: not of the form of the schema: {error}") from None


def executables(program: Program) -> Iterator[tuple[str, Program]]:
    """(path of the unit with main, its program) for each main, biggest first, then ("", the rest) if there is any.

    A program needs the units that define what it refers to, transitively; of several definitions the one whose
    path has most in common with the unit that asks.  A unit with another ``main``, as a part of a library that is built
    once more as its own test, is linked with none.
    """
    mains = [i for i, unit in enumerate(program.units) if any(identity == "main" for identity, _ in unit.functions)]
    if not mains:
        yield "", program
        return
    where = _definers(program)
    if len(mains) == 1 and all(len(units) == 1 for units in where.values()):
        # No external name has two definitions that a linker would not merge.
        yield program.units[mains[0]].path, program
        return
    needs = [
        [s for s in dict.fromkeys(unit.symbols) if s in where and index not in where[s]]
        for index, unit in enumerate(program.units)
    ]
    groups = [(main, sorted(_closure(program, main, needs, where, set(mains) - {main}))) for main in mains]
    covered = {unit for _, members in groups for unit in members}
    groups.sort(key=lambda g: (-len(g[1]), g[0]))
    for main, members in groups[:MAX_EXECUTABLES]:
        yield program.units[main].path, part(program, members)
    rest = [i for i in range(len(program.units)) if i not in covered]
    for main, members in groups[MAX_EXECUTABLES:]:
        rest += [i for i in members if i != main and not any(i in g for _, g in groups[:MAX_EXECUTABLES])]
    if rest:
        yield "", part(program, sorted(set(rest)))


def part(program: Program, members: list[int]) -> Program:
    """The program of some of the units, as they define things; what failed and was noted stays with the whole."""
    functions: dict[str, Defined[FunctionFacts]] = {}
    for unit in members:
        for identity, _ in program.units[unit].functions:
            found = program.function(unit, identity)
            if identity not in functions and found is not None:
                functions[identity] = found
    variables, declared = _variables(program.units, members)
    return dataclasses.replace(
        program, members=tuple(members), functions=functions, variables=variables, declared=declared, notes=()
    )


def _definers(program: Program) -> dict[str, list[int]]:
    """Units that define each external symbol; what every unit may define for itself (inline) needs no search."""
    where: dict[str, list[int]] = defaultdict(list)
    for index, unit in enumerate(program.units):
        for variable in unit.variables:
            own = VariableBits.INTERNAL | VariableBits.DECLARED_ONLY | VariableBits.INLINE
            if not variable.bits & own:
                where[variable.identity].append(index)
        for identity, _ in unit.functions:
            facts = program.functions[identity].facts
            if not facts.bits & (FunctionBits.INTERNAL | FunctionBits.INLINE | FunctionBits.REGION):
                where[identity].append(index)
    return where


def _closure(
    program: Program, main: int, needs: list[list[str]], where: dict[str, list[int]], apart: set[int]
) -> set[int]:
    """Units that a main needs, of ``apart`` none.  What only one defines comes first: it may settle what several do."""
    seen, front, open_needs = {main}, [main], []
    while True:
        while front:
            unit = front.pop()
            for symbol in needs[unit]:
                definers = [definer for definer in where[symbol] if definer not in apart]
                if len(definers) > 1:
                    open_needs.append((unit, symbol))
                elif definers and definers[0] not in seen:
                    seen.add(definers[0])
                    front.append(definers[0])
        unsettled = [(unit, symbol) for unit, symbol in open_needs if seen.isdisjoint(where[symbol])]
        if not unsettled:
            return seen
        unit, symbol = unsettled[0]
        chosen = _nearest(program, unit, [one for one in where[symbol] if one not in apart], needs)
        seen.add(chosen)
        front.append(chosen)
        open_needs = unsettled[1:]


def _nearest(program: Program, unit: int, candidates: list[int], needs: list[list[str]]) -> int:
    """The definer whose folders have most in common with the unit's; of those the one that needs least itself.

    A file that is compiled several times is for as many programs: databases list what one is made of side by side.
    """
    path = program.units[unit].path
    best = max(candidates, key=lambda c: (_common(path, program.units[c].path), -len(needs[c]), -c))
    same = [c for c in candidates if program.units[c].path == program.units[best].path]
    return min(_beside(program, unit, same), key=lambda c: (abs(c - unit), c))


def _beside(program: Program, unit: int, candidates: list[int]) -> list[int]:
    """Of a file that is compiled several times those for the same program as a unit, if that one is so as well.

    Programs are listed one after the other, each in the same order of files.
    """
    path = program.units[unit].path
    first = next(i for i, other in enumerate(program.units) if other.path == path)
    front = [i for i, other in enumerate(program.units[:unit]) if other.path == path]
    behind = [i for i, other in enumerate(program.units) if i > unit and other.path == path]
    if not front and not behind:
        return candidates
    if min(candidates) < first:  # what it asks for is listed in front of it
        found = [c for c in candidates if c < unit and not any(c < i for i in front)]
    else:
        found = [c for c in candidates if c > unit and not any(c > i for i in behind)]
    return found or candidates


def _common(a: str, b: str) -> int:
    """Length of the folders that two paths share; 0 where one of them is relative."""
    return len(commonpath([a, b])) if a.startswith("/") and b.startswith("/") else 0
