"""The code of an image's file, as the readers of code ask for it.

Owns the way from addresses to bytes of the file.  What is read there is its callers'.
"""

from __future__ import annotations

from elfscan.code.query import ReadCode
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.image import Image


def code_of(image: Image) -> ReadCode:
    """The bytes of an image between two addresses; what cannot be read raises LinemateError or OSError."""
    elf = ElfFile(image.path, map_file(image.path))
    parts = [(s.address, s.end, s.file_offset) for s in image.sections if s.file_offset is not None]

    def bytes_at(start: int, end: int) -> bytes:
        for low, high, offset in parts:
            if low <= start < high:
                return bytes(elf.bytes_at(offset + start - low, min(end, high) - start, "code"))
        return b""

    return bytes_at
