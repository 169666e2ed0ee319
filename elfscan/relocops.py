"""How a relocation changes bytes.

Owns the arithmetic of formulas and operand fields (``sharing.model.arch.relocation``).  Which relocation is which
operation stands in the rows of ``sharing.model.arch``; types that name thread-local storage are left out there, since
their operands name no static address.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arch.relocation import Field, Formula, Operation

Array = npt.NDArray[Any]

PAGE_MASK = ~np.uint64(0xFFF)


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
