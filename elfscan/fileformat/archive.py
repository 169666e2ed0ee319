"""Members of static libraries: ``ar`` archives with GNU or BSD names, and GNU thin archives.

Owns the archive format.  Members that are no ELF files (bitcode, text) are counted, not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy.typing as npt

from elfscan.fileformat.elf import MAGIC, ElfFile, map_file
from sharing.model import Malformed, Unrecognized

Array = npt.NDArray[Any]

ARCHIVE, THIN = b"!<arch>\n", b"!<thin>\n"
HEADER_BYTES = 60
MAX_MEMBERS = 1_000_000
_PACKAGE = "debian-binary"  # the first member of a Debian package (deb(5))
_TABLES = ("/", "//", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64")


class Entry(msgspec.Struct, frozen=True):
    """One member: where its bytes are in the archive, or for a thin archive only its name."""

    name: str
    offset: int
    size: int


def is_archive(data: Array) -> bool:
    """The file begins as an archive does, thin or not."""
    return data[:8].tobytes() in (ARCHIVE, THIN)


def entries(path: str, data: Array) -> list[Entry]:
    """All members in order, without symbol and name tables.  Raises Malformed for a broken header."""
    thin = data[:8].tobytes() == THIN
    found: list[Entry] = []
    long_names = b""
    at = 8
    while at < data.size:
        header = data[at : at + HEADER_BYTES].tobytes()
        if len(header) < HEADER_BYTES or header[58:60] != b"`\n":
            if not header.strip(b"\n\0"):
                break
            raise Malformed(path, at, "not an archive member header")
        digits = header[48:58].strip()
        if not digits.isdigit():
            raise Malformed(path, at + 48, "the size of an archive member is not a number")
        size = int(digits)
        body = at + HEADER_BYTES
        name = header[:16].rstrip(b" ")
        in_file = not thin or name in (b"/", b"//", b"/SYM64/")
        if in_file and size > data.size - body:
            raise Malformed(path, at, f"an archive member of {size} bytes ends outside of the file")
        start = body
        if name == b"//":
            long_names = data[body : body + size].tobytes()
        elif name.startswith(b"#1/") and name[3:].isdigit():
            length = int(name[3:])
            if length > size:
                raise Malformed(path, at, "an archive member's name is longer than the member")
            name = data[body : body + length].tobytes().rstrip(b"\0")
            start += length
        elif name.startswith(b"/") and name[1:].isdigit():
            first = int(name[1:])
            end = long_names.find(b"\n", first)
            if first >= len(long_names) or end < 0:
                raise Malformed(path, at, "an archive member's name lies outside of the table of long names")
            name = long_names[first:end].removesuffix(b"/")
        elif name not in (b"/", b"//", b"/SYM64/"):
            name = name.removesuffix(b"/")
        text = name.decode("utf-8", "surrogateescape" if thin else "backslashreplace")
        if text not in _TABLES:
            found.append(Entry(text, start, body + size - start))
            if len(found) > MAX_MEMBERS:
                raise Malformed(path, at, f"more than {MAX_MEMBERS} archive members")
        at = body + (size + size % 2 if in_file else 0)
    return found


def elf_entries(path: str, data: Array) -> tuple[list[Entry], tuple[str, ...]]:
    """The members that are ELF files, in order, and notes on those that are none.

    What a thin archive names is found out when it is opened.  Raises Malformed, and Unrecognized where none is one.
    """
    thin = data[:8].tobytes() == THIN
    listed = entries(path, data)
    if not listed:
        raise Unrecognized(path, "the archive has no members")
    others: list[str] = []
    chosen: list[Entry] = []
    for entry in listed:
        if thin or data[entry.offset : entry.offset + 4].tobytes() == MAGIC:
            chosen.append(entry)
        else:
            others.append(entry.name)
    if not chosen and listed[0].name == _PACKAGE:
        raise Unrecognized(path, "a Debian package: unpack it (dpkg-deb -x FILE FOLDER) and audit the folder")
    if not chosen:
        raise Unrecognized(path, f"none of the archive's {len(listed)} members is an ELF file")
    if not others:
        return chosen, ()
    shown = ", ".join(name[:80] for name in others[:5]) + (", …" if len(others) > 5 else "")
    return chosen, (f"{len(others)} of {len(listed)} archive members are not ELF files: {shown}",)


def open_members(path: str, data: Array, only: slice = slice(None)) -> Iterator[tuple[ElfFile, tuple[str, ...]]]:
    """Each ELF member, or those that ``only`` takes, with notes on those that are none (on the first member only).

    Members of a thin archive lie beside it, and are opened there.
    """
    thin = data[:8].tobytes() == THIN
    chosen, notes = elf_entries(path, data)
    for number in range(len(chosen))[only]:
        entry = chosen[number]
        if thin:
            beside = os.path.join(os.path.dirname(path), entry.name)
            elf = ElfFile(beside, map_file(beside), member=entry.name)
        else:
            body = data[entry.offset : entry.offset + entry.size]
            elf = ElfFile(path, body, base=entry.offset, member=entry.name)
        yield elf, notes if number == 0 else ()
