"""A file becomes ``Image`` values: the one place of this package that joins its readers.

Owns the order of work (the two native helpers run while Python reads symbols) and the assembly of the
tables.  Each step is a reader's; nothing is parsed here and nothing judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.code.argumentwords import words_apart
from elfscan.code.classes import classes
from elfscan.code.discovery import find_gaps
from elfscan.code.functions import build_functions, fill_holes, flag_by_name, function_symbols, rows_starting_at
from elfscan.code.jumplabels import jump_labels
from elfscan.code.namedwords import names_of_tables
from elfscan.code.overrides import class_roots, overrides, virtual_tables
from elfscan.code.partitions import set_aside
from elfscan.code.pointerarguments import placed_pointers
from elfscan.code.storedcode import in_lists, leading_to_functions, pointed_data, stored_code
from elfscan.code.unoptimized import flag_unoptimized
from elfscan.code.unwind import EXTENT_DTYPE, read_extents
from elfscan.compilers import language_of_nameless
from elfscan.debug.rustnames import RUST_NAME, told_apart
from elfscan.fileformat import constants as c
from elfscan.fileformat.archive import is_archive, open_members
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.kernel import image_kind, init_functions, kernel_exports
from elfscan.fileformat.placement import open_program
from elfscan.fileformat.program import Program
from elfscan.relocation.dynamic import in_got
from elfscan.relocation.plt import PLT_SECTIONS, STUB_DTYPE, read_stubs, through_own_stubs
from elfscan.tools import Starter, ToolJob
from elfscan.variables import VariableSymbols, join_debug, variable_symbols
from sharing.model import (
    ARG_DTYPE,
    BLOCK_DTYPE,
    CALL_DTYPE,
    KEPT_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    ZERO_RANGE_DTYPE,
    FunctionFlag,
    Image,
    ImageKind,
    SectionKind,
    TypeTable,
)
from sharing.model.arrays import among, picked
from sharing.model.guard import check_inputs, mark
from sharing.model.image import TRACED_BYTES, Behind, Unit
from sharing.model.linkage import is_rust
from sharing.model.meetings import OWN_BEGIN
from sharing.model.plural import count, percent
from sharing.model.threadsigns import ThreadSigns
from sharing.model.wordfunctions import BEGINS

if TYPE_CHECKING:
    from elfscan.code.accessscan import AccessScan
    from elfscan.debug.debuginfo import DebugRun, PointerArgument

Array = npt.NDArray[Any]

_PROGRAMS = (ImageKind.EXECUTABLE, ImageKind.PIE)  # that have threads of their own
MAX_FOLLOWED_BYTES = 1 << 24  # of code of which accesses behind unknown pointers are told: half a gigabyte of rows
DECODED_SHARE = 0.9  # of the bytes of code; below, what was not seen may be most of what matters


def read_images(
    path: str,
    *,
    debug_file: str | None = None,
    types: bool = True,
    records: tuple[str, ...] = (),
    access: bool = True,
    members: slice = slice(None),
    starter: Starter = ToolJob,
) -> Iterator[Image]:
    """The image of an ELF file, or one image for each ELF member of an archive.

    ``types`` reads debug information (from ``debug_file`` when given), ``records`` names types that are wanted even if
    no variable needs them, ``access`` reads the instructions, ``members`` takes some of an archive, whose helpers are
    its own; ``starter`` starts those of a file.  Raises LinemateError, Unrecognized or Malformed, each one line.
    """
    since, data = mark(), map_file(path)
    if is_archive(data):
        from elfscan.toolserver import ToolServers

        with ToolServers() as servers:
            for elf, notes in open_members(path, data, members):
                yield read_image(
                    elf,
                    debug_file=debug_file,
                    types=types,
                    records=records,
                    access=access,
                    notes=notes,
                    starter=servers,
                )
        return
    image = read_image(
        ElfFile(path, data), debug_file=debug_file, types=types, records=records, access=access, starter=starter
    )
    check_inputs(since)
    yield image


def read_image(
    elf: ElfFile,
    *,
    debug_file: str | None = None,
    types: bool = True,
    records: tuple[str, ...] = (),
    access: bool = True,
    notes: tuple[str, ...] = (),
    starter: Starter = ToolJob,
) -> Image:
    """One ELF image, with ``notes`` in front of its own; ``starter`` starts the helpers.  See ``read_images``."""
    kind = image_kind(elf)
    with ExitStack() as running:
        debug = _start_debug(elf, debug_file, starter, running, records) if types else None  # 1. The helpers first.
        program = running.enter_context(open_program(elf, debug.symbols if debug is not None else None))
        code = _read_functions(program, kind)
        callees = _callee_names(program, code)
        scan = running.enter_context(_start_access(program, kind, code, callees, debug, starter)) if access else None
        named = _read_names(program, code)  # 2. While they run: names, flags, variables.
        flag_unoptimized(program, code.table)
        typed, accesses = _with_types(debug, program, named), _accesses(scan, code)  # 3. What the helpers found.
        set_aside(program, code.table, code.initial, callees, accesses.tables)
        undecoded = _little_decoded(counts := _counts(program, code, typed, accesses, kind))
        notes += typed.notes + accesses.notes + undecoded + _missing(program)
        build_id, needed, language = elf.build_id, program.needed(), language_of_nameless(elf)
        notes = elf.losses.notes() + notes  # last: parts are read when they are asked for
        return Image(
            path=elf.path,
            member=elf.member,
            arch=elf.arch,
            kind=kind,
            build_id=build_id,
            synthetic=program.layout.synthetic,
            sections=program.layout.sections,
            names=named.names,
            variables=typed.variables,
            functions=code.table,
            types=typed.types,
            units=typed.units,
            files=typed.files,
            aliases=typed.aliases,
            callee_names=callees,
            entry_points=(elf.header.entry,) if elf.header.entry and elf.header.type != c.ET_REL else (),
            overrides=overrides(program),
            init_functions=code.initial,
            needed=needed,
            imports=frozenset(program.import_names()),
            language=language,
            debug_source=typed.source,
            notes=notes,
            incomplete=typed.incomplete or accesses.incomplete or bool(undecoded) or elf.losses.incomplete is not None,
            counts=counts,
            code_words=leading_to_functions(code.stored, code.table),
            pointed=pointed_data(code.stored, program.layout.sections),
            table_names=names_of_tables(program, code.stored),
            virtual_tables=virtual_tables(program),
            class_roots=class_roots(program),
            classes=classes(program),
            sites=accesses.tables["sites"],
            calls=accesses.tables["calls"],
            args=accesses.tables["args"],
            params=accesses.tables["params"],
            pointers=placed_pointers(typed.pointers, code.table, named.names),
            zero_ranges=accesses.tables["zero_ranges"],
            kept=accesses.tables["kept"],
            behind=accesses.behind,
            blocks=accesses.tables["blocks"],
            signs=_signs(program, code, named, callees, accesses, kind),
        )


def _signs(
    program: Program, code: _Code, named: _Named, callees: dict[int, str], accesses: _Accesses, kind: ImageKind
) -> ThreadSigns:
    if kind not in _PROGRAMS:
        return ThreadSigns()
    from elfscan.code.threadsigns import thread_signs

    own = picked(code.table, (code.table["name"] >= 0) & (not len(program.linkage.placeholders)))  # C library and all
    names = dict(zip(own["address"].tolist(), map(named.names.__getitem__, own["name"].tolist()), strict=True))
    return thread_signs(program, names | callees, accesses.tables["calls"], accesses.tables["args"])


def _start_debug(
    elf: ElfFile, debug_file: str | None, starter: Starter, running: ExitStack, records: tuple[str, ...]
) -> DebugRun:
    from elfscan.debug.debuginfo import start_debug

    return running.enter_context(start_debug(elf, debug_file, starter, records))


def _start_access(
    program: Program, kind: ImageKind, code: _Code, callees: dict[int, str], debug: DebugRun | None, starter: Starter
) -> AccessScan:
    from elfscan.code.accessscan import known_callees, start_access

    told = debug is not None and debug.found and kind in (*_PROGRAMS, ImageKind.SHARED)
    most = MAX_FOLLOWED_BYTES if told else TRACED_BYTES if kind in _PROGRAMS else -1  # for what is behind pointers
    known = known_callees(callees, _perhaps_known(program, code)), jump_labels(program, kind)
    return start_access(program, code.table, *known, starter, elsewhere=code.bytes <= most, stored=code.stored)


def _perhaps_known(program: Program, code: _Code) -> dict[int, str]:
    """Address and name of this file's functions that may be of ``known_callees``, by how their names begin."""
    from elfscan.code.accessscan import OWN_ENDINGS_BEGIN

    names = program.symbols.names
    rows = np.flatnonzero(code.pool >= 0)
    at = code.pool[rows].astype(np.uint64)
    chosen = names.starts_with_any(at, (*OWN_ENDINGS_BEGIN, OWN_BEGIN, *(begin.encode() for begin in BEGINS)))
    return dict(zip(code.table["address"][rows[chosen]].tolist(), names.decode(at[chosen]), strict=True))


