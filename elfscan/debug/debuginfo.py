"""Debug information of one file: found, read by the native helper, and turned into columns.

Owns the join of ``debugfile`` (where it is) and ``dwarf`` (what is in it) for ``image``, and the placing of
DWARF variables in the layout.  A helper that fails on the file costs the types, not the audit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.program import Program
from elfscan.fileformat.symbols import COMMON
from elfscan.tools import Starter, ToolJob
from elfscan.variables import DebugVariables
from sharing.model import LinemateError, TypeTable
from sharing.model.arrays import distinct, picked, positions
from sharing.model.image import Unit
from sharing.model.process import scratch

if TYPE_CHECKING:
    from elfscan.debug.dwarf import DwarfDocument, DwarfJob, DwarfVariable
    from sharing.model.types import TypeRecord

Array = npt.NDArray[Any]

MAX_PROBLEMS_SHOWN = 5
_ALLOCATOR = ", alloc::alloc::Global"  # of Rust: Vec<u64, alloc::alloc::Global> is written Vec<u64>
MAX_ARGUMENTS = 64  # of one function, in registers: no architecture has so many


class PointerArgument(msgspec.Struct, frozen=True):
    """An argument that points to a record which was asked for.  ``address`` 0: the function is known by name alone."""

    address: int
    symbol: str
    argument: int
    type: int


class DebugInfo(msgspec.Struct, frozen=True):
    """What debug information says of an image; ``source`` is "" when there is none."""

    variables: DebugVariables
    types: TypeTable
    units: tuple[Unit, ...]
    files: tuple[str, ...]
    source: str
    pointers: tuple[PointerArgument, ...] = ()


class DebugRun:
    """A running reader of debug information.  A context: leaving it ends the helper."""

    def __init__(
        self,
        job: DwarfJob | None,
        source: str,
        notes: tuple[str, ...],
        cleanup: Callable[[], None] | None = None,
        symbols: ElfFile | None = None,
    ) -> None:
        self.symbols = symbols  # a separate debug file that has a symbol table
        self._job = job
        self._source = source
        self._notes = notes
        self.failed = False  # it is there and could not be read
        self._cleanup = cleanup

    def __enter__(self) -> Self:
        return self

    @property
    def found(self) -> bool:
        """Whether there is debug information to be read."""
        return self._job is not None

    def __exit__(self, *_: object) -> None:
        if self._job is not None:
            self._job.close()
        if self._cleanup is not None:
            self._cleanup()

    def result(self, program: Program) -> DebugInfo | None:
        """The document placed in the program's layout, None when there is nothing but notes."""
        if self._job is None:
            return None
        try:
            document = self._job.result()
        except LinemateError as error:
            self._notes += (f"debug information not read: {error}",)
            self.failed = True
            return None
        notes = list(self._notes)
        for unit, offset, reason in document.problems[:MAX_PROBLEMS_SHOWN]:
            notes.append(f"debug information: unit {unit} at {offset:#x}: {reason}")
        if len(document.problems) > MAX_PROBLEMS_SHOWN:
            notes.append(f"debug information: {len(document.problems) - MAX_PROBLEMS_SHOWN} more problems")
        self._notes = tuple(notes)
        types = TypeTable(_as_written(document))
        units = tuple(Unit(u.name, u.comp_dir, u.producer, u.language) for u in document.units)
        columns = _columns(document, types, program)
        pointers = tuple(_pointers(document, program))
        return DebugInfo(columns, types, units, tuple(document.files), self._source, pointers)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be read; complete after ``result``."""
        return self._notes


def start_debug(
    elf: ElfFile, debug_file: str | None, starter: Starter = ToolJob, records: tuple[str, ...] = ()
) -> DebugRun:
    """Find the debug information of a file and start reading it.  ``records`` as of ``start_dwarf``.

    Raises LinemateError when ``debug_file`` is unusable, or the helper cannot be run at all.
    """
    from elfscan.debug.debugfile import DebugLinks, find_debug

    if elf.base:  # the helper reads whole files: a member of an archive becomes one
        if not elf.has_dwarf:
            return DebugRun(None, "", ())
        return _start_member(elf, starter, records)
    found = find_debug(elf.path, DebugLinks.of(elf), explicit=debug_file)
    notes = tuple(found.problems)
    if found.main is None:
        return DebugRun(None, "", notes, symbols=found.symbols)
    from elfscan.debug.dwarf import start_dwarf

    relocatable = elf.header.type == c.ET_REL
    job = start_dwarf(
        found.main, alt=found.alt, dwp=found.dwp, relocatable=relocatable, records=records, starter=starter
    )
    return DebugRun(job, found.how, notes, symbols=found.symbols)


def _place_by_name(program: Program, rows: list[DwarfVariable], address: Array, section: Array) -> None:
    """Place (in the arrays) the variables of an object file that have no section yet: COMMON and thread-local."""
    table = program.symbols.table
    loose = np.flatnonzero(((table["section"] == COMMON) | (table["type"] == c.STT_TLS)) & (program.section >= 0))
    symbols = dict(zip(program.symbols.names.decode(table["name"][loose]), loose.tolist(), strict=True))
    if not symbols:
        return
    for row in np.flatnonzero(section < 0).tolist():
        symbol = symbols.get(rows[row].linkage or rows[row].name)
        if symbol is not None:
            address[row], section[row] = program.address[symbol], program.section[symbol]


def _start_member(elf: ElfFile, starter: Starter, records: tuple[str, ...]) -> DebugRun:
    from elfscan.debug.dwarf import start_dwarf

    handle = tempfile.NamedTemporaryFile(dir=scratch.folder(), suffix=".o")  # noqa: SIM115
    handle.write(elf.data.data)
    handle.flush()
    relocatable = elf.header.type == c.ET_REL
    job = start_dwarf(handle.name, relocatable=relocatable, records=records, threads=1, starter=starter)
    return DebugRun(job, "the file", (), handle.close)


def _pointers(document: DwarfDocument, program: Program) -> Iterator[PointerArgument]:
    """The arguments with addresses in the program's layout."""
    layout = program.layout
    for row in document.parameters:
        address = row.address
        if layout.synthetic:
            known = 0 <= row.section < len(layout.row_of) and layout.row_of[row.section] >= 0
            address = address + int(layout.address_of[row.section]) if known else 0
        if 0 <= row.type < len(document.types) and 0 <= row.argument < MAX_ARGUMENTS and 0 <= address < 1 << 64:
            yield PointerArgument(address, row.symbol, row.argument, row.type)


