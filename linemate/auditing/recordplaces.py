"""Which records instructions of a file reach, by its code and its debug information.

Owns the join of both, and which records are a library's own.  What is done with them is
``sharing.static.recordobjects``'s.
"""

from __future__ import annotations

import numpy as np

from elfscan.code.query import read_handed, read_origins
from elfscan.debug.locals import read_locals
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.errors import LinemateError
from sharing.model.image import Image, Table
from sharing.model.linkage import is_cxx
from sharing.model.locals import Locals
from sharing.sampled.reached import Reached, reached
from sharing.static.recordobjects import Place, Places

_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/")  # what compilers and packages bring


def read_places(image: Image, ips: Table, handed: Table) -> Places:
    """What is at sorted distinct addresses of instructions, and what calls (ARG_DTYPE by ip) are handed.

    Nothing where it cannot be read, nor of Go and Rust.

    These languages' own libraries are linked in, and most records that threads share are theirs.
    """
    if not all(map(_is_c, {unit.language for unit in image.units})):
        return Places({})
    try:
        elf = ElfFile(image.path, map_file(image.path))
        parts = [(s.address, s.end, s.file_offset) for s in image.sections if s.file_offset is not None]

        def bytes_at(start: int, end: int) -> bytes:
            for low, high, offset in parts:
                if low <= start < high:
                    return bytes(elf.bytes_at(offset + start - low, min(end, high) - start, "code"))
            return b""

        starts = image.functions["address"]
        ends = starts + image.functions["size"]
        rows = read_origins(image.arch, ips, starts, ends, bytes_at)
        given = read_handed(image.arch, handed["ip"].astype(np.uint64), handed["arg"], starts, ends, bytes_at)
        locals_ = read_locals(image.path, np.unique(np.concatenate([rows["ip"], given["ip"]])))
    except (LinemateError, OSError):
        return Places({})
    found = {
        int(ips[asked]): place
        for asked, one in reached(rows, locals_).items()
        if (place := _place(one, locals_)) is not None
    }
    calls = {
        (int(handed["ip"][asked]), int(handed["arg"][asked])): place
        for asked, one in reached(given, locals_).items()
        # Of an array each thread may have an element of its own.
        if one.exact and (place := _place(one, locals_)) is not None
    }
    spoken = locals_.language
    return Places(found, handed=calls, plain=_is_c(spoken) and not is_cxx(spoken), language=spoken)


def _is_c(language: str) -> bool:
    """C or C++, of whichever standard."""
    return language.startswith("C")


def _place(one: Reached, locals_: Locals) -> Place | None:
    """None of a variable in the frame of its function, of what has no name, and of records of libraries."""
    core, _, _ = locals_.types.strip(one.type)
    if one.local or core < 0 or not locals_.types[core].name:
        return None
    record = locals_.types[core]
    source = locals_.files[record.file] if 0 <= record.file < len(locals_.files) else ""
    if source.startswith(_SYSTEM) or record.name.startswith(("std::", "__gnu_cxx::")):
        return None
    return Place(record.name, one.offset, one.exact)
