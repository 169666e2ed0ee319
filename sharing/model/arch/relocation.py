"""Relocations by meaning: what the loader does for each number, and how a linker changes bytes.

Owns the types.  They are applied by ``elfscan.relocs`` (linked files) and ``elfscan.relocops`` (objects).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class DynamicTypes:
    """Relocation numbers that the loader knows, from the architecture's ELF psABI."""

    absolute: int
    copy: int
    glob_dat: int
    jump_slot: int
    relative: int
    irelative: int


class Formula(Enum):
    """What is computed from S (symbol or its slot), A (addend) and P (place)."""

    ABSOLUTE = auto()  # S + A
    RELATIVE = auto()  # S + A - P
    PAGE = auto()  # Page(S + A) - Page(P)


class Field(Enum):
    """Where the value goes."""

    DATA = auto()  # the whole ``size`` bytes
    ADR = auto()  # aarch64: immlo 30:29, immhi 23:5
    IMM12 = auto()  # aarch64: 21:10, scaled by ``shift``
    IMM14 = auto()  # aarch64: 18:5, in words
    IMM19 = auto()  # aarch64: 23:5, in words
    IMM26 = auto()  # aarch64: 25:0, in words


@dataclass(frozen=True, slots=True)
class Operation:
    """One relocation type.  ``shift``: how the value is scaled before it is stored in an instruction."""

    formula: Formula
    field: Field
    size: int = 4
    shift: int = 0
    through_slot: bool = False
