"""Line programs of debug information (``elfscan.debug.linetable``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from elfscan.debug.linetable import FORM_LINE_STRP, FORM_STRP, LinePrograms
from fuzz.python.engine.target import Target

# A unit of DWARF 4 with one file, and one of DWARF 5 with names in place: a few rows each.
_PROGRAM = b"\0\x09\x02" + (0x1000).to_bytes(8, "little") + b"\x13\x84\x02\x08\x01\x4b\x02\x02\0\x01\x01"
_LENGTHS = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1))
_OLD = b"\x01\x01\x01\xfb\x0e\x0d" + _LENGTHS + b"inc\0\0a.c\0\x01\0\0\0"
_NEW = b"\x01\x01\x01\xfb\x0e\x0d" + _LENGTHS + b"\x01\x01\x08\x01/w\0\x02\x01\x08\x02\x0b\x01a.c\0\0"


def _unit(version: int, between: bytes, tables: bytes) -> bytes:
    body = version.to_bytes(2, "little") + between + len(tables).to_bytes(4, "little") + tables + _PROGRAM
    return len(body).to_bytes(4, "little") + body


def one(data: bytes) -> None:
    LinePrograms(data, True, {FORM_STRP: data, FORM_LINE_STRP: data}).read()


TARGET = Target(
    "line programs",
    one,
    lambda: (_unit(4, b"", _OLD), _unit(5, b"\x08\0", _NEW), _unit(4, b"", _OLD) + _unit(5, b"\x08\0", _NEW)),
    (b"\0\x01\x01", b"\0\x09\x02", _PROGRAM),
)
