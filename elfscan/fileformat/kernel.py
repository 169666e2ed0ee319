"""What kind of program a file is, and what is special about Linux kernels and modules.

Owns the marks by which kernels are known, their range of data that becomes read-only after boot, what they export to
modules, and the functions that run before the program proper (constructors, initcalls).
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.sections import Layout
from elfscan.fileformat.symbols import Symbols
from elfscan.relocation.dynamic import Linkage
from sharing.model import ImageKind, Section
from sharing.model.arrays import distinct, words_at

MAX_INIT_FUNCTIONS = 1_000_000
KSYMTAB = b"__ksymtab_"  # in front of the names that a kernel or module exports (include/linux/export.h)


def image_kind(elf: ElfFile) -> ImageKind:
    """Executable, PIE, shared object, relocatable, kernel or module; Malformed for anything else."""
    kind = elf.header.type
    names = elf.find_section
    if kind == c.ET_REL:
        if names(".gnu.linkonce.this_module") is not None or names(".modinfo") is not None:
            return ImageKind.MODULE
        return ImageKind.RELOCATABLE
    if kind in (c.ET_EXEC, c.ET_DYN):
        kernel_tables = names("__ksymtab") is not None or names("__ex_table") is not None
        if kernel_tables and (names(".init.text") is not None or names(".data..percpu") is not None):
            return ImageKind.KERNEL
    if kind == c.ET_EXEC:
        return ImageKind.EXECUTABLE
    if kind == c.ET_DYN:
        interpreter = (elf.segments["type"] == c.PT_INTERP).any()
        pie = elf.dynamic.get(c.DT_FLAGS_1, [0])[0] & c.DF_1_PIE
        # A library may be run, too: libc.so.6 has an interpreter, and a name that others link to.
        named = c.DT_SONAME in elf.dynamic
        return ImageKind.PIE if pie or (interpreter and not named) else ImageKind.SHARED
    raise elf.malformed(16, "a core dump, expected a program, library or object file")


def ro_after_init(symbols: Symbols) -> tuple[int, int] | None:
    """[start, end) of the kernel's data that is made read-only at the end of boot (mark_rodata_ro)."""
    start, end = symbols.lookup("__start_ro_after_init"), symbols.lookup("__end_ro_after_init")
    return (start, end) if start is not None and end is not None and start < end else None


def kernel_exports(symbols: Symbols, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which symbols a kernel or module exports: those that an entry of its export table is named after."""
    names = symbols.table["name"]
    entries = names[symbols.names.starts_with(names, KSYMTAB)]
    exported = {name.removeprefix(KSYMTAB.decode()) for name in symbols.names.decode(entries)}
    out = np.zeros(len(rows), bool)
    if exported:
        shared = np.flatnonzero(symbols.table["bind"][rows] != c.STB_LOCAL)
        out[shared] = [name in exported for name in symbols.names.decode(names[rows[shared]])]
    return out


def init_functions(
    elf: ElfFile, layout: Layout, symbols: Symbols, address: npt.NDArray[np.uint64], linkage: Linkage, kind: ImageKind
) -> tuple[int, ...]:
    """Addresses that run before or after main: DT_INIT, the init and fini arrays, a kernel's initcalls, a module's
    init function."""
    found: list[int] = []
    if kind in (ImageKind.KERNEL, ImageKind.MODULE):
        found += _initcalls(elf, symbols)
        start = symbols.names.find("init_module")
        if kind is ImageKind.MODULE and start >= 0:
            rows = np.flatnonzero((symbols.table["name"] == start) & (symbols.table["section"] >= 0))
            found += [int(address[row]) for row in rows]
    found += [value for value in elf.dynamic.get(c.DT_INIT, []) if value]
    for section in layout.sections:
        if section.name.startswith((".init_array", ".preinit_array", ".ctors", ".fini_array", ".dtors")):
            found += _array(elf, section, linkage)
    ones = (1 << elf.header.bits) - 1  # .ctors begins with -1
    return tuple(dict.fromkeys(a for a in found if a not in (0, ones)))


def end_functions(elf: ElfFile, layout: Layout, linkage: Linkage) -> tuple[int, ...]:
    """Addresses that run at the end alone, of the fini array: among them the run-time's own."""
    found = [_array(elf, section, linkage) for section in layout.sections if section.name == ".fini_array"]
    return tuple(value for values in found for value in values if value)


def _array(elf: ElfFile, section: Section, linkage: Linkage) -> list[int]:
    """The addresses in such an array; as the loader or the linker put them there."""
    if section.file_offset is None:
        return []
    start, end = np.searchsorted(linkage.words["slot"], [section.address, section.end])
    relocated = linkage.words["value"][start:end]
    if len(relocated):
        return list(relocated[:MAX_INIT_FUNCTIONS].tolist())
    at = section.file_offset - elf.base
    words = elf.words(elf.data[at : at + section.size], elf.header.bits // 8)
    return list(words[:MAX_INIT_FUNCTIONS].tolist())


def _initcalls(elf: ElfFile, symbols: Symbols) -> list[int]:
    """Kernel initcalls: ``__initcall_*`` marks 32-bit distances to functions (include/linux/init.h, PREL32)."""
    table = symbols.table
    rows = np.flatnonzero(symbols.names.starts_with(table["name"], b"__initcall_") & (table["section"] > 0))
    if not len(rows) or elf.header.type == c.ET_REL:
        return []
    where = table["value"][rows]
    found: list[int] = []
    for index in distinct(table["section"][rows]).tolist():
        read = partial(elf.section_bytes, index)
        data, start = elf.losses.attempt("initcalls", read, elf.data[:0]), np.uint64(elf.sections["address"][index])
        at = where[table["section"][rows] == index] - start
        at = at[at + np.uint64(4) <= np.uint64(data.size)].astype(np.int64)
        distance = words_at(data, at, f"{elf.order}i4")
        found += (start + at.astype(np.uint64) + distance.astype(np.int64).view(np.uint64)).tolist()
    return found