class _Named(msgspec.Struct, frozen=True):
    """What the symbols say.  ``names`` are those of so many ``functions``, then of the variables of ``found``."""

    names: list[str]
    functions: int
    found: VariableSymbols
    aliases: dict[int, tuple[str, ...]]


def _read_names(program: Program, code: _Code) -> _Named:
    """Names and flags of the functions (written into their table), and the variables."""
    pool = program.symbols.names
    named = np.flatnonzero(code.pool >= 0)
    names = pool.decode(code.pool[named].astype(np.uint64))
    code.table["name"][named] = np.arange(len(named))
    flag_by_name(code.table, pool, code.pool)
    _flag(code.table, np.array(code.initial, np.uint64), FunctionFlag.INIT)
    # A slot of the global offset table stands for calls and loads, which the access scanner follows.
    in_tables = ~in_got(program.layout, code.stored["slot"])
    _flag(code.table, code.stored["value"][in_tables], FunctionFlag.ADDRESS_TAKEN)
    found = variable_symbols(
        program.symbols, program.address, program.section, program.layout.sections, program.linkage.copied
    )
    functions = len(names)
    found.table["name"] = functions + np.arange(len(found.table))
    names += pool.decode(found.name.astype(np.uint64))
    return _Named(names, functions, found, _alias_names(found, program))


