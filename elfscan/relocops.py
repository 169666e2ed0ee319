"""How a relocation changes bytes: one value per relocation type, for the architectures that are decoded.

Owns the formulas and operand fields of the x86-64 psABI (table 4.10) and of AAELF64 (section 5.7).  Types
that name thread-local storage are left out: their operands name no static address.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

PAGE_MASK = ~np.uint64(0xFFF)


class Formula(Enum):
    """What is computed from S (symbol or its slot), A (addend) and P (place)."""

    ABSOLUTE = auto()  # S + A
    RELATIVE = auto()  # S + A - P
    PAGE = auto()  # Page(S + A) - Page(P)


class Field(Enum):
    """Where the value goes."""

    DATA = auto()  # the whole ``size`` bytes
    ADR = auto()  # immlo 30:29, immhi 23:5
    IMM12 = auto()  # 21:10, scaled by ``shift``
    IMM14 = auto()  # 18:5, in words
    IMM19 = auto()  # 23:5, in words
    IMM26 = auto()  # 25:0, in words


@dataclass(frozen=True, slots=True)
class Operation:
    """One relocation type.  ``shift``: how the value is scaled before it is stored in an instruction."""

    formula: Formula
    field: Field
    size: int = 4
    shift: int = 0
    through_slot: bool = False


_ABS, _REL, _PAGE = Formula.ABSOLUTE, Formula.RELATIVE, Formula.PAGE

X86_64: dict[int, Operation] = {
    1: Operation(_ABS, Field.DATA, 8),  # R_X86_64_64
    2: Operation(_REL, Field.DATA, 4),  # R_X86_64_PC32
    4: Operation(_REL, Field.DATA, 4),  # R_X86_64_PLT32
    9: Operation(_REL, Field.DATA, 4, through_slot=True),  # R_X86_64_GOTPCREL
    10: Operation(_ABS, Field.DATA, 4),  # R_X86_64_32
    11: Operation(_ABS, Field.DATA, 4),  # R_X86_64_32S
    24: Operation(_REL, Field.DATA, 8),  # R_X86_64_PC64
    41: Operation(_REL, Field.DATA, 4, through_slot=True),  # R_X86_64_GOTPCRELX
    42: Operation(_REL, Field.DATA, 4, through_slot=True),  # R_X86_64_REX_GOTPCRELX
}

AARCH64: dict[int, Operation] = {
    257: Operation(_ABS, Field.DATA, 8),  # R_AARCH64_ABS64
    258: Operation(_ABS, Field.DATA, 4),  # R_AARCH64_ABS32
    260: Operation(_REL, Field.DATA, 8),  # R_AARCH64_PREL64
    261: Operation(_REL, Field.DATA, 4),  # R_AARCH64_PREL32
    273: Operation(_REL, Field.IMM19, shift=2),  # R_AARCH64_LD_PREL_LO19
    274: Operation(_REL, Field.ADR),  # R_AARCH64_ADR_PREL_LO21
    275: Operation(_PAGE, Field.ADR, shift=12),  # R_AARCH64_ADR_PREL_PG_HI21
    276: Operation(_PAGE, Field.ADR, shift=12),  # R_AARCH64_ADR_PREL_PG_HI21_NC
    277: Operation(_ABS, Field.IMM12),  # R_AARCH64_ADD_ABS_LO12_NC
    278: Operation(_ABS, Field.IMM12),  # R_AARCH64_LDST8_ABS_LO12_NC
    279: Operation(_REL, Field.IMM14, shift=2),  # R_AARCH64_TSTBR14
    280: Operation(_REL, Field.IMM19, shift=2),  # R_AARCH64_CONDBR19
    282: Operation(_REL, Field.IMM26, shift=2),  # R_AARCH64_JUMP26
    283: Operation(_REL, Field.IMM26, shift=2),  # R_AARCH64_CALL26
    284: Operation(_ABS, Field.IMM12, shift=1),  # R_AARCH64_LDST16_ABS_LO12_NC
    285: Operation(_ABS, Field.IMM12, shift=2),  # R_AARCH64_LDST32_ABS_LO12_NC
    286: Operation(_ABS, Field.IMM12, shift=3),  # R_AARCH64_LDST64_ABS_LO12_NC
    299: Operation(_ABS, Field.IMM12, shift=4),  # R_AARCH64_LDST128_ABS_LO12_NC
    309: Operation(_REL, Field.IMM19, shift=2, through_slot=True),  # R_AARCH64_GOT_LD_PREL19
    311: Operation(_PAGE, Field.ADR, shift=12, through_slot=True),  # R_AARCH64_ADR_GOT_PAGE
    312: Operation(_ABS, Field.IMM12, shift=3, through_slot=True),  # R_AARCH64_LD64_GOT_LO12_NC
    314: Operation(_REL, Field.DATA, 4),  # R_AARCH64_PLT32
}

OPERATIONS: dict[str, dict[int, Operation]] = {"x86-64": X86_64, "aarch64": AARCH64}


def apply(operation: Operation, data: Array, where: Array, place: Array, symbol: Array, addend: Array) -> None:
    """Patch ``data`` (uint8, in place) at offsets ``where``; all other arrays are uint64 of the same length.

    The caller has checked that ``where + operation.size`` is inside of ``data``.
    """
    value = symbol + addend
    if operation.formula is Formula.RELATIVE:
        value = value - place
    elif operation.formula is Formula.PAGE:
        value = (value & PAGE_MASK) - (place & PAGE_MASK)
    index = where.astype(np.int64)[:, None] + np.arange(operation.size)
    if operation.field is Field.DATA:
        data[index] = np.ascontiguousarray(value).astype("<u8").view(np.uint8).reshape(-1, 8)[:, : operation.size]
        return
    word = np.ascontiguousarray(data[index]).view("<u4").ravel().astype(np.uint64)
    data[index] = _insert(operation, word, value).astype("<u4").view(np.uint8).reshape(-1, 4)


def _insert(operation: Operation, word: Array, value: Array) -> Array:
    """Instruction words with the value in their operand field (arithmetic shift: distances are signed)."""
    if operation.field is Field.IMM12:
        scaled = (value & np.uint64(0xFFF)) >> np.uint64(operation.shift)
        return np.asarray(word & ~np.uint64(0xFFF << 10) | scaled << np.uint64(10))
    scaled = (value.view(np.int64) >> operation.shift).view(np.uint64)
    if operation.field is Field.ADR:
        low, high = scaled & np.uint64(3), scaled >> np.uint64(2) & np.uint64(0x7FFFF)
        return np.asarray(word & ~np.uint64(3 << 29 | 0x7FFFF << 5) | low << np.uint64(29) | high << np.uint64(5))
    bits, at = {Field.IMM14: (14, 5), Field.IMM19: (19, 5), Field.IMM26: (26, 0)}[operation.field]
    mask = np.uint64((1 << bits) - 1)
    return np.asarray(word & ~(mask << np.uint64(at)) | (scaled & mask) << np.uint64(at))
