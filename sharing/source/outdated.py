"""Was a linked program made of the sources that were read?  What it lacks or has besides, by name.

Owns what has to be in a program: a compiler or linker drops variables that nothing needs, and a compile database
covers units of other programs, so that a missing name alone says nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sharing.basics.sourcepath import shortened
from sharing.model.facts import ACCESS_COLUMNS, Base, FunctionBits, UnitFacts, VariableBits, VariableFacts
from sharing.model.image import AccessKind, Image, VariableFlag
from sharing.source.declarations import element, record_of
from sharing.source.objects import plain_name
from sharing.source.program import Program

_STRUCTOR = re.compile(r"[CD][0-5]E")  # constructors and destructors have several symbols, of which one may be kept
# Left out: what several units may define or replace, what is elsewhere, and what tables of writable data may lack.
_OTHERS = (
    VariableBits.INLINE | VariableBits.WEAK | VariableBits.DECLARED_ONLY | VariableBits.CONSTANT | VariableBits.THREAD
)


def outdated(
    linked: Image,
    program: Program,
    base: Program | None,
    is_older: Callable[[str], bool] = lambda path: False,
    loads_as_base: Callable[[], bool] = lambda: False,
) -> list[str]:
    """What is said of the linked file, a variable each: of external linkage, mostly.

    ``base``, the program of the base, shows what was removed or resized.
    ``is_older`` says that the linked file is older than a source: then a variable without external linkage, too, counts
    where it is lacking though functions read and write it.
    ``loads_as_base`` says that nothing loaded differs from the base's program: then members that moved in a variable of
    the same size show it.
    """
    return list(_Comparison(linked, program, base, is_older, loads_as_base).found())


class _Symbols:
    """Names of a linked file.  ``whole``: its own table of symbols is there, as far as can be seen."""

    def __init__(self, image: Image) -> None:
        self.names: set[str] = {image.names[i] for i in image.functions["name"].tolist() if i >= 0}
        self.plain: set[str] = set()
        self.sizes: dict[str, int] = {}  # of what other files may name
        self.whole = False
        columns = (image.variables[c].tolist() for c in ("name", "size", "flags"))
        for number, (name, size, flags) in enumerate(zip(*columns, strict=True)):
            if name < 0 or flags & VariableFlag.RECOVERED:
                continue
            # Of a stripped library local symbols are gone, and hidden ones with them; crt files always bring some.
            self.whole |= bool(flags & VariableFlag.LOCAL)
            for one in (image.names[name], *image.aliases.get(number, ())):
                self.names.add(one)
                self.plain.add(plain_name(one))
                if not flags & VariableFlag.LOCAL:
                    self.sizes[one] = size


@dataclass(slots=True)
class _Comparison:
    """A linked file beside the program of the sources, and that of the base."""

    linked: Image
    program: Program
    base: Program | None
    is_older: Callable[[str], bool]
    loads_as_base: Callable[[], bool]
    there: _Symbols = field(init=False)

    def found(self) -> Iterator[str]:
        self.there = _Symbols(self.linked)
        if not self.there.whole:
            return
        signs = {i: signs_of(self.program, self.base, i) for i in self.program.members}
        # A linker that drops what nobody calls, or a compiler that sees the whole program, leaves out functions.
        keeps_all = all(some <= self.there.names or some.isdisjoint(self.there.names) for some in signs.values())
        linked = [i for i, some in signs.items() if some and some <= self.there.names]
        units = [self.program.units[i] for i in linked]
        used = self._read_and_written()
        yield from self._laid_out_anew(linked, used)
        for unit in units:
            for variable in unit.variables:
                if not has_storage(variable):
                    continue
                kept = keeps_all and not unit.options.data_sections
                if self._lacks(variable, unit, used, kept):
                    yield f"lacks {variable.name}, which {shown_file(unit)} defines"
                elif (was := self._resized(variable)) is not None:
                    yield f"has {variable.name} with {was:,} bytes, which in {shown_file(unit)} has {variable.size:,}"
        yield from self._removed({unit.path for unit in units})

    def _read_and_written(self) -> set[str]:
        """Identities of variables that functions of the linked file read, and others or the same write."""
        base, number, kind = (ACCESS_COLUMNS.index(column) for column in ("base", "id", "kind"))
        read, written = set(), set()
        for defined in self.program.functions.values():
            facts = defined.facts
            if facts.symbol not in self.there.names:
                continue
            for at in range(0, len(facts.accesses), len(ACCESS_COLUMNS)):
                row = facts.accesses[at : at + len(ACCESS_COLUMNS)]
                if row[base] != Base.VARIABLE:
                    continue
                identity = self.program.symbol(defined.unit, row[number])
                if row[kind] != AccessKind.STORE:
                    read.add(identity)
                if row[kind] != AccessKind.LOAD:
                    written.add(identity)
        return read & written

    def _lacks(self, variable: VariableFacts, unit: UnitFacts, used: set[str], kept: bool) -> bool:
        if variable.bits & VariableBits.INTERNAL:
            lacking = variable.identity in used and plain_name(variable.symbol) not in self.there.plain
            return lacking and self.is_older(posixpath.join(unit.directory, unit.path))
        return variable.symbol not in self.there.names and (kept or variable.identity in used)

    def _resized(self, variable: VariableFacts) -> int | None:
        """The size that it has in the base and in the linked file, where that is no longer its size."""
        was = self.base.variables.get(variable.identity) if self.base is not None else None
        if was is None or was.facts.size == variable.size or variable.bits & VariableBits.INTERNAL:
            return None
        return was.facts.size if self.there.sizes.get(variable.symbol) == was.facts.size else None

    def _laid_out_anew(self, units: list[int], used: set[str]) -> Iterator[str]:
        """A variable whose members lie elsewhere than in the base, where what is loaded is the base's all the same."""
        if (base := self.base) is None:
            return
        for number in units:
            unit = self.program.units[number]
            for variable in unit.variables:
                was = base.variables.get(variable.identity)
                if was is None or variable.identity not in used or not has_storage(variable):
                    continue
                now, before = _members(self.program, number, variable), _members(base, was.unit, was.facts)
                if any(before.get(name, place) != place for name, place in now.items()):
                    if self.loads_as_base():
                        where = f"{variable.name} of {shown_file(unit)}"
                        yield f"loads what the base's does, though members of {where} moved"
                    return

    def _removed(self, paths: set[str]) -> Iterator[str]:
        """What units defined in the base, no unit names any more, and the linked file has all the same."""
        if self.base is None or self.program.failed:
            return
        for unit in (self.base.units[i] for i in self.base.members):
            for variable in unit.variables if unit.path in paths else ():
                if variable.bits & VariableBits.INTERNAL or not has_storage(variable):
                    continue
                named = variable.identity in self.program.variables or variable.identity in self.program.declared
                if not named and self.there.sizes.get(variable.symbol) == variable.size:
                    yield f"has {variable.name}, which {shown_file(unit)} no longer defines"


def signs_of(program: Program, base: Program | None, unit: int) -> set[str]:
    """Symbols that say that the unit is linked: its functions that other files may call, in the base, too."""
    names = set()
    for identity, _ in program.units[unit].functions:
        defined = program.function(unit, identity)
        if defined is None or defined.facts.bits & (FunctionBits.INTERNAL | FunctionBits.INLINE):
            continue
        old = base is None or identity in base.functions
        if old and identity != "main" and not _STRUCTOR.search(defined.facts.symbol):
            names.add(defined.facts.symbol)
    return names


def _members(program: Program, unit: int, variable: VariableFacts) -> dict[str, tuple[int, int]]:
    """Offset and size in bits of the direct members of a record, or of an array's elements; none of another type."""
    found = record_of(program, unit, element(variable.type)[0])
    return {} if found is None else {m.name: (m.offset_bits, m.bit_size) for m in found.facts.members}


def has_storage(variable: VariableFacts) -> bool:
    """Has it storage by its own name?  A linker script may drop what asks for a section."""
    return not variable.bits & _OTHERS and bool(variable.symbol) and variable.size > 0 and not variable.section


def shown_file(unit: UnitFacts) -> str:
    return shortened(unit.path, (unit.directory,))