@dataclass(frozen=True, slots=True)
class _Typed:
    """Variables with what debug information knows of them."""

    variables: Array
    aliases: dict[int, tuple[str, ...]]
    types: TypeTable = field(default_factory=TypeTable)
    source: str = ""
    units: tuple[Unit, ...] = ()
    files: tuple[str, ...] = ()
    pointers: tuple[PointerArgument, ...] = ()
    notes: tuple[str, ...] = ()
    incomplete: bool = False


def _with_types(debug: DebugRun | None, program: Program, named: _Named) -> _Typed:
    """The symbols' variables joined with those of debug information, names readable."""
    found = named.found
    typed = _Typed(found.table, named.aliases)
    if debug is not None:
        info = debug.result(program)
        typed = replace(typed, notes=debug.notes, incomplete=debug.failed)
        if info is not None:
            joined = join_debug(found, named.names, named.aliases, info.variables, program.layout.sections)
            typed = replace(
                typed,
                variables=joined[0],
                aliases=joined[1],
                types=info.types,
                source=info.source,
                units=info.units,
                files=info.files,
                pointers=info.pointers,
            )
    pool, offsets = program.symbols.names, found.name.astype(np.uint64)
    rust = pool.mention(RUST_NAME)
    if rust or pool.starts_with(offsets, b"_Z").any():
        _demangle(typed, named, rust=rust)
    return typed


class _Accesses(msgspec.Struct, frozen=True):
    """What the access scan found: tables of the image by their names there."""

    tables: dict[str, Array]
    behind: Behind = Behind()
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    incomplete: bool = False


def _accesses(scan: AccessScan | None, code: _Code) -> _Accesses:
    """Calls of own stubs lead to their functions; functions whose address code takes are flagged."""
    if scan is None:
        tables = {"sites": SITE_DTYPE, "calls": CALL_DTYPE, "args": ARG_DTYPE, "params": PARAM_DTYPE}
        tables |= {"zero_ranges": ZERO_RANGE_DTYPE, "kept": KEPT_DTYPE, "blocks": BLOCK_DTYPE}
        return _Accesses({name: np.zeros(0, dtype) for name, dtype in tables.items()})
    result = scan.result()
    _flag(code.table, result.address_taken, FunctionFlag.ADDRESS_TAKEN)
    found = {
        "sites": result.sites,
        "calls": through_own_stubs(result.calls, code.own_stubs),
        "args": through_own_stubs(result.args, code.own_stubs),
        "params": result.params,
        "zero_ranges": result.zero_ranges,
        "kept": result.kept,
        "blocks": result.blocks,
    }
    behind = words_apart(Behind(result.behind, through_own_stubs(result.behind_args, code.own_stubs), result.held))
    return _Accesses(found, behind, result.counts, result.notes, result.failed)


