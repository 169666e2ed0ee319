"""Instructions around given ones, as people read them.

Owns where the code of a file is: in its segments, or of an object file in the copy that was relocated.  Decoding is
``elfscan.code.query``'s.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from elfscan.code.boundaries import code_of
from elfscan.code.query import ReadCode, read_assembly
from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from elfscan.fileformat.program import Program
from sharing.model.inputs import open_input

Table = npt.NDArray[Any]


def instructions_around(path: str, functions: Table, ips: Table) -> dict[int, list[tuple[int, str]]]:
    """By each of ``ips`` (sorted, distinct): (address, text) of the instructions around it, in their order.

    ``functions`` is the image's table.  Raises LinemateError where the file is no longer what it was.
    """
    elf = ElfFile(path, map_file(path))
    starts, sizes = functions["address"], functions["size"]
    ends = starts + sizes
    if elf.header.type != c.ET_REL:
        return read_assembly(elf.arch, ips, starts, ends, code_of(elf))
    with open_program(elf) as program:
        return read_assembly(elf.arch, ips, starts, ends, _relocated_code(program))


def _relocated_code(program: Program) -> ReadCode:
    placed = [(s.address, s.end, at) for s, at in zip(program.layout.sections, program.file_offsets, strict=True)]

    def read(start: int, end: int) -> bytes:
        for low, high, at in placed:
            if at >= 0 and low <= start < high:
                with open_input(program.code_path) as stream:
                    stream.seek(at + start - low)
                    return stream.read(min(end, high) - start)
        return b""

    return read
