"""Names that tables of a program give to its variables and functions: records of a text and an address, as of status
counters and commands.

Owns which words of data are such records.  A name of this kind is a hint: what the program calls the variable or
function when it speaks of it, not what its source does.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.program import Program
from sharing.model import SectionKind
from sharing.model.arrays import positions

Array = npt.NDArray[Any]

MAX_RECORD_BYTES = 256  # of one record of a table
MAX_NAMES = 1 << 16
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_.:-]{2,63}\0")
_LONGEST = 66


def names_of_tables(program: Program, stored: Array) -> dict[int, str]:
    """Names by address of writable data and of code, from tables of texts.

    A table has at least three records {text, address} as far from each other.  ``stored`` are words of data that hold
    addresses (WORD_DTYPE, by slot).  The address stands in the word behind the text's or in the next but one.  What
    tables call differently has no name.
    """
    width = program.elf.arch.pointer_size
    texts = stored[_inside(program, stored["value"], (SectionKind.CONSTANT,))]
    out: dict[int, set[str]] = {}
    for behind in (width, 2 * width):
        at = positions(stored["slot"], texts["slot"] + np.uint64(behind))
        target = stored["value"][np.maximum(at, 0)]
        good = (at >= 0) & _inside(program, target, (SectionKind.WRITABLE, SectionKind.CODE))
        slots, names, targets = texts["slot"][good], texts["value"][good], target[good]
        for row in np.flatnonzero(_in_table(slots))[:MAX_NAMES].tolist():
            if name := _text(program, int(names[row])):
                out.setdefault(int(targets[row]), set()).add(name)
    return {address: next(iter(names)) for address, names in out.items() if len(names) == 1}


def _inside(program: Program, values: Array, kinds: tuple[SectionKind, ...]) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(values), bool)
    for section in program.layout.sections:
        if section.kind in kinds:
            found |= (values >= section.address) & (values < section.end)
    return found


def _in_table(slots: Array) -> npt.NDArray[np.bool_]:
    """Which of these sorted places have at least two neighbours, each as far from the next."""
    found = np.zeros(len(slots), bool)
    apart = np.diff(slots)
    alike = np.flatnonzero((apart[1:] == apart[:-1]) & (apart[1:] <= MAX_RECORD_BYTES))
    for step in range(3):
        found[alike + step] = True
    return found


def _text(program: Program, address: int) -> str:
    """The name that stands at an address, "" where no name does."""
    elf = program.elf
    for section in program.layout.sections:
        held = section.kind is SectionKind.CONSTANT and section.address <= address < section.end
        if held and section.file_offset is not None:
            start = section.file_offset - elf.base + address - section.address
            found = _NAME.match(bytes(elf.data[start : start + _LONGEST]))
            return found[0][:-1].decode() if found else ""
    return ""
