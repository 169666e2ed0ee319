"""Which line of source each instruction was made of: the line programs of ``.debug_line`` (DWARF 2 to 5).

Owns the interpretation of those programs, and their bounds.  A unit that is damaged costs the rows of that unit.  Only
read where counts name lines, or for the few instructions of a sampled finding: the judgement needs none of it.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from elfscan.fileformat.elf import ElfFile
from sharing.model.image import Table

LINE_DTYPE = np.dtype([("address", "<u8"), ("end", "<u8"), ("file", "<i4"), ("line", "<u4"), ("column", "<u4")])
MAX_SECTION_BYTES = 1 << 28
# Of a compressed section: as much as linemate-dwarf takes (elfscan/native/dwarf/Object.cpp).
MAX_EXPANSION, ALWAYS_BYTES = 16, 32 << 20
MAX_ROWS = 1 << 24
MAX_FILES = 1 << 18
MAX_UNITS = 1 << 18  # the largest browsers have 50,000; zeros are a unit every four bytes
MAX_CANDIDATES = 4  # sequences that may hold an address: bytes of operands may look like the start of one
MAX_ENTRIES = 1 << 16  # of one table of files or folders
SHF_COMPRESSED, ELFCOMPRESS_ZLIB = 0x800, 1

# Opcodes and forms (DWARF 5, 6.2.5 and 7.5.6).
COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, CONST_ADD_PC, FIXED_ADVANCE_PC = 1, 2, 3, 4, 5, 8, 9
END_SEQUENCE, SET_ADDRESS = 1, 2
LNCT_PATH, LNCT_DIRECTORY = 1, 2
FORM_DATA2, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 0x05, 0x06, 0x07, 0x08, 0x09, 0x0B
FORM_STRP, FORM_UDATA, FORM_DATA16, FORM_LINE_STRP = 0x0E, 0x0F, 0x1E, 0x1F


class _Broken(Exception):
    """This unit cannot be read."""


@dataclass(frozen=True, slots=True)
class LineTable:
    """``rows`` (LINE_DTYPE) by address: bytes [address, end) are of a line of ``files[file]``."""

    rows: Table
    files: tuple[str, ...]
    lost: int = 0  # units that are damaged

    def at(self, addresses: Table) -> Table:
        """The row of each address, -1 where none has it."""
        start, end = self.rows["address"], self.rows["end"]
        row = np.searchsorted(start, addresses, "right").astype(np.int64) - 1
        inside = (row >= 0) & (addresses < end[np.maximum(row, 0)]) if len(end) else row >= 0
        found: Table = np.where(inside, row, -1)
        return found


def read_lines(elf: ElfFile, wanted: Table | None = None) -> LineTable:
    """All line programs of a linked file; none where it has no ``.debug_line``.

    With ``wanted``, sorted addresses, only the programs that may speak of these: a server has millions of rows.
    """
    data = debug_section(elf, ".debug_line")
    strings = {FORM_STRP: debug_section(elf, ".debug_str"), FORM_LINE_STRP: debug_section(elf, ".debug_line_str")}
    reader = LinePrograms(data, elf.order == "<", strings)
    reader.read(None if wanted is None else _units_of(data, reader.order, elf.arch.pointer_size, wanted))
    rows = np.zeros(len(reader.address), LINE_DTYPE)
    rows["address"], rows["end"], rows["file"], rows["line"] = reader.address, reader.end, reader.file, reader.line
    rows["column"] = reader.column
    start, end = rows["address"], rows["end"]
    rows = rows[(end > start) & (start > 0)]  # at zero is what the linker dropped
    return LineTable(rows[np.argsort(rows["address"], kind="stable")], tuple(reader.files), reader.lost)


def debug_section(elf: ElfFile, name: str) -> bytes:
    """What a section holds, uncompressed and up to ``MAX_SECTION_BYTES``; nothing of one that cannot be read."""
    row = elf.find_section(name)
    if row is None:
        return b""
    data = elf.section_bytes(row)[:MAX_SECTION_BYTES].tobytes()
    if not int(elf.sections[row]["flags"]) & SHF_COMPRESSED:
        return data
    wide = elf.arch.pointer_size == 8
    order: Literal["little", "big"] = "little" if elf.order == "<" else "big"
    if int.from_bytes(data[:4], order) != ELFCOMPRESS_ZLIB:
        return b""
    try:
        most = min(MAX_SECTION_BYTES, max(ALWAYS_BYTES, MAX_EXPANSION * len(elf.data)))
        return zlib.decompressobj().decompress(data[24 if wide else 12 :], most)
    except zlib.error:
        return b""


def _units_of(data: bytes, order: Literal["little", "big"], width: int, wanted: Table) -> Table:
    """Offsets of the instructions that begin sequences which may hold one of the ``wanted`` addresses, sorted.

    A sequence begins with its address, and the next one begins behind its end.
    """
    start = re.compile(b"\\0" + bytes([width + 1, SET_ADDRESS]) + b"(?=(" + b"." * width + b"))", re.DOTALL)
    found = sorted((int.from_bytes(one[1], order), one.start()) for one in start.finditer(data))
    address = np.array([a for a, _ in found], np.uint64)
    offset = np.array([at for _, at in found], np.int64)
    first = np.searchsorted(address, wanted, "right")
    near = np.unique((first[:, None] - 1 - np.arange(MAX_CANDIDATES)).ravel())
    return np.sort(offset[near[near >= 0]])


@dataclass(slots=True)
class _Header:
    """Of one unit: how its program is to be read."""

    version: int = 0
    least: int = 1
    line_base: int = 0
    line_range: int = 1
    opcode_base: int = 1
    lengths: tuple[int, ...] = ()
    files: list[int] = field(default_factory=list)  # by number: rows of the table's files


class LinePrograms:
    """The section, where reading stands in it, and the rows so far."""

    def __init__(self, data: bytes, little: bool, strings: dict[int, bytes]) -> None:
        self.data, self.strings = data, strings
        self.order: Literal["little", "big"] = "little" if little else "big"
        self.at = self.stop = 0
        self.wide = 4  # bytes of an offset
        self.address: list[int] = []
        self.end: list[int] = []
        self.file: list[int] = []
        self.line: list[int] = []
        self.column: list[int] = []
        self.files: dict[str, int] = {}
        self.lost = 0

    def read(self, inside: Table | None = None) -> None:
        """All units, or those that one of the offsets ``inside`` lies in."""
        start = 0
        for _ in range(MAX_UNITS):
            if start + 4 > len(self.data) or len(self.address) >= MAX_ROWS:
                break
            self.at, self.stop, self.wide = start, len(self.data), 4
            length = self._number(4)
            if length == 0xFFFFFFFF:
                if start + 12 > len(self.data):
                    break
                self.wide, length = 8, self._number(8)
            first, start = start, min(self.at + length, len(self.data))
            self.stop = start
            if inside is not None and np.searchsorted(inside, first) == np.searchsorted(inside, start):
                continue
            before = len(self.address)
            try:
                self._program(self._header())
            except _Broken:
                self.lost += 1
                for column in (self.address, self.end, self.file, self.line, self.column):
                    del column[before:]

    def _header(self) -> _Header:
        h = _Header(version=self._number(2))
        if not 2 <= h.version <= 5:
            raise _Broken
        if h.version == 5:
            self._skip(2)  # sizes of an address and of a segment
        after = self._number(self.wide)
        program = self.at + after
        h.least = self._number(1)
        if h.version >= 4:
            self._skip(1)  # operations an instruction: of VLIW machines
        self._skip(1)  # is a row a statement at first
        h.line_base = int.from_bytes(self._bytes(1), "little", signed=True)
        h.line_range, h.opcode_base = self._number(1), self._number(1)
        if not h.line_range or not h.opcode_base:
            raise _Broken
        h.lengths = (0, *self._bytes(h.opcode_base - 1))
        h.files = self._tables() if h.version == 5 else self._old_tables()
        if not self.at <= program <= self.stop:
            raise _Broken
        self.at = program
        return h

    def _old_tables(self) -> list[int]:
        folders = [""]
        while name := self._text():
            folders.append(name)
            self._few(folders)
        files = [-1]  # numbers begin with 1
        while name := self._text():
            folder = self._leb()
            self._leb(), self._leb()
            files.append(self._known(folders[folder] if folder < len(folders) else "", name))
            self._few(files)
        return files

    def _tables(self) -> list[int]:
        folders = [path for path, _ in self._entries()]
        out = []
        for path, folder in self._entries():
            base = folders[folder] if folder < len(folders) else ""
            if folder and folders and base[:1] != "/":
                base = f"{folders[0]}/{base}"
            out.append(self._known(base, path))
        return out

    def _entries(self) -> list[tuple[str, int]]:
        form = [(self._leb(), self._leb()) for _ in range(self._number(1))]
        count = self._leb()
        if count > MAX_ENTRIES or (count and not form):
            raise _Broken
        out = []
        for _ in range(count):
            path, folder = "", 0
            for content, shape in form:
                value = self._value(shape)
                if content == LNCT_PATH and isinstance(value, str):
                    path = value
                elif content == LNCT_DIRECTORY and isinstance(value, int):
                    folder = value
            out.append((path, folder))
        return out

    def _value(self, form: int) -> int | str:
        sizes = {FORM_DATA1: 1, FORM_DATA2: 2, FORM_DATA4: 4, FORM_DATA8: 8}
        if form in sizes:
            return self._number(sizes[form])
        if form == FORM_UDATA:
            return self._leb()
        if form == FORM_STRING:
            return self._text()
        if form in (FORM_STRP, FORM_LINE_STRP):
            pool, offset = self.strings.get(form, b""), self._number(self.wide)
            end = pool.find(b"\0", offset)
            return pool[offset : end if end >= 0 else None].decode("utf-8", "replace")
        if form in (FORM_DATA16, FORM_BLOCK):
            self._skip(16 if form == FORM_DATA16 else self._leb())
            return 0
        raise _Broken

    def _known(self, folder: str, name: str) -> int:
        if len(self.files) >= MAX_FILES:
            raise _Broken
        return self.files.setdefault(name if name[:1] == "/" or not folder else f"{folder}/{name}", len(self.files))

    def _program(self, h: _Header) -> None:
        address, file, line, column, open_row = 0, 1, 1, 0, False
        special = (255 - h.opcode_base) // h.line_range * h.least

        def row() -> None:
            nonlocal open_row
            if open_row:
                self.end.append(address)
            self.address.append(address)
            self.file.append(h.files[file] if file < len(h.files) else -1)
            self.line.append(line if 0 <= line < 1 << 32 else 0)
            self.column.append(column if column < 1 << 32 else 0)
            open_row = True
            if len(self.address) > MAX_ROWS:
                raise _Broken

        while self.at < self.stop:
            opcode = self.data[self.at]
            self.at += 1
            if opcode >= h.opcode_base:
                opcode -= h.opcode_base
                address += opcode // h.line_range * h.least
                line += h.line_base + opcode % h.line_range
                row()
            elif opcode == COPY:
                row()
            elif opcode == ADVANCE_PC:
                address += self._leb() * h.least
            elif opcode == ADVANCE_LINE:
                line += self._leb(signed=True)
            elif opcode == SET_FILE:
                file = self._leb()
            elif opcode == SET_COLUMN:
                column = self._leb()
            elif opcode == CONST_ADD_PC:
                address += special
            elif opcode == FIXED_ADVANCE_PC:
                address += self._number(2)
            elif opcode:
                for _ in range(h.lengths[opcode]):
                    self._leb()
            else:
                size = self._leb()
                after = self.at + size
                if not size or after > self.stop:
                    raise _Broken
                extended = self._number(1)
                if extended == END_SEQUENCE:
                    if open_row:
                        self.end.append(address)
                    address, file, line, column, open_row = 0, 1, 1, 0, False
                elif extended == SET_ADDRESS:
                    if size - 1 not in (4, 8):
                        raise _Broken
                    address = self._number(size - 1)
                self.at = after
            if not 0 <= address < 1 << 64:
                raise _Broken
        if open_row:
            raise _Broken  # the last row has no end

    def _few(self, entries: list[int] | list[str]) -> None:
        if len(entries) > MAX_ENTRIES:
            raise _Broken

    def _skip(self, size: int) -> None:
        if self.at + size > self.stop:
            raise _Broken
        self.at += size

    def _bytes(self, size: int) -> bytes:
        self._skip(size)
        return self.data[self.at - size : self.at]

    def _number(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), self.order)

    def _text(self) -> str:
        end = self.data.find(b"\0", self.at, self.stop)
        if end < 0:
            raise _Broken
        text, self.at = self.data[self.at : end].decode("utf-8", "replace"), end + 1
        return text

    def _leb(self, *, signed: bool = False) -> int:
        # Nearly all have one byte.
        if self.at < self.stop and (byte := self.data[self.at]) < 0x80:
            self.at += 1
            return byte - 0x80 if signed and byte & 0x40 else byte
        value = shift = 0
        while True:
            if self.at >= self.stop or shift > 63:
                raise _Broken
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        return value - (1 << shift) if signed and byte & 0x40 else value
