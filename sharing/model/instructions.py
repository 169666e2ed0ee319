"""Instructions of functions as the comparison of two builds sees them: bytes without what a linker sets.

Owns the record layout.  Does not decode (``linemate-access`` does) and compares nothing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[Any]


class Holding(IntEnum):
    """What a field of an instruction holds."""

    NUMBER = 0  # or nothing: it is among the bytes
    INSIDE = 1  # an address in the function, as an offset
    ADDRESS = 2  # an address of the image, which two builds may place differently
    ABSOLUTE = 3  # where a jump leads, in no part of the image
    BEHIND = 4  # how far behind a pointer, as where a member of a record is; of x86 alone


class Deed(IntEnum):
    """What an instruction does apart from memory; of x86 alone, OTHER elsewhere."""

    OTHER = 0  # calls, uses memory, divides; or not told
    MOVES = 1  # puts a register, an address or a number into a register
    RECKONS = 2  # adds, shifts, compares and the like in registers
    JUMPS = 3  # directly, in the function


# One instruction, or what is none.  Fields of ``bytes`` that hold an address or a distance behind a pointer are zero.
INSTRUCTION_DTYPE = np.dtype(
    [
        ("offset", "<u4"),  # in the function
        ("length", "u1"),
        ("jumps", "u1"),  # 1: to ``target``, if that is Holding.INSIDE
        ("target_is", "u1"),  # Holding, of an immediate or the distance of a jump
        ("other_is", "u1"),  # Holding, of a displacement
        ("target", "<u8"),
        ("other", "<u8"),
        ("bytes", "u1", 16),
        ("shape", "<u8"),  # equal where instructions differ in registers, addresses and places of the frame; 0 not told
        ("does", "u1"),  # Deed
        ("unused", "u1", 7),
    ]
)
