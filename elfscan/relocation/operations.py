"""How a relocation changes bytes.

Owns the arithmetic of formulas and of pieces of operands (``sharing.model.arch.relocation``).  Which relocation is
which operation stands in the rows of ``sharing.model.arch``; types that name thread-local storage are left out there,
since their operands name no static address.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arch.relocation import Formula, Operation

Array = npt.NDArray[Any]

PAGE_MASK = ~np.uint64(0xFFF)


def compute(operation: Operation, place: Array, symbol: Array, addend: Array) -> Array:
    """The value of each relocation.  All are uint64 of one length; of paired ones ``symbol`` is what the pair has."""
    value = symbol + addend
    if operation.formula is Formula.RELATIVE:
        value = value - place
    elif operation.formula is Formula.PAGE:
        value = (value & PAGE_MASK) - (place & PAGE_MASK)
    return np.asarray(value)


def extent(operation: Operation) -> int:
    """Bytes from the place to the end of what is changed."""
    own = operation.at + operation.size
    return max(own, extent(operation.then)) if operation.then is not None else own


def store(operation: Operation, data: Array, where: Array, value: Array) -> None:
    """Patch ``data`` (uint8, in place) at offsets ``where`` with the values (uint64).

    The caller has checked that ``where + extent(operation)`` is inside of ``data``.
    """
    index = where.astype(np.int64)[:, None] + operation.at + np.arange(operation.size)
    old = np.zeros((len(where), 8), np.uint8)
    old[:, : operation.size] = data[index]
    word = old.view("<u8").ravel().astype(np.uint64)
    if operation.formula is Formula.ADDED:
        new = word + value
    elif operation.formula is Formula.SUBTRACTED:
        new = word - value
    else:
        new = _insert(operation, word, value) if operation.field.pieces else value
    data[index] = np.ascontiguousarray(new).astype("<u8").view(np.uint8).reshape(-1, 8)[:, : operation.size]
    if operation.then is not None:
        store(operation.then, data, where, value)


def _insert(operation: Operation, word: Array, value: Array) -> Array:
    """Instruction words with the value in their operand field (arithmetic shift: distances are signed)."""
    field = operation.field
    if field.low < 64:
        value = value & np.uint64((1 << field.low) - 1)
    scaled = ((value + np.uint64(field.rounds)).view(np.int64) >> operation.shift).view(np.uint64)
    for high, low, at in field.pieces:
        mask = np.uint64((1 << (high - low + 1)) - 1)
        word = word & ~(mask << np.uint64(at)) | (scaled >> np.uint64(low) & mask) << np.uint64(at)
    return np.asarray(word)
