"""Memory operands of sampled instructions, as a decoder hands them to the attribution; files that a profile has mapped.

Owns the record layouts and the value that stands for one mapped file.  Does not decode (``linemate-access`` does),
does not open files (``linemate.modules`` does) and evaluates nothing.  Registers have perf's numbers
(arch/*/include/uapi/asm/perf_regs.h).  All addresses are link-time addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Module, Reason
from sharing.model.samples import LOAD_DTYPE

Table = npt.NDArray[Any]

NO_REGISTER = -1


class Role(IntEnum):
    """What an operand is to the sampled instruction."""

    BEFORE = 1  # of the instruction that came just before: it retired last
    AT = 2  # of the sampled instruction
    WITNESS = 3  # of another one of the same straight run
    AWAITED = 4  # of a load whose value the instruction just before needs, which accesses no memory itself


class Holds(IntEnum):
    """Whether the registers at the sample still say where the access was."""

    YES = 0
    OVERWRITTEN = 1
    NEVER = 2  # the operand is made of registers that no profile has: vectors, narrow registers


class Segment(IntEnum):
    NONE = 0
    FS = 1
    GS = 2


class OperandFlag(IntFlag):
    ATOMIC = 1
    LINK = 2  # ``displacement`` is a link-time address: the load bias belongs to it
    IMPLICIT = 4  # push and pop: the thread's own stack
    USES = 16  # an update whose result decides something or is kept: a ticket, a count of references
    SPIN_WAITS = 8  # in a loop that only waits for the value there


class PointFlag(IntFlag):
    FUTEX_CALL = 1  # the instruction before it is the system call of a futex
    DECODED = 2
    WAKES = 4  # that call wakes others and waits for nobody


# One memory operand.  Its run-time address is base + index * scale + displacement, with the registers of the sample.
OPERAND_DTYPE = np.dtype(
    [
        ("ip", "<u8"),  # of the instruction that has the operand
        ("displacement", "<i8"),
        ("base", "i1"),  # register, -1 none
        ("index", "i1"),
        ("scale", "u1"),
        ("segment", "u1"),  # Segment
        ("size", "<u2"),  # bytes, 0 unknown
        ("kind", "u1"),  # AccessKind
        ("flags", "u1"),  # OperandFlag
        ("role", "u1"),  # Role
        ("holds", "u1"),  # Holds
        ("reserved", "<u2"),
        ("point", "<i4"),  # row of the sampled instruction
    ]
)

# One sampled instruction.
POINT_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("function", "<i4"),  # row of Code.functions, -1 none
        ("before", "<i4"),  # row of the operand that came just before, -1 none
        ("at", "<i4"),  # row of its own, -1 none
        ("first", "<i4"),  # its operands are [first, first + count)
        ("count", "<i4"),
        ("reason", "u1"),  # Reason.UNDECODED or AMBIGUOUS: what came before cannot be said
        ("flags", "u1"),  # PointFlag
        ("others", "<u2"),  # what else than loads the instruction before may have waited for
    ]
)

# Where the address of an access comes from.  Before the instruction at ``ip``, base + displacement is the address of
# the access, or of the word whose content, plus the displacement of ``parent``, is what the parent says.


class WordSet(IntEnum):
    """What of a function sets a word of its frame, or where else the word is."""

    UNKNOWN = 0  # or several instructions
    ONCE = 1  # one, in no loop
    REPEATED = 2  # one, in a loop
    OWN = 3  # of the thread's own storage: ``displacement`` is a place there
    RETURNED = 4  # no word: ``displacement`` is from what the function at ``ip`` returns
    # Of a function's moves alone, where RETURNED has the call at ``ip``:
    GIVEN = 5  # no word: ``displacement`` is from the argument of number ``held``
    FRAME = 6  # no word: ``displacement`` is from the stack pointer at entry
    NUMBER = 8  # no word: a number that chooses the element, before ``ip``; of what is accessed alone
    BEGINS = 7  # the row in front of those of one value: ``indexed`` is Moved


class Chosen(IntEnum):
    """How an unknown number of elements comes about, where one is added."""

    NOT = 0
    SOMEHOW = 1  # by a number that the function computes, loads or is given
    WALKS = 2  # a loop goes from element to element


class Moved(IntEnum):
    """What the rows behind one of BEGINS tell."""

    ACCESS = 0  # the address that the instruction at ``ip`` accesses
    STORED = 1  # what it stores, ``held`` bytes behind that address
    HANDED = 2  # what it, a call to ``displacement``, 0 not known, gives as its argument of number ``held``
    RETURNS = 3  # what it, an end of the function, returns
    CALLED = 4  # the address that it, a call, calls


ORIGIN_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("displacement", "<i8"),  # without a base an address of the file
        ("asked", "<i4"),  # row of the instruction that was asked for
        ("parent", "<i4"),  # an earlier row, -1 none
        ("base", "i1"),  # register, -1 none
        ("indexed", "u1"),  # plus an unknown number of elements: Chosen
        ("kept", "u1"),  # WordSet, of a word in the frame
        ("held", "u1"),  # of a word: the access that was asked for has not changed it since it was loaded
        ("reserved", "<u4"),
    ]
)


@dataclass(frozen=True, slots=True)
class Code:
    """What was read of sampled instructions.  ``points`` are in the order asked for."""

    points: Table  # POINT_DTYPE
    operands: Table  # OPERAND_DTYPE
    functions: tuple[str, ...] = ()  # linkage names; of code without a symbol file+0x… at its first byte
    lock_helpers: frozenset[int] = frozenset()  # functions without a symbol that functions of locks call
    notes: tuple[str, ...] = ()  # why nothing could be read, one line


NO_CODE = Code(np.zeros(0, POINT_DTYPE), np.zeros(0, OPERAND_DTYPE))

# A range of a file's storage in memory, with what belongs to no byte of the file (.bss).
SPAN_DTYPE = np.dtype(
    [("start", "<u8"), ("end", "<u8"), ("writable", "u1"), ("executable", "u1"), ("reserved", "u1", 6)]
)


def no_origins(ips: Table) -> Table:
    return np.zeros(0, ORIGIN_DTYPE)


def no_code(ips: Table, *notes: str) -> Code:
    points = np.zeros(len(ips), POINT_DTYPE)
    points["ip"] = ips
    points["function"] = points["before"] = points["at"] = -1
    points["reason"] = Reason.UNDECODED
    return Code(points, np.zeros(0, OPERAND_DTYPE), notes=notes)


@dataclass(frozen=True, slots=True)
class MappedFile:
    """One file of a profile.  ``read_code`` and ``read_origins`` (ORIGIN_DTYPE) take sorted distinct link-time
    addresses."""

    module: Module
    architecture: str = ""  # as Architecture.name, "" unknown
    loads: Table = field(default_factory=lambda: np.zeros(0, LOAD_DTYPE))
    spans: Table = field(default_factory=lambda: np.zeros(0, SPAN_DTYPE))  # SPAN_DTYPE, disjoint, sorted
    read_code: Callable[[Table], Code] = no_code
    read_origins: Callable[[Table], Table] = no_origins


@dataclass(frozen=True, slots=True)
class MappedFiles:
    """The files of a profile, the target first, and where each mapping has put its file."""

    files: tuple[MappedFile, ...]
    of_mapping: npt.NDArray[np.int32]  # row of ``files`` for each of Samples.mappings, -1 no file
    bias: npt.NDArray[np.uint64]  # run-time minus link-time address for each mapping, modulo 2**64
    bias_known: npt.NDArray[np.bool_]
    kernel: bool = False  # the target is the kernel
    unmapped: bool = False  # the profile has no mappings: addresses are taken for the target's own
    notes: tuple[str, ...] = ()
