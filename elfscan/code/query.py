"""Questions about given functions: the query handed to ``linemate-access --query`` and the answer that comes back.

Owns the layouts of both, their validation and what is too much to ask.  Does not read ELF (the caller gives bytes and
extents), decodes nothing itself and knows no sample.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.tools import ToolJob, tool_path
from sharing.model.arch import machine_named
from sharing.model.arch.row import Machine
from sharing.model.attribution import Reason
from sharing.model.errors import LinemateError
from sharing.model.image import AccessKind, Architecture
from sharing.model.instructions import INSTRUCTION_DTYPE, Deed, Holding
from sharing.model.operands import (
    NO_REGISTER,
    OPERAND_DTYPE,
    ORIGIN_DTYPE,
    POINT_DTYPE,
    Holds,
    Role,
    Segment,
    no_code,
)

Table = npt.NDArray[Any]
ReadCode = Callable[[int, int], bytes]  # the bytes between two link-time addresses, fewer where the file has none

MAX_FUNCTION_BYTES = 1 << 20  # the largest functions of servers have 200 kB
MAX_TOTAL_BYTES = 1 << 25  # of functions that hold samples, in one file
MAX_REGISTER = 31

_QUERY_MAGIC, _ANSWER_MAGIC = b"LMQUERY1", b"LMANSWR1"
_QUERY_HEADER = struct.Struct("<8sIIQQibbHQQ")
_ANSWER_HEADER = struct.Struct("<8sQQQ")
_EXTENT_DTYPE = np.dtype([("address", "<u8"), ("size", "<u8")])
_ADDRESS_DTYPE = np.dtype("<u8")
_TEXT_DTYPE = np.dtype([("ip", "<u8"), ("asked", "<u4"), ("end", "<u4")])  # letters: from the row before's end
_LETTER_DTYPE = np.dtype("u1")
_ASKED_DTYPE = np.dtype([("ip", "<u8"), ("function", "<i4"), ("argument", "<u4")])


class _Kind(IntEnum):
    OPERANDS = 1
    TARGETS = 2
    INSTRUCTIONS = 3
    ORIGINS = 4
    TEXT = 5
    HANDED = 6
    MOVES = 7


_ANSWERS = {
    _Kind.OPERANDS: (POINT_DTYPE, OPERAND_DTYPE),
    _Kind.TARGETS: (_ADDRESS_DTYPE, _ADDRESS_DTYPE),
    _Kind.INSTRUCTIONS: (_ADDRESS_DTYPE, INSTRUCTION_DTYPE),
    _Kind.ORIGINS: (ORIGIN_DTYPE, _ADDRESS_DTYPE),
    _Kind.TEXT: (_TEXT_DTYPE, _LETTER_DTYPE),
    _Kind.HANDED: (ORIGIN_DTYPE, _ADDRESS_DTYPE),
    _Kind.MOVES: (ORIGIN_DTYPE, _ADDRESS_DTYPE),
}


def read_operands(arch: Architecture, ips: Table, starts: Table, ends: Table, code: ReadCode) -> tuple[Table, Table]:
    """(POINT_DTYPE in the order of ``ips``, OPERAND_DTYPE).

    ``ips``: sorted distinct link-time addresses.  ``starts`` and ``ends``: extents of functions, sorted by start; their
    rows are the points' ``function``.  Of several that hold an address the one that starts last counts.
    """
    row, functions, asked = _functions_of(arch, ips, starts, ends, code)
    if not functions:
        points = no_code(ips).points
        points["function"] = row
        return points, np.zeros(0, OPERAND_DTYPE)
    points, operands = _ask(arch, _Kind.OPERANDS, functions, asked)
    check_operands(points, operands, ips)
    points = points.copy()
    points["function"] = row
    return points, operands


def read_origins(arch: Architecture, ips: Table, starts: Table, ends: Table, code: ReadCode) -> Table:
    """ORIGIN_DTYPE: where the addresses come from that the instructions at ``ips`` access.  Arguments as above."""
    return _origins(arch, _Kind.ORIGINS, _functions_of(arch, ips, starts, ends, code))


def read_handed(arch: Architecture, ips: Table, arguments: Table, starts: Table, ends: Table, code: ReadCode) -> Table:
    """ORIGIN_DTYPE: where the values come from that the calls at ``ips``, sorted, are given as these arguments."""
    row, functions, asked = _functions_of(arch, ips, starts, ends, code)
    asked["argument"] = arguments
    return _origins(arch, _Kind.HANDED, (row, functions, asked))


def read_moves(arch: Architecture, starts: Table, ends: Table, code: ReadCode) -> Table:
    """ORIGIN_DTYPE: all that the functions at these extents, sorted by start, do with what may be pointers.

    ``asked`` is the row of the function.  A row of ``WordSet.BEGINS`` comes before those of each value.
    """
    return _origins(arch, _Kind.MOVES, _functions_of(arch, starts, starts, ends, code))


def _origins(arch: Architecture, kind: _Kind, about: tuple[Table, list[tuple[int, bytes]], Table]) -> Table:
    _, functions, asked = about
    if not functions:
        return np.zeros(0, ORIGIN_DTYPE)
    rows = _ask(arch, kind, functions, asked)[0]
    own = rows["parent"] < np.arange(len(rows))  # what a row stands for comes before it
    ranges = {"asked": (0, len(asked) - 1), "parent": (-1, len(rows)), **_ORIGIN_RANGES}
    if not own.all() or not _in_ranges(rows, ranges):
        raise LinemateError("linemate-access: the origins of its answer are broken")
    return rows


def read_assembly(
    arch: Architecture, ips: Table, starts: Table, ends: Table, code: ReadCode
) -> dict[int, list[tuple[int, str]]]:
    """By each of ``ips`` that can be decoded: the instructions around it, as (address, text).  Arguments as above."""
    _, functions, asked = _functions_of(arch, ips, starts, ends, code)
    if not functions:
        return {}
    rows, letters = _ask(arch, _Kind.TEXT, functions, asked)
    ends_of = rows["end"].astype(np.int64)
    if not _in_ranges(rows, {"asked": (0, len(ips) - 1), "end": (0, len(letters))}) or (np.diff(ends_of) < 0).any():
        raise LinemateError("linemate-access: the text of its answer is broken")
    text = letters.tobytes().decode("ascii", "replace")
    out: dict[int, list[tuple[int, str]]] = {}
    begin = 0
    for ip, number, end in rows.tolist():
        out.setdefault(int(ips[number]), []).append((ip, text[begin:end]))
        begin = end
    return out


def _functions_of(
    arch: Architecture, ips: Table, starts: Table, ends: Table, code: ReadCode
) -> tuple[Table, list[tuple[int, bytes]], Table]:
    """The function of each instruction (-1 none), the code of all that are not too much, and what to ask."""
    row = np.searchsorted(starts, ips, "right") - 1
    inside = (row >= 0) & (ips < ends[np.maximum(row, 0)]) if len(starts) else np.zeros(len(ips), bool)
    row = np.where(inside, row, -1)
    functions: list[tuple[int, bytes]] = []
    taken: list[int] = []
    budget = MAX_TOTAL_BYTES
    machine = _machine(arch)
    for one in np.unique(row[row >= 0]).tolist() if machine is not None and machine.derives else ():
        start, size = int(starts[one]), int(ends[one] - starts[one])
        if 0 < size <= min(MAX_FUNCTION_BYTES, budget):
            budget -= size
            taken.append(one)
            functions.append((start, code(start, start + size)))
    asked = np.zeros(len(ips), _ASKED_DTYPE)
    asked["ip"], asked["function"] = ips, -1
    if taken:
        at = np.minimum(np.searchsorted(taken, row), len(taken) - 1)
        asked["function"] = np.where(np.array(taken)[at] == row, at, -1)
    return row, functions, asked


def _machine(arch: Architecture) -> Machine | None:
    """The row of an architecture whose code can be decoded."""
    return machine_named(arch.name) if arch.decodes else None


def direct_targets(arch: Architecture, extents: Sequence[tuple[int, int]], code: ReadCode) -> Table:
    """Where the functions at ``extents`` call or jump to by name, outside of themselves: sorted distinct addresses."""
    functions = [(start, code(start, end)) for start, end in extents if end - start <= MAX_FUNCTION_BYTES]
    if not functions or not arch.decodes:
        return np.zeros(0, _ADDRESS_DTYPE)
    return _ask(arch, _Kind.TARGETS, functions)[0]


def read_instructions(
    arch: Architecture, functions: Sequence[tuple[int, bytes]], image: tuple[int, int]
) -> list[Table] | None:
    """INSTRUCTION_DTYPE of each of ``functions`` (address and bytes), None where they cannot be decoded.

    Numbers in ``image`` (addresses from and up to) are taken for addresses.
    """
    if not arch.decodes:
        return None
    if not functions:
        return []
    ends, rows = _ask(arch, _Kind.INSTRUCTIONS, functions, image=image)
    return split_instructions(ends, rows, len(functions))


def split_instructions(ends: Table, rows: Table, functions: int) -> list[Table]:
    """The instructions of each of so many functions.  Raises LinemateError where they do not fit together."""
    good = len(ends) == functions and bool((ends[1:] >= ends[:-1]).all()) and int(ends[-1]) == len(rows)
    if not good or not _in_ranges(
        rows, {"target_is": (0, max(Holding)), "other_is": (0, max(Holding)), "does": (0, max(Deed))}
    ):
        raise LinemateError("linemate-access: the instructions of its answer are broken")
    return np.split(rows, ends[:-1].astype(np.int64))


def _ask(
    arch: Architecture,
    kind: _Kind,
    functions: Sequence[tuple[int, bytes]],
    addresses: Table | None = None,  # _ASKED_DTYPE
    image: tuple[int, int] = (0, 0),
) -> tuple[Table, Table]:
    """The two tables of an answer.  Raises LinemateError where the helper failed."""
    asked = np.zeros(0, _ASKED_DTYPE) if addresses is None else addresses
    extents = np.array([(start, len(data)) for start, data in functions], _EXTENT_DTYPE)
    machine = _machine(arch)
    decoder = 0 if machine is None else machine.decoder
    lengths = len(extents), len(asked)
    header = _QUERY_HEADER.pack(_QUERY_MAGIC, decoder, kind, *image, *_futex(machine), 0, *lengths)
    query = b"".join([header, extents.tobytes(), asked.tobytes(), *(data for _, data in functions)])
    line = [str(tool_path("linemate-access")), "--query"]
    with ToolJob.start(line, stdin=query) as job:
        return read_answer(job.result(), kind)


def _futex(machine: Machine | None) -> tuple[int, int, int]:
    """The futex system call: its number, and the registers of the number and of the operation, -1 not known."""
    if machine is None or machine.perf is None or machine.calls is None:
        return -1, NO_REGISTER, NO_REGISTER
    calls, perf = machine.calls, machine.perf
    return calls.futex, perf.number(calls.number), perf.number(calls.arguments[1])


def read_answer(raw: bytes, kind: int) -> tuple[Table, Table]:
    """View an answer's tables, which share its memory and are read-only."""
    if len(raw) < _ANSWER_HEADER.size:
        raise LinemateError("linemate-access: its answer has no header")
    magic, answered, *lengths = _ANSWER_HEADER.unpack_from(raw)
    if magic != _ANSWER_MAGIC or answered != kind:
        raise LinemateError("linemate-access: its answer has an unknown format")
    at, tables = _ANSWER_HEADER.size, []
    for dtype, length in zip(_ANSWERS[_Kind(kind)], lengths, strict=True):
        if length > (len(raw) - at) // dtype.itemsize:
            raise LinemateError("linemate-access: its answer is truncated")
        tables.append(np.frombuffer(raw, dtype, length, at))
        at += length * dtype.itemsize
    if at != len(raw):
        raise LinemateError("linemate-access: its answer has a tail")
    return tables[0], tables[1]


