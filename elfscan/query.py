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
from sharing.model.attribution import Reason
from sharing.model.errors import LinemateError
from sharing.model.image import AccessKind
from sharing.model.instructions import INSTRUCTION_DTYPE, Holding
from sharing.model.operands import NO_REGISTER, OPERAND_DTYPE, POINT_DTYPE, Holds, Role, Segment, no_code

Table = npt.NDArray[Any]
ReadCode = Callable[[int, int], bytes]  # the bytes between two link-time addresses, fewer where the file has none

MAX_FUNCTION_BYTES = 1 << 20  # the largest functions of servers have 200 kB
MAX_TOTAL_BYTES = 1 << 25  # of functions that hold samples, in one file
MAX_REGISTER = 31

_QUERY_MAGIC, _ANSWER_MAGIC = b"LMQUERY1", b"LMANSWR1"
_QUERY_HEADER = struct.Struct("<8sIIQQQQ")
_ANSWER_HEADER = struct.Struct("<8sQQQ")
_EXTENT_DTYPE = np.dtype([("address", "<u8"), ("size", "<u8")])
_ADDRESS_DTYPE = np.dtype("<u8")
_ARCHITECTURES = {"x86-64": 1, "aarch64": 2}
_TIMEOUT_S = 60.0
_MEMORY_BYTES = 1 << 30


class _Kind(IntEnum):
    OPERANDS = 1
    TARGETS = 2
    INSTRUCTIONS = 3


_ANSWERS = {
    _Kind.OPERANDS: (POINT_DTYPE, OPERAND_DTYPE),
    _Kind.TARGETS: (_ADDRESS_DTYPE, _ADDRESS_DTYPE),
    _Kind.INSTRUCTIONS: (_ADDRESS_DTYPE, INSTRUCTION_DTYPE),
}


def can_ask(architecture: str) -> bool:
    """Whether code of an architecture can be decoded."""
    return architecture in _ARCHITECTURES


def read_operands(architecture: str, ips: Table, starts: Table, ends: Table, code: ReadCode) -> tuple[Table, Table]:
    """(POINT_DTYPE in the order of ``ips``, OPERAND_DTYPE).

    ``ips``: sorted distinct link-time addresses.  ``starts`` and ``ends``: disjoint extents of functions, sorted; their
    rows are the points' ``function``.
    """
    row = np.searchsorted(starts, ips, "right") - 1
    inside = (row >= 0) & (ips < ends[np.maximum(row, 0)]) if len(starts) else np.zeros(len(ips), bool)
    row = np.where(inside, row, -1)
    functions: list[tuple[int, bytes]] = []
    budget = MAX_TOTAL_BYTES
    for one in np.unique(row[row >= 0]).tolist() if can_ask(architecture) else ():
        start, size = int(starts[one]), int(ends[one] - starts[one])
        if 0 < size <= min(MAX_FUNCTION_BYTES, budget):
            budget -= size
            functions.append((start, code(start, start + size)))
    if functions:
        points, operands = _ask(architecture, _Kind.OPERANDS, functions, ips)
        _check_operands(points, operands, ips)
        points = points.copy()
    else:
        points, operands = no_code(ips).points, np.zeros(0, OPERAND_DTYPE)
    points["function"] = row
    return points, operands


def direct_targets(architecture: str, extents: Sequence[tuple[int, int]], code: ReadCode) -> Table:
    """Where the functions at ``extents`` call or jump to by name, outside of themselves: sorted distinct addresses."""
    functions = [(start, code(start, end)) for start, end in sorted(extents) if end - start <= MAX_FUNCTION_BYTES]
    if not functions or not can_ask(architecture):
        return np.zeros(0, _ADDRESS_DTYPE)
    return _ask(architecture, _Kind.TARGETS, functions)[0]


def read_instructions(
    architecture: str, functions: Sequence[tuple[int, bytes]], image: tuple[int, int]
) -> list[Table] | None:
    """INSTRUCTION_DTYPE of each of ``functions`` (address and bytes, ascending), None where they cannot be decoded.

    Numbers in ``image`` (addresses from and up to) are taken for addresses.
    """
    if not can_ask(architecture):
        return None
    if not functions:
        return []
    ends, rows = _ask(architecture, _Kind.INSTRUCTIONS, functions, image=image)
    wrong = len(ends) != len(functions) or (ends[1:] < ends[:-1]).any() or int(ends[-1]) != len(rows)
    if wrong or (len(rows) and rows["target_is"].max() > max(Holding)):
        raise LinemateError("linemate-access: the instructions of its answer are broken")
    return np.split(rows, ends[:-1].astype(np.int64))


def _ask(
    architecture: str,
    kind: _Kind,
    functions: Sequence[tuple[int, bytes]],
    addresses: Table | None = None,
    image: tuple[int, int] = (0, 0),
) -> tuple[Table, Table]:
    """The two tables of an answer.  Raises LinemateError where the helper failed."""
    asked = np.zeros(0, _ADDRESS_DTYPE) if addresses is None else addresses.astype(_ADDRESS_DTYPE)
    extents = np.array([(start, len(data)) for start, data in functions], _EXTENT_DTYPE)
    header = _QUERY_HEADER.pack(_QUERY_MAGIC, _ARCHITECTURES[architecture], kind, *image, len(extents), len(asked))
    query = b"".join([header, extents.tobytes(), asked.tobytes(), *(data for _, data in functions)])
    line = [str(tool_path("linemate-access")), "--query"]
    with ToolJob.start(line, stdin=query, timeout_s=_TIMEOUT_S, memory_bytes=_MEMORY_BYTES) as job:
        return read_answer(job.result(), kind)


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
_OPERAND_RANGES = {
    "base": (NO_REGISTER, MAX_REGISTER),
    "index": (NO_REGISTER, MAX_REGISTER),
    "segment": (0, max(Segment)),
    "kind": (1, max(AccessKind)),
    "role": (1, max(Role)),
    "holds": (0, max(Holds)),
}


def _check_operands(points: Table, operands: Table, ips: Table) -> None:
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
