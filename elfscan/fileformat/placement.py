"""From a file to a ``Program``: a linked one as its headers say, an object file by a synthetic layout.

Owns the choice between the two and the placing of linked files.
"""

from __future__ import annotations

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.kernel import ro_after_init
from elfscan.fileformat.program import Program
from elfscan.fileformat.sections import linked_layout
from elfscan.fileformat.symbols import place, read_symbols
from elfscan.relocation.dynamic import read_linkage
from elfscan.relocation.relocatable import link
from sharing.model import SectionKind


def open_program(elf: ElfFile, beside: ElfFile | None = None) -> Program:
    """Place a file.  ``beside`` is its debug file, for its symbols.

    Raises Malformed where it is damaged and nothing is left to judge.
    """
    program = _placed(elf, beside)
    lost = elf.losses.incomplete
    if lost is not None and not _something_left(program):
        program.__exit__()
        raise lost
    return program


def _something_left(program: Program) -> bool:
    """Whether there is a symbol with a place, or a byte of code or data."""
    if (program.section >= 0).any():
        return True
    held = (SectionKind.CODE, SectionKind.WRITABLE, SectionKind.RELRO, SectionKind.PERCPU, SectionKind.TLS)
    return any(s.kind in held and s.size and s.file_offset is not None for s in program.layout.sections)


def _placed(elf: ElfFile, beside: ElfFile | None) -> Program:
    symbols = read_symbols(elf, None if elf.header.type == c.ET_REL else beside)
    if elf.header.type == c.ET_REL:
        return link(elf, symbols)
    layout = linked_layout(elf)
    late = ro_after_init(symbols)
    if late is not None:
        layout = layout.carve(*late, SectionKind.RELRO)
    address, section = place(symbols.table, layout, elf)
    linkage = read_linkage(elf, symbols, address, layout)
    offsets = tuple(-1 if s.file_offset is None else s.file_offset for s in layout.sections)
    absolute = elf.header.type != c.ET_DYN
    return Program(elf, layout, symbols, address, section, linkage, elf.path, offsets, absolute)
