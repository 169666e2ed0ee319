"""What linemate knows of one processor architecture: the type of a row, and of its parts.

Owns the meaning of every field.  The values stand in one module an architecture beside this one, the search in the
package.  A part that is None, or an empty tuple, is not known: whoever needs it says so and never takes the value of
another architecture.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import msgspec

from sharing.model.arch.plt import PltStub
from sharing.model.arch.relocation import DynamicTypes, Operation


class Target(msgspec.Struct, frozen=True):
    """A target triple's first part, and which files its compiler writes."""

    name: str
    bits: int
    byteorder: str


class PerfRegisters(msgspec.Struct, frozen=True):
    """Registers of samples.  ``names`` are perf's, in the order of arch/*/include/uapi/asm/perf_regs.h: the place is
    the number, and the bit in a mask.  All other registers are named by these.

    ``operands``: all that a memory operand can be made of.  ``arguments``: of functions, as far as they are in
    registers, and ``result``, what they give back.  ``dwarf``: general registers in the order of debug information, ""
    for one that perf does not have.
    """

    names: tuple[str, ...]
    operands: tuple[str, ...]
    ip: str
    stack: str
    arguments: tuple[str, ...] = ()
    dwarf: tuple[str, ...] = ()
    result: str = ""

    def number(self, name: str) -> int:
        return self.names.index(name)

    def dwarf_numbers(self) -> dict[int, int]:
        """Perf's number by DWARF's."""
        return {number: self.number(name) for number, name in enumerate(self.dwarf) if name}


class ThreadCalls(msgspec.Struct, frozen=True):
    """How code asks the kernel for a thread: patterns (``re``) of the bytes shortly before a system call's instruction.

    ``numbers`` are clone's and clone3's, ``number`` puts one of them into its register (groups: ``clone3``, or another
    call's, ``other``), ``handed`` the function's own first argument.  ``flags`` sets the call's first argument to a
    ``value``, or to something else; ``fork`` is what makes it no thread (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID).
    ``thread_flags`` are those that C libraries start threads with, as part of an instruction (CLONE_VM, FS, FILES,
    SIGHAND, THREAD), ``spawn_flags`` the bytes of those of posix_spawn (CLONE_VM, VFORK); empty where instructions do
    not hold them in one piece.  ``text`` makes the first argument of a call a ``whole`` address, or one as far as
    ``near`` or ``via`` behind that instruction.
    """

    instruction: bytes
    numbers: tuple[int, int]
    number: bytes
    handed: bytes
    fork: bytes
    flags: bytes = b""
    thread_flags: bytes = b""
    spawn_flags: bytes = b""
    text: bytes = b""


class FrameCode(msgspec.Struct, frozen=True):
    """How functions begin that make a frame: with ``make``, behind a ``mark`` of where branches may lead or at once.

    ``keeps``: a pattern (``re``) of what follows where they store there at once what they were handed in registers.
    """

    mark: bytes
    make: bytes
    keeps: bytes


class SystemCalls(msgspec.Struct, frozen=True):
    """Numbers of the Linux system calls that matter here, and the registers of a call by perf's names."""

    futex: int
    perf_event_open: int
    sched_setaffinity: int
    seccomp: int
    number: str
    arguments: tuple[str, ...]


class CodeAddresses(enum.Enum):
    """How instructions call, and take the address of code."""

    RIP_RELATIVE = enum.auto()  # call rel32; lea disp32(%rip)
    PAGE_AND_OFFSET = enum.auto()  # bl; adrp with add
    PC_AND_PARTS = enum.auto()  # jal; auipc with jalr or addi


class GccAlignment(enum.Enum):
    """What GCC does for a variable beyond its type's alignment (DATA_ALIGNMENT of the target)."""

    BY_SIZE = enum.auto()  # aggregates of a word, of 16 and of 32 bytes
    FOR_VECTORS = enum.auto()  # aggregates to 8, from -O2 on those that could be vectorized to 16


class MemorySampler(msgspec.Struct, frozen=True):
    """A unit of the processor that samples addresses of data: its device for perf, its name, its kernel module."""

    device: str
    name: str
    module: str


@dataclass(frozen=True, slots=True)
class Machine:
    """One row: which files it describes (``e_machine``; ``bits`` and ``byteorder`` where not None), and the facts.

    ``line_size``: bytes of the usual L1 data line.  ``pair_size``: bytes that are fetched or moved together where that
    is more (adjacent-line prefetch), else ``line_size``.  ``unames``: what ``uname -m`` calls it.  ``targets``: what
    compilers call it.  ``page_sizes``: bytes of a page, by configuration of the kernel.  ``decoder``: the number of its
    decoder in linemate-access, 0: none, only the layout can be read.  ``objects``: what the relocations of object code
    change, by number; needed where there is a decoder.  ``derives``: operands of sampled instructions are decoded
    (``linemate-access``), so that ``perf`` registers give addresses.  ``code_mask``: bits of a function symbol's value
    that are no part of the address.  ``packed_types``: r_info holds three types of a byte each.

    ``padding``: a pattern (``re``, over bytes) of what fills the space between functions, once; zeros fill it
    everywhere.  ``number_loads``: a pattern of an instruction that puts a number into a register or on the stack,
    little-endian in its group and at its end; ``number_adds``: of one that adds such a number to a register;
    ``calls_through``: of a call or jump to what stands behind a pointer, with the distance cleared; ``leaves``: of one
    that code does not go on behind, besides direct jumps.  ``frames``: how functions with a frame begin.
    ``addresses``: how code refers to code.  ``gcc``, ``section_anchors`` (by default from -O1
    on) and ``large_array`` (from so many bytes on an array is aligned to as many; 0: never) say how compilers place
    variables.  ``tls_ends_at_pointer``: a program's thread-local storage ends at the thread pointer, rounded up to its
    alignment (variant II of ELF Handling for Thread-Local Storage, 3.4).  ``sampler``: what profiles can be measured
    with besides events.
    """

    e_machine: int
    bits: int | None
    byteorder: str | None
    name: str
    line_size: int
    pair_size: int
    unames: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    page_sizes: tuple[int, ...] = ()
    decoder: int = 0
    dynamic: DynamicTypes | None = None
    objects: dict[int, Operation] | None = None
    plt: PltStub | None = None
    perf: PerfRegisters | None = None
    calls: SystemCalls | None = None
    threads: ThreadCalls | None = None
    frames: FrameCode | None = None
    derives: bool = False
    code_mask: int = 0
    packed_types: bool = False
    padding: bytes = b""
    number_loads: bytes = b""
    number_adds: bytes = b""
    calls_through: bytes = b""
    leaves: bytes = b""
    addresses: CodeAddresses | None = None
    gcc: GccAlignment | None = None
    section_anchors: bool = False
    tls_ends_at_pointer: bool = False
    large_array: int = 0
    sampler: MemorySampler | None = None
