"""What an ELF file says of how it was made: compilers' comments, needed symbol versions, segments, its bytes.

Owns .gnu.version_r, program headers and the interpreter as ``FileTraits``; the link step is
``linkmodes``'.  Does not interpret them.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from elfscan.code.query import read_instructions
from elfscan.compilers import compilers_comments
from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.linkmodes import linker_of, modes_of
from sharing.model.arrays import picked
from sharing.model.comparison import FileTraits, SegmentTrait

MAX_VERSIONS = 65_536  # version numbers are 16 bits wide
MAX_TEXT_BYTES = 4096  # of one name
_FLAGS = ((4, "R"), (2, "W"), (1, "X"))


def read_traits(path: str) -> FileTraits:
    """The traits of an ELF file; what it does not say, or says in a broken table (see ``notes``), is left empty.

    Raises Unrecognized or Malformed as ``ElfFile`` does.
    """
    data = map_file(path)
    elf = ElfFile(path, data)
    interpreters = picked(elf.segments, elf.segments["type"] == c.PT_INTERP)
    comments: tuple[str, ...] = elf.losses.attempt("comments of compilers", lambda: compilers_comments(elf), ())
    versions: list[str] = elf.losses.attempt("needed versions", lambda: _versions(elf), [])
    interpreter = elf.losses.attempt(
        "the interpreter",
        lambda: "".join(_interpreter(elf, int(s["offset"]), int(s["file_size"])) for s in interpreters[:1]),
        "",
    )
    linker: str = elf.losses.attempt("the linker's name", lambda: linker_of(elf, comments), "", incomplete=False)
    modes: dict[str, str] = elf.losses.attempt("how it was linked", lambda: modes_of(elf), {}, incomplete=False)
    return FileTraits(
        comments=comments,
        versions=tuple(sorted(set(versions))),
        segments=tuple(
            SegmentTrait(_flags(int(s["flags"])), int(s["address"]), int(s["size"]), int(s["align"])) for s in elf.loads
        ),
        interpreter=interpreter,
        code=memoryview(data.data),
        instructions=partial(read_instructions, elf.arch),
        notes=elf.losses.notes(),
        linker=linker,
        modes=modes,
    )


def _interpreter(elf: ElfFile, offset: int, size: int) -> str:
    return _text(elf.bytes_at(offset, min(size, MAX_TEXT_BYTES), "the interpreter").tobytes().partition(b"\0")[0])


def _flags(bits: int) -> str:
    return "".join(letter for bit, letter in _FLAGS if bits & bit)


def _versions(elf: ElfFile) -> list[str]:
    """``library:version`` of every needed version: chains of Verneed, each with a chain of Vernaux (gABI)."""
    row = elf.find_section(".gnu.version_r")
    if row is None:
        return []
    strings = int(elf.sections[row]["link"])
    if strings >= len(elf.sections):
        raise elf.malformed(
            None, f"the needed versions name section {strings} of {len(elf.sections)} for their strings"
        )
    data, names = elf.section_bytes(row).tobytes(), elf.section_bytes(strings)
    half, word = f"{elf.order}u2", f"{elf.order}u4"
    need_dtype = np.dtype([("version", half), ("count", half), ("file", word), ("aux", word), ("next", word)])
    aux_dtype = np.dtype([("hash", word), ("flags", half), ("other", half), ("name", word), ("next", word)])
    start = int(elf.sections[row]["offset"])

    def record(dtype: np.dtype[np.void], at: int) -> np.void:
        if at < 0 or at + dtype.itemsize > len(data):
            raise elf.malformed(start + min(max(at, 0), len(data)), "a needed version lies outside of its section")
        entry: np.void = np.frombuffer(data, dtype, 1, at)[0]
        return entry

    def name(offset: int) -> str:
        if offset >= len(names):
            raise elf.malformed(start, f"the name of a needed version at {offset:#x} lies outside of its strings")
        return _text(names[offset : offset + MAX_TEXT_BYTES].tobytes().partition(b"\0")[0])

    out: list[str] = []
    at = 0
    for _ in range(MAX_VERSIONS if data else 0):
        need = record(need_dtype, at)
        library, place = name(int(need["file"])), at + int(need["aux"])
        for _ in range(int(need["count"])):
            entry = record(aux_dtype, place)
            out.append(f"{library}:{name(int(entry['name']))}")
            if len(out) > MAX_VERSIONS:
                raise elf.malformed(start, f"more than {MAX_VERSIONS} needed versions")
            place += int(entry["next"])
        if not need["next"]:
            break
        at += int(need["next"])
    return out


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
