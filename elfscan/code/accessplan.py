"""Access sites of a binary: the plan handed to ``linemate-access`` and the tables that come back.

Owns the plan's and the tables' file layouts and their validation.  Does not read ELF (the caller gives
ranges, function extents and GOT slots) and does not judge.  All addresses are SVMAs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.code.jumplabels import LABEL_DTYPE
from elfscan.tools import USUAL, Bounds, Starter, ToolJob, tool_path
from sharing.model import (
    ARG_DTYPE,
    BLOCK_DTYPE,
    CALL_DTYPE,
    HELD_DTYPE,
    KEPT_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    ZERO_RANGE_DTYPE,
    AccessKind,
    ArgKind,
    LinemateError,
    Malformed,
)
from sharing.model.arch import machine_named
from sharing.model.arrays import among, stacked
from sharing.model.inputs import open_input

Table = npt.NDArray[Any]

_PLAN_MAGIC = b"LMPLAN2\0"
_PLAN_HEADER = struct.Struct("<8sIIQQQQQQ")
_ABSOLUTE = 1
_ELSEWHERE = 2
_TRAPS_RETURN = 4
_OWN_RESULT = 256  # of a function of the plan, beside its flags
_NEW_RESULT = 512  # the same
_WRITES_HANDLE = 1024  # the same
_NEVER_RETURNS = 2048  # the same
_FOR_ALL = 4096  # the same
_FAILURE_SHIFT = 13  # the same, for bits of ``sharing.model.failures.Failure``
_SLEEPS_FOR = 1 << 18  # the same
_OF_WORD_SHIFT = 19  # the same, for bits of ``sharing.model.wordfunctions.OfWord``
_CLOCK_SHIFT = 22  # the same, for a ``sharing.model.clocktimes.ClockTime``
_DESCRIPTOR = 2**64 - 1  # in the place of a slot's content
_BYTES_DTYPE = np.dtype([("address", "<u8"), ("file_offset", "<u8"), ("size", "<u8")])
_RANGE_DTYPE = np.dtype([("address", "<u8"), ("size", "<u8")])
_EXTENT_DTYPE = np.dtype([("address", "<u8"), ("size", "<u8"), ("flags", "<u4"), ("row", "<i4")])
SLOT_DTYPE = np.dtype([("slot", "<u8"), ("value", "<u8")])

_TABLES_MAGIC = b"LMACCS7\0"
_TABLES_HEADER = struct.Struct("<8sQQQQQQQQQQQQ")
_COUNTER_DTYPE = np.dtype([("name", "S32"), ("value", "<u8")])

_ELF_TYPE_OFFSET = 16
_ET_DYN = 3


@dataclass(frozen=True)
class AccessPlan:
    """What to scan.  ``path`` may be a patched copy of the bytes; offsets are into it.

    ``code`` and ``constants``: (address, file offset, size); constants are read-only bytes, for jump tables.
    ``data``: (address, size) of the storage whose accesses are wanted.  ``functions``: FUNCTION_DTYPE rows,
    in the order of the image's table, by whose row the results name them.  ``slots``: SLOT_DTYPE, GOT slots
    with known content (the address of a variable, a function or an import's placeholder).
    ``descriptors``: addresses of those of thread-local variables.  ``own_results``: of functions whose result is the
    running thread's alone, ``new_results``: leads to a new object, ``handle_writers``: of those that write a word where
    their first argument leads to, and nothing else of their callers, ``endings``: of those that nothing comes back
    from, ``for_all``: of those at which all threads of a group wait for each other,
    ``sleepers``: of those that sleep for the time that an argument leads to, ``failures``: of those whose result
    says that they failed, with how, ``of_words``: of those that load or store the word they are handed, with what they
    do, ``clocks``: of those that tell the time, with how.  ``absolute``: immediates and 32-bit displacements of the
    code can be addresses;
    None: unless the file is position-independent (ET_DYN).
    ``labels``: LABEL_DTYPE, branches of a kernel that static keys switch.
    ``elsewhere``: all accesses behind pointers are wanted too, wherever these come from.  ``traps_return``: code goes
    on behind an instruction that traps, by which a kernel warns (BUG and WARN, include/asm-generic/bug.h).
    """

    arch: str
    path: str
    code: list[tuple[int, int, int]]
    data: list[tuple[int, int]]
    constants: list[tuple[int, int, int]]
    functions: Table
    slots: Table
    absolute: bool | None = None
    descriptors: Table = field(default_factory=lambda: np.zeros(0, np.uint64))
    own_results: frozenset[int] = frozenset()
    new_results: frozenset[int] = frozenset()
    handle_writers: frozenset[int] = frozenset()
    endings: frozenset[int] = frozenset()
    for_all: frozenset[int] = frozenset()
    sleepers: frozenset[int] = frozenset()
    failures: dict[int, int] = field(default_factory=dict)
    of_words: dict[int, int] = field(default_factory=dict)
    clocks: dict[int, int] = field(default_factory=dict)
    labels: Table = field(default_factory=lambda: np.zeros(0, LABEL_DTYPE))
    elsewhere: bool = False
    traps_return: bool = False


@dataclass(frozen=True)
class ScanResult:
    """The tables of ``sharing.model.image``, those with an ``ip`` sorted by it; ``address_taken`` sorted, unique."""

    sites: Table
    calls: Table
    args: Table
    params: Table
    zero_ranges: Table
    kept: Table
    blocks: Table
    behind: Table
    behind_args: Table
    held: Table
    address_taken: Table
    counts: dict[str, int]


class ScanJob:
    """A scan that runs in its own process.  ``result`` waits for it."""

    def __init__(self, plan: AccessPlan, job: ToolJob) -> None:
        self._plan = plan
        self._job = job

    def result(self) -> ScanResult:
        """The tables.  Raises ``LinemateError`` when the scanner failed, ``Malformed`` when its tables are broken."""
        try:
            raw = self._job.result()
        except LinemateError as error:
            raise LinemateError(f"{self._plan.path}: access sites: {error}") from error
        return read_tables(raw, self._plan)

    def close(self) -> None:
        """Stop the scan if it still runs."""
        self._job.close()


def start_scan(
    plan: AccessPlan,
    *,
    threads: int | None = None,
    bounds: Bounds = USUAL,
    starter: Starter = ToolJob,
) -> ScanJob:
    """Start the scan and return at once.  ``threads``: None for one per processor; ``starter`` starts the helper."""
    args = [str(tool_path("linemate-access")), plan.path]
    if threads is not None:
        args.append(str(threads))
    job = starter.start(args, stdin=encode_plan(plan), bounds=bounds)
    return ScanJob(plan, job)


def encode_plan(plan: AccessPlan) -> bytes:
    """The plan in the form that the scanner reads: a header of counts, then the tables, little-endian."""
    machine = machine_named(plan.arch)
    if machine is None or not machine.decoder:
        raise LinemateError(f"{plan.path}: access sites of {plan.arch} code cannot be read")
    known = plan.own_results | plan.new_results | plan.handle_writers | plan.endings | plan.for_all
    known = known | plan.sleepers | {*plan.failures, *plan.of_words, *plan.clocks}
    extents = np.zeros(len(plan.functions) + len(known), dtype=_EXTENT_DTYPE)
    functions, own = extents[: len(plan.functions)], extents[len(plan.functions) :]
    for name in ("address", "size", "flags"):
        functions[name] = plan.functions[name]
    functions["row"] = np.arange(len(functions), dtype=np.int32)
    own["address"], own["row"] = sorted(known), -1
    marks = (
        (plan.own_results, _OWN_RESULT),
        (plan.new_results, _NEW_RESULT),
        (plan.handle_writers, _WRITES_HANDLE),
        (plan.endings, _NEVER_RETURNS),
        (plan.for_all, _FOR_ALL),
        (plan.sleepers, _SLEEPS_FOR),
    )
    for addresses, mark in marks:
        own["flags"][among(own["address"], list(addresses))] |= mark
    told = ((plan.failures, _FAILURE_SHIFT), (plan.of_words, _OF_WORD_SHIFT), (plan.clocks, _CLOCK_SHIFT))
    for how, shift in told:
        own["flags"] |= np.array([how.get(at, 0) << shift for at in own["address"].tolist()], np.uint32)
    slots = np.empty(len(plan.slots), dtype=SLOT_DTYPE)
    for source, target in zip(plan.slots.dtype.names or (), ("slot", "value"), strict=True):
        slots[target] = plan.slots[source]
    descriptors = np.empty(len(plan.descriptors), dtype=SLOT_DTYPE)
    descriptors["slot"], descriptors["value"] = plan.descriptors, _DESCRIPTOR
    slots = stacked([slots, descriptors])
    absolute = _has_absolute_code(plan.path) if plan.absolute is None else plan.absolute
    parts: list[Table] = [
        np.array(plan.code, dtype=_BYTES_DTYPE),
        np.array(plan.data, dtype=_RANGE_DTYPE),
        np.array(plan.constants, dtype=_BYTES_DTYPE),
        extents,
        slots,
        plan.labels,
    ]
    flags = (_ABSOLUTE if absolute else 0) | (_ELSEWHERE if plan.elsewhere else 0)
    flags |= _TRAPS_RETURN if plan.traps_return else 0
    header = _PLAN_HEADER.pack(_PLAN_MAGIC, machine.decoder, flags, *(len(part) for part in parts))
    return b"".join([header, *(part.tobytes() for part in parts)])


def _has_absolute_code(path: str) -> bool:
    with open_input(path, "an ELF file") as file:
        file.seek(_ELF_TYPE_OFFSET)
        field = file.read(2)
    return len(field) == 2 and int.from_bytes(field, "little") != _ET_DYN


def read_tables(raw: bytes, plan: AccessPlan) -> ScanResult:
    """Check and view the scanner's output.  The tables share its memory and are read-only."""
    if len(raw) < _TABLES_HEADER.size:
        raise Malformed(plan.path, None, "the access scanner's output has no header")
    magic, *lengths = _TABLES_HEADER.unpack_from(raw)
    if magic != _TABLES_MAGIC:
        raise Malformed(plan.path, None, "the access scanner's output has an unknown format")
    tables: list[Table] = []
    at = _TABLES_HEADER.size
    dtypes = (
        SITE_DTYPE,
        CALL_DTYPE,
        ARG_DTYPE,
        PARAM_DTYPE,
        ZERO_RANGE_DTYPE,
        KEPT_DTYPE,
        BLOCK_DTYPE,
        SITE_DTYPE,
        ARG_DTYPE,
        HELD_DTYPE,
        np.dtype("<u8"),
        _COUNTER_DTYPE,
    )
    for dtype, length in zip(dtypes, lengths, strict=True):
        if length > (len(raw) - at) // dtype.itemsize:
            raise Malformed(plan.path, None, "the access scanner's output is truncated")
        tables.append(np.frombuffer(raw, dtype=dtype, count=length, offset=at))
        at += length * dtype.itemsize
    if at != len(raw):
        raise Malformed(plan.path, None, "the access scanner's output has a tail")
    sites, calls, args, params, zero_ranges, kept, blocks, behind, behind_args, held, taken, counters = tables
    ordered = (("sites", sites), ("calls", calls), ("args", args), ("params", params))
    for name, table in (*ordered, ("sites behind pointers", behind), ("arguments behind pointers", behind_args)):
        _check_order(plan, name, table)
        _check_functions(plan, name, table)
    _check_functions(plan, "zero ranges", zero_ranges)
    _check_functions(plan, "kept functions", kept)
    _check_functions(plan, "blocks", blocks)
    _check_functions(plan, "held results", held)
    _check_kinds(plan, "sites", sites, max(AccessKind))
    _check_kinds(plan, "params", params, max(AccessKind))
    _check_kinds(plan, "args", args, max(ArgKind))
    _check_kinds(plan, "sites behind pointers", behind, max(AccessKind))
    _check_kinds(plan, "arguments behind pointers", behind_args, max(ArgKind))
    counts = {name.decode("ascii", "replace"): int(value) for name, value in counters.tolist()}
    return ScanResult(sites, calls, args, params, zero_ranges, kept, blocks, behind, behind_args, held, taken, counts)


def _check_order(plan: AccessPlan, name: str, table: Table) -> None:
    ips = table["ip"]
    if bool(np.any(ips[1:] < ips[:-1])):
        raise Malformed(plan.path, None, f"the access scanner's {name} are not in order")


def _check_functions(plan: AccessPlan, name: str, table: Table) -> None:
    rows = table["function"]
    if len(rows) and (int(rows.min()) < -1 or int(rows.max()) >= len(plan.functions)):
        raise Malformed(plan.path, None, f"the access scanner's {name} name a function that does not exist")


def _check_kinds(plan: AccessPlan, name: str, table: Table, last: int) -> None:
    if len(table) and (int(table["kind"].min()) < 1 or int(table["kind"].max()) > last):
        raise Malformed(plan.path, None, f"the access scanner's {name} have an unknown kind")
