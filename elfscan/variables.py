"""The variable table: which symbols are variables, and what debug information adds to them.

Owns folding aliases, inferring extents, and the join of symbols with DWARF variables by address.  Reads no
file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.kernel import KSYMTAB, kernel_exports
from elfscan.fileformat.symbols import COMMON, Symbols
from sharing.model import VARIABLE_DTYPE, Section, SectionKind, VariableFlag
from sharing.model.arrays import among

Array = npt.NDArray[Any]

NO_LIMIT = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

# Names that are marks and not objects.  Local labels and mapping symbols; the kernel's export tables.
_NOISE = (
    b"$", b".L", KSYMTAB, b"__kstrtab", b"__crc_", b"__export_symbol_", b"__gnu_lto_", b"annobin_", b".annobin_",
)  # fmt: skip
# Marks without size only: the kernel makes objects of the same names.
_MARKS = (b"__initcall_", b"__start_", b"__stop_", b"__UNIQUE_ID_", b"__end_")
# Marks that linker scripts make (GNU ld's default scripts, the kernel's include/asm-generic/vmlinux.lds.h).
_LINKER_MADE = re.compile(
    r"_?_?(s|start_|begin_|e|end_)?_?(text|data|rodata|bss|sbss|sdata|end|etext|edata|init|ro_after_init|percpu|brk|image)"
    r"|__(bss|data|rodata|init|sinit|inittext|initdata|exittext|brk|per_cpu|percpu|entry_text|kprobes_text|irqentry_text"
    r"|softirqentry_text|sched_text|cpuidle_text|lock_text|noinstr_text|security_initcall|con_initcall|alt_instructions"
    r"|smp_locks|apicdrivers|iommu_table|setup|tracedata|nosave|irf|irqentry|static_call)_?\w*_?(start|begin|end|stop|load|size|limit)"
    r"|__\w+_(start|begin|end|stop)|_GLOBAL_OFFSET_TABLE_|_DYNAMIC|_PROCEDURE_LINKAGE_TABLE_|_TLS_MODULE_BASE_"
    r"|__GNU_EH_FRAME_HDR|__TMC_END__|__TMC_LIST__|__FRAME_END__|__EH_FRAME_BEGIN__|__dso_handle|__data_start|data_start"
    r"|__gmon_start__|_gp|__global_pointer\$|__SDATA_BEGIN__|__DATA_BEGIN__|__BSS_END__|_fp_hw|_IO_stdin_used"
    r"|__(preinit|init|fini)_array_(start|end)|__rela?_iplt_(start|end)|_end|end|__end|__bss_start__?|_bss_end__"
    r"|__do_global_(c|d)tors_aux(_fini_array_entry)?|__frame_dummy_init_array_entry|completed\.\d+|__executable_start|__ehdr_start"
)


class VariableSymbols(msgspec.Struct, frozen=True):
    """Variables by address.  ``name`` is an offset in the symbol pool; ``aliases``: (variable row, name offset)."""

    table: Array
    name: Array
    aliases: tuple[Array, Array]
    dropped: int


def variable_symbols(
    symbols: Symbols, address: Array, section: Array, sections: tuple[Section, ...], copied: Array
) -> VariableSymbols:
    """One row per variable (section, address), sorted; of several names the sized, typed, global one leads.

    1. symbols of data, those of one address together; 2. their largest size; 3. without labels inside of variables;
    4. other names; 5. extents of what has no size.
    """
    table = symbols.table
    rows = _ranked(symbols, _of_data(symbols, section, sections), address, section)
    first = np.ones(len(rows), bool)
    first[1:] = (address[rows[1:]] != address[rows[:-1]]) | (section[rows[1:]] != section[rows[:-1]])
    leads = rows[first]
    start, where = address[leads], section[leads]
    limit = np.array([s.end for s in sections] + [0], np.uint64)[where]
    size = np.maximum.reduceat(table["size"][rows], np.flatnonzero(first)) if len(rows) else table["size"][rows]
    size = np.minimum(size, limit - start)
    inferred = size == 0
    # A mark without type or size inside of a sized variable is a label in it, not a variable.
    covered = _covered(start, size, where) & inferred & (table["type"][leads] == c.STT_NOTYPE)
    aliases = _other_names(table, rows, first, ~covered)
    leads, start, where, size, inferred, limit = (x[~covered] for x in (leads, start, where, size, inferred, limit))
    following = np.where(np.append(where[1:], -1) == where, np.append(start[1:], NO_LIMIT), limit)

    out = np.zeros(len(leads), VARIABLE_DTYPE)
    for field in ("name", "type", "unit", "file", "scope"):
        out[field] = -1
    out["address"], out["section"] = start, where
    out["size"] = np.where(inferred, np.minimum(following, limit) - start, size)
    out["flags"] = _flags(table[leads], inferred, among(start, address[copied]))
    out["flags"] |= np.where(kernel_exports(symbols, leads), np.uint32(VariableFlag.EXPORTED), np.uint32(0))
    return VariableSymbols(out, table["name"][leads].astype(np.int64), aliases, int(covered.sum()))


def _of_data(symbols: Symbols, section: Array, sections: tuple[Section, ...]) -> Array:
    """Rows of the symbols that may be variables."""
    table = symbols.table
    holds_data, in_tables = _held(sections)
    wanted = among(table["type"], [c.STT_OBJECT, c.STT_COMMON, c.STT_TLS, c.STT_NOTYPE]) & holds_data[section]
    # A typed symbol with a size is an object even among the tables of linker and loader; marks and labels are not.
    wanted |= (table["type"] == c.STT_OBJECT) & (table["size"] > 0) & in_tables[section]
    rows = np.flatnonzero(wanted)
    rows = rows[~symbols.names.starts_with_any(table["name"][rows], _NOISE)]
    rows = rows[~symbols.names.is_empty(table["name"][rows])]
    return _without_marks(symbols, rows)


def _ranked(symbols: Symbols, rows: Array, address: Array, section: Array) -> Array:
    """The rows by address and section, of one place the name that says most first."""
    table = symbols.table
    untyped, empty = table["type"][rows] == c.STT_NOTYPE, table["size"][rows] == 0
    bind = table["bind"][rows]
    private = symbols.names.starts_with(table["name"][rows], b"_")
    order = np.lexsort(
        (rows, table["dynamic"][rows] == 0, bind == c.STB_WEAK, private, bind == c.STB_LOCAL, untyped, empty,
         section[rows], address[rows])
    )  # fmt: skip
    return rows[order]


def _other_names(table: Array, rows: Array, first: Array, keep: Array) -> tuple[Array, Array]:
    """Aliases, see ``VariableSymbols``: ``rows`` that do not lead (``first``), of the variables that are kept."""
    owner = np.cumsum(first) - 1
    leads = rows[first]
    renumber = np.cumsum(keep) - 1
    extra = ~first & keep[owner]
    extra[extra] = table["name"][rows[extra]] != table["name"][leads[owner[extra]]]
    return renumber[owner[extra]], table["name"][rows[extra]]


def _flags(symbols: Array, inferred: Array, copied: Array) -> Array:
    """``VariableFlag`` of variables by the symbols that lead."""
    bind = symbols["bind"]
    flags = np.zeros(len(symbols), np.uint32)
    for condition, flag in (
        (inferred, VariableFlag.SIZE_INFERRED),
        (bind == c.STB_LOCAL, VariableFlag.LOCAL),
        (bind == c.STB_WEAK, VariableFlag.WEAK),
        (bind == c.STB_GNU_UNIQUE, VariableFlag.UNIQUE),
        (symbols["section"] == COMMON, VariableFlag.COMMON),
        (copied, VariableFlag.COPY_RELOC),
    ):
        flags |= np.where(condition, np.uint32(flag), np.uint32(0))
    return flags


def _held(sections: tuple[Section, ...]) -> tuple[Array, Array]:
    """Which sections hold variables, and which tables may hold single ones; False behind the last, for no section."""
    data = [s.kind not in (SectionKind.CODE, SectionKind.OTHER) for s in sections]
    tables = [s.kind is SectionKind.OTHER and not s.name.startswith(".note") for s in sections]
    return np.array([*data, False]), np.array([*tables, False])


def _without_marks(symbols: Symbols, rows: Array) -> Array:
    """Rows without the marks that linkers make: those have no size, whatever their type."""
    empty = symbols.table["size"][rows] == 0
    rows = rows[~(empty & symbols.names.starts_with_any(symbols.table["name"][rows], _MARKS))]
    suspects = np.flatnonzero(symbols.table["size"][rows] == 0)
    names = symbols.names.decode(symbols.table["name"][rows[suspects]])
    marks = [bool(_LINKER_MADE.fullmatch(name)) for name in names]
    keep = np.ones(len(rows), bool)
    keep[suspects[np.array(marks, bool)]] = False
    return rows[keep]


def _covered(start: Array, size: Array, where: Array) -> Array:
    """Which addresses lie inside of an earlier sized variable of the same section."""
    if not len(start):
        return np.zeros(0, bool)
    end = start + size
    # Ends grow along each section: a running maximum, restarted by adding the section's rank in front.
    reach = np.maximum.accumulate(np.where(size > 0, end, np.uint64(0)))
    before = np.concatenate([np.zeros(1, np.uint64), reach[:-1]])
    same = np.concatenate([np.zeros(1, bool), where[1:] == where[:-1]])
    return same & (start < before)


class DebugVariables(msgspec.Struct, frozen=True):
    """DWARF variables as columns, one row each; ``address`` placed in the layout, ``section`` its row or -1."""

    address: Array
    section: Array
    type: Array
    unit: Array
    file: Array
    line: Array
    align: Array
    size_of: Callable[[Array], Array]  # type rows to sizes in bytes, -1 unknown
    names: Sequence[str]
    functions: Sequence[str]


def join_debug(
    found: VariableSymbols, names: list[str], aliases: dict[int, tuple[str, ...]], debug: DebugVariables,
    sections: tuple[Section, ...],
) -> tuple[Array, dict[int, tuple[str, ...]]]:  # fmt: skip
    """(variables with types, aliases by row).  Appends names to ``names``.

    A symbol keeps its address and size; debug information gives the readable name, type and place of
    declaration.  Variables that only debug information knows are added in sections that hold data.
    """
    table = found.table
    holds, tables = _held(sections)
    chosen = _described_once(debug, holds | tables)
    row = _same_place(table, debug, chosen)
    matched, only = chosen[row >= 0], chosen[(row < 0) & holds[debug.section[chosen]]]
    merged = np.concatenate([table, _unnamed(debug, only)])
    source = np.concatenate([matched, only])
    into = np.concatenate([row[row >= 0], len(table) + np.arange(len(only))])
    for field in ("type", "unit", "file", "line", "align"):
        merged[field][into] = getattr(debug, field)[source]
    typed = debug.type[source] >= 0
    merged["flags"][into[typed]] |= np.uint32(VariableFlag.TYPED)
    # A type's size replaces what was only inferred.
    weak = (into >= len(table)) | (merged["flags"][into] & VariableFlag.SIZE_INFERRED != 0)
    empty = _take_sizes(merged, into[weak & typed], debug)
    more = _take_names(merged, zip(into.tolist(), source.tolist(), strict=True), debug, names, aliases)
    keep = np.ones(len(merged), bool)
    keep[empty] = False
    return _ordered(merged, keep, more, sections)


def _described_once(debug: DebugVariables, usable_sections: Array) -> Array:
    """One description a section and address: a typed one before one without type, then the first in the file."""
    usable = np.flatnonzero((debug.section >= 0) & usable_sections[debug.section])
    order = usable[np.lexsort((usable, debug.type[usable] < 0, debug.section[usable], debug.address[usable]))]
    first = np.ones(len(order), bool)
    first[1:] = (debug.address[order[1:]] != debug.address[order[:-1]]) | (
        debug.section[order[1:]] != debug.section[order[:-1]]
    )
    once: Array = order[first]
    return once


def _same_place(table: Array, debug: DebugVariables, chosen: Array) -> Array:
    """For each description the variable of ``table`` at its place, -1 none."""
    at = np.searchsorted(table["address"], debug.address[chosen])
    row = np.full(len(chosen), -1, np.int64)
    for _ in range(2):  # a thread-local variable may share its nominal address with one other
        inside = np.minimum(at, max(len(table) - 1, 0))
        if len(table):
            same = (
                (table["address"][inside] == debug.address[chosen])
                & (table["section"][inside] == debug.section[chosen])
                & (at < len(table))
            )
            row = np.where((row < 0) & same, inside, row)
        at = at + 1
    return row


def _unnamed(debug: DebugVariables, only: Array) -> Array:
    """Variables that only debug information knows, still without name, type and size."""
    added = np.zeros(len(only), VARIABLE_DTYPE)
    added["name"], added["scope"] = -1, -1
    added["address"], added["section"] = debug.address[only], debug.section[only]
    added["flags"] = VariableFlag.FROM_DWARF
    return added


def _take_sizes(merged: Array, rows: Array, debug: DebugVariables) -> Array:
    """The size of its type for each of the rows; which of them have no bytes, so that they are no variables."""
    sizes = debug.size_of(merged["type"][rows])
    empty: Array = rows[sizes == 0]  # GNU C's empty structs (lock_class_key without lockdep)
    rows, sizes = rows[sizes > 0], sizes[sizes > 0]
    merged["size"][rows] = sizes
    merged["flags"][rows] &= ~np.uint32(VariableFlag.SIZE_INFERRED)
    return empty


def _take_names(
    merged: Array,
    described: Iterable[tuple[int, int]],
    debug: DebugVariables,
    names: list[str],
    aliases: dict[int, tuple[str, ...]],
) -> dict[int, tuple[str, ...]]:
    """Names and scopes of the (variable, description) pairs; the aliases, to which the names of symbols are added."""
    scopes: dict[str, int] = {}
    more: dict[int, list[str]] = {}
    for variable, description in described:
        name = debug.names[description]
        old = int(merged["name"][variable])
        if name and (old < 0 or names[old] != name):
            if old >= 0:
                more.setdefault(variable, []).append(names[old])
            merged["name"][variable] = len(names)
            names.append(name)
        scope = debug.functions[description]
        if scope:
            if scope not in scopes:
                scopes[scope] = len(names)
                names.append(scope)
            merged["scope"][variable] = scopes[scope]
    return aliases | {variable: (*aliases.get(variable, ()), *others) for variable, others in more.items()}


def _ordered(
    merged: Array, keep: Array, aliases: dict[int, tuple[str, ...]], sections: tuple[Section, ...]
) -> tuple[Array, dict[int, tuple[str, ...]]]:
    """The kept rows by address; inferred extents end at the next variable, aliases are renumbered."""
    order = np.lexsort((merged["section"], merged["address"]))
    order = order[keep[order]]
    place = np.full(len(merged), -1, np.int64)
    place[order] = np.arange(len(order))
    merged = merged[order]
    size, flags = merged["size"], merged["flags"]
    flags[size == 0] |= np.uint32(VariableFlag.SIZE_INFERRED)
    inferred = np.flatnonzero(flags & VariableFlag.SIZE_INFERRED != 0)
    if len(inferred):
        address, section = merged["address"], merged["section"]
        limit = np.array([s.end for s in sections] + [0], np.uint64)[section]
        room = np.minimum(np.append(address[1:], NO_LIMIT), limit) - address
        size[inferred] = room[inferred]
    return merged, {int(place[row]): names for row, names in aliases.items() if place[row] >= 0}
