"""One ELF file as bounded tables over its mapped bytes: header, sections, segments, notes, dynamic entries.

Owns the format's headers and the rule that no byte is touched outside of the file.  Knows no symbols, no
relocations and no meaning of a section.  Every table is a numpy array in native byte order; nothing
larger than a header table is copied, so a file of 600 MB costs what is read of it.
"""

from __future__ import annotations

import mmap
import os
import stat
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from elfscan import constants as c
from elfscan.arch import find_architecture
from sharing.model import Architecture, LinemateError, Malformed, Unrecognized

Array = npt.NDArray[Any]

MAGIC = b"\x7fELF"
MAX_SECTIONS = 250_000  # clang -ffunction-sections makes 100k; beyond this a header lies
ADDRESS_LIMIT = 1 << 64

SECTION_DTYPE = np.dtype(
    [
        ("name", "<u4"),
        ("type", "<u4"),
        ("flags", "<u8"),
        ("address", "<u8"),
        ("offset", "<u8"),
        ("size", "<u8"),
        ("link", "<u4"),
        ("info", "<u4"),
        ("align", "<u8"),
        ("entry_size", "<u8"),
    ]
)
SEGMENT_DTYPE = np.dtype(
    [
        ("type", "<u4"),
        ("flags", "<u4"),
        ("offset", "<u8"),
        ("address", "<u8"),
        ("file_size", "<u8"),
        ("size", "<u8"),
        ("align", "<u8"),
    ]
)


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of the ELF header that later stages use."""

    bits: int
    byteorder: Literal["little", "big"]
    type: int
    machine: int
    entry: int
    flags: int


def map_file(path: str) -> Array:
    """The bytes of a regular file as a read-only uint8 array over a mapping.

    Raises LinemateError in one line for whatever cannot be read: missing, directory, no permission, device.
    """
    try:
        # O_NONBLOCK: opening a FIFO that nobody writes must not hang.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise LinemateError(f"{path}: {(error.strerror or 'cannot be opened').lower()}") from None
    except ValueError:
        raise LinemateError(f"{path!r}: not a usable file name") from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise LinemateError(f"{path}: is a directory, expected an ELF file or an archive")
        if not stat.S_ISREG(status.st_mode):
            raise LinemateError(f"{path}: is not a regular file")
        if status.st_size == 0:
            raise Malformed(path, 0, "the file is empty")
        return np.frombuffer(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), np.uint8)
    except OSError as error:
        raise LinemateError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    finally:
        os.close(descriptor)


class ElfFile:
    """One ELF image at ``base`` of a file.  All offsets in its tables are relative to the image itself."""

    def __init__(self, path: str, data: Array, *, base: int = 0, member: str | None = None) -> None:
        self.path = path
        self.member = member
        self.data = data
        self.base = base
        self.label = path if member is None else f"{path}({member})"
        self.header = self._read_header()
        self.order = "<" if self.header.byteorder == "little" else ">"
        self.arch: Architecture = find_architecture(self.header.machine, self.header.bits, self.header.byteorder)
        self.segments = self._read_segments()
        self.sections = self._read_sections()
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
            raise Unrecognized(self.label, "not an ELF file")
        if len(ident) < 16:
            raise self.malformed(len(ident), "the file ends inside the ELF identification")
        if ident[4] not in (1, 2):
            raise self.malformed(4, f"unknown ELF class {ident[4]}")
        if ident[5] not in (1, 2):
            raise self.malformed(5, f"unknown ELF byte order {ident[5]}")
        bits = 32 if ident[4] == 1 else 64
        byteorder: Literal["little", "big"] = "little" if ident[5] == 1 else "big"
        order = "<" if ident[5] == 1 else ">"
        word = f"{order}u{bits // 8}"
        dtype = np.dtype(
            [
                ("ident", "u1", 16),
                ("type", f"{order}u2"),
                ("machine", f"{order}u2"),
                ("version", f"{order}u4"),
                ("entry", word),
                ("phoff", word),
                ("shoff", word),
                ("flags", f"{order}u4"),
                ("ehsize", f"{order}u2"),
                ("phentsize", f"{order}u2"),
                ("phnum", f"{order}u2"),
                ("shentsize", f"{order}u2"),
                ("shnum", f"{order}u2"),
                ("shstrndx", f"{order}u2"),
            ]
        )
        if self.size < dtype.itemsize:
            raise self.malformed(self.size, "the file ends inside the ELF header")
        raw = self.data[: dtype.itemsize].view(dtype)[0]
        self._raw_header = {str(name): int(raw[name]) for name in dtype.names or () if name != "ident"}
        return Header(bits, byteorder, int(raw["type"]), int(raw["machine"]), int(raw["entry"]), int(raw["flags"]))

    def _section_dtype(self) -> np.dtype[Any]:
        word = f"{self.order}u{self.header.bits // 8}"
        half = f"{self.order}u4"
        return np.dtype(
            [
                ("name", half),
                ("type", half),
                ("flags", word),
                ("address", word),
                ("offset", word),
                ("size", word),
                ("link", half),
                ("info", half),
                ("align", word),
                ("entry_size", word),
            ]
        )

    def _segment_dtype(self) -> np.dtype[Any]:
        half = f"{self.order}u4"
        word = f"{self.order}u{self.header.bits // 8}"
        body = [("offset", word), ("address", word), ("physical", word), ("file_size", word), ("size", word)]
        if self.header.bits == 64:
            return np.dtype([("type", half), ("flags", half), *body, ("align", word)])
        return np.dtype([("type", half), *body, ("flags", half), ("align", word)])

    def _read_sections(self) -> Array:
        offset, count = self._raw_header["shoff"], self._raw_header["shnum"]
        dtype = self._section_dtype()
        self._names_index = self._raw_header["shstrndx"]
        if offset == 0:
            return np.zeros(0, SECTION_DTYPE)
        if self._raw_header["shentsize"] != dtype.itemsize:
            raise self.malformed(offset, f"section headers of {self._raw_header['shentsize']} bytes")
        if count == 0 or self._names_index == c.SHN_XINDEX:
            first = self.table(offset, 1, dtype, "the section header table")[0]
            count = count or int(first["size"])
            if self._names_index == c.SHN_XINDEX:
                self._names_index = int(first["link"])
        if count > MAX_SECTIONS:
            raise self.malformed(offset, f"{count} section headers")
        raw = self.table(offset, count, dtype, f"the table of {count} section headers")
        sections = np.empty(count, SECTION_DTYPE)
        for name in SECTION_DTYPE.names or ():
            sections[name] = raw[name]
        return sections

    def _read_segments(self) -> Array:
        offset, count = self._raw_header["phoff"], self._raw_header["phnum"]
        dtype = self._segment_dtype()
        if offset == 0 or count == 0:
            return np.zeros(0, SEGMENT_DTYPE)
        if self._raw_header["phentsize"] != dtype.itemsize:
            raise self.malformed(offset, f"program headers of {self._raw_header['phentsize']} bytes")
        if count == c.PN_XNUM and self._raw_header["shoff"]:
            first = self.table(self._raw_header["shoff"], 1, self._section_dtype(), "the section header table")[0]
            count = int(first["info"])
        raw = self.table(offset, count, dtype, f"the table of {count} program headers")
        segments = np.empty(count, SEGMENT_DTYPE)
        for name in SEGMENT_DTYPE.names or ():
            segments[name] = raw[name]
        return segments

    def _read_section_names(self) -> list[str]:
        count = len(self.sections)
        if count == 0:
            return []
        if self._names_index == 0:
            return [""] * count
        if self._names_index >= count:
            raise self.malformed(None, f"the section name table has index {self._names_index} of {count}")
        pool = self.section_bytes(self._names_index).tobytes()
        names = []
        for start in self.sections["name"].tolist():
            if start >= len(pool) and start:
                raise self.malformed(None, f"a section name at {start:#x} lies outside of the name table")
            end = pool.find(b"\0", start)
            names.append(pool[start : end if end >= 0 else len(pool)][:4096].decode("utf-8", "backslashreplace"))
        return names

    # -- sections -------------------------------------------------------------------------------

    def find_section(self, name: str) -> int | None:
        """Row of the first section of this name."""
        return self._by_name.get(name)

    def section_bytes(self, row: int) -> Array:
        """The bytes of a section in the file; none for NOBITS.  Compressed sections stay compressed."""
        section = self.sections[row]
        if section["type"] == c.SHT_NOBITS:
            return self.data[:0]
        names: list[str] = getattr(self, "section_names", [])
        name = names[row] if row < len(names) else "names"
        return self.bytes_at(int(section["offset"]), int(section["size"]), f"section {row} ({name[:80]!r})")

    @cached_property
    def loads(self) -> Array:
        """PT_LOAD segments sorted by address, with their file sizes cut to the file."""
        loads = self.segments[self.segments["type"] == c.PT_LOAD]
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

    def bytes_at_address(self, address: int, size: int, what: str) -> Array:
        """``size`` loaded bytes from ``address``; Malformed when the file does not hold them."""
        offset = self.offset_of(address)
        if offset is None:
            raise self.malformed(None, f"{what} at address {address:#x} is in no loaded segment")
        return self.bytes_at(offset, size, what)

    # -- dynamic section and notes --------------------------------------------------------------

    @cached_property
    def dynamic(self) -> dict[int, list[int]]:
        """The dynamic entries by tag, in order; empty for static files."""
        rows: list[int] = np.flatnonzero(self.sections["type"] == c.SHT_DYNAMIC).tolist()
        if rows:
            data = self.section_bytes(rows[0])
        else:
            found = self.segments[self.segments["type"] == c.PT_DYNAMIC]
            if not len(found):
                return {}
            data = self.bytes_at(int(found[0]["offset"]), int(found[0]["file_size"]), "the dynamic segment")
        entries: dict[int, list[int]] = {}
        words = self.words(data[:1 << 20], self.header.bits // 8).tolist()
        for tag, value in zip(words[::2], words[1::2], strict=False):
            if tag == c.DT_NULL:
                break
            entries.setdefault(tag, []).append(value)
        return entries

    def notes(self) -> list[tuple[str, int, bytes]]:
        """All (owner, type, description) notes of note sections, else of note segments."""
        spans = [self.section_bytes(int(row)) for row in np.flatnonzero(self.sections["type"] == c.SHT_NOTE)]
        if not spans:
            found = self.segments[self.segments["type"] == c.PT_NOTE]
            spans = [self.bytes_at(int(s["offset"]), int(s["file_size"]), "a note segment") for s in found]
        notes = []
        for span in spans:
            raw = span[:1 << 20].tobytes()
            position = 0
            while position + 12 <= len(raw):
                name_size, desc_size, kind = (
                    int.from_bytes(raw[position + i : position + i + 4], self.header.byteorder) for i in (0, 4, 8)
                )
                name_at = position + 12
                desc_at = name_at + (name_size + 3) // 4 * 4
                if desc_at + desc_size > len(raw):
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
        raw = self.section_bytes(row)[:8192].tobytes()
        end = raw.find(b"\0")
        crc_at = (end + 4) // 4 * 4
        if end <= 0 or crc_at + 4 > len(raw):
            return None
        crc = int.from_bytes(raw[crc_at : crc_at + 4], self.header.byteorder)
        return raw[:end].decode("utf-8", "surrogateescape"), crc

    def alt_link(self) -> tuple[str, str] | None:
        """(file name, build-id in hexadecimal) of .gnu_debugaltlink, as dwz writes it."""
        row = self.find_section(".gnu_debugaltlink")
        if row is None:
            return None
        raw = self.section_bytes(row)[:8192].tobytes()
        end = raw.find(b"\0")
        if end <= 0:
            return None
        return raw[:end].decode("utf-8", "surrogateescape"), raw[end + 1 :].hex()

    @property
    def has_dwarf(self) -> bool:
        """The file itself holds debug information (.debug_info, or .zdebug_info of older tools)."""
        for name in (".debug_info", ".zdebug_info"):
            row = self.find_section(name)
            if row is not None and self.sections[row]["type"] != c.SHT_NOBITS and self.sections[row]["size"]:
                return True
        return False
