"""The function table: disjoint extents of code from symbols, from unwind frames where those are missing, and stubs.

Owns which symbols are functions, how long each is, and what its flags say.  Reads no instructions.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.symbols import NO_SECTION, Names, Symbols
from elfscan.relocation.plt import PLT_SECTIONS
from sharing.model import FUNCTION_DTYPE, FunctionFlag, Section, SectionKind
from sharing.model.arrays import distinct, leading, picked, positions

Array = npt.NDArray[Any]

# Labels that assemblers and compilers leave in code: mapping symbols of the ARM, AArch64 and RISC-V ABIs,
# local labels, and the kernel's padding in front of functions (__pfx_, __cfi_).
_NOISE = (b"$", b".L", b"__pfx_", b"__cfi_", b"__kstrtab", b"__ksymtab", b"__crc_")
_COLD_SECTION = re.compile(r"\.text\.(unlikely|startup|exit|cold|split)|\.(init|exit|meminit|cpuinit)\.text")
_INIT_SECTION = re.compile(r"\.(init|exit|meminit|memexit|cpuinit)\.text|\.text\.(startup|exit)|\.(init|fini)$")
_COLD_NAME = re.compile(rb"\.cold(\.\d+)?\0")
# gcc names the functions that run a unit's constructors _GLOBAL__sub_I_*, clang also __cxx_global_var_init*.
_INIT_NAMES = (b"_GLOBAL__sub_I_", b"_GLOBAL__sub_D_", b"_GLOBAL__I_", b"_GLOBAL__D_", b"__cxx_global_")


class FunctionSymbols(msgspec.Struct, frozen=True):
    """One symbol row per function start, sorted by address."""

    rows: Array
    start: Array
    end: Array
    section: Array
    alone: Array  # not local, and no other symbol is there


def function_symbols(
    symbols: Symbols, address: Array, section: Array, sections: tuple[Section, ...]
) -> FunctionSymbols:
    """The symbols that start functions, with disjoint extents.

    ``address`` and ``section`` (layout rows) place every symbol.  Of several names for one address the sized,
    typed, global one is kept.  A size of 0 extends to the next start.  Code between the end of an inner
    function and the end of the function around it goes to the inner one.
    """
    table = symbols.table
    code = np.array([s.kind is SectionKind.CODE for s in sections] + [False])
    typed = np.isin(table["type"], [c.STT_FUNC, c.STT_GNU_IFUNC])
    label = (table["type"] == c.STT_NOTYPE) & ((table["size"] > 0) | (table["bind"] != c.STB_LOCAL))
    rows = np.flatnonzero(code[section] & (typed | label))
    rows = rows[~symbols.names.starts_with_any(table["name"][rows], _NOISE)]
    # mold names its stubs (``read$plt``); they are stubs all the same.
    stubs = np.array([s.name in PLT_SECTIONS for s in sections] + [False])
    bind = table["bind"]
    rows = rows[~(stubs[section[rows]] & (bind[rows] == c.STB_LOCAL))]
    bare = (table["type"][rows] == c.STT_NOTYPE) & (table["size"][rows] == 0)
    local = bind[rows] == c.STB_LOCAL
    untyped = table["type"][rows] == c.STT_NOTYPE
    weak = table["bind"][rows] == c.STB_WEAK
    empty = table["size"][rows] == 0
    private = symbols.names.starts_with(table["name"][rows], b"_")  # __pthread_mutex_lock is for libc alone
    order = np.lexsort((rows, table["dynamic"][rows] == 0, weak, private, local, untyped, empty, address[rows]))
    rows, bare = rows[order], bare[order]
    first = leading(address[rows])
    dynamic = table["dynamic"][rows] != 0  # a name may stand in both tables
    several = [np.add.reduceat(one, np.flatnonzero(first)) if len(rows) else one for one in (~dynamic, dynamic)]
    alone = (np.where(several[0] > 0, several[0], several[1]) == 1) & (table["bind"][rows[first]] != c.STB_LOCAL)
    rows, bare = rows[first], bare[first]
    # A label without type or size is a function only where no function already is.
    if bare.any():
        solid = rows[~bare]
        reach = np.maximum.accumulate(np.append(np.uint64(0), address[solid] + table["size"][solid]))
        inside = address[rows] < reach[np.searchsorted(address[solid], address[rows], side="right")]
        rows, alone = rows[~(bare & inside)], alone[~(bare & inside)]
    start, where = address[rows], section[rows]
    limit = np.array([s.end for s in sections] + [0], np.uint64)[where]
    room = np.minimum(limit, np.append(start[1:], np.uint64(0xFFFF_FFFF_FFFF_FFFF))) if len(rows) else limit
    size = table["size"][rows]
    size = np.minimum(size, limit - start)  # hostile sizes end with the section
    claimed = np.where(size > 0, start + size, room)
    around = np.maximum.accumulate(claimed) if len(rows) else claimed
    return FunctionSymbols(rows, start, np.minimum(around, room), where, alone)


def fill_holes(
    known: FunctionSymbols, frames: Array, section: Array, taken: list[tuple[int, int]]
) -> tuple[Array, Array, Array]:
    """(start, end, section row) of the unwind frames that begin where no function is.

    ``section``: the layout row of each frame that is code, else -1.  ``taken``: ranges (of PLT stubs) that
    frames also cover.
    """
    start = frames["address"]
    keep = section >= 0
    for low, high in taken:
        keep &= ~((start >= low) & (start < high))
    if len(known.start):
        before = np.searchsorted(known.start, start, side="right") - 1
        keep &= ~((before >= 0) & (start < known.end[np.maximum(before, 0)]))
    start, section = start[keep], section[keep]
    size = frames["size"][keep]
    end = start + size
    if not len(start):
        return start, end, section
    end[:-1] = np.minimum(end[:-1], start[1:])
    if len(known.start):
        after = np.searchsorted(known.start, start, side="left")
        following = np.append(known.start, np.uint64(0xFFFF_FFFF_FFFF_FFFF))[after]
        end = np.minimum(end, following)
    return start, end, section


def build_functions(
    symbols: Symbols,
    known: FunctionSymbols,
    frames: tuple[Array, Array, Array],
    stubs: Array,
    stub_section: Array,
    sections: tuple[Section, ...],
    *,
    globals_enter: bool,
) -> tuple[Array, Array]:
    """(FUNCTION_DTYPE table sorted by address, name offset in the symbol pool or -1 for each).

    ``globals_enter``: every global function can be entered from outside (relocatable files, kernels), not
    only those of the dynamic symbol table.
    """
    counts = (len(known.rows), len(frames[0]), len(stubs))
    table = np.zeros(sum(counts), FUNCTION_DTYPE)
    names = np.full(len(table), -1, np.int64)
    a, b = counts[0], counts[0] + counts[1]
    table["name"] = -1
    table["address"][:a], table["size"][:a], table["section"][:a] = known.start, known.end - known.start, known.section
    names[:a] = symbols.table["name"][known.rows].astype(np.int64)
    table["address"][a:b], table["size"][a:b], table["section"][a:b] = frames[0], frames[1] - frames[0], frames[2]
    table["flags"][a:b] = FunctionFlag.FROM_UNWIND
    stub_start, stub_size = stubs["address"], stubs["size"]
    table["address"][b:], table["size"][b:], table["section"][b:] = stub_start, stub_size, stub_section
    table["flags"][b:] = FunctionFlag.STUB
    table["flags"][:a] |= np.where(
        _exported(symbols, known, globals_enter=globals_enter), np.uint32(FunctionFlag.EXPORTED), np.uint32(0)
    )
    table["flags"][:a] |= np.where(known.alone, np.uint32(FunctionFlag.ONE_NAME), np.uint32(0))
    cold = np.array([bool(_COLD_SECTION.match(s.name)) for s in sections] + [False])
    init = np.array([bool(_INIT_SECTION.match(s.name)) for s in sections] + [False])
    of_section = np.where(cold, np.uint32(FunctionFlag.COLD), np.uint32(0))
    of_section |= np.where(init, np.uint32(FunctionFlag.INIT), np.uint32(0))
    section = table["section"]
    table["flags"] |= of_section[section]
    order = np.argsort(table["address"], kind="stable")
    return picked(table, order), names[order]


def _exported(symbols: Symbols, known: FunctionSymbols, *, globals_enter: bool) -> Array:
    """Functions that others may call by a global name: any, or one of the dynamic symbol table."""
    table = symbols.table
    if globals_enter:
        return np.asarray(table["bind"][known.rows] != c.STB_LOCAL)
    outside = (table["bind"] != c.STB_LOCAL) & (table["section"] >= NO_SECTION) & (table["dynamic"] == 1)
    value = table["value"]
    return positions(np.sort(value[outside]), value[known.rows]) >= 0


def flag_by_name(table: Array, names: Names, offsets: Array) -> None:
    """Set COLD and INIT on functions whose names say so; ``offsets`` in the pool, -1 for functions without name."""
    rows = np.flatnonzero(offsets >= 0)
    at = offsets[rows].astype(np.uint64)
    cold = rows[names.ends_with(at, _COLD_NAME)]
    init = rows[names.starts_with_any(at, _INIT_NAMES)]
    table["flags"][cold] |= np.uint32(FunctionFlag.COLD)
    table["flags"][init] |= np.uint32(FunctionFlag.INIT)


def rows_starting_at(table: Array, addresses: Array) -> Array:
    """Rows of the functions that begin exactly at one of ``addresses``, sorted."""
    if not len(table) or not len(addresses):
        return np.zeros(0, np.int64)
    low, high = table["address"][0], table["address"][-1]
    near = distinct(addresses[(addresses >= low) & (addresses <= high)])
    found = positions(table["address"], near)
    return found[found >= 0]
