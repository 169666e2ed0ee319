"""Bytes taken for sampled code (``elfscan.operands``).  Owns the code that the target starts with.

The first byte chooses the architecture; every address of the rest is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elfscan.operands import direct_targets, read_operands
from fuzz.python.engine.target import Target

_START = 0x401000
_ARCHITECTURES = ("x86-64", "aarch64")
_X86 = bytes.fromhex(
    "554889e5488b45f0f0ff0548010000488d0c85000000008b0c8881f90001000075ede8000000007406648b042528000000b8ca000000"
    "bf01000000be800000000f05f390eb9e5dc3"
)
_ARM = bytes.fromhex("fd7bbfa9fd030091200040f9017ca8c8a1ffffb4600240b91f04007120f8ff54e8031801010000d4fd7bc1a8c0035fd6")


def _seeds() -> Iterable[bytes]:
    yield b"\0" + _X86
    yield b"\1" + _ARM


def one(data: bytes) -> None:
    if len(data) < 2:
        return
    architecture, code = _ARCHITECTURES[data[0] & 1], data[1:]
    step = 1 if architecture == "x86-64" else 4
    ips = np.arange(_START, _START + len(code), step, dtype=np.uint64)
    extents = [(_START, len(code))]

    def read(start: int, end: int) -> bytes:
        return code[start - _START : end - _START]

    starts, ends = np.array([_START], np.uint64), np.array([_START + len(code)], np.uint64)
    points, operands = read_operands(architecture, ips, starts, ends, read)
    assert len(points) == len(ips)
    assert (operands["point"] < len(points)).all()
    direct_targets(architecture, extents, read)


TARGET = Target("instructions around samples", one, _seeds, max_bytes=256)
