"""The access scan of one placed program: what the native helper is asked, and what becomes of its failure.

Owns which ranges are code, which data is wanted and which constants may hold jump tables.  The scan itself
is ``accessplan``'s, with the helper behind it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.code.jumplabels import LABEL_DTYPE
from elfscan.code.storedcode import leading_to_functions
from elfscan.fileformat import constants as c
from elfscan.fileformat.program import Program
from elfscan.relocation.dynamic import PLACEHOLDER_BYTES
from elfscan.tools import Bounds, Starter, ToolJob
from sharing.model import (
    ARG_DTYPE,
    BLOCK_DTYPE,
    CALL_DTYPE,
    HELD_DTYPE,
    KEPT_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    ZERO_RANGE_DTYPE,
    LinemateError,
    SectionKind,
)
from sharing.model.allocators import makes_objects
from sharing.model.arrays import among, picked, stacked
from sharing.model.clocktimes import clock_time_of
from sharing.model.failures import failure_of
from sharing.model.meetings import waits_for_all
from sharing.model.wordfunctions import of_word

if TYPE_CHECKING:
    from elfscan.code.accessplan import ScanJob

Array = npt.NDArray[Any]

TIMEOUT_S = 60.0
BYTES_A_SECOND = 1 << 20  # of code, more than ten times slower than one processor decodes it
MEMORY_BYTES = 1 << 30
MEMORY_FACTOR = 16  # bytes of tables and working memory by byte of code, several times what servers need

# Functions of the C library and of compilers' run-times that return what is the running thread's: where its storage is,
# what it keeps there, its number or that of its processor.
OWN_RESULTS = frozenset(
    {
        "__tls_get_addr",
        "___tls_get_addr",
        "__emutls_get_address",
        "pthread_getspecific",
        "tss_get",
        "pthread_self",
        "thrd_current",
        "gettid",
        "sched_getcpu",
        "omp_get_thread_num",
    }
)

# Functions of the C library that start a thread: they write what stands for it where the first argument leads to.
HANDLE_WRITERS = frozenset({"pthread_create", "thrd_create"})

# Those that sleep for as long as a struct timespec says that an argument leads to.
SLEEPERS = frozenset({"nanosleep", "clock_nanosleep", "thrd_sleep"})

# Functions of the C library and of compilers' run-times that nothing comes back from, whatever they are handed.
# Another file's of this name is theirs.  A program may have an "exit" or an "err" of its own: of its functions only the
# implementation's are meant.
_ENDINGS = frozenset(
    {
        "abort",
        "exit",
        "quick_exit",
        "pthread_exit",
        "thrd_exit",
        "longjmp",
        "siglongjmp",
        "err",
        "errx",
        "verr",
        "verrx",
        "g_assertion_message",
        "g_assertion_message_expr",
        "g_assertion_message_error",
        "g_assertion_message_cmpstr",
        "g_assertion_message_cmpnum",
    }
)
_OWN_ENDINGS = frozenset(
    {
        "_exit",
        "_Exit",
        "_longjmp",
        "__longjmp_chk",
        "__assert_fail",
        "__assert",
        "__assert_perror_fail",
        "__stack_chk_fail",
        "__stack_chk_fail_local",
        "__chk_fail",
        "__fortify_fail",
        "__libc_fatal",
        "__cxa_throw",
        "__cxa_rethrow",
        "__cxa_bad_cast",
        "__cxa_bad_typeid",
        "__cxa_pure_virtual",
        "__cxa_throw_bad_array_new_length",
        "__clang_call_terminate",
        "_Unwind_Resume",
        "_ZSt9terminatev",
        "_ZSt10unexpectedv",
    }
)
_THROWING = re.compile(r"_ZSt\d+__throw_")  # of the C++ library: std::__throw_length_error and the like
OWN_ENDINGS_BEGIN = (b"__", b"_exit", b"_Exit", b"_longjmp", b"_Unwind", b"_ZSt")  # few, for speed


def never_returns(name: str, *, own: bool = False) -> bool:
    """Whether nothing comes back from a function of this name; ``own``: of the file that is read."""
    if name in _OWN_ENDINGS or _THROWING.match(name):
        return True
    return not own and name in _ENDINGS


_BUGS = "__bug_table"  # of a kernel's instructions that trap, and may go on (include/asm-generic/vmlinux.lds.h)
_LTO = ".gnu.lto_"  # sections of GCC's own code (gcc/lto-section-names.h); beside machine code with -ffat-lto-objects

# Per-CPU and thread-local data are reached through a segment or thread register: no static address names them.
_WANTED = (SectionKind.WRITABLE, SectionKind.RELRO)


class Accesses(msgspec.Struct, frozen=True):
    """The scan's tables, empty where nothing could be scanned; ``notes`` says why."""

    sites: Array = msgspec.field(default_factory=lambda: np.zeros(0, SITE_DTYPE))
    calls: Array = msgspec.field(default_factory=lambda: np.zeros(0, CALL_DTYPE))
    args: Array = msgspec.field(default_factory=lambda: np.zeros(0, ARG_DTYPE))
    params: Array = msgspec.field(default_factory=lambda: np.zeros(0, PARAM_DTYPE))
    zero_ranges: Array = msgspec.field(default_factory=lambda: np.zeros(0, ZERO_RANGE_DTYPE))
    kept: Array = msgspec.field(default_factory=lambda: np.zeros(0, KEPT_DTYPE))
    blocks: Array = msgspec.field(default_factory=lambda: np.zeros(0, BLOCK_DTYPE))
    behind: Array = msgspec.field(default_factory=lambda: np.zeros(0, SITE_DTYPE))
    behind_args: Array = msgspec.field(default_factory=lambda: np.zeros(0, ARG_DTYPE))
    held: Array = msgspec.field(default_factory=lambda: np.zeros(0, HELD_DTYPE))
    address_taken: Array = msgspec.field(default_factory=lambda: np.zeros(0, np.uint64))
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failed: bool = False