# Ranges of the columns that later stages use without asking again.
_POINT_RANGES = {"reason": (0, max(Reason)), "flags": (0, 7)}
_ORIGIN_RANGES = {"base": (NO_REGISTER, MAX_REGISTER)}
_OPERAND_RANGES = {
    "base": (NO_REGISTER, MAX_REGISTER),
    "index": (NO_REGISTER, MAX_REGISTER),
    "segment": (0, max(Segment)),
    "kind": (1, max(AccessKind)),
    "role": (1, max(Role)),
    "holds": (0, max(Holds)),
}


def check_operands(points: Table, operands: Table, ips: Table) -> None:
    """Raises LinemateError where an answer is not about ``ips`` or does not fit together."""
    good = len(points) == len(ips) and bool((points["ip"] == ips).all())
    good = good and _in_ranges(points, _POINT_RANGES) and _in_ranges(operands, _OPERAND_RANGES)
    if good and len(points):
        first, count = points["first"].astype(np.int64), points["count"].astype(np.int64)
        own = (first >= 0) & (count >= 0) & (first + count <= len(operands))
        for column in ("before", "at"):
            row = points[column]
            own &= (row == -1) | ((row >= first) & (row < first + count))
        good = bool(own.all())
    good = good and _in_ranges(operands, {"point": (0, len(points) - 1)})
    if not good:
        raise LinemateError("linemate-access: the operands of its answer are broken")


def _in_ranges(table: Table, ranges: dict[str, tuple[int, int]]) -> bool:
    return all(
        not len(table) or (int(table[name].min()) >= low and int(table[name].max()) <= high)
        for name, (low, high) in ranges.items()
    )