def _as_written(document: DwarfDocument) -> list[TypeRecord]:
    """The types, those of Rust without the allocator that collections have where a program names none."""
    if not any(unit.language == "Rust" for unit in document.units):
        return document.types
    return [
        replace(record, name=record.name.replace(_ALLOCATOR, "")) if _ALLOCATOR in record.name else record
        for record in document.types
    ]


def _columns(document: DwarfDocument, types: TypeTable, program: Program) -> DebugVariables:
    rows = document.variables
    count = len(rows)

    def column(values: Any, dtype: str) -> Array:
        return np.fromiter(values, dtype, count)

    def clamped(name: str) -> Array:
        values = [getattr(v, name) for v in rows]
        if values and (min(values) < 0 or max(values) > 0xFFFF_FFFF):
            values = [min(max(value, 0), 0xFFFF_FFFF) for value in values]
        return column(values, "<u4")

    ones = (1 << 64) - 1
    address = column([v.address & ones for v in rows], "<u8")
    tls = column(map(attrgetter("tls"), rows), "?")
    layout, elf = program.layout, program.elf
    if layout.synthetic:
        index = column((v.section for v in rows), "<i4")
        known = (index >= 0) & (index < len(layout.row_of))
        index = np.where(known, index, 0)
        address = address + np.where(known, layout.address_of[index], np.uint64(0))
        section = np.where(known, layout.row_of[index], -1)
        _place_by_name(program, rows, address, section)
    else:
        blocks = picked(elf.segments, elf.segments["type"] == c.PT_TLS)
        address[tls] += np.uint64(int(blocks[0]["address"]) if len(blocks) else 0)
        section = np.where(tls, layout.locate(address, tls=True), layout.locate(address))
    limits = (("type", len(types)), ("unit", len(document.units)), ("file", len(document.files)))
    bounded = {}
    for name, limit in limits:
        values = column(map(attrgetter(name), rows), "<i8")
        bounded[name] = np.where((values >= 0) & (values < limit), values, -1).astype(np.int32)

    def size_of(type_rows: Array) -> Array:
        rows = distinct(type_rows)
        sizes = np.array([types.size(row) for row in rows.tolist()], np.int64)
        return sizes[positions(rows, type_rows)]

    return DebugVariables(
        address=address,
        section=section,
        type=bounded["type"],
        unit=bounded["unit"],
        file=bounded["file"],
        line=clamped("line"),
        align=clamped("align"),
        size_of=size_of,
        names=[v.name for v in rows],
        functions=[v.function for v in rows],
    )