class AccessScan:
    """A running scan, or the reason why there is none.  A context: leaving it ends the helper.

    ``failed``: there is code that could not be scanned.
    """

    def __init__(
        self, job: ScanJob | None, reason: str, names: tuple[str, str] = ("", ""), *, failed: bool = False
    ) -> None:
        self._job = job
        self._reason = reason
        self._failed = failed
        self._names = names  # what the helper calls the file, and what the user does

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._job is not None:
            self._job.close()

    def result(self) -> Accesses:
        """The tables.  A helper that failed on this file leaves them empty, with its reason as a note."""
        if self._job is None:
            return Accesses(notes=(self._reason,) if self._reason else (), failed=self._failed)
        try:
            found = self._job.result()
        except LinemateError as error:
            scanned, given = self._names
            reason = str(error).removeprefix(f"{scanned}: ").removeprefix("access sites: ").replace(scanned, given)
            return Accesses(notes=(f"{given}: access sites not read: {reason}",), failed=True)
        return Accesses(
            found.sites,
            found.calls,
            found.args,
            found.params,
            found.zero_ranges,
            found.kept,
            found.blocks,
            found.behind,
            found.behind_args,
            found.held,
            found.address_taken,
            dict(found.counts),
        )


class KnownCallees(msgspec.Struct, frozen=True):
    """Addresses of functions that are known by name: of OWN_RESULTS, those that make objects (``makes_objects``), of
    HANDLE_WRITERS, those that nothing comes back from (``never_returns``), those at which all threads of a group wait
    for each other (``waits_for_all``), SLEEPERS, and how those of which that is known say that they failed
    (``failure_of``); how those that do tell the time (``clock_time_of``); of the file's own those that load or store a
    word (``of_word``)."""

    own_results: frozenset[int] = frozenset()
    new_results: frozenset[int] = frozenset()
    handle_writers: frozenset[int] = frozenset()
    endings: frozenset[int] = frozenset()
    for_all: frozenset[int] = frozenset()
    sleepers: frozenset[int] = frozenset()
    failures: dict[int, int] = {}
    of_words: dict[int, int] = {}
    clocks: dict[int, int] = {}


def known_callees(names: Mapping[int, str], own: Mapping[int, str]) -> KnownCallees:
    """Those among other files' functions of these names, by address, and among the file's ``own``."""
    endings = {address for address, name in names.items() if never_returns(name)}
    endings |= {address for address, name in own.items() if never_returns(name, own=True)}
    return KnownCallees(
        frozenset(address for address, name in names.items() if name in OWN_RESULTS),
        frozenset(address for address, name in names.items() if makes_objects(name)),
        frozenset(address for address, name in names.items() if name in HANDLE_WRITERS),
        frozenset(endings),
        frozenset(address for known in (names, own) for address, name in known.items() if waits_for_all(name)),
        frozenset(address for address, name in names.items() if name in SLEEPERS),
        {address: int(how) for address, name in names.items() if (how := failure_of(name))},
        {address: int(does) for address, name in own.items() if (does := of_word(name))},
        {address: int(told) for address, name in names.items() if (told := clock_time_of(name))},
    )


