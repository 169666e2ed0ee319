"""The binary as the judge sees it: sections, variables, functions and access sites in numpy tables.

Owns the record layouts.  Does not read files (``elfscan`` does) and does not judge.  All addresses are SVMAs (stated
virtual memory addresses, of the link); relocatable files have a synthetic layout, marked in ``Image.synthetic``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag, StrEnum
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.classes import Classes
from sharing.model.given import Given
from sharing.model.origins import Origins
from sharing.model.threadsigns import ThreadSigns
from sharing.model.types import TypeTable

Table = npt.NDArray[Any]


class ImageKind(StrEnum):
    """What kind of file this is; decides which functions can be entered from outside."""

    EXECUTABLE = "executable"
    PIE = "pie"
    SHARED = "shared object"
    RELOCATABLE = "relocatable"
    KERNEL = "kernel"
    MODULE = "kernel module"


class SectionKind(StrEnum):
    """Who may write a section after start-up.  Only WRITABLE is judged."""

    CODE = "code"
    WRITABLE = "writable"
    RELRO = "read-only after relocation"
    CONSTANT = "constant"
    TLS = "thread-local"
    PERCPU = "per-CPU"
    INIT = "init-only"
    OTHER = "other"


class AccessKind(IntEnum):
    """What an instruction does to the bytes it names.  ADDRESS: it only computes their address."""

    UNKNOWN = 0
    LOAD = 1
    STORE = 2
    RMW = 3
    ADDRESS = 4


ALLOCATED = "allocated"  # section name of record instances
HEAP_ALIGNMENT = 16  # what malloc promises (max_align_t)
TRACED_BYTES = 1 << 18  # of code of a program without debug information of which pointers are followed: a second


class SiteFlag(IntFlag):
    ATOMIC = 1  # lock prefix, xchg with memory, LSE, LL/SC pair
    INDEXED = 2  # an unknown index was added: the target is the lowest byte of a series
    TRACKED = 4  # the base register was followed within the function
    GIVEN = 4  # the unknown index is an argument, or in what one leads to: of what is behind a pointer, or with OWN
    VIA_CALL = 8  # done by a callee to an address that this function passed
    BITMAP = 16  # changes a bit that code chose by number: a word of a set of bits (known from binaries only)
    CLEARS = 32  # stores zero
    WALKS = 64  # the unknown index moves on from element to element (known from source only)
    ROW = 64  # as read from a binary: ``stride`` is of rows at an index as of GIVEN, in which one more index chooses
    OWN = 128  # the unknown index is the running thread's: from its storage, or (source only) told by a function


class FunctionFlag(IntFlag):
    EXPORTED = 1
    FROM_UNWIND = 2  # extent from .eh_frame_hdr, no symbol
    COLD = 4  # in .text.unlikely / .text.startup / a .cold part
    INIT = 8  # constructor, .init.text, or reachable from those only
    ADDRESS_TAKEN = 16  # its address is stored or passed somewhere
    STUB = 32  # a PLT entry or an import placeholder: not code of this image
    FROM_CALLS = 64  # no symbol and no frame: begins where something is called or an address leads
    GO = 128  # made by Go's compiler: in the function table of its run-time
    ASIDE = 256  # gcc takes it to be seldom run: known by the place where that has it put it
    VIRTUAL = 2048  # source only: virtual, and nothing else has its address but tables of virtual functions
    FOR_MODULES = 1024  # a kernel or module exports it to other modules (EXPORT_SYMBOL)
    ONE_NAME = 4096  # has a symbol that is not local, and no other: no linker made one function of several
    UNOPTIMIZED = 8192  # compiled without optimization: keeps all variables in memory


class VariableFlag(IntFlag):
    SIZE_INFERRED = 1  # symbol size 0 or recovered: extends to the next known object
    RECOVERED = 2  # no symbol: made from access sites
    LOCAL = 4
    UNIQUE = 8  # STB_GNU_UNIQUE
    WEAK = 16
    COMMON = 32
    COPY_RELOC = 64  # a library's variable that lives in this executable
    TYPED = 128  # DWARF gave a type
    FROM_DWARF = 256  # no symbol, only debug information
    EXPORTED = 512  # by a kernel or module to other modules (EXPORT_SYMBOL)


class ArgKind(IntEnum):
    """What was in an argument register at a call."""

    ADDRESS = 1  # a static address (data or code): ``value``
    PARAM = 2  # the caller's own argument ``source`` plus ``value`` bytes
    CONSTANT = 3  # a small integer: ``value``
    # Of calls that start threads: a word that was loaded ``value`` bytes behind some pointer.  In source of all calls:
    # a pointer to a function from that place.
    LOADED = 4


# One access of one instruction to static storage.
SITE_DTYPE = np.dtype(
    [
        ("ip", "<u8"),  # SVMA of the instruction
        ("target", "<u8"),  # SVMA of the first byte touched
        ("function", "<i4"),  # row of the function table, -1 unknown
        ("size", "<u4"),  # bytes touched by one execution; 0 when only the address is taken
        ("stride", "<u2"),  # bytes between elements when INDEXED (65535: more), when OWN those of two threads, else 0
        ("order", "<u2"),  # of the block in its function: a block comes after those that lead to it
        ("kind", "u1"),  # AccessKind
        ("flags", "u1"),  # SiteFlag
        ("loop_depth", "u1"),
        ("rarity", "u1"),  # 4 * -log2 of the chance that a run of the function comes here, loops aside
    ]
)


class SlotKind(IntEnum):
    """Where a pointer to a function is kept: the slot."""

    UNKNOWN = 0
    RECORD = 1  # so many bytes from where some pointer points to
    STATIC = 2  # at an address
    ARGUMENT = 3  # in an argument of the function, by number
    ELEMENT = 4  # in an array at an address, at a computed index; told from accesses, in no table


# One direct call, tail call, or call through a known slot.
CALL_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("callee", "<u8"),  # SVMA of a function, PLT entry or import placeholder; 0: unknown target
        ("function", "<i4"),  # the caller
        ("loop_depth", "u1"),
        ("tail", "u1"),
        ("rarity", "<u2"),  # as of sites
        ("order", "<u2"),  # as of sites
        ("slot", "u1"),  # SlotKind of the slot that an unknown target is loaded from
        ("handed", "u1"),  # of an unknown target 1 + how many registers may be arguments, 0 not known
        ("where", "<u4"),  # there: bytes, the low half of an address, or a number; of a known callee the call's length
    ]
)

# One known argument register at a call.
ARG_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("callee", "<u8"),
        ("value", "<i8"),  # see ArgKind
        ("function", "<i4"),  # the caller
        ("arg", "u1"),  # which argument, from 0
        ("kind", "u1"),  # ArgKind
        ("source", "u1"),  # PARAM: which argument of the caller; ADDRESS: bytes between elements (255: more), 0 exact
        ("loop_depth", "u1"),
    ]
)

# One access through a pointer argument: [argument + offset].
PARAM_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("offset", "<i8"),
        ("function", "<i4"),
        ("size", "<u4"),
        ("stride", "<u2"),  # as of sites
        ("order", "<u2"),  # as of sites
        ("arg", "u1"),
        ("kind", "u1"),
        ("flags", "u1"),
        ("loop_depth", "u1"),
        ("rarity", "u1"),  # as of sites
        ("reserved", "u1", (7,)),
    ]
)

# An argument that points to a record which was asked for by name.
POINTER_DTYPE = np.dtype(
    [
        ("function", "<i4"),
        ("type", "<i4"),  # row of Image.types: the record
        ("arg", "u1"),  # as of params
    ]
)


class ZeroRange(IntEnum):
    """What is so in a range of instructions."""

    DIFFERS = 0  # it runs only where the variable is not ``value``
    IS_ZERO = 1  # it runs only where the variable is zero
    SETS = 2  # it is one instruction, which sets the variable to ``value``
    # Of words that may be locks; ``value`` is 0 or, of a ticket lock, 1 + the bytes to the word that gives it back, and
    # has 64 where it is so only if the calls of WAITS take the word, 128 where the calls that end the function do.
    HELD = 3  # it runs only while the function holds the word, which it took
    TAKES = 4  # it is one instruction, which may take it
    WAITS = 5  # it is a call where the word was not taken, which may wait for it
    LEAVES = 6  # it is a function that returns only with the word held
    # Of words that loops wait for.
    PASSED = 7  # it runs only behind a loop that ended when the word was not zero
    PASSES = 8  # it is a function that returns only then
    TURN = 9  # it runs only while the word is what a loop found it to be, ``value``, if nobody else sets it
    TELLS = 10  # it is a function that returns true only where the word is not zero (known from source only)


# Code that runs only where a variable was found to be zero, or a small number, right before, or not to be; and where
# a word is held.  A word behind a pointer has a place as the target of a site there.
ZERO_RANGE_DTYPE = np.dtype(
    [
        ("variable", "<u8"),
        ("begin", "<u8"),  # instructions in [begin, end)
        ("end", "<u8"),
        ("function", "<i4"),
        ("size", "<u2"),  # bytes of the variable that were tested
        ("what", "u1"),  # ZeroRange
        ("value", "u1"),
    ]
)

# An instruction that stores the address of a function, or an own argument, where calls may take it from.
KEPT_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("value", "<u8"),  # SVMA of the function; 0: an argument
        ("function", "<i4"),  # that stores it
        ("where", "<u4"),  # as of calls
        ("slot", "u1"),  # SlotKind
        ("arg", "u1"),  # which argument
        ("reserved", "<u2", (3,)),
    ]
)

# An instruction that stores in a static variable what leads to an object, or in thread-local storage any pointer.
HELD_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("variable", "<u8"),
        ("what", "<u8"),  # as the target of a site behind a pointer
        ("function", "<i4"),
        ("loop_depth", "u1"),
        ("rarity", "u1"),  # as of sites
        ("order", "<u2"),  # as of sites
        ("stride", "<u4"),  # bytes to what another thread stores there, or to the next element, 0 exact
        ("step", "<u4"),  # bytes of ``what`` from one round of a loop to the next, as in an array; 0 it is the same
    ]
)

# Of what is behind pointers the target, or value, is how many bytes it is from where the pointer leads to, and the
# holder of the pointer: the address of a static variable, or of the call that made the object.
HELD_OFFSET_BITS, HELD_ADDRESS_BITS = 24, 38
HELD = np.uint64(1 << (HELD_OFFSET_BITS + HELD_ADDRESS_BITS))  # in each target that is behind a pointer
# A holder with the highest bit is no address: a word of what an argument of a function points to.  It has the row of
# the function, the argument and the word's number, of which the last one stands for the argument itself.
WORD_NUMBER_BITS, WORD_ARG_BITS = 10, 3
WORD_HOLDER = 1 << (HELD_ADDRESS_BITS - 1)
WHOLE_ARGUMENT = (1 << WORD_NUMBER_BITS) - 1
OWN_FRAME = (1 << WORD_ARG_BITS) - 1  # in the place of the argument's number: the frame of a run, of so many bytes
FRAME_BYTES = 1 << (HELD_OFFSET_BITS - 1)
# A block's place in a second order of its function, where that differs from ``order``: of two ways from one block the
# other comes first.  A block leads to another one only where it comes before in both, loops aside.  ``reached`` is the
# rarity with which a run comes to the outermost loop that the block is in.  ``head``: such a loop begins here.
# ``stage``: how many of the ``stages`` of a round of all threads (``meetings``) are over as the block begins; of one
# where ways through the function differ in it, of none where nobody counted.
BLOCK_DTYPE = np.dtype(
    [
        ("function", "<i4"),
        ("order", "<u2"),
        ("mirror", "<u2"),
        ("reached", "u1"),
        ("head", "u1"),
        ("stages", "u1"),
        ("stage", "u1"),
    ]
)

FUNCTION_DTYPE = np.dtype(
    [
        ("address", "<u8"),
        ("size", "<u8"),
        ("name", "<i4"),  # index into Image.names, -1 none
        ("section", "<i4"),
        ("flags", "<u4"),
        ("reserved", "<u4"),
    ]
)

VARIABLE_DTYPE = np.dtype(
    [
        ("address", "<u8"),
        ("size", "<u8"),
        ("name", "<i4"),  # index into Image.names, -1 none
        ("section", "<i4"),  # index into Image.sections, -1 none
        ("type", "<i4"),  # row of Image.types, -1 unknown
        ("unit", "<i4"),  # index into Image.units, -1 unknown: the source file that defines it
        ("file", "<i4"),  # index into Image.files, -1 unknown
        ("line", "<u4"),  # declaration line, 0 unknown
        ("flags", "<u4"),  # VariableFlag
        ("scope", "<i4"),  # enclosing function of a function-local static (Image.names), -1 none
        ("align", "<u4"),  # alignment in bytes that the declaration itself asks for, 0 none known
        ("column", "<u4"),  # of the declaration, from 1, 0 unknown
    ]
)

# A word of data that holds the address of code, as after relocation.
WORD_DTYPE = np.dtype([("slot", "<u8"), ("value", "<u8")])


class Behind(msgspec.Struct, frozen=True):
    """What code does to what pointers lead to: accesses, addresses that calls are given, what static pointers hold.

    ``word_sites`` and ``word_args``: behind words of what a function's own arguments point to (``led``: to objects).
    ``stored`` is what objects are given, ``spread`` elements of arrays by a loop: ``variable`` is a place behind one.
    ``passed``, words on the stack whose address a call is handed, has a word of its argument, ``framed``, functions in
    frames, the place there.  ``stepped``: as ``stored`` and ``passed``, of what is another element in each round of a
    loop, ``arrays``: those of which each thread of an entry is given an element.
    ``own_sites`` and ``own_held``: behind words of thread-local storage, and what these hold.
    ``elsewhere``: all accesses behind pointers, of which debug information may know more, without target.
    """

    sites: Table = msgspec.field(default_factory=lambda: np.zeros(0, SITE_DTYPE))
    args: Table = msgspec.field(default_factory=lambda: np.zeros(0, ARG_DTYPE))
    held: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    word_sites: Table = msgspec.field(default_factory=lambda: np.zeros(0, SITE_DTYPE))
    word_args: Table = msgspec.field(default_factory=lambda: np.zeros(0, ARG_DTYPE))
    stored: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    passed: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    framed: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    spread: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    stepped: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    led: tuple[tuple[int, int, int], ...] = ()  # (holder, row of the entry, bytes into its argument)
    arrays: tuple[tuple[int, int, int], ...] = ()  # (holder, row of the entry, bytes between elements)
    own_sites: Table = msgspec.field(default_factory=lambda: np.zeros(0, SITE_DTYPE))
    own_held: Table = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    own_names: dict[int, str] = {}  # of variables that begin at such words, by holder
    elsewhere: Table = msgspec.field(default_factory=lambda: np.zeros(0, SITE_DTYPE))


@dataclass(frozen=True, slots=True)
class Architecture:
    """One processor architecture as a value.

    ``line_size`` is the usual L1 data line in bytes; ``pair_size`` the span that is fetched or moved
    together where it is larger (adjacent-line prefetch), else equal to ``line_size``.
    """

    name: str
    bits: int
    byteorder: str  # "little" or "big"
    line_size: int
    pair_size: int
    decodes: bool  # access sites can be read for it

    @property
    def pointer_size(self) -> int:
        return self.bits // 8


@dataclass(frozen=True, slots=True)
class Section:
    """One allocated section.  ``file_offset`` is None for sections without bytes (.bss)."""

    index: int
    name: str
    kind: SectionKind
    address: int
    size: int
    alignment: int
    file_offset: int | None

    @property
    def end(self) -> int:
        return self.address + self.size


class Override(msgspec.Struct, frozen=True):
    """A virtual function of a class that derives from one of another file: ``function`` is its address, ``slot`` its
    number in the table of virtual functions, ``base`` the symbol of that class's type information."""

    base: str
    slot: int
    function: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One compilation unit."""

    name: str
    comp_dir: str
    producer: str
    language: str


@dataclass(frozen=True, slots=True)
class Image:
    """A binary, read.  Tables are sorted by address; see the dtypes above for units.

    ``callee_names`` names call targets that are not code of this image (PLT entries, GOT slots,
    undefined symbols), without symbol version.  ``aliases`` maps a variable's row to its other names.
    """

    path: str
    member: str | None
    arch: Architecture
    kind: ImageKind
    build_id: str | None
    synthetic: bool
    sections: tuple[Section, ...]
    names: list[str]
    variables: Table
    functions: Table
    sites: Table = field(default_factory=lambda: np.zeros(0, SITE_DTYPE))
    calls: Table = field(default_factory=lambda: np.zeros(0, CALL_DTYPE))
    args: Table = field(default_factory=lambda: np.zeros(0, ARG_DTYPE))
    params: Table = field(default_factory=lambda: np.zeros(0, PARAM_DTYPE))
    pointers: Table = field(default_factory=lambda: np.zeros(0, POINTER_DTYPE))
    types: TypeTable = field(default_factory=TypeTable)
    zero_ranges: Table = field(default_factory=lambda: np.zeros(0, ZERO_RANGE_DTYPE))
    units: tuple[Unit, ...] = ()
    files: tuple[str, ...] = ()
    aliases: dict[int, tuple[str, ...]] = field(default_factory=dict)
    callee_names: dict[int, str] = field(default_factory=dict)
    entry_points: tuple[int, ...] = ()  # addresses started by the loader: ELF entry
    overrides: tuple[Override, ...] = ()  # virtual functions that other files call
    init_functions: tuple[int, ...] = ()  # DT_INIT, .init_array, .preinit_array, initcalls
    needed: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()  # undefined symbols, without version
    language: str = ""  # of what neither debug information nor a name tells, "" where that is not known
    record_language: str = ""  # of records whose objects are allocated, where all units have one, else ""
    debug_source: str = ""  # where types came from: "", "the file", or a description
    notes: tuple[str, ...] = ()  # what could not be read, in words
    incomplete: bool = False  # a part that should have been readable failed: its absence proves nothing
    origins: Origins | None = None  # where sites come from, when the source was read
    identities: dict[int, str] = field(default_factory=dict)  # by address of a variable (sharing.model.facts)
    of_threads: frozenset[str] = frozenset()  # identities of records of which each thread is handed another one
    behind_own: frozenset[str] = frozenset()  # of those to which only objects of one thread each lead
    rooms: dict[str, int] = field(default_factory=dict)  # by identity of a record: how many of it all arrays have
    phases: dict[int, int] = field(default_factory=dict)  # predicted sections: alignment by section index
    counts: dict[str, int] = field(default_factory=dict)  # what was read, decoded, not decoded
    code_words: Table = field(default_factory=lambda: np.zeros(0, WORD_DTYPE))  # sorted by slot
    pointed: Table = field(default_factory=lambda: np.zeros(0, np.uint64))  # where words of data point to, sorted
    table_names: dict[int, str] = field(default_factory=dict)  # by address: what a table of texts calls it
    virtual_tables: Table = field(default_factory=lambda: np.zeros(0, np.uint64))  # their first functions, sorted
    class_roots: dict[int, str] = field(default_factory=dict)  # by such a table the class that its class derives from
    classes: Classes = field(default_factory=Classes)
    receivers: dict[int, int] = field(default_factory=dict)  # by virtual call the family of its object, where known
    kept: Table = field(default_factory=lambda: np.zeros(0, KEPT_DTYPE))
    blocks: Table = field(default_factory=lambda: np.zeros(0, BLOCK_DTYPE))  # sorted by function and order
    behind: Behind = field(default_factory=Behind)
    given: tuple[Given, ...] = ()
    within_rows: Table = field(default_factory=lambda: np.zeros(0, np.uint64))  # what reaches any place in a ROW
    signs: ThreadSigns = field(default_factory=ThreadSigns)

    def variable_at(self, address: int) -> int:
        """Row of the variable that has this byte, -1 where none has it; one without a size has its first byte."""
        table = self.variables
        row = int(np.searchsorted(table["address"], np.uint64(address), "right")) - 1
        if row < 0 or address >= int(table["address"][row]) + max(int(table["size"][row]), 1):
            return -1
        return row

    def variables_at(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """``variable_at`` of each address."""
        start, size = self.variables["address"], self.variables["size"]
        row = np.searchsorted(start, addresses, "right").astype(np.int64) - 1
        if not len(start):
            return row
        at = np.maximum(row, 0)
        return np.where((row >= 0) & (addresses - start[at] < np.maximum(size[at], 1)), row, -1)

    def variable_name(self, row: int) -> str:
        """The variable's name, in front of it the function of a function-local static; its address if nameless."""
        variable = self.variables[row]
        name = self.names[variable["name"]] if variable["name"] >= 0 else f"{int(variable['address']):#x}"
        return f"{self.names[variable['scope']]}::{name}" if variable["scope"] >= 0 else name
