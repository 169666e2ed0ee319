"""What one instruction does, as far as the place of its memory operands needs to know.

Owns the value that the readers of disassembly (``x86text``, ``arm64text``) give to ``operands``.  Registers have perf's
numbers; everything is in terms of the values before the instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from sharing.model import AccessKind

NONE = -1  # no register here
OTHER = -2  # a register that profiles do not have: a vector, or the low half of one


class Flow(IntEnum):
    """Where control goes after an instruction."""

    NEXT = 0
    BRANCH = 1  # to ``target`` or on
    JUMP = 2  # to ``target``, None unknown
    CALL = 3
    RETURN = 4
    SYSCALL = 5
    STOP = 6  # never on


@dataclass(frozen=True, slots=True)
class Memory:
    """One operand: base + index * scale + displacement.  ``link``: the displacement is an address of the file."""

    kind: AccessKind
    size: int
    base: int = NONE
    index: int = NONE
    scale: int = 1
    displacement: int = 0
    segment: int = 0
    atomic: bool = False
    link: bool = False
    implicit: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """``values``: registers whose new value is known: (register, register or NONE, constant, constant is an address).

    ``writes`` are all registers that change, those in ``values`` included.
    """

    memory: tuple[Memory, ...] = ()
    writes: frozenset[int] = frozenset()
    values: tuple[tuple[int, int, int, bool], ...] = ()
    fuses: bool = False  # with a conditional branch behind it: the two retire as one


NO_EFFECT = Effect()
