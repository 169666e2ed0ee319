"""Relocations by meaning: what the loader does for each number, and how a linker changes bytes.

Owns the types.  ``elfscan.relocation`` applies them.
"""

from __future__ import annotations

from enum import Enum, auto

import msgspec


class DynamicTypes(msgspec.Struct, frozen=True):
    """Relocation numbers that the loader knows, from the architecture's ELF psABI."""

    absolute: int
    copy: int
    glob_dat: int
    jump_slot: int
    relative: int
    irelative: int
    tls_descriptor: int = 0  # 0: compilers make none


class Formula(Enum):
    """What is computed from S (symbol or its slot), A (addend) and P (place)."""

    ABSOLUTE = auto()  # S + A
    RELATIVE = auto()  # S + A - P
    PAGE = auto()  # Page(S + A) - Page(P), with pages of 4096 bytes
    PAIRED = auto()  # what was computed at S, which is the place of the upper half
    ADDED = auto()  # what is there + S + A
    SUBTRACTED = auto()  # what is there - S - A


class Field(msgspec.Struct, frozen=True):
    """Where the value goes: ``pieces`` of it, each (its highest bit, its lowest, where that comes in the instruction).

    ``low``: only so many of its low bits count, before it is scaled.  ``rounds``: is added first, for an upper half
    whose lower one is signed.
    """

    pieces: tuple[tuple[int, int, int], ...] = ()
    low: int = 64
    rounds: int = 0


DATA = Field()  # the whole ``size`` bytes


class Operation(msgspec.Struct, frozen=True):
    """One relocation type.  ``shift``: how the value is scaled before it is stored in an instruction.

    ``whole``: code with it names whole addresses, as it does where it is linked to run in one place.  ``at``: where the
    field is, in bytes from the place.  ``then``: another field with the same value.
    """

    formula: Formula
    field: Field
    size: int = 4
    shift: int = 0
    through_slot: bool = False
    whole: bool = False
    at: int = 0
    then: Operation | None = None