def start_access(
    program: Program,
    functions: Array,
    known: KnownCallees,
    labels: Array | None = None,
    starter: Starter = ToolJob,
    *,
    elsewhere: bool = False,
    stored: Array | None = None,
) -> AccessScan:
    """Start the scan of a program; ``labels``: branches that static keys switch (``jumplabels``), ``elsewhere`` as of
    ``AccessPlan``, ``stored`` as of ``_known_words``.

    Raises LinemateError when the helper cannot be run at all.
    """
    arch, sections = program.elf.arch, program.layout.sections
    if not arch.decodes:
        return AccessScan(None, f"access sites are not read on {arch.name}: layout only")
    ranges = [(s, offset) for s, offset in zip(sections, program.file_offsets, strict=True) if s.size and offset >= 0]
    code = [(s.address, offset, s.size) for s, offset in ranges if s.kind is SectionKind.CODE]
    if not code and any(name.startswith(_LTO) for name in program.elf.section_names):
        return AccessScan(
            None, "compiled with -flto: code is made at the link, audit what is linked of it", failed=True
        )
    if not code:
        return AccessScan(None, "no code in this file: access sites not read")
    data = [(s.address, s.size) for s in sections if s.kind in _WANTED and s.size]
    if program.elf.member is not None and not data:
        return AccessScan(None, "")  # of a library's member only accesses to its own data are wanted
    data += _imported_objects(program)
    from elfscan.code.accessplan import AccessPlan, start_scan

    constants = [(s.address, offset, s.size) for s, offset in ranges if s.kind is SectionKind.CONSTANT]
    plan = AccessPlan(
        arch=arch.name,
        path=program.code_path,
        code=code,
        data=data,
        constants=constants,
        functions=functions,
        slots=_known_words(program, functions, stored),
        absolute=program.absolute,
        descriptors=program.linkage.descriptors,
        own_results=known.own_results,
        new_results=known.new_results,
        handle_writers=known.handle_writers,
        endings=known.endings,
        for_all=known.for_all,
        sleepers=known.sleepers,
        failures=known.failures,
        of_words=known.of_words,
        clocks=known.clocks,
        labels=np.zeros(0, LABEL_DTYPE) if labels is None else labels,
        elsewhere=elsewhere,
        traps_return=_BUGS in program.elf.section_names,
    )
    size = sum(part[2] for part in code)
    scan = start_scan(
        plan,
        starter=starter,
        bounds=Bounds(TIMEOUT_S + size / BYTES_A_SECOND, MEMORY_BYTES + size * MEMORY_FACTOR),
    )
    return AccessScan(scan, "", (program.code_path, program.elf.label))


def _known_words(program: Program, functions: Array, stored: Array | None) -> Array:
    """What loads find: slots of the global offset table, and functions in constants that the loader has relocated.

    Compilers load a pair of constant pointers at once, to store it in a record. ``stored`` are words of data that hold
    addresses of code.
    """
    slots = program.linkage.slots
    if stored is None or not len(stored):
        return slots
    words = leading_to_functions(stored, functions)
    unwritten = np.zeros(len(words), bool)
    for section in program.layout.sections:
        if section.kind in (SectionKind.RELRO, SectionKind.CONSTANT):
            unwritten |= (words["slot"] >= section.address) & (words["slot"] < section.end)
    words = picked(words, unwritten & ~among(words["slot"], slots["slot"]))
    more = np.zeros(len(words), slots.dtype)
    slot, value = words["slot"], words["value"]
    more["slot"], more["value"] = slot, value
    return stacked([slots, more])


def _imported_objects(program: Program) -> list[tuple[int, int]]:
    """Where variables of other files would be: that code uses them, as a stream for errors, says what it is for."""
    imports = program.linkage.placeholders
    rows = imports["value"].astype(np.int64)
    objects = imports["slot"][program.symbols.table["type"][rows] == c.STT_OBJECT]
    return [(address, PLACEHOLDER_BYTES) for address in objects.tolist()]
