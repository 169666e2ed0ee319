"""What a file says of how it was made, for tests that compare real builds: comments, versions, segments, bytes.

Owns the reading of .comment, .gnu.version_r and program headers into ``FileTraits``.
"""

from __future__ import annotations

import numpy as np

from elfscan.elf import ElfFile, map_file
from sharing.model.comparison import FileTraits, SegmentTrait

PT_LOAD, PT_INTERP = 1, 3
VERNEED_DTYPE = np.dtype([("version", "<u2"), ("count", "<u2"), ("file", "<u4"), ("aux", "<u4"), ("next", "<u4")])
VERNAUX_DTYPE = np.dtype([("hash", "<u4"), ("flags", "<u2"), ("other", "<u2"), ("name", "<u4"), ("next", "<u4")])


def read_traits(path: str) -> FileTraits:
    data = map_file(path)
    elf = ElfFile(path, data)
    loads = elf.segments[elf.segments["type"] == PT_LOAD]
    interpreters = elf.segments[elf.segments["type"] == PT_INTERP]
    return FileTraits(
        comments=tuple(t.decode() for t in dict.fromkeys(_section(elf, ".comment").split(b"\0")) if t),
        versions=tuple(sorted(_versions(_section(elf, ".gnu.version_r"), _section(elf, ".dynstr")))),
        segments=tuple(
            SegmentTrait(_flags(int(s["flags"])), int(s["address"]), int(s["size"]), int(s["align"])) for s in loads
        ),
        interpreter="".join(
            elf.bytes_at(int(s["offset"]), int(s["file_size"]), "interpreter").tobytes().rstrip(b"\0").decode()
            for s in interpreters
        ),
        code=memoryview(data.data),
    )


def _section(elf: ElfFile, name: str) -> bytes:
    if name not in elf.section_names:
        return b""
    header = elf.sections[elf.section_names.index(name)]
    return elf.bytes_at(int(header["offset"]), int(header["size"]), name).tobytes()


def _flags(bits: int) -> str:
    return "".join(letter for bit, letter in ((4, "R"), (2, "W"), (1, "X")) if bits & bit)


def _versions(data: bytes, strings: bytes) -> list[str]:
    """``library:version`` of every needed version."""

    def text(offset: int) -> str:
        return strings[offset : strings.index(b"\0", offset)].decode()

    out: list[str] = []
    at = 0
    while data:
        need = np.frombuffer(data, VERNEED_DTYPE, 1, at)[0]
        aux = at + int(need["aux"])
        for _ in range(int(need["count"])):
            entry = np.frombuffer(data, VERNAUX_DTYPE, 1, aux)[0]
            out.append(f"{text(int(need['file']))}:{text(int(entry['name']))}")
            aux += int(entry["next"])
        if not need["next"]:
            break
        at += int(need["next"])
    return out
