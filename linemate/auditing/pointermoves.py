"""What functions of a file do with pointers, by its code alone.

Owns the reading; what follows from it is ``sharing.static.pointsto``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elfscan.code.query import read_moves
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.errors import LinemateError
from sharing.model.image import Image, Table
from sharing.model.operands import ORIGIN_DTYPE


def read_pointer_moves(image: Image, functions: npt.NDArray[np.int64]) -> Table:
    """ORIGIN_DTYPE of these functions (rows of the image, ascending); nothing where it cannot be read."""
    try:
        elf = ElfFile(image.path, map_file(image.path))
        parts = [(s.address, s.end, s.file_offset) for s in image.sections if s.file_offset is not None]

        def bytes_at(start: int, end: int) -> bytes:
            for low, high, offset in parts:
                if low <= start < high:
                    return bytes(elf.bytes_at(offset + start - low, min(end, high) - start, "code"))
            return b""

        starts = image.functions["address"][functions]
        return read_moves(image.arch, starts, starts + image.functions["size"][functions], bytes_at)
    except (LinemateError, OSError):
        return np.zeros(0, ORIGIN_DTYPE)
