"""Addresses for what has none yet: contributions of units one after the other, and one instance of each record.

Owns the synthetic address space of a predicted image.  The order within a contribution is the compiler's
(``sharing.source.emission``); the order of contributions is that of the units, as a linker takes them from its command
line, and is only one possibility, so that pairs across units are treated as such by the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sharing.basics.geometry import round_up
from sharing.model.facts import ACCESS_COLUMNS, ARG_COLUMNS, Base, Passed, RecordBits
from sharing.model.image import ALLOCATED, HEAP_ALIGNMENT, Section, SectionKind
from sharing.source.emission import Contribution
from sharing.source.parts import parts_of
from sharing.source.program import Program
from sharing.source.promises import allocated_alignment
from sharing.source.types import TypeBuilder

DATA_BASE = 0x1000_0000
HEAP_BASE = 0x4000_0000
_HANDED_ON = (Passed.RECORD, Passed.MEMBER)  # what is in an object that is not static
GAP = 4096  # between things that the linker does not put side by side

Contributions = Callable[[int], Sequence[Contribution]]


@dataclass(frozen=True, slots=True)
class Placed:
    """One object with its address: a variable by identity, or (``record``) the instance of a record by key."""

    identity: str
    address: int
    size: int
    section: int
    unit: int
    record: bool = False


@dataclass(frozen=True, slots=True)
class AddressSpace:
    """Objects in order of address.  ``phases`` gives the alignment in bytes of each movable section by its index.

    ``variables`` and ``records`` are addresses by identity and by key.
    """

    objects: tuple[Placed, ...]
    sections: tuple[Section, ...]
    phases: dict[int, int]
    variables: dict[str, int]
    records: dict[str, int]


def predicted(program: Program, contributions: Contributions, instances: Sequence[str]) -> AddressSpace:
    """Lay out every unit's contributions section by section, then the record instances, each alone."""
    objects: list[Placed] = []
    sections: list[Section] = []
    phases: dict[int, int] = {}
    by_name: dict[tuple[str, SectionKind], list[tuple[int, Contribution]]] = {}
    for unit in program.members:
        for contribution in contributions(unit):
            by_name.setdefault((contribution.section, contribution.kind), []).append((unit, contribution))
    address = DATA_BASE
    seen: set[str] = set()
    for (name, kind), parts in by_name.items():
        address = round_up(address, GAP) + GAP
        for unit, contribution in parts:
            fresh = [m for m in contribution.members if m.identity not in seen]
            if not fresh:
                continue  # merged with an equal one of an earlier unit
            alignment = max(contribution.alignment, 1)
            address = round_up(address, alignment)
            index = len(sections)
            sections.append(Section(index, name, kind, address, contribution.size, alignment, None))
            phases[index] = alignment
            seen.update(m.identity for m in fresh)
            objects += [Placed(m.identity, address + m.offset, m.size, index, unit) for m in fresh]
            address += contribution.size
    return _with_instances(program, objects, sections, phases, instances)


def exact(
    program: Program, addresses: dict[str, int], sections: Sequence[Section], instances: Sequence[str]
) -> AddressSpace:
    """Variables where a linked file has them; those that it lacks were dropped and take no part."""
    objects = []
    for identity, address in addresses.items():
        defined = program.variables.get(identity)
        section = next((s.index for s in sections if s.address <= address < s.end), -1)
        if defined is not None and section >= 0:
            objects.append(Placed(identity, address, max(defined.facts.size, 1), section, defined.unit))
    return _with_instances(program, objects, list(sections), {}, instances)


def _with_instances(
    program: Program,
    objects: list[Placed],
    sections: list[Section],
    phases: dict[int, int],
    instances: Sequence[str],
) -> AddressSpace:
    address = max([HEAP_BASE, *(round_up(s.end, GAP) + GAP for s in sections)])
    records: dict[str, int] = {}
    parts = parts_of(program, instances)
    promised = allocated_alignment(program)
    for key in instances:
        if key in parts:
            continue
        defined = program.records[key]
        alignment = max(defined.facts.align, HEAP_ALIGNMENT, promised.get(key, 0))
        address = round_up(address, max(alignment, GAP))
        index = max((s.index for s in sections), default=-1) + 1
        size = max(defined.facts.size, 1)
        sections.append(Section(index, ALLOCATED, SectionKind.WRITABLE, address, size, alignment, None))
        phases[index] = alignment
        objects.append(Placed(key, address, size, index, defined.unit, record=True))
        records[key] = address
        address += size + GAP
    objects.sort(key=lambda o: o.address)
    variables = {o.identity: o.address for o in objects if not o.record}
    for key, part in parts.items():
        offset = part.offset
        while not part.in_variable and part.whole in parts:
            part = parts[part.whole]
            offset += part.offset
        begin = (variables if part.in_variable else records).get(part.whole)
        if begin is not None:  # a compiler or linker may have dropped the variable
            records[key] = begin + offset
    return AddressSpace(tuple(objects), tuple(sections), phases, variables, records)


def shared_instances(program: Program, types: TypeBuilder) -> list[str]:
    """Keys of the records of which one instance stands for the objects that live outside static storage.

    A record counts when it is reached through pointers of unknown origin, allocated, or passed on as an address.
    One that is only seen through parameters counts unless a variable with static storage has the type: then what
    the callee does is attributed to that.  What a C++ thread starts with is not seen passed: it counts as a pointer.
    """
    through_pointers: dict[str, None] = {}
    by_parameter: dict[str, None] = {}
    entries = {
        program.symbol(d.unit, s.entry)
        for d in program.functions.values()
        for s in d.facts.starts
        if 0 <= s.entry < len(program.units[d.unit].symbols)
    }
    for defined in program.functions.values():
        f, unit = defined.facts, defined.unit
        is_entry = f.identity in entries
        for at in range(0, len(f.accesses), len(ACCESS_COLUMNS)):
            record = f.accesses[at + 2]
            if record >= 0:
                table = through_pointers if is_entry or f.accesses[at] == Base.RECORD else by_parameter
                table[program.record_key(unit, record)] = None
        for at in range(0, len(f.args), len(ARG_COLUMNS)):
            if f.args[at + 2] in _HANDED_ON and f.args[at + 3] >= 0:
                table = through_pointers if is_entry or f.args[at + 2] == Passed.RECORD else by_parameter
                table[program.record_key(unit, f.args[at + 3])] = None
        for allocation in f.allocations:
            if allocation.record >= 0:
                through_pointers[program.record_key(unit, allocation.record)] = None
    static: set[str] = set()
    if by_parameter.keys() - through_pointers.keys():
        for variable in program.variables.values():
            static |= types.records_in(variable.facts.type, variable.unit)
    chosen = [*through_pointers, *(k for k in by_parameter if k not in through_pointers and k not in static)]
    return [k for k in chosen if (d := program.records.get(k)) is not None and not d.facts.bits & RecordBits.SYSTEM]
