"""Code that a program made while it ran, as its runtime dumped it for perf: ``jit-PID.dump``.

Owns finding and reading such a file: names, addresses, times and places of the code in the file.  Layout:
tools/perf/Documentation/jitdump-specification.txt.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sharing.model.guard import map_descriptor
from sharing.model.inputs import NotReadable, open_input

NAME = re.compile(r"jit-\d+\.dump")
MAX_LOADS = 1 << 17  # pieces of code, the first ones
MAX_NAME = 200  # bytes
_MAGIC = 0x4A695444  # "JiTD" in the writer's order of bytes
_HEADER, _PREFIX, _LOAD, _MOVE = "IIIIIIQQ", "IIQ", "IIQQQQ", "IIQQQQQ"
_CODE_LOAD, _CODE_MOVE = 0, 1
_BITS_32 = (3, 8, 40)  # e_machine of i386, MIPS, Arm: registers and pointers of 4 bytes, which nobody decodes here

PIECE_DTYPE = np.dtype([("time", "<u8"), ("address", "<u8"), ("size", "<u8"), ("offset", "<u8"), ("name", "<i4")])


@dataclass(frozen=True, slots=True)
class JitDump:
    """Pieces of code (PIECE_DTYPE) in the order in which they came, and the file that has their bytes."""

    path: Path
    data: mmap.mmap | bytes
    machine: int  # e_machine
    byteorder: str
    pieces: npt.NDArray[np.void]
    names: tuple[str, ...]

    @property
    def bits(self) -> int:
        return 32 if self.machine in _BITS_32 else 64


def find_dump(path: str, profile: Path) -> Path | None:
    """That with the name of ``path``: beside the profile, else where it was mapped; None where none can be read.

    Anybody may write there: a dump of another user than root and us is none, as perf has it.
    """
    if not NAME.fullmatch(os.path.basename(path)):
        return None
    for found in (profile.parent / os.path.basename(path), Path(path)):
        with contextlib.suppress(NotReadable), open_input(found) as file:
            if os.fstat(file.fileno()).st_uid in (0, os.geteuid()):
                return found
    return None


def read_dump(path: Path) -> JitDump | None:
    """All whole records up to the first that makes no sense; None where it is no dump."""
    try:
        with open_input(path) as file:
            if os.fstat(file.fileno()).st_size < struct.calcsize("=" + _HEADER):
                return None
            data = map_descriptor(str(path), file.fileno())
    except NotReadable:
        return None
    order = next((o for o in "<>" if struct.unpack_from(o + "I", data)[0] == _MAGIC), "")
    if not order:
        return None
    _, _, start, machine, *_ = struct.unpack_from(order + _HEADER, data)
    pieces: list[tuple[int, int, int, int, int]] = []
    names: dict[str, int] = {}
    by_index: dict[int, tuple[int, int]] = {}  # where the bytes are, and the name
    prefix = struct.calcsize("=" + _PREFIX)
    at = start
    while prefix <= len(data) - at and len(pieces) < MAX_LOADS:
        kind, size, time = struct.unpack_from(order + _PREFIX, data, at)
        end = at + size
        if size < prefix or end > len(data):
            break
        body = at + prefix
        if kind == _CODE_LOAD and body + struct.calcsize("=" + _LOAD) < end:
            _, _, _, address, length, index = struct.unpack_from(order + _LOAD, data, body)
            name_at = body + struct.calcsize("=" + _LOAD)
            name_end = data.find(b"\0", name_at, end)
            if name_end < 0 or length > end - name_end - 1:
                break
            name = data[name_at : min(name_end, name_at + MAX_NAME)].decode("utf-8", "replace")
            by_index[index] = name_end + 1, names.setdefault(name, len(names))
            pieces.append((time, address, length, *by_index[index]))
        elif kind == _CODE_MOVE and body + struct.calcsize("=" + _MOVE) <= end:
            _, _, _, _, address, length, index = struct.unpack_from(order + _MOVE, data, body)
            if index in by_index and length <= len(data) - by_index[index][0]:
                pieces.append((time, address, length, *by_index[index]))
        at = end
    byteorder = "little" if order == "<" else "big"
    return JitDump(path, data, machine, byteorder, np.array(pieces, PIECE_DTYPE), tuple(names))
