"""Compressed records of perf.data: the input is what they hold, or the stream itself.

Owns the packing.  The first byte chooses which, and the type of the record.
"""

from __future__ import annotations

from collections.abc import Iterable

import zstandard

from fuzz.python.engine.target import Target, input_file
from fuzz.python.perf_data import small, used
from pmu.perfdata import reader as perfdata
from tests.builders.perfdata import Builder

_COMPRESSED, _COMPRESSED2 = 81, 83
_RAW, _PADDED = 1, 2


def _seeds() -> Iterable[bytes]:
    records = b"".join(small().records)
    yield b"\0" + records
    yield b"\2" + records
    yield b"\1" + zstandard.ZstdCompressor().compress(records)
    yield b"\3" + zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))


def one(data: bytes) -> None:
    if not data:
        return
    packed = data[1:] if data[0] & _RAW else zstandard.ZstdCompressor(level=1).compress(data[1:])
    builder = Builder(small().attrs)
    for at in range(0, len(packed), 4000):
        part = packed[at : at + 4000]
        if data[0] & _PADDED:
            builder.add(_COMPRESSED2, builder.words(len(part)) + part.ljust(len(part) + 7 & ~7, b"\0"))
        else:
            builder.add(_COMPRESSED, part)
    used(perfdata.read(input_file(builder.file())))


TARGET = Target("perf.data, compressed records", one, _seeds, (b"\x28\xb5\x2f\xfd",))
