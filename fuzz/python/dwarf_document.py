"""What ``linemate-dwarf`` answers, as hostile as the file that it read (``elfscan.debug``).

Owns the answers that the target starts with; the helper itself does not run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import msgspec
import numpy as np

from elfscan.debug.debuginfo import DebugRun
from elfscan.debug.dwarf import VERSION, DwarfDocument, DwarfJob, DwarfUnit, DwarfVariable
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from elfscan.tools import ToolJob
from elfscan.variables import join_debug, variable_symbols
from fuzz.python.elf_file import object_file
from fuzz.python.engine.target import Target, input_file
from sharing.model.types import TypeKind, TypeMember, TypeRecord
from tests.builders.elf import small_program


class _Answer:
    """A helper that has ended."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def result(self) -> bytes:
        return self._data

    def close(self) -> None:
        pass


def _seeds() -> Iterable[bytes]:
    types = [
        TypeRecord(TypeKind.BASE, "int", 4, 4, -1, -1, (), 0, 1),
        TypeRecord(
            TypeKind.STRUCT,
            "s",
            16,
            8,
            -1,
            -1,
            (TypeMember("a", 0, 0, 0, False), TypeMember("b", 64, 3, 3, False)),
            0,
            2,
        ),
        TypeRecord(TypeKind.ARRAY, "", -1, 0, 1, 3, (), 0, 3),
        TypeRecord(TypeKind.POINTER, "", 8, 8, 4, -1, (), 0, 4),
        TypeRecord(TypeKind.TYPEDEF, "t", -1, 0, 2, -1, (), 0, 5),
    ]
    variables = [
        DwarfVariable("ns::lock", "lock", 0x402000, 2, 1, 0, 3, 0, "", False, True, 64),
        DwarfVariable("counter", "", 0x403000, -1, 4, 0, 4, 0, "main", False, False),
        DwarfVariable("own", "own", 0, 4, 2, 0, 5, 0, "", True, False),
    ]
    units = [DwarfUnit("a.c", "/src", "GNU C", "C11")]
    yield b"\0" + msgspec.msgpack.encode(DwarfDocument(VERSION, units, ["a.c"], types, variables, [(1, 16, "cut")]))
    yield b"\1" + msgspec.msgpack.encode(DwarfDocument(VERSION, units, ["a.c"], types, variables, []))
    yield b"\0" + msgspec.msgpack.encode(DwarfDocument(VERSION, [], [], [], [], []))


def one(data: bytes) -> None:
    if not data:
        return
    path = str(input_file(_FILES[data[0] & 1]))
    program = open_program(ElfFile(path, map_file(path)))
    sections = program.layout.sections
    run = DebugRun(DwarfJob(path, cast(ToolJob, _Answer(data[1:]))), "the file", ())
    with program, run:
        info = run.result(program)
        if info is None:
            return
        found = variable_symbols(program.symbols, program.address, program.section, sections, program.linkage.copied)
        names = program.symbols.names.decode(found.name.astype(np.uint64))
        found.table["name"] = np.arange(len(names))
        join_debug(found, names, {}, info.variables, sections)
    for row in range(min(len(info.types), 50)):
        info.types.flatten(row)
        info.types.name(row)
        info.types.size(row)


_FILES = (small_program().bytes(), object_file().bytes())
TARGET = Target("answers of linemate-dwarf", one, _seeds)
