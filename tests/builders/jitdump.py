"""Makes dumps of code that a program made while it ran, record by record.

Source: tools/perf/Documentation/jitdump-specification.txt.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

X86_64 = 62


@dataclass
class Dump:
    """Records in order; ``file`` makes the bytes."""

    pid: int = 5
    machine: int = X86_64
    big: bool = False
    records: list[bytes] = field(default_factory=list)

    def pack(self, layout: str, *values: int) -> bytes:
        return struct.pack((">" if self.big else "<") + layout, *values)

    def record(self, kind: int, time: int, body: bytes) -> None:
        self.records.append(self.pack("IIQ", kind, 16 + len(body), time) + body)

    def load(self, time: int, address: int, name: str, code: bytes, *, index: int = 0, size: int = -1) -> None:
        size = len(code) if size < 0 else size
        body = self.pack("IIQQQQ", self.pid, self.pid, address, address, size, index)
        self.record(0, time, body + name.encode() + b"\0" + code)

    def move(self, time: int, old: int, new: int, size: int, *, index: int = 0) -> None:
        self.record(1, time, self.pack("IIQQQQQ", self.pid, self.pid, new, old, new, size, index))

    def file(self) -> bytes:
        head = self.pack("IIIIIIQQ", 0x4A695444, 1, 40, self.machine, 0, self.pid, 1, 0)
        return head + b"".join(self.records)
