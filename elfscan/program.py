"""An ELF file placed in memory: layout, symbols with addresses, and what relocation makes of its words.

Owns the two ways to get there, linked and relocatable, behind one value, so that later stages need not ask
which it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from elfscan import constants as c
from elfscan.elf import ElfFile
from elfscan.kernel import ro_after_init
from elfscan.relocs import Linkage, read_linkage
from elfscan.sections import Layout, linked_layout
from elfscan.symbols import Symbols, place, read_symbols
from sharing.model import SectionKind

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Program:
    """``address`` and ``section`` (layout row, -1 none) place each symbol row.

    ``code_path`` is the file that holds the code bytes: this one, or a patched copy that lives as long as the
    program is entered as a context; ``file_offsets`` the offset there of each section, -1 for none.
    ``absolute``: operands of the code may be whole addresses (not position-independent).
    """

    elf: ElfFile
    layout: Layout
    symbols: Symbols
    address: Array
    section: Array
    linkage: Linkage
    code_path: str
    file_offsets: tuple[int, ...]
    absolute: bool = False
    cleanup: Callable[[], None] | None = None
    _imports: list[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.cleanup is not None:
            self.cleanup()
            self.cleanup = None

    def import_names(self) -> list[str]:
        """Names of the imports, without version, in the order of ``linkage.placeholders``."""
        if self._imports is None:
            rows = self.linkage.placeholders["value"].astype(np.int64)
            self._imports = self.symbols.names.decode(self.symbols.table["name"][rows])
        return self._imports

    def needed(self) -> tuple[str, ...]:
        """DT_NEEDED: the libraries that the loader maps with this image."""
        offsets = self.elf.dynamic.get(c.DT_NEEDED, [])
        strings = self.elf.dynamic.get(c.DT_STRTAB)
        if not offsets or not strings:
            return ()
        size = self.elf.dynamic.get(c.DT_STRSZ, [0])[0]
        read = partial(self.elf.bytes_at_address, strings[0], size, "the dynamic strings")
        raw = self.elf.losses.attempt("names of needed libraries", read, self.elf.data[:0]).tobytes()
        names = (raw[at : raw.find(b"\0", at)] for at in offsets if raw.find(b"\0", at) >= 0)
        return tuple(name.decode("utf-8", "backslashreplace") for name in names)


def open_program(elf: ElfFile) -> Program:
    """Place a file.  Raises Malformed where it is damaged and nothing is left to judge."""
    program = _place(elf)
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


def _place(elf: ElfFile) -> Program:
    symbols = read_symbols(elf)
    if elf.header.type == c.ET_REL:
        from elfscan.relocatable import link  # only object files need it

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
