"""An ELF file placed in memory: layout, symbols with addresses, and what relocation makes of its words.

Owns that value, which is the same for linked and for relocatable files: later stages need not ask which it was.
How a file gets there is ``placement``'s and ``relocatable``'s matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.sections import Layout
from elfscan.fileformat.symbols import Symbols
from elfscan.relocation.dynamic import Linkage

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
        return self.dynamic_strings(c.DT_NEEDED)

    def dynamic_strings(self, tag: int) -> tuple[str, ...]:
        """What the dynamic segment's entries with a tag name."""
        offsets = self.elf.dynamic.get(tag, [])
        strings = self.elf.dynamic.get(c.DT_STRTAB)
        if not offsets or not strings:
            return ()
        size = self.elf.dynamic.get(c.DT_STRSZ, [0])[0]
        read = partial(self.elf.bytes_at_address, strings[0], size, "the dynamic strings")
        raw = self.elf.losses.attempt("names of needed libraries", read, self.elf.data[:0]).tobytes()
        names = (raw[at : raw.find(b"\0", at)] for at in offsets if raw.find(b"\0", at) >= 0)
        return tuple(name.decode("utf-8", "backslashreplace") for name in names)
