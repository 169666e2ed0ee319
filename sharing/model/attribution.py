"""Samples placed on memory: for each sample whose bytes it touched, how that is known, and why not where it is not.

Owns the tables that hand samples from ``sharing.sampled.attribution.attribute`` to the line profiles.  Does not decode
instructions (``linemate-access`` does) and does not judge.

A *space* is a range of addresses in which equal addresses are the same bytes: a process's private memory, a file or
shared memory object that several processes map, the kernel.  A *place* is an address in a space: of private memory
the run-time address, of a shared object the offset in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.samples import Samples

Table = npt.NDArray[Any]
UNKNOWN_THREAD = -1


class Basis(IntEnum):
    """How the bytes of a sample are known, weakest first."""

    NONE = 0
    FUNCTION = 1  # only the function is known: spread over what it touches
    AWAITED = 2  # operand of a load whose value the instruction just before needs: its share of such samples
    DERIVED = 3  # operand of the instruction at or just before the sampled one, from the sampled registers
    ADDRESS = 4  # the sample has a data address


class Reason(IntEnum):
    """Why a sample is not attributed."""

    NONE = 0  # it is attributed
    NO_ACCESS = 1  # neither the sampled instruction nor the one before it names memory (push, call and the like do not)
    OVERWRITTEN = 2  # a register of the operand no longer holds what the access used
    NO_REGISTERS = 3  # none, or not those of the operand, were sampled
    NO_CODE = 4  # the file that holds the instruction is not at hand, or not mapped
    UNDECODED = 5  # the instruction cannot be decoded, or the architecture is not read
    KERNEL = 6  # in the kernel or the hypervisor
    AMBIGUOUS = 7  # several instructions may have come before the sampled one
    UNMAPPED = 8  # the address found lies in no known mapping


class Region(IntEnum):
    """What kind of memory a place is in."""

    UNKNOWN = 0
    STATIC = 1  # storage of a file: ``data_module`` and ``link`` say where
    HEAP = 2
    STACK = 3
    ANONYMOUS = 4  # mapped, neither of the two above for certain
    SHARED = 5  # a mapping that several processes can have: places are offsets in the object
    KERNEL = 6
    CODE = 7  # read-only parts of a file
    TLS = 8  # a thread's own static storage


class TouchFlag(IntEnum):
    """Bits of ``flags``."""

    ATOMIC = 1
    AT_IP = 2  # the sampled instruction itself, not the one before it
    HITM = 4  # the line was modified in another core's cache
    REMOTE = 8  # it came from another socket
    LOCK_CALL = 16  # made by a function that takes or releases the lock at ``place``
    WAITS = 32  # the thread slept, or was about to, for the lock at ``place``
    SPIN_WAITS = 128  # in a loop that only waits for the value there
    PEER = 64  # the line came from another core, which need not have modified it (Arm)


# One sample, in the order of ``Samples.samples``.  Unknown rows are -1.
PLACED_DTYPE = np.dtype(
    [
        ("place", "<u8"),  # first byte touched, in its space
        ("link", "<u8"),  # its link-time address in ``data_module``, 0 unless Region.STATIC
        ("ip", "<u8"),  # link-time address in ``module`` of the instruction that is charged
        ("space", "<i4"),  # row of Attribution.spaces
        ("thread", "<i4"),  # row of Attribution.threads
        ("function", "<i4"),  # row of Attribution.functions: where ``ip`` is
        ("module", "<i4"),  # row of Attribution.modules that holds ``ip``
        ("data_module", "<i4"),  # row of Attribution.modules that holds ``place``
        ("size", "<u2"),  # bytes touched by one execution, 0 unknown
        ("kind", "u1"),  # AccessKind
        ("flags", "u1"),  # TouchFlag
        ("region", "u1"),  # Region
        ("basis", "u1"),  # Basis
        ("reason", "u1"),  # Reason
        ("uses", "u1"),  # 1: an update whose result is used
    ]
)

# An access that the sampled thread makes in the same straight run of code as the sampled instruction: seen through the
# sampled registers, not charged with the sample.  Cheap stores hardly ever stall, so that time falls on readers alone;
# witnesses say who writes.
WITNESS_DTYPE = np.dtype([("sample", "<i8"), *[(n, PLACED_DTYPE[n]) for n in PLACED_DTYPE.names or ()]])

THREAD_KEY_DTYPE = np.dtype([("pid", "<i4"), ("tid", "<i4")])


class SpaceKind(StrEnum):
    PRIVATE = "private"
    SHARED = "shared"
    PHYSICAL = "physical"
    KERNEL = "kernel"
    THREAD = "thread"  # a thread's own storage: places are offsets from the thread pointer, plus 2**46


# Of samples whose function alone is known: what share of them falls to each static access of that function.
SPREAD_DTYPE = np.dtype(
    [
        ("function", "<i4"),  # row of Attribution.functions
        ("site", "<i4"),  # row of Image.sites of the target
        ("share", "<f8"),  # the shares of a function add up to 1
    ]
)


@dataclass(frozen=True, slots=True)
class Space:
    """``name`` is what a report calls it: the path of a shared object, "" of private memory."""

    kind: SpaceKind
    pid: int = -1
    name: str = ""
    tid: int = -1  # of SpaceKind.THREAD


@dataclass(frozen=True, slots=True)
class Module:
    """One mapped file.  ``target`` marks the binary that is judged; ``missing`` says why it could not be read."""

    path: str
    build_id: str = ""
    target: bool = False
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Placed samples of one profile.  len(rows) == len(samples.samples); reason NONE and basis NONE exclude each other.

    ``witnesses`` takes sorted unique keys of lines (``line_keys`` of space and place, for that line size) and gives
    WITNESS_DTYPE rows that touch one of them.  ``near`` takes rows of ``modules`` and link-time addresses of
    instructions there that access memory, and gives (sample, which of them): samples in whose straight run of code each
    is, whether its address is known or not.  ``stack_owner`` takes process, run-time address and time of memory on a
    stack, and gives the id of the thread whose it is.
    """

    samples: Samples
    rows: Table
    spaces: tuple[Space, ...]
    threads: Table  # THREAD_KEY_DTYPE
    functions: tuple[str, ...]
    modules: tuple[Module, ...]
    witnesses: Callable[[Table, int], Table] = lambda keys, line_size: np.zeros(0, WITNESS_DTYPE)
    near: Callable[[Table, Table], tuple[Table, Table]] = lambda modules, ips: (
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
    )
    notes: tuple[str, ...] = field(default=())
    spread: Table = field(default_factory=lambda: np.zeros(0, SPREAD_DTYPE))
    stack_owner: Callable[[int, int, int], int] = lambda pid, address, time: UNKNOWN_THREAD

    def counts(self) -> dict[str, int]:
        """Samples by basis and by reason; the parts add up to all samples."""
        rows = self.rows
        out = {f"samples {b.name.lower()}": int((rows["basis"] == b).sum()) for b in Basis if b}
        out |= {f"unattributed {r.name.lower()}": int((rows["reason"] == r).sum()) for r in Reason if r}
        return {name: count for name, count in out.items() if count}


def line_keys(space: npt.NDArray[Any], place: npt.NDArray[Any], line_size: int) -> npt.NDArray[np.uint64]:
    """One number for each (space, line); ``line_size`` in bytes, a power of two.

    Bits 47 and up of a place are not used by user memory; the space goes there, folded to 16 bits.  Two spaces that
    fold to one number need 65,536 spaces.
    """
    shift = np.uint64(line_size.bit_length() - 1)
    low = np.uint64((1 << 48) - 1)
    return np.asarray(((place & low) >> shift) | (space.astype(np.uint64) << np.uint64(48)))
