"""The shape of a PLT stub: how code that jumps through a slot of the GOT is recognised.

Owns the type.  Reading stubs of a file is ``elfscan.relocation.plt``'s.
"""

from __future__ import annotations

from enum import Enum, auto

import msgspec


class SlotOperand(Enum):
    """How the instructions name the slot."""

    NEXT_PLUS_32 = auto()  # the bytes of ``code`` and a distance of 4 bytes, from the end of the instruction
    PAGE_PLUS_OFFSET = auto()  # aarch64: adrp, then ldr with an offset in units of 8 bytes
    PC_PLUS_PARTS = auto()  # RISC-V: auipc, then ld with the lower 12 bits


class PltStub(msgspec.Struct, frozen=True):
    """``words``: (mask, value) of the two instructions, for the forms made of words; else the bytes of ``code`` are it.

    ``landing``: a word that may stand before them and belongs to the stub.  ``size`` and ``landing_size``: bytes of
    a stub without and with it.  ``entry_sizes``: what the section header may say instead.
    """

    operand: SlotOperand
    size: int
    code: bytes = b""
    words: tuple[tuple[int, int], ...] = ()
    landing: int | None = None
    landing_size: int = 0
    entry_sizes: tuple[int, ...] = ()
