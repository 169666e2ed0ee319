"""Facts as an image: what the binary would tell, told by its source.

Owns the assembly.  Addresses are synthetic (``sharing.source.addressing``) or a linked file's; the judge treats both
alike and asks ``Image.phases`` which sections may still move.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.facts import ACCESS_COLUMNS, RecordBits, VariableBits
from sharing.model.image import (
    VARIABLE_DTYPE,
    Architecture,
    Image,
    ImageKind,
    Table,
    Unit,
    VariableFlag,
)
from sharing.source import functiontables
from sharing.source.addressing import AddressSpace, shared_instances
from sharing.source.behindown import behind_own
from sharing.source.program import Program
from sharing.source.rooms import rooms
from sharing.source.threadrecords import makers, records_at_own_numbers, records_of_threads
from sharing.source.types import TypeBuilder

KERNEL_HEADERS = ("include/linux/kconfig.h", "include/linux/compiler_types.h")

_BEGUN = re.compile(r"\w\s*[({]\s*(\d{1,9})\s*[)}]$")
_BEGUN_CHARS = 32  # of the end of a declaration that are looked at

Placement = Callable[[list[str]], AddressSpace]


def source_image(program: Program, path: str, arch: Architecture, knowledge: Knowledge, placement: Placement) -> Image:
    """The image of one program; ``placement`` gives addresses, for the record instances that it is asked for.

    ``path`` names the program in reports: the unit that has main, or what was asked for.
    """
    types = TypeBuilder(program)
    space = placement(shared_instances(program, types))
    names: dict[str, int] = {}
    variables = _variables(program, space, types, names)
    built = functiontables.build(program, space, knowledge, types.files)
    shift = len(names)
    functions = built.functions.copy()
    functions["name"] += shift
    own = records_of_threads(program, knowledge)
    return Image(
        path=path,
        member=None,
        arch=arch,
        kind=_kind(program),
        build_id=None,
        synthetic=True,
        sections=space.sections,
        names=[*names, *built.symbols],
        variables=variables,
        functions=functions,
        sites=built.sites,
        calls=built.calls,
        args=built.args,
        params=built.params,
        kept=built.kept,
        zero_ranges=built.zero_ranges,
        blocks=built.blocks,
        types=types.table(),
        units=tuple(Unit(u.path, u.directory, u.options.compiler, u.language) for u in program.units),
        files=tuple(types.files),
        callee_names=built.callee_names,
        init_functions=built.init_functions,
        imports=frozenset(built.callee_names.values()),
        debug_source="the source",
        origins=msgspec.structs.replace(built.origins, makers=makers(program), begun=_begun(program, space)),
        identities={o.address: o.identity for o in space.objects},
        of_threads=frozenset(own),
        behind_own=behind_own(program, records_at_own_numbers(program, knowledge) | own),
        rooms=rooms(program),
        phases=space.phases,
        counts={
            "source_accesses": sum(len(d.facts.accesses) for d in program.functions.values()) // len(ACCESS_COLUMNS),
            "record_instances": len(space.records),
        },
    )


def _begun(program: Program, space: AddressSpace) -> dict[int, int]:
    """By address of a variable the number in brackets that its declaration ends with."""
    found = {}
    for placed in space.objects:
        if not placed.record and (
            number := _BEGUN.search(program.variables[placed.identity].facts.text[-_BEGUN_CHARS:])
        ):
            found[placed.address] = int(number[1])
    return found


def _kind(program: Program) -> ImageKind:
    if any(path.endswith(KERNEL_HEADERS) for unit in program.members for path in program.units[unit].files):
        return ImageKind.KERNEL
    return ImageKind.EXECUTABLE if "main" in program.functions else ImageKind.SHARED


def _variables(program: Program, space: AddressSpace, types: TypeBuilder, names: dict[str, int]) -> Table:
    table = np.zeros(len(space.objects), VARIABLE_DTYPE)
    for row, placed in enumerate(space.objects):
        v = table[row]
        v["address"], v["size"], v["section"], v["unit"] = placed.address, placed.size, placed.section, placed.unit
        v["scope"] = v["file"] = -1
        v["flags"] = VariableFlag.TYPED
        if placed.record:
            record = program.records[placed.identity]
            facts, unit = record.facts, record.unit
            plain = program.units[unit].language == "C" and not facts.bits & (
                RecordBits.ANONYMOUS | RecordBits.ELEMENTS
            )
            keyword = "union " if facts.bits & RecordBits.UNION else "struct "
            v["name"] = names.setdefault((keyword if plain else "") + facts.name, len(names))
            v["type"], v["align"] = types.record(placed.identity), facts.declared_align
            v["line"], v["column"] = facts.line, facts.column
            if facts.file >= 0:
                v["file"] = types.file(program.path(unit, facts.file))
            continue
        variable = program.variables[placed.identity]
        known, unit = variable.facts, variable.unit
        v["name"] = names.setdefault(known.name, len(names))
        if known.scope:
            v["scope"] = names.setdefault(known.scope, len(names))
        v["type"], v["align"] = types.tree(known.type, unit), known.declared_align
        v["line"], v["column"] = known.line, known.column
        if known.file >= 0:
            v["file"] = types.file(program.path(unit, known.file))
        if known.bits & VariableBits.INTERNAL:
            v["flags"] |= VariableFlag.LOCAL
    return table