def _counts(program: Program, code: _Code, typed: _Typed, accesses: _Accesses, kind: ImageKind) -> dict[str, int]:
    counts = {
        **accesses.counts,
        "symbols": len(program.symbols.table),
        "variables": len(typed.variables),
        "variables_typed": int((typed.variables["type"] >= 0).sum()),
        "functions": len(code.table),
        "functions_from_unwind": int((code.table["flags"] & FunctionFlag.FROM_UNWIND != 0).sum()),
        "functions_from_calls": int((code.table["flags"] & FunctionFlag.FROM_CALLS != 0).sum()),
        "sites": len(accesses.tables["sites"]),
    }
    if "code_bytes" in counts:
        counts["executable_bytes"] = max(code.bytes, counts["code_bytes"])
        counts["decoded_bytes"] = counts["code_bytes"] - counts["undecoded_bytes"]
    return counts


def _little_decoded(counts: dict[str, int]) -> tuple[str, ...]:
    """A note where too much of the code was not decoded."""
    whole, decoded = counts.get("executable_bytes", 0), counts.get("decoded_bytes", 0)
    if decoded >= DECODED_SHARE * whole:
        return ()
    why = "the rest is in no function that symbols, unwind frames or calls tell, or is no code"
    return (f"{percent(decoded, whole)} of {count(whole, 'byte')} of code were decoded: {why}",)


def _missing(program: Program) -> tuple[str, ...]:
    """Notes on what the file does not have or what is not read of it."""
    notes: tuple[str, ...] = ()
    if not len(program.symbols.table):
        notes += ("no symbols: variables can only be recovered from access sites",)
    elif len(program.symbols.go) and not (program.symbols.table["type"] == c.STT_OBJECT).any():
        notes += ("only functions have names (.gopclntab): variables can only be recovered from access sites",)
    if program.linkage.unread:
        why = f"their numbers are not known on {program.elf.arch.name}"
        notes += (f"{count(program.linkage.unread, 'relocation')} not read: {why}; pointers in data lead nowhere",)
    return notes


class _Code(msgspec.Struct, frozen=True):
    """Functions with, for each, the pool offset of its name (-1 none); stubs by (address, callee's name offset).

    ``own_stubs`` (sorted by "slot"): stub address to the function of this image that it leads to.  ``initial`` runs
    before main, ``stored`` are addresses that data may hold, ``bytes`` all code but padding and stubs.
    """

    table: Array
    pool: Array
    stub_names: list[tuple[int, int]]
    own_stubs: Array
    initial: tuple[int, ...]
    stored: Array
    bytes: int


