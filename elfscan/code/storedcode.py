"""Words of data that hold addresses of code: tables of functions, and pointers that are set before the program runs.

Owns where such words are found.  What a table is for is not asked here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.program import Program
from sharing.model import ImageKind, Section, SectionKind
from sharing.model.arrays import distinct, picked, positions, stacked
from sharing.model.image import WORD_DTYPE

Array = npt.NDArray[Any]

GO_TABLES = ".itablink"
# Lists of a kernel by their sections, and what stands in the marks around them (include/asm-generic/vmlinux.lds.h):
# where functions can be traced, may not be probed, and may be made to fail.
LISTS = {
    "__mcount_loc": "mcount_loc",
    "__patchable_function_entries": "patchable_function_entries",
    "_kprobe_blacklist": "kprobe_blacklist",
    "_error_injection_whitelist": "error_injection_whitelist",
}


def stored_code(program: Program, kind: ImageKind) -> Array:
    """Data words that hold addresses after relocation, or, where nothing is relocated, what looks like code.

    WORD_DTYPE, sorted by slot.
    """
    elf, layout = program.elf, program.layout
    relocated = np.zeros(len(program.linkage.words), WORD_DTYPE)
    relocated["slot"], relocated["value"] = program.linkage.words["slot"], program.linkage.words["value"]
    parts = [relocated]
    fixed = elf.header.type == c.ET_EXEC or kind is ImageKind.KERNEL
    if fixed:
        code = [s for s in layout.sections if s.kind is SectionKind.CODE and s.size]
        low = min((s.address for s in code), default=0)
        high = max((s.end for s in code), default=0)
        tables = (SectionKind.WRITABLE, SectionKind.RELRO, SectionKind.CONSTANT, SectionKind.INIT, SectionKind.PERCPU)
        width = elf.arch.pointer_size
        for section in layout.sections:
            if section.kind not in tables or section.file_offset is None:
                continue
            skipped = -section.address % width
            start = section.file_offset - elf.base + skipped
            words = elf.words(elf.data[start : section.file_offset - elf.base + section.size], width)
            # Go's list of the tables of methods that interfaces call through: where each of them begins.
            rows = np.flatnonzero(((words >= low) & (words < high)) | (section.name == GO_TABLES))
            found = np.zeros(len(rows), WORD_DTYPE)
            # Addresses of a damaged file wrap around.
            found["slot"] = np.uint64((section.address + skipped) % (1 << 64)) + rows.astype(np.uint64) * np.uint64(
                width
            )
            found["value"] = words[rows]
            parts.append(found)
    words = stacked(parts)
    return picked(words, np.argsort(words["slot"], kind="stable"))


def in_lists(program: Program, slots: Array) -> npt.NDArray[np.bool_]:
    """Which words are entries of a kernel's or module's lists of code that is traced or probed: nobody calls by them.

    One of them has nearly every function.  A linked kernel has marks around each, a module a section.
    """
    found = np.zeros(len(slots), bool)
    sections = {section.name: (section.address, section.end) for section in program.layout.sections}
    for section, name in LISTS.items():
        start, end = sections.get(section) or tuple(
            program.symbols.lookup(f"__{at}_{name}") for at in ("start", "stop")
        )
        if start is not None and end is not None:
            found |= (slots >= np.uint64(start)) & (slots < np.uint64(end))
    return found


def leading_to_functions(stored: Array, functions: Array) -> Array:
    """Those of the ``stored`` words at which a function of this FUNCTION_DTYPE table begins."""
    found: Array = picked(stored, positions(functions["address"], stored["value"]) >= 0)
    return found


def pointed_data(stored: Array, sections: tuple[Section, ...]) -> Array:
    """Addresses of data that the ``stored`` words hold, sorted."""
    kinds = (SectionKind.WRITABLE, SectionKind.RELRO, SectionKind.CONSTANT)
    values = distinct(stored["value"])
    inside = np.zeros(len(values), bool)
    for section in sections:
        if section.kind in kinds:
            inside |= (values >= section.address) & (values < section.end)
    found: Array = values[inside]
    return found
