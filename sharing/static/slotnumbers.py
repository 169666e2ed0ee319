"""Slots as numbers: where a pointer to a function is kept, in one integer.

Owns the encoding: the kind above, the place below; of an argument the function's row is part of the place, and of
elements of an array how far apart they are.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sharing.model.image import SlotKind

Ints = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]
_Slot = TypeVar("_Slot", int, Ints)

ARGUMENTS = 16  # of a function, and more
LOW_HALF = 0xFFFFFFFF
PLACE_BITS = 40  # of a slot as a number; its kind is above
OF_FAMILIES = 1 << 31  # first place of virtual functions of one family of classes: distances are less, or negative
HALF_BITS = 32  # of two numbers as one
STRIDE_AT = 32  # bytes between elements are above the low half of the first one's address
MOST_STRIDE = (1 << PLACE_BITS - STRIDE_AT) - 1


def slots_of(slot: Integers, where: Integers, function: Integers) -> Ints:
    """Each slot as one number; of an argument, the function's is part of it."""
    at = where.astype(np.int64)
    at = np.where(slot == SlotKind.ARGUMENT, function.astype(np.int64) * ARGUMENTS + at, at)
    result: Ints = slot.astype(np.int64) << PLACE_BITS | at
    return result


def slot_at(kind: SlotKind, place: int) -> int:
    """A slot as a number; ``place`` as of ``place_of``, but no argument's."""
    return kind << PLACE_BITS | (place & LOW_HALF)


def argument_slot(function: int, argument: int) -> int:
    """The slot that an argument of a function (a row) is, as a number."""
    return SlotKind.ARGUMENT << PLACE_BITS | function * ARGUMENTS + argument


def kind_of(slot: _Slot) -> _Slot:
    """The SlotKind of slots as numbers."""
    return slot >> PLACE_BITS


def place_of(slot: _Slot) -> _Slot:
    """The rest of them: bytes behind a pointer, an address, or an argument of a function."""
    return slot & ((1 << PLACE_BITS) - 1)


def element_slots(first: npt.NDArray[np.uint64], stride: Integers) -> Ints:
    """The slots that elements of arrays are, of which the first is at an address, so many bytes apart."""
    place = stride.astype(np.int64) << STRIDE_AT | (first & np.uint64(LOW_HALF)).astype(np.int64)
    result: Ints = int(SlotKind.ELEMENT) << PLACE_BITS | place
    return result


def stride_of(slot: int) -> int:
    """Bytes between the elements that a slot is one of."""
    return slot >> STRIDE_AT & MOST_STRIDE
