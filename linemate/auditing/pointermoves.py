"""What functions of a file do with pointers, by its code alone.

Owns the reading; what follows from it is ``sharing.static.pointsto``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elfscan.code.query import read_moves
from linemate.auditing.imagecode import code_of
from sharing.model.errors import LinemateError
from sharing.model.image import Image, Table
from sharing.model.operands import ORIGIN_DTYPE


def read_pointer_moves(image: Image, functions: npt.NDArray[np.int64]) -> Table:
    """ORIGIN_DTYPE of these functions (rows of the image, ascending); nothing where it cannot be read."""
    try:
        starts, sizes = image.functions["address"][functions], image.functions["size"][functions]
        return read_moves(image.arch, starts, starts + sizes, code_of(image))
    except (LinemateError, OSError):
        return np.zeros(0, ORIGIN_DTYPE)
