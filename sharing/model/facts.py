"""What the source says, one translation unit at a time: the document that ``linemate-facts`` streams.

Owns the schema (version ``FACTS_SCHEMA``): JSON Lines, one object a line, told apart by ``kind``: a header, then units,
failures and notes in any order, then an end line, without which the stream is cut off.  Nothing here judges.

Units and binaries join by *identity*.  The identity of a variable or function with external linkage is its linkage
(mangled) name; of one with internal linkage ``name@path`` of the file that has its definition (``function.name@path``
for a static of a C function), so that equal ones from one header are equal.  Static *variables* of headers exist once
a unit: theirs is ``name@path-of-the-unit``.  ``symbol`` is what the ELF symbol table calls it.

Rows that occur in thousands (accesses, calls, arguments, lock operations, tests) are flat integer lists, whose columns
the ``*_COLUMNS`` tuples name.  Offsets and sizes are in bytes unless a name says bits; lines and columns count from 1,
``begin`` and ``end`` are byte offsets in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum, IntFlag
from typing import Annotated

import msgspec

from sharing.model.types import TypeKind

FACTS_SCHEMA = "linemate-facts-1"

MOST = 1 << 47  # of sizes, offsets, strides and bytes of a file: what a process can address
MOST_LINE = (1 << 31) - 1
MOST_ALIGN = 1 << 30
MOST_EVENT = 1 << 15  # of loops within each other, and of rarity

# Ranges that decoding holds documents to.  Of what is an index, ``sharing.source.checked`` knows the table.
Line = Annotated[int, msgspec.Meta(ge=0, le=MOST_LINE)]
Column = Annotated[int, msgspec.Meta(ge=0, le=MOST_LINE)]
Order = Annotated[int, msgspec.Meta(ge=0, le=MOST_LINE)]
Offset = Annotated[int, msgspec.Meta(ge=0, le=MOST)]  # in a file; also a size that is known
Size = Annotated[int, msgspec.Meta(ge=-1, le=MOST)]  # -1 unknown
Align = Annotated[int, msgspec.Meta(ge=0, le=MOST_ALIGN)]
Bits = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Event = Annotated[int, msgspec.Meta(ge=0, le=MOST_EVENT)]
Signed = Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]


class Base(IntEnum):
    """What an access, a lock or an argument is relative to."""

    VARIABLE = 1  # static storage: ``id`` is an index into UnitFacts.symbols
    PARAMETER = 2  # what the function's parameter number ``id`` points to (``this`` is 0, the others follow)
    RECORD = 3  # a record behind a pointer or reference of unknown origin; ``id`` is -1


class MemoryOrder(IntEnum):
    PLAIN = 0  # not atomic
    RELAXED = 1
    CONSUME = 2
    ACQUIRE = 3
    RELEASE = 4
    ACQ_REL = 5
    SEQ_CST = 6


class AccessFlag(IntFlag):
    INDEXED = 1  # an index that is not constant was added; offset is that of element 0
    VOLATILE = 2
    BIT_FIELD = 4
    WALKS = 8  # the index is one that moves on, from element to element: no place of one thread's own
    OWN = 16  # the index is the number of the running thread, or the pointer that leads here is at such an index
    CLEARS = 32  # stores zero
    NEW = 64  # stores to an object that this function makes or ends, uses of what it frees: nobody else has it
    GIVEN = 128  # the index is made of a number that the function is given: a parameter, or a lambda's copy
    TAKES = 256  # an exchange after which a word that was zero is the running thread's until zero is stored
    COUNTED = 512  # the index is made of a number that the function takes from a counter, outside of its loops


class FunctionBits(IntFlag):
    INTERNAL = 1  # internal linkage
    INLINE = 2  # may be defined in several units; one is kept
    INIT = 4  # runs before main: constructor attribute, dynamic initialiser
    COLD = 8  # cold attribute or a start-up section
    NORETURN = 16
    VIRTUAL = 32
    HOT = 64
    REGION = 128  # a parallel region outlined from a function, not a function of the source
    PRIVATE = 256  # a private method that is not virtual, or a lambda: only code near it calls it


class VariableBits(IntFlag):
    INTERNAL = 1
    CONSTANT = 2  # const, and constant-initialised: not writable
    THREAD = 4  # thread_local
    INLINE = 8  # inline variable, template instantiation, static of an inline function: merged across units
    TENTATIVE = 16  # C: no initialiser (COMMON under -fcommon)
    DECLARED_ONLY = 32  # defined in another unit
    WEAK = 64
    USED = 128  # attribute used or retain: kept without references
    VOLATILE = 256
    EMBEDDED = 512  # declared together with the definition of its record: struct s {...} name;
    REFERENCED = 1024  # named somewhere in the unit: a compiler drops internal ones that are not
    RESHAPED = 2048  # LLVM's constant for its initial value has another type: a union, or zeros left out at the end


class Init(IntEnum):
    """Where the bytes of a definition go."""

    ZERO = 0  # .bss
    DATA = 1  # .data
    ADDRESSES = 2  # .data, with relocations (.data.rel[.ro] in position independent code)
    DYNAMIC = 3  # zero, filled before main


class RecordBits(IntFlag):
    UNION = 1
    CLASS = 2
    PACKED = 4
    ANONYMOUS = 8
    SYSTEM = 16  # defined in a system header
    TEMPLATE = 32
    POLYMORPHIC = 64
    ELEMENTS = 128  # none of the source: a plain element that a variable or member leads to; its name ends in "[]"


class Passed(IntEnum):
    """What is known of an argument."""

    VARIABLE = 1  # its address
    PARAMETER = 2  # of the caller, passed on
    CONSTANT = 3
    FUNCTION = 4  # its address
    RECORD = 5  # the address of an object that is not static, see Base.RECORD
    NUMBER = 6  # one that the caller was given (AccessFlag.GIVEN), where it passes no other numbers; value is 0
    OWN = (
        7  # the address of a record of the running thread: a thread-local pointer, or an event of its loop, leads there
    )
    MEMBER = 8  # the address of a member of what a parameter of the caller leads to; as of RECORD, beside PARAMETER
    NEW = 9  # beside another row of the argument: it leads to an object that the caller makes or ends (AccessFlag.NEW)
    SLOT = 10  # a pointer to a function from UnitFacts.slots[value]
    CALLED = 11  # of a call through a pointer: it calls what the caller was handed as its argument ``value``
    EACH = 12  # beside a function: what one of several pointers to a record leads to, another one at each index


THROUGH_SLOT = -2  # a callee from here down is a place where a pointer to a function is kept, the first one here
ACCESS_COLUMNS = (
    "base",  # Base
    "id",
    "record",  # index into UnitFacts.records: the record that offset is relative to (bases 2 and 3), -1 none
    "offset",
    "size",
    "kind",  # sharing.model.image.AccessKind
    "memory_order",  # MemoryOrder
    "flags",  # AccessFlag
    "stride",  # bytes between elements if INDEXED, else 0
    "file",  # index into UnitFacts.files
    "line",
    "column",
    "loop_depth",
    "rarity",  # 4 * -log2 of the chance that a run of the function comes here, loops aside
    "order",  # of the block: blocks come after those that lead to them
    "lockset",  # index into FunctionFacts.locksets, -1 unknown
)
CALL_COLUMNS = (
    "callee",  # index into UnitFacts.symbols, -1: through a pointer, -2 - n: one from UnitFacts.slots[n]
    "file",
    "line",
    "column",
    "loop_depth",
    "rarity",
    "order",
    "lockset",
)
ARG_COLUMNS = (
    "call",  # row of the call in this function
    "arg",  # from 0; ``this`` of a member call is 0
    "kind",  # Passed
    "value",  # symbol index, parameter number, the constant, symbol index, record index
    "offset",
    "stride",  # of an array at an index that is not constant, else 0
)
LOCK_OP_COLUMNS = (
    "lock",  # index into FunctionFacts.locks
    # 1 lock, 2 unlock, 3 init or destroy, 4 try-lock, 5 wait, 6 wait for a time (of what they release as well)
    "effect",
    "file",
    "line",
    "column",
    "loop_depth",
    "rarity",
    "order",
    "lockset",  # held before
)

ZERO_TEST_COLUMNS = (
    "variable",  # index into UnitFacts.symbols: what was just found to be zero, or not to be
    "offset",
    "size",  # bytes that were tested
    "what",  # sharing.model.image.ZeroRange
    "value",  # of a TURN
    "first",  # orders of the blocks, from first to last, that run only then
    "last",
)
KEPT_COLUMNS = (
    "slot",  # index into UnitFacts.slots
    "function",  # index into UnitFacts.symbols: what is kept there; -1: something that is not seen
    "argument",  # -1, or: what that function is handed as this argument (``this`` is 0 of methods) is kept there
)
BLOCK_COLUMNS = (
    "order",
    "mirror",  # its place in another order: of two ways from one block the other one comes first
    "head",  # 1 where a loop that is in no other begins
    "stages",  # of a round of all threads that wait for each other, 1 if it has none, 0 where that is not known
    "stage",  # the one as the block begins
)
LOOP_COLUMNS = (
    "loop_depth",
    "rarity",
    "operations",  # in all blocks at that depth that are as rare: on whatever, each about one instruction
)


def rows_of(flat: tuple[int, ...], width: int) -> Iterator[tuple[int, ...]]:
    """The rows of a table that facts have as one list, each of so many columns."""
    return (flat[at : at + width] for at in range(0, len(flat) - width + 1, width))


class LockFact(msgspec.Struct, frozen=True, array_like=True):
    """One lock expression of a function.  ``row`` is the name of its row in knowledge/locks.json (or the project's)."""

    base: Annotated[int, msgspec.Meta(ge=int(min(Base)), le=int(max(Base)))]
    id: int
    record: int
    offset: Signed
    stride: Signed
    shared: bool  # held for reading
    row: str
    text: str  # as written: "&cache->lock"


class StartFact(msgspec.Struct, frozen=True, array_like=True):
    """A thread started through a C++ object or a directive: C functions are found as calls by name.

    ``entry`` is an index into UnitFacts.symbols; ``api`` what starts it ("std::thread", "std::async", "omp parallel").
    ``element``: of this record (index) it is handed one of several, another one at each start, -1 of none;
    ``behind``: by a pointer that is one of several.  ``local``: else, of this record it is handed what a local variable
    points to or owns, -1 nothing.
    """

    entry: int
    api: str
    many: bool  # several at once by its nature; starts in loops show in loop_depth
    file: int
    line: Line
    column: Column
    loop_depth: Event
    rarity: Event
    order: Order
    element: int = -1
    behind: bool = False
    local: Annotated[int, msgspec.Meta(ge=-1)] = -1


class AllocationFact(msgspec.Struct, frozen=True, array_like=True):
    """Dynamic storage made for a record: ``api`` is the function (or "new"), ``record`` an index into records.

    ``guarantee``: bytes of alignment that the call promises, 0 the allocator's default.  ``by_number``: it asks for a
    constant number of bytes that no ``sizeof`` of a record is part of, and would for a larger record too.
    ``count``: the objects that there is room for, 0 where that is no constant.
    """

    api: str
    record: int
    guarantee: Align
    file: int
    line: Line
    column: Column
    by_number: bool = False
    loop_depth: Event = 0
    order: Order = 0
    count: Offset = 0


class FunctionFacts(msgspec.Struct, frozen=True):
    """One defined function.  ``locksets[0]`` is always empty; a lockset lists indexes into ``locks``.

    ``requires`` (a lockset) comes from annotations; ``acquires`` and ``releases`` are what calling it changes.
    """

    identity: str
    symbol: str
    name: str  # readable, qualified
    file: int
    line: Line
    column: Column
    bits: Bits
    accesses: tuple[int, ...] = ()
    calls: tuple[int, ...] = ()
    args: tuple[int, ...] = ()
    locks: tuple[LockFact, ...] = ()
    locksets: tuple[tuple[int, ...], ...] = ((),)
    lock_ops: tuple[int, ...] = ()
    starts: tuple[StartFact, ...] = ()
    allocations: tuple[AllocationFact, ...] = ()
    requires: tuple[int, ...] = ()
    acquires: tuple[int, ...] = ()
    releases: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()  # functions (symbols) whose address it stores or passes
    names: tuple[int, ...] = ()  # symbols that it names, in the order of evaluation; own statics where declared, too
    zero_tests: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()  # those in which something happens and that a second order has elsewhere
    loops: tuple[int, ...] = ()  # what it does in loops
    promises: Align = 0  # alignment in bytes of the new memory that it returns on all ways, 0 not known


# A type where it is used, as a small tree: [kind, name, size, align, inner, count].
# kind is sharing.model.types.TypeKind.  RECORD kinds: name is shown, ``count`` is the index into UnitFacts.records and
# inner is null.  ARRAY: inner is the element, count the number of elements (-1 unknown).  TYPEDEF, CONST, VOLATILE,
# ATOMIC, RESTRICT: inner is what they wrap.  POINTER and REFERENCE have a readable name and no inner.
class TypeTree(msgspec.Struct, frozen=True, array_like=True):
    kind: Annotated[int, msgspec.Meta(ge=0, le=int(max(TypeKind)))]
    name: str
    size: Size
    align: Align
    inner: TypeTree | None = None
    count: Size = -1


class MemberFact(msgspec.Struct, frozen=True, array_like=True):
    """One direct member or base.  ``text`` is its declaration as written, cut at 200 characters."""

    name: str
    offset_bits: Annotated[int, msgspec.Meta(ge=-1, le=8 * MOST)]
    type: TypeTree
    bit_size: Annotated[int, msgspec.Meta(ge=0, le=8 * MOST)]
    is_base: bool
    declared_align: Align  # that it asks for itself, 0 none
    file: int
    line: Line
    column: Column
    begin: Offset
    end: Offset
    macros: tuple[str, ...]  # that produced its alignment or padding
    guarded_by: str  # annotation as written, "" none
    text: str


class RecordFacts(msgspec.Struct, frozen=True):
    """One complete record.  ``key`` is equal in all units that see the same definition with the same layout."""

    key: str
    name: str
    bits: Bits
    size: Size
    align: Align
    declared_align: Align
    file: int
    line: Line
    column: Column
    begin: Offset
    end: Offset  # behind the closing brace
    members: tuple[MemberFact, ...]
    macros: tuple[str, ...] = ()
    align_text: str = ""  # the attribute as written


class VariableFacts(msgspec.Struct, frozen=True):
    """One variable with static storage.  ``begin``..``end`` is the whole declaration without its semicolon.

    ``order`` counts definitions in the unit, in the order of the source.  ``declarations`` are the others:
    (file, line, begin, end).
    """

    identity: str
    symbol: str
    name: str  # readable, qualified
    scope: str  # readable name of the function it is local to, "" none
    type: TypeTree
    size: Offset
    align: Align
    declared_align: Align
    section: str  # by attribute, "" none
    bits: Bits
    init: Annotated[int, msgspec.Meta(ge=0, le=int(max(Init)))]
    order: Order
    file: int
    line: Line
    column: Column
    begin: Offset
    end: Offset
    name_begin: Offset
    type_text: str = ""
    align_text: str = ""
    text: str = ""
    macros: tuple[str, ...] = ()
    guarded_by: str = ""
    declarations: tuple[tuple[int, Line, Offset, Offset], ...] = ()
    refers: tuple[int, ...] = ()  # symbols whose addresses its initialiser holds, in the order of the text


class UnitOptions(msgspec.Struct, frozen=True):
    """What of the command line decides the layout.  ``compiler`` is "gcc" or "clang"; ``level`` "0", "2", "s", ...."""

    compiler: str = "gcc"
    level: str = "0"
    pic: bool = False
    common: bool = False
    data_sections: bool = False
    toplevel_reorder: bool = True
    section_anchors: bool = False
    pie: bool = False  # pic for an executable: what it defines cannot be replaced


class UnitFacts(msgspec.Struct, frozen=True, tag="unit", tag_field="kind"):
    """One translation unit.  ``records`` and ``functions`` are pairs (key or identity, document), decoded when new.

    ``errors`` are diagnostics that make it partial, as "file:line:column: text".  ``hash`` names its content.
    ``includes`` are all files read, by index, the unit itself first.  ``derived`` are records, by index, to which
    pointers to their first member are cast: C's way to derive one from another; ``made`` those of which something makes
    an object that is no member of another record of the program: a local, a container, memory by a cast.  ``slots`` are
    places where pointers to functions are, equal in all units: "member RECORD.NAME", "variable IDENTITY", "function
    TYPE" of objects that hold one (``std::function``), or "virtual SYMBOL" of the function that others override.
    ``kept`` says which functions are there, as ``KEPT_COLUMNS`` has it.
    """

    path: str
    directory: str
    language: str  # "C" or "C++"
    standard: str
    triple: str
    options: UnitOptions
    hash: str
    files: tuple[str, ...]
    file_hashes: tuple[str, ...]  # SHA-256 of each file, in hex
    symbols: tuple[str, ...]
    records: tuple[tuple[str, msgspec.Raw], ...]
    variables: tuple[VariableFacts, ...]
    functions: tuple[tuple[str, msgspec.Raw], ...]
    derived: tuple[int, ...] = ()
    made: tuple[int, ...] = ()
    slots: tuple[str, ...] = ()
    kept: tuple[int, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class FactsHeader(msgspec.Struct, frozen=True, tag="header", tag_field="kind"):
    schema: str
    tool: str
    clang: str


class FactsFailure(msgspec.Struct, frozen=True, tag="failure", tag_field="kind"):
    """A unit without facts: it crashed, hung, ran out of memory, or its file or command is unusable."""

    path: str
    reason: str


class FactsNote(msgspec.Struct, frozen=True, tag="note", tag_field="kind"):
    text: str


class FactsEnd(msgspec.Struct, frozen=True, tag="end", tag_field="kind"):
    """``cached`` of the ``units`` came from the cache."""

    units: int
    failed: int
    cached: int


FactsLine = FactsHeader | UnitFacts | FactsFailure | FactsNote | FactsEnd
