"""Functions that were compiled without optimization, by how they begin.

Owns what tells them.  Compilers then keep each variable in memory: a function makes its frame, and right away stores
there what it was handed in a register.  Optimized code has no reason to before it runs out of registers, with or
without a frame pointer.  Of a function that is handed nothing the others of the file tell, which were compiled alike.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.program import Program
from sharing.model import FunctionFlag

Array = npt.NDArray[Any]

MOST = 0.5  # share of the functions with a frame that store an argument first, for the file to be such
LOOKED_AT = 64  # bytes of a function: its frame, and the first store
ASKED = 1024  # functions of a file, evenly: a millisecond


def flag_unoptimized(program: Program, table: Array) -> None:
    """Flag in the ``table`` of a file all functions with a frame, where most of these store an argument first."""
    frames, data = program.elf.machine.frames, program.elf.data
    if frames is None:
        return
    rows, at = _places(program, table)
    at += _has(data, at, frames.mark) * len(frames.mark)
    framed = np.flatnonzero(_has(data, at, frames.make))
    keeps = re.compile(frames.keeps, re.DOTALL)
    asked = at[framed][:: 1 + len(framed) // ASKED] + len(frames.make)
    storing = sum(keeps.match(bytes(data[begin : begin + LOOKED_AT])) is not None for begin in asked.tolist())
    if storing > MOST * len(asked):
        table["flags"][rows[framed]] |= np.uint32(FunctionFlag.UNOPTIMIZED)


def _places(program: Program, table: Array) -> tuple[Array, Array]:
    """Rows of the functions of which the file has the code, and where it is there."""
    base = program.elf.base
    offsets = [-1 if one.file_offset is None else one.file_offset - base for one in program.layout.sections]
    known = np.array(offsets, np.int64)
    begin = np.array([section.address for section in program.layout.sections], np.uint64)
    section, address = table["section"], table["address"]
    offset = known[section] + (address - begin[section]).astype(np.int64)
    inside = (known[section] >= 0) & (offset >= 0) & (offset + LOOKED_AT <= len(program.elf.data))
    rows = np.flatnonzero(inside & (section >= 0))
    return rows, offset[rows]


def _has(code: Array, at: Array, wanted: bytes) -> npt.NDArray[np.bool_]:
    """At which of these places the code has these bytes."""
    found = np.ones(len(at), bool)
    for number, byte in enumerate(wanted):
        rows = np.flatnonzero(found)
        found[rows] = code[at[rows] + number] == byte
    return found
