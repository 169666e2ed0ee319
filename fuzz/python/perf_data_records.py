"""Records of perf.data behind a header that is always sound, so that every mutation reaches them.

Owns that header: the first 17 bytes of the input choose the form of the file and the fields of its samples.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from fuzz.python.engine.target import Target, input_file
from fuzz.python.perf_data import rich, small, used
from pmu.perfdata import reader as perfdata
from tests.builders.perfdata import Attr, Builder

_CHOICE = struct.Struct("<BIIBBBBI")  # form, fields of both events, read format, registers, branches, flags
_BIG, _PIPE, _SECOND, _THINNED, _DESCRIBED = 1, 2, 4, 8, 16


def _seeds() -> Iterable[bytes]:
    for form in range(16):
        builder = small(big=bool(form & _BIG))
        kind = builder.attrs[0].sample_type
        yield _CHOICE.pack(form, kind, kind, 0, 0, 3, 0, 1 << 18) + b"".join(builder.records)
    builder = rich()
    attr = builder.attrs[0]
    yield _CHOICE.pack(0, attr.sample_type, 0, 0xF, 7, 5, 1, 1 << 18) + b"".join(builder.records)


def one(data: bytes) -> None:
    if len(data) < _CHOICE.size:
        return
    form, first, second, reads, user, interrupted, branch, flags = _CHOICE.unpack_from(data)
    fields = {
        "read_format": reads,
        "regs_user": user,
        "regs_intr": interrupted,
        "branch": (branch & 1) << 17 | (branch & 2) << 18,
        "flags": flags,
    }
    attrs = [Attr(sample_type=first, ids=[4], **fields)]
    if form & _SECOND:
        attrs.append(Attr(sample_type=second, ids=[5, 6], **fields))
    builder = Builder(attrs, big=bool(form & _BIG), records=[data[_CHOICE.size :]])
    whole = builder.pipe() if form & _PIPE else builder.file()
    used(perfdata.read(input_file(whole), 2 if form & _THINNED else None))


TARGET = Target("perf.data, records of any sample layout", one, _seeds)
