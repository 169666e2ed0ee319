"""The records of ELF headers as numpy types: as a file holds them, and as linemate keeps them.

Owns the fields of the header, section headers and program headers of both classes and byte orders (gABI).  Reads
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

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


def header_dtype(bits: int, order: str) -> np.dtype[Any]:
    """The ELF header; ``order`` is "<" or ">"."""
    half, full, word = f"{order}u2", f"{order}u4", f"{order}u{bits // 8}"
    return np.dtype(
        [
            ("ident", "u1", 16),
            ("type", half),
            ("machine", half),
            ("version", full),
            ("entry", word),
            ("phoff", word),
            ("shoff", word),
            ("flags", full),
            ("ehsize", half),
            ("phentsize", half),
            ("phnum", half),
            ("shentsize", half),
            ("shnum", half),
            ("shstrndx", half),
        ]
    )


def section_dtype(bits: int, order: str) -> np.dtype[Any]:
    """One section header."""
    full, word = f"{order}u4", f"{order}u{bits // 8}"
    return np.dtype(
        [
            ("name", full),
            ("type", full),
            ("flags", word),
            ("address", word),
            ("offset", word),
            ("size", word),
            ("link", full),
            ("info", full),
            ("align", word),
            ("entry_size", word),
        ]
    )


def segment_dtype(bits: int, order: str) -> np.dtype[Any]:
    """One program header."""
    full, word = f"{order}u4", f"{order}u{bits // 8}"
    body = [("offset", word), ("address", word), ("physical", word), ("file_size", word), ("size", word)]
    if bits == 64:
        return np.dtype([("type", full), ("flags", full), *body, ("align", word)])
    return np.dtype([("type", full), *body, ("flags", full), ("align", word)])
