"""One ELF file as bounded tables over its mapped bytes: header, sections, segments, notes, dynamic entries.

Owns the format's headers and the rule that no byte is touched outside of the file.  A broken table is recorded
in ``losses`` and left out, as long as sections or segments remain.  Knows no symbols, no relocations and no meaning
of a section.  Every table is a numpy array in native byte order; nothing
larger than a header table is copied, so a file of 600 MB costs what is read of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.headers import SECTION_DTYPE, SEGMENT_DTYPE, Header, header_dtype, section_dtype, segment_dtype
from elfscan.fileformat.losses import Losses
from sharing.model import Architecture, Malformed, Unrecognized
from sharing.model.arch import find_architecture, machine_of_file
from sharing.model.arrays import picked
from sharing.model.inputs import map_input

Array = npt.NDArray[Any]

MAGIC = b"\x7fELF"
# What people take for object files, by its first bytes (LLVM's BitCodeFormat: its magic number, or a wrapper's).
_BITCODE = ": LLVM bitcode, of which code is made at the link (-flto): audit what is linked of it"
_OTHERS = {b"BC\xc0\xde": _BITCODE, b"\xde\xc0\x17\x0b": _BITCODE}
MAX_SECTIONS = 250_000  # clang -ffunction-sections makes 100k; beyond this a header lies
MAX_NAME_BYTES = 64 << 20  # of all section names: thousands may share one long string
MAX_NOTE_SECTIONS = 1000
MAX_NOTE_BYTES = 4 << 20  # of all notes together
ADDRESS_LIMIT = 1 << 64


def map_file(path: str) -> Array:
    """The bytes of a regular file as a read-only uint8 array over a mapping.  Raises as ``map_input`` does."""
    return np.frombuffer(map_input(path, "an ELF file or an archive"), np.uint8)


class ElfFile:
    """One ELF image at ``base`` of a file.  All offsets in its tables are relative to the image itself.

    Raises Unrecognized for what is no ELF file, Malformed where neither sections nor segments can be read.
    """

    def __init__(self, path: str, data: Array, *, base: int = 0, member: str | None = None) -> None:
        self.path = path
        self.member = member
        self.data = data
        self.base = base
        self.label = path if member is None else f"{path}({member})"
        self.losses = Losses()
        self.header = self._read_header()
        self.order = "<" if self.header.byteorder == "little" else ">"
        self._section_dtype = section_dtype(self.header.bits, self.order)
        self._segment_dtype = segment_dtype(self.header.bits, self.order)
        kind = (self.header.machine, self.header.bits, self.header.byteorder)
        self.machine = machine_of_file(*kind)
        self.arch: Architecture = find_architecture(*kind)
        self.segments = self.losses.attempt("program headers", self._read_segments, np.zeros(0, SEGMENT_DTYPE))
        self.sections = self.losses.attempt(
            "section headers", self._read_sections, np.zeros(0, SECTION_DTYPE), then="segments stand in for sections"
        )
        if self.losses.incomplete is not None and not len(self.segments) and not len(self.sections):
            raise self.losses.incomplete
        self.header = self._with_known_type()
        self.section_names = self._read_section_names()
        self._by_name: dict[str, int] = {}
        for row, name in enumerate(self.section_names):
            self._by_name.setdefault(name, row)

    # -- bounded access -------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return int(self.data.size)

    def malformed(self, offset: int | None, why: str) -> Malformed:
        """An error that names this image and the offset in the whole file."""
        return Malformed(self.label, None if offset is None else offset + self.base, why)

    def bytes_at(self, offset: int, size: int, what: str) -> Array:
        """``size`` bytes from ``offset`` as a view; Malformed when they are not all in the file."""
        if size < 0 or offset < 0 or offset > self.size or size > self.size - offset:
            raise self.malformed(
                min(max(offset, 0), self.size), f"{what} ({size:#x} bytes at {offset:#x}) lies outside of the file"
            )
        return self.data[offset : offset + size]

    def table(self, offset: int, count: int, dtype: np.dtype[Any], what: str) -> Array:
        """``count`` records as a view in the file's own byte order."""
        return self.bytes_at(offset, count * dtype.itemsize, what).view(dtype)

    def words(self, data: Array, size: int) -> Array:
        """The whole ``size``-byte words of a byte array, in native order."""
        whole = data[: data.size - data.size % size]
        if not whole.flags.c_contiguous:
            whole = np.ascontiguousarray(whole)
        return whole.view(f"{self.order}u{size}").astype(f"<u{size}", copy=False)

    # -- headers --------------------------------------------------------------------------------

    def _read_header(self) -> Header:
        ident = self.data[:16].tobytes()
        if ident[:4] != MAGIC[: len(ident)] or not ident:
            raise Unrecognized(self.label, f"not an ELF file{_OTHERS.get(ident[:4], '')}")
        if len(ident) < 16:
            raise self.malformed(len(ident), "the file ends inside the ELF identification")
        if ident[4] not in (1, 2):
            raise self.malformed(4, f"unknown ELF class {ident[4]}")
        bits = 32 if ident[4] == 1 else 64
        byteorder = self._read_byteorder(ident[5])
        order = "<" if byteorder == "little" else ">"
        dtype = header_dtype(bits, order)
        if self.size < dtype.itemsize:
            raise self.malformed(self.size, "the file ends inside the ELF header")
        raw = self.data[: dtype.itemsize].view(dtype)[0]
        self._header_dtype = dtype
        self._raw_header = {str(name): int(raw[name]) for name in dtype.names or () if name != "ident"}
        return Header(bits, byteorder, int(raw["type"]), int(raw["machine"]), int(raw["entry"]), int(raw["flags"]))

    def _read_byteorder(self, mark: int) -> Literal["little", "big"]:
        orders: dict[int, Literal["little", "big"]] = {1: "little", 2: "big"}
        if mark in orders:
            return orders[mark]
        error = self.malformed(5, f"unknown ELF byte order {mark}")
        for order in orders.values():
            if int.from_bytes(self.data[20:24].tobytes(), order) == 1:  # e_version
                self.losses.add("the byte order", error, then=f"read as {order}-endian", incomplete=False)
                return order
        raise error

    def _at(self, field: str) -> int:
        """Offset of a field of the ELF header."""
        fields = self._header_dtype.fields
        return int(fields[field][1]) if fields else 0

    def _read_sections(self) -> Array:
        offset, count = self._raw_header["shoff"], self._raw_header["shnum"]
        dtype = self._section_dtype
        self._names_index = self._raw_header["shstrndx"]
        if offset == 0:
            if count:
                raise self.malformed(self._at("shoff"), f"{count} section headers at offset 0")
            return np.zeros(0, SECTION_DTYPE)
        first = self.table(offset, 1, dtype, "the section header table")[0]
        if self._names_index == c.SHN_XINDEX:
            self._names_index = int(first["link"])
        count = count or int(first["size"])
        if count == 0:
            raise self.malformed(self._at("shnum"), "0 section headers")
        held = min(count, (self.size - offset) // dtype.itemsize, MAX_SECTIONS)
        raw = self.table(offset, held, dtype, f"the table of {held} section headers")
        for lie, at, why in (
            (first["type"] or first["address"] or first["offset"], offset, "the first section header is not empty"),
            (held < count, self._at("shnum"), f"{count} section headers, of which the file holds at most {held}"),
            (
                self._raw_header["shentsize"] != dtype.itemsize,
                self._at("shentsize"),
                f"section headers of {self._raw_header['shentsize']} bytes",
            ),
        ):
            if not lie:
                continue
            error = self.malformed(at, why)
            if not self._holds_names(raw):
                raise error
            stands = "the table is read as it stands"
            self.losses.add("a count or size of section headers", error, then=stands, incomplete=held < count)
        count = held
        sections = np.empty(count, SECTION_DTYPE)
        for name in SECTION_DTYPE.names or ():
            sections[name] = raw[name]
        if len(self.segments) and not (sections["flags"] & c.SHF_ALLOC).any() and len(self.loads):
            raise self.malformed(offset, f"none of the {count} section headers describes loaded bytes")
        return sections

    def _holds_names(self, raw: Array) -> bool:
        """Whether what should be section headers are some: the one that holds all names is a string table."""
        if not 0 < self._names_index < len(raw) or raw[self._names_index]["type"] != c.SHT_STRTAB:
            return False
        return int(raw[self._names_index]["offset"]) + int(raw[self._names_index]["size"]) <= self.size

    def _read_segments(self) -> Array:
        offset, count = self._raw_header["phoff"], self._raw_header["phnum"]
        dtype = self._segment_dtype
        if offset == 0 or count == 0:
            if (offset or count) and self.header.type != c.ET_REL:
                raise self.malformed(self._at("phoff"), f"{count} program headers at offset {offset:#x}")
            return np.zeros(0, SEGMENT_DTYPE)
        if count == c.PN_XNUM and self._raw_header["shoff"]:
            first = self.table(self._raw_header["shoff"], 1, self._section_dtype, "the section header table")[0]
            count = int(first["info"])
        raw = self.table(offset, count, dtype, f"the table of {count} program headers")
        if self._raw_header["phentsize"] != dtype.itemsize:
            why = f"program headers of {self._raw_header['phentsize']} bytes"
            error = self.malformed(self._at("phentsize"), why)
            load = raw["type"] == c.PT_LOAD
            if not load.any() or (raw["offset"][load] > self.size).any():
                raise error
            stands = "the table is read as it stands"
            self.losses.add("the size of program headers", error, then=stands, incomplete=False)
        segments = np.empty(count, SEGMENT_DTYPE)
        for name in SEGMENT_DTYPE.names or ():
            segments[name] = raw[name]
        return segments

    def _with_known_type(self) -> Header:
        """The header; of a file of no known type, with the type that its tables speak for."""
        kind = self.header.type
        if kind in (c.ET_REL, c.ET_EXEC, c.ET_DYN, c.ET_CORE):
            return self.header
        loads = self.loads
        known, what = (c.ET_REL, "an object file")
        if len(loads):
            known, what = (c.ET_EXEC, "an executable") if int(loads[0]["address"]) else (c.ET_DYN, "a shared object")
        error = self.malformed(self._at("type"), f"unknown ELF file type {kind}")
        self.losses.add("the file's type", error, then=f"read as {what}")
        return replace(self.header, type=known)

    def _read_section_names(self) -> list[str]:
        """The names; "" for each that cannot be read."""
        count = len(self.sections)
        self.named = count > 0 and self._names_index != 0
        if not self.named:
            return [""] * count
        try:
            if self._names_index >= count:
                at = self._at("shstrndx")
                raise self.malformed(at, f"the section name table has index {self._names_index} of {count}")
            pool = self.section_bytes(self._names_index).tobytes()
        except Malformed as error:
            self.losses.add("section names", error)
            self.named = False
            return [""] * count
        names = []
        room = MAX_NAME_BYTES
        for row, start in enumerate(self.sections["name"].tolist()):
            if start >= len(pool) and start:
                why = f"a section name at {start:#x} lies outside of the name table"
                self.losses.add("the name of a section", self.malformed(self.section_header_at(row), why))
                names.append("")
                continue
            most = start + min(4096, room)
            end = pool.find(b"\0", start, most)
            name = pool[start : end if end >= 0 else most]
            room -= len(name)
            names.append(name.decode("utf-8", "backslashreplace"))
        return names

    # -- sections -------------------------------------------------------------------------------

    def find_section(self, name: str) -> int | None:
        """Row of the first section of this name."""
        return self._by_name.get(name)

    def section_header_at(self, row: int) -> int:
        """Offset of a section's header."""
        return self._raw_header["shoff"] + row * self._section_dtype.itemsize

    def section_bytes(self, row: int) -> Array:
        """The bytes of a section in the file; none for NOBITS.  Compressed sections stay compressed."""
        section = self.sections[row]
        if section["type"] == c.SHT_NOBITS:
            return self.data[:0]
        names: list[str] = getattr(self, "section_names", [])
        name = names[row] if row < len(names) else "names"
        return self.bytes_at(int(section["offset"]), int(section["size"]), f"section {row} ({name[:80]!r})")

    def _optional(self, row: int, what: str) -> Array:
        """The bytes of a section that only identifies the file or leads to another one; none where it is broken."""
        read = partial(self.section_bytes, row)
        return self.losses.attempt(what, read, self.data[:0], incomplete=False)

    @cached_property
    def loads(self) -> Array:
        """PT_LOAD segments sorted by address, with their file sizes cut to the file."""
        loads = picked(self.segments, self.segments["type"] == c.PT_LOAD)
        loads = loads[np.argsort(loads["address"], kind="stable")]
        room = np.where(loads["offset"] < self.size, np.uint64(self.size) - np.minimum(loads["offset"], self.size), 0)
        loads["file_size"] = np.minimum(np.minimum(loads["file_size"], room), loads["size"])
        return np.asarray(loads)

    def offset_of(self, address: int) -> int | None:
        """File offset of a loaded address, None where the address has no byte in the file."""
        for load in self.loads:
            start = int(load["address"])
            if start <= address < start + int(load["file_size"]):
                return int(load["offset"]) + address - start
        return None

    def address_of(self, offset: int) -> int | None:
        """Loaded address of a byte of the file, None where no segment loads it."""
        for load in self.loads:
            start = int(load["offset"])
            if start <= offset < start + int(load["file_size"]):
                return int(load["address"]) + offset - start
        return None

    def bytes_at_address(self, address: int, size: int, what: str) -> Array:
        """``size`` loaded bytes from ``address``; Malformed when the file does not hold them."""
        offset = self.offset_of(address)
        if offset is None:
            raise self.malformed(None, f"{what} at address {address:#x} is in no loaded segment")
        return self.bytes_at(offset, size, what)

    # -- dynamic section and notes --------------------------------------------------------------

    @cached_property
    def dynamic(self) -> dict[int, list[int]]:
        """The dynamic entries by tag, in order; empty for static files, and where they cannot be read."""
        try:
            data = self._dynamic_bytes()
        except Malformed as error:
            self.losses.add("the dynamic section", error)
            return {}
        entries: dict[int, list[int]] = {}
        words = self.words(data[: 1 << 20], self.header.bits // 8).tolist()
        for tag, value in zip(words[::2], words[1::2], strict=False):
            if tag == c.DT_NULL:
                break
            entries.setdefault(tag, []).append(value)
        return entries

    def _dynamic_bytes(self) -> Array:
        rows: list[int] = np.flatnonzero(self.sections["type"] == c.SHT_DYNAMIC).tolist()
        segments = picked(self.segments, self.segments["type"] == c.PT_DYNAMIC)
        if rows:
            try:
                return self.section_bytes(rows[0])
            except Malformed:
                if not len(segments):
                    raise
        if not len(segments):
            return self.data[:0]
        # The separate debug file of a program keeps its headers, and none of the bytes that are loaded.
        emptied = self.sections["type"] == c.SHT_NOBITS
        if (emptied & (self.sections["address"] == segments[0]["address"]) & (self.sections["size"] > 0)).any():
            return self.data[:0]
        return self.bytes_at(int(segments[0]["offset"]), int(segments[0]["file_size"]), "the dynamic segment")

    def notes(self) -> list[tuple[str, int, bytes]]:
        """All (owner, type, description) notes of note sections, else of note segments."""
        rows = np.flatnonzero(self.sections["type"] == c.SHT_NOTE)[:MAX_NOTE_SECTIONS].tolist()
        spans = [(int(self.sections["offset"][row]), self._optional(row, "notes")) for row in rows]
        if not rows:
            found = picked(self.segments, self.segments["type"] == c.PT_NOTE)[:MAX_NOTE_SECTIONS]
            for segment in found:
                offset, size = int(segment["offset"]), int(segment["file_size"])
                read = partial(self.bytes_at, offset, size, "a note segment")
                spans.append((offset, self.losses.attempt("notes", read, self.data[:0], incomplete=False)))
        notes = []
        room = MAX_NOTE_BYTES
        for start, span in spans:
            raw = span[: min(room, 1 << 20)].tobytes()
            room -= len(raw)
            position = 0
            while position + 12 <= len(raw):
                name_size, desc_size, kind = (
                    int.from_bytes(raw[position + i : position + i + 4], self.header.byteorder) for i in (0, 4, 8)
                )
                name_at = position + 12
                desc_at = name_at + (name_size + 3) // 4 * 4
                if desc_at + desc_size > len(raw):
                    error = self.malformed(start + position, "a note ends outside of its section")
                    self.losses.add("notes", error, incomplete=False)
                    break
                owner = raw[name_at : name_at + name_size].rstrip(b"\0").decode("ascii", "replace")
                notes.append((owner, kind, raw[desc_at : desc_at + desc_size]))
                position = desc_at + (desc_size + 3) // 4 * 4
        return notes

    @cached_property
    def build_id(self) -> str | None:
        """The GNU build-id in hexadecimal."""
        for owner, kind, description in self.notes():
            if owner == "GNU" and kind == c.NT_GNU_BUILD_ID and description:
                return description[:64].hex()
        return None

    def debug_link(self) -> tuple[str, int] | None:
        """(file name, CRC-32) of .gnu_debuglink."""
        row = self.find_section(".gnu_debuglink")
        if row is None:
            return None
        raw = self._optional(row, "the debug link")[:8192].tobytes()
        end = raw.find(b"\0")
        crc_at = (end + 4) // 4 * 4
        if end <= 0 or crc_at + 4 > len(raw):
            self._broken_link(row, "the debug link", len(raw))
            return None
        crc = int.from_bytes(raw[crc_at : crc_at + 4], self.header.byteorder)
        return raw[:end].decode("utf-8", "surrogateescape"), crc

    def alt_link(self) -> tuple[str, str] | None:
        """(file name, build-id in hexadecimal) of .gnu_debugaltlink, as dwz writes it."""
        row = self.find_section(".gnu_debugaltlink")
        if row is None:
            return None
        raw = self._optional(row, "the link to common debug information")[:8192].tobytes()
        end = raw.find(b"\0")
        if end <= 0:
            self._broken_link(row, "the link to common debug information", len(raw))
            return None
        return raw[:end].decode("utf-8", "surrogateescape"), raw[end + 1 :].hex()

    def _broken_link(self, row: int, what: str, size: int) -> None:
        if size:  # what lies outside of the file is recorded already
            error = self.malformed(int(self.sections["offset"][row]), "no file name, or no check sum behind it")
            self.losses.add(what, error, incomplete=False)

    @property
    def has_dwarf(self) -> bool:
        """The file itself holds debug information (.debug_info, or .zdebug_info of older tools)."""
        for name in (".debug_info", ".zdebug_info"):
            row = self.find_section(name)
            if row is not None and self.sections[row]["type"] != c.SHT_NOBITS and self.sections[row]["size"]:
                return True
        return False