def _read_functions(program: Program, kind: ImageKind) -> _Code:
    elf, layout, symbols = program.elf, program.layout, program.symbols
    known = function_symbols(symbols, program.address, program.section, layout.sections)
    extents = np.zeros(0, EXTENT_DTYPE) if layout.synthetic else read_extents(elf)
    where = layout.locate(extents["address"])
    is_code = np.array([s.kind is SectionKind.CODE for s in layout.sections] + [False])
    where = np.where(is_code[where], where, -1)
    plt = [(s.address, s.end) for s in layout.sections if s.name in PLT_SECTIONS]
    stubs = np.zeros(0, STUB_DTYPE) if layout.synthetic else read_stubs(elf, layout.sections, layout.elf_index)
    inside = [known.start[(known.start >= low) & (known.start < high)] for low, high in plt]
    stubs = stubs[~among(stubs["address"], np.concatenate(inside))] if inside else stubs
    holes = fill_holes(known, extents, where, plt)
    initial = init_functions(elf, layout, symbols, program.address, program.linkage, kind)
    stored = stored_code(program, kind)
    start, size = stubs["address"], stubs["size"]
    extents_known = [(known.start, known.end), holes[:2], (start, start + size)]
    roots = np.concatenate([np.array((*initial, elf.header.entry), np.uint64), stored["value"]])
    gaps = find_gaps(program, extents_known, plt, roots)
    if kind in (ImageKind.KERNEL, ImageKind.MODULE):
        stored = stored[~in_lists(program, stored["slot"])]
    holes = (
        np.concatenate([holes[0], gaps.start]),
        np.concatenate([holes[1], gaps.end]),
        np.concatenate([holes[2], gaps.section]),
    )
    entered = kind in (ImageKind.RELOCATABLE, ImageKind.KERNEL, ImageKind.MODULE)
    table, pool = build_functions(
        symbols, known, holes, stubs, layout.locate(stubs["address"]), layout.sections, globals_enter=entered
    )
    _flag(table, symbols.go, FunctionFlag.GO)
    if kind in (ImageKind.KERNEL, ImageKind.MODULE):
        _flag(table, program.address[kernel_exports(symbols, np.arange(len(symbols.table)))], FunctionFlag.FOR_MODULES)
    found = rows_starting_at(table, gaps.start)
    table["flags"][found] ^= np.uint32(FunctionFlag.FROM_UNWIND | FunctionFlag.FROM_CALLS)
    # A stub is called what its slot leads to: an import's placeholder, or a function of this image.
    slots, imports = program.linkage.slots, program.linkage.placeholders
    stub_names: list[tuple[int, int]] = []
    own = np.zeros(0, stubs.dtype)
    if len(slots) and len(stubs):
        slot, used = slots["slot"], stubs["slot"]
        at = np.minimum(np.searchsorted(slot, used), len(slots) - 1)
        held, hit = slots["value"][at], slot[at] == used
        value = np.where(hit, held, np.uint64(0))
        row = np.full(len(stubs), -1, np.int64)
        if len(imports):
            placeholder, symbol = imports["slot"], imports["value"].astype(np.int64)
            near = np.minimum(np.searchsorted(placeholder, value), len(imports) - 1)
            row = np.where(placeholder[near] == value, symbol[near], row)
        if len(known.start):
            near = np.minimum(np.searchsorted(known.start, value), len(known.start) - 1)
            mine = (known.start[near] == value) & (row < 0)
            row = np.where(mine, known.rows[near], row)
            own = stubs[mine]
            own["slot"] = value[mine]
        good = row >= 0
        offsets = symbols.table["name"][row[good]].astype(np.int64)
        entries, starts = table["address"], stubs["address"][good]
        pool[np.searchsorted(entries, starts)] = offsets
        stub_names = list(zip(starts.tolist(), offsets.tolist(), strict=True))
    return _Code(table, pool, stub_names, own, initial, stored, gaps.code_bytes)


def _flag(table: Array, addresses: Array, flag: FunctionFlag) -> None:
    table["flags"][rows_starting_at(table, addresses)] |= np.uint32(flag)


def _alias_names(found: VariableSymbols, program: Program) -> dict[int, tuple[str, ...]]:
    rows, offsets = found.aliases
    aliases: dict[int, dict[str, None]] = {}  # in their order, and each once: an object may have any number of names
    names = program.symbols.names.decode(offsets)
    leading = program.symbols.names.decode(found.name[rows].astype(np.uint64))
    for row, name, lead in zip(rows.tolist(), names, leading, strict=True):
        if name != lead:
            aliases.setdefault(row, {})[name] = None
    return {row: tuple(others) for row, others in aliases.items()}


def _callee_names(program: Program, code: _Code) -> dict[int, str]:
    """Names of call targets outside of this image: every import's placeholder and every stub."""
    imports = program.linkage.placeholders
    result = dict(zip(imports["slot"].tolist(), program.import_names(), strict=True))
    decoded = program.symbols.names.decode(np.array([offset for _, offset in code.stub_names], np.uint64))
    result.update(zip((address for address, _ in code.stub_names), decoded, strict=True))
    return result


def _demangle(typed: _Typed, named: _Named, *, rust: bool) -> None:
    """Give variables readable C++ and Rust names; the symbol's own name becomes an alias.

    Functions of Rust lose theirs: the hash in it is another one after each build, and says nothing.
    """
    names, aliases = named.names, typed.aliases
    rows = enumerate(typed.variables["name"].tolist())
    mangled = [(row, int(n)) for row, n in rows if n >= 0 and names[n][:2] in ("_Z", "_R")]
    functions = [at for at in range(named.functions) if is_rust(names[at])] if rust else []
    if not mangled and not functions:
        return
    from elfscan.debug.demangle import demangle

    found = demangle([*(names[index] for _, index in mangled), *(names[at] for at in functions)])
    for (row, index), readable in zip(mangled, found[: len(mangled)], strict=True):
        if readable != names[index]:
            aliases[row] = (names[index], *aliases.get(row, ()))
            names[index] = readable
    for at, readable in zip(functions, found[len(mangled) :], strict=True):
        names[at] = readable
    if rust:
        names[: named.functions] = told_apart(names[: named.functions])
