"""The function table of Go's run-time (``elfscan.fileformat.gofunctions``) in a program around it.

Owns the inputs: a byte of switches, then the table.
"""

from __future__ import annotations

from collections.abc import Iterable

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.gofunctions import read_go_functions
from fuzz.python.engine.target import Target, input_file
from tests.builders.gotable import VERSIONS, program, table

_NARROW, _MIXED, _INIT = 1, 2, 4


def _seeds() -> Iterable[bytes]:
    for version in VERSIONS:
        yield b"\0" + table(version)
        yield bytes([_NARROW | _INIT]) + table(version, word=4)
    yield bytes([_MIXED]) + bytes(16) + table("1.20", text=0)


def one(data: bytes) -> None:
    choice = data[0] if data else 0
    section = ".rodata" if choice & _MIXED else ".gopclntab"
    bits = 32 if choice & _NARROW else 64
    path = str(input_file(program(data[1:], section=section, init=bool(choice & _INIT), bits=bits).bytes()))
    found = read_go_functions(ElfFile(path, map_file(path)))
    if found is not None:
        assert len(found.start) == len(found.end) == len(found.name)
        assert all(int(at) < len(found.names) for at in found.name)


TARGET = Target("function tables of Go", one, _seeds, tuple(v.to_bytes(4, "little") for v in VERSIONS.values()))
