"""Which linker wrote a file, and how it was asked to: kind of file, relro, binding, hash tables, segments.

Owns what notes, comments, dynamic tags and the order of sections say of the link step.  Does not compare.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from sharing.model.arrays import picked

_NAMED = (
    (re.compile(r"^Linker: .*?LLD (\S+)"), "LLD"),
    (re.compile(r"^mold (\S+)"), "mold"),
    (re.compile(r"^GNU gold (\S+)"), "GNU gold"),
    (re.compile(r"^Linker: (.+)"), ""),
)
_GOLD_NOTE = 4  # NT_GNU_GOLD_VERSION
_BUILD_IDS = {0: "none", 8: "8 bytes (fast)", 16: "16 bytes (md5)", 20: "20 bytes (sha1)", 32: "32 bytes (sha256)"}
# Which section comes before which, as each linker lays them out.  All that a file has both of have to agree.
_ORDERS = (
    ("LLD", ((".dynsym", ".gnu.version"), (".gnu.version", ".gnu.hash"), (".gnu.hash", ".dynstr"))),
    ("GNU gold", ((".dynsym", ".dynstr"), (".dynstr", ".gnu.hash"), (".gnu.hash", ".gnu.version"))),
    ("mold", ((".gnu.hash", ".dynsym"), (".dynsym", ".dynstr"), (".eh_frame", ".text"))),
    ("GNU ld", ((".gnu.hash", ".dynsym"), (".dynsym", ".dynstr"), (".text", ".eh_frame"))),
)


def linker_of(elf: ElfFile, comments: Sequence[str]) -> str:
    """Name and, where it says so, version of the linker; "" where nothing tells.

    LLD and mold leave their names in .comment, gold a note; GNU ld leaves none, but orders sections in its own way.
    """
    for comment in comments:
        for pattern, name in _NAMED:
            if found := pattern.match(comment):
                return f"{name} {found[1]}".strip()
    for owner, kind, description in elf.notes():
        if owner == "GNU" and kind == _GOLD_NOTE:
            return f"GNU {description.partition(bytes(1))[0].decode('ascii', 'backslashreplace')}"
    return _by_order([name for name in elf.section_names if name])


def _by_order(sections: Sequence[str]) -> str:
    at = {name: number for number, name in reversed(list(enumerate(sections)))}
    for name, order in _ORDERS:
        known = [(one, other) for one, other in order if one in at and other in at]
        if len(known) == len(order) and all(at[one] < at[other] for one, other in known):
            return name
    return ""


def modes_of(elf: ElfFile) -> dict[str, str]:
    """How the file was linked, by what it is about; empty for files that are not linked."""
    if elf.header.type not in (c.ET_EXEC, c.ET_DYN) or not len(elf.loads):
        return {}
    return {what: said for what, read in _MODES if (said := read(elf))}


def _position(elf: ElfFile) -> str:
    if elf.header.type == c.ET_EXEC:
        return "fixed addresses (no PIE)"
    flags = elf.dynamic.get(c.DT_FLAGS_1, [0])[0]
    interpreter = bool((elf.segments["type"] == c.PT_INTERP).any())
    return "PIE" if flags & c.DF_1_PIE or interpreter else "shared library"


def _linking(elf: ElfFile) -> str:
    # A program that is linked statically and can be loaded anywhere relocates itself, by a dynamic section.
    program = (elf.segments["type"] == c.PT_INTERP).any() or not elf.dynamic.get(c.DT_FLAGS_1, [0])[0] & c.DF_1_PIE
    return "dynamic" if elf.dynamic and (program or elf.dynamic.get(c.DT_NEEDED)) else "static"


def _relro(elf: ElfFile) -> str:
    if not (elf.segments["type"] == c.PT_GNU_RELRO).any():
        return "none"
    return "full" if _now(elf) else "partial"


def _now(elf: ElfFile) -> bool:
    flags, more = (elf.dynamic.get(tag, [0])[0] for tag in (c.DT_FLAGS, c.DT_FLAGS_1))
    return bool(flags & c.DF_BIND_NOW or more & c.DF_1_NOW or c.DT_BIND_NOW in elf.dynamic)


def _binding(elf: ElfFile) -> str:
    return ("now" if _now(elf) else "lazy") if elf.dynamic else ""


def _hash(elf: ElfFile) -> str:
    found = [name for tag, name in ((c.DT_HASH, "sysv"), (c.DT_GNU_HASH, "gnu")) if tag in elf.dynamic]
    return " and ".join(found)


def _relative(elf: ElfFile) -> str:
    return ("packed (RELR)" if c.DT_RELR in elf.dynamic else "one by one") if elf.dynamic else ""


def _segments(elf: ElfFile) -> str:
    return " ".join(_letters(int(flags)) for flags in elf.loads["flags"].tolist())


def _letters(flags: int) -> str:
    return "".join(letter for letter, bit in (("R", c.PF_R), ("W", c.PF_W), ("X", c.PF_X)) if flags & bit)


def _stack(elf: ElfFile) -> str:
    found = picked(elf.segments, elf.segments["type"] == c.PT_GNU_STACK)
    return "executable" if len(found) and int(found[0]["flags"]) & c.PF_X else "not executable"


def _build_id(elf: ElfFile) -> str:
    size = len(elf.build_id or "") // 2
    return _BUILD_IDS.get(size, f"{size} bytes")


_MODES: tuple[tuple[str, Callable[[ElfFile], str]], ...] = (
    ("position", _position),
    ("linking", _linking),
    ("relro", _relro),
    ("binding of functions", _binding),
    ("segments (separate-code)", _segments),
    ("relative relocations", _relative),
    ("hash style", _hash),
    ("stack", _stack),
    ("build-id", _build_id),
)
