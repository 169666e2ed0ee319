"""The function table of Go's run-time (``.gopclntab``): where each function begins and what it is called.

Owns the layouts of that table since Go 1.2 (the run-time's symtab.go).  A program needs it to unwind its stacks, so it
is there without symbols too.  Lines, files and what the collector is told are not read.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat.elf import ElfFile
from elfscan.relocation.tables import dynamic_relocations

Array = npt.NDArray[Any]

_SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
_MIXED = (".data.rel.ro", ".rodata")  # where other linkers put it among other things
_MARKS = (".go.buildinfo", ".note.go.buildid")  # in each program of Go
_GO_1_2, _GO_1_16, _GO_1_18, _GO_1_20 = 0xFFFF_FFFB, 0xFFFF_FFFA, 0xFFFF_FFF0, 0xFFFF_FFF1
_MAGIC = (_GO_1_20, _GO_1_18, _GO_1_16, _GO_1_2)
_QUANTA = (1, 2, 4)  # bytes that instructions are multiples of
_FIELDS = 8  # offset of the header's words, behind magic number, instruction and word size
_LAST_ADDRESS = (1 << 64) - 1
_TEXT = 2  # which of them says where code begins, since Go 1.18
_MODULE, _MODULE_TEXT = ".go.module", 22  # run-time data since Go 1.26, and which of its words is where code begins


class GoFunctions(msgspec.Struct, frozen=True):
    """Functions by address.  ``name`` are offsets in ``names``, whose names end in NUL."""

    start: Array
    end: Array
    name: Array
    names: bytes


def read_go_functions(elf: ElfFile) -> GoFunctions | None:
    """None where there is no such table, or nothing says where its code is.  A broken one is recorded as a loss."""
    return elf.losses.attempt("the function table of Go", partial(_read, elf), None)


def _read(elf: ElfFile) -> GoFunctions | None:
    for name in _SECTIONS:
        row = elf.find_section(name)
        if row is not None:
            return _Table(elf, row, 0).functions()
    if all(elf.find_section(mark) is None for mark in _MARKS):
        return None
    for name in _MIXED:
        row = elf.find_section(name)
        at = -1 if row is None else _beginning(elf, elf.section_bytes(row).tobytes())
        if row is not None and at >= 0:
            return _Table(elf, row, at).functions()
    return None


def _beginning(elf: ElfFile, data: bytes) -> int:
    """Offset of a table among other data, -1 where none begins."""
    width = elf.header.bits // 8
    for magic in _MAGIC:
        for quantum in _QUANTA:
            head = magic.to_bytes(4, elf.header.byteorder) + bytes((0, 0, quantum, width))
            at = data.find(head)
            if at >= 0 and at % width == 0:
                return at
    return -1


class _Table:
    """The table at an offset of a section."""

    def __init__(self, elf: ElfFile, row: int, at: int) -> None:
        self._elf = elf
        self._row = row
        self._at = at
        self._data = elf.section_bytes(row)[at:]

    def functions(self) -> GoFunctions | None:
        elf = self._elf
        magic = int(elf.words(self._part(0, 4), 4)[0])
        width = int(self._part(7, 1)[0])
        if magic not in _MAGIC or width * 8 != elf.header.bits:
            raise self._malformed(0, f"the table begins with {magic:#x} and has words of {width} bytes")
        fields = elf.words(self._part(_FIELDS, 8 * width), width).tolist()
        count, text = fields[0], 0
        names_end = len(self._data)
        if magic == _GO_1_2:
            base = names_at = 0
            table, entry = _FIELDS + width, width
        elif magic == _GO_1_16:
            names_at, names_end, base = fields[2], fields[3], fields[6]
            table, entry = base, width
        else:
            names_at, names_end, base = fields[3], fields[4], fields[7]
            table, entry = base, 4
            text = fields[_TEXT] or self._relocated(_FIELDS + _TEXT * width) or self._text()
            if not text:
                return None
        if count > len(self._data) // (2 * entry):
            raise self._malformed(_FIELDS, f"{count} functions do not fit in {len(self._data)} bytes")
        pairs = elf.words(self._part(table, (2 * count + 1) * entry), entry).astype(np.uint64)
        begins = pairs[::2] + np.uint64(text)
        if (begins[1:] < begins[:-1]).any():
            raise self._malformed(table, "its functions are not in order")
        # Of each function's own record: the address, as in the table, then the offset of its name.
        name = self._numbers_at(pairs[1::2] + np.uint64(base + entry))
        names = self._part(names_at, names_end - names_at).tobytes() + b"\0"
        if len(name) and int(name.max()) >= len(names):
            raise self._malformed(names_at, "a function's name is outside of the names")
        return GoFunctions(begins[:-1], begins[1:], name.astype(np.uint64), names)

    def _relocated(self, at: int) -> int:
        """What the loader puts into the word at this offset, 0 for nothing."""
        place = int(self._elf.sections["address"][self._row]) + self._at + at
        found = dynamic_relocations(self._elf)
        here = (found["where"] == place) & (found["symbol"] == 0)
        words = found["addend"][here]
        return int(words[0]) & _LAST_ADDRESS if len(words) else 0

    def _text(self) -> int:
        """Where the code begins of which a table says only how far each function is from there; 0 for unknown.

        The linker of Go puts it first; where another linker did the work, C's start-up code comes before it.
        """
        elf = self._elf
        module = elf.find_section(_MODULE)
        if module is not None:
            width = elf.header.bits // 8
            words = elf.words(elf.section_bytes(module)[: (_MODULE_TEXT + 1) * width], width)
            if len(words) > _MODULE_TEXT and words[_MODULE_TEXT]:
                return int(words[_MODULE_TEXT])
        code = elf.find_section(".text")
        if code is None or elf.find_section(".init") is not None:
            return 0
        return int(elf.sections["address"][code])

    def _part(self, at: int, size: int) -> Array:
        if size < 0 or at + size > len(self._data):
            raise self._malformed(0, f"a part of {size} bytes at {at:#x} ends outside of the table")
        return self._data[at : at + size]

    def _numbers_at(self, offsets: Array) -> Array:
        """The 32-bit numbers at these offsets of the table."""
        if len(offsets) and int(offsets.max()) + 4 > len(self._data):
            raise self._malformed(0, "a function's record is outside of the table")
        rows = offsets.astype(np.int64)[:, None] + np.arange(4)
        return self._elf.words(np.ascontiguousarray(self._data[rows]).reshape(-1), 4)

    def _malformed(self, at: int, why: str) -> Exception:
        return self._elf.malformed(int(self._elf.sections["offset"][self._row]) + self._at + at, why)
