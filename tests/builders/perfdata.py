"""Makes perf.data files record by record: any attributes, either byte order, as a file or a pipe, compressed, broken.

Owns the bytes of the format as a writer sees them, apart from the reader's constants, so that an error in one of them
shows.  Source: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# PERF_SAMPLE_*
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK = (1 << n for n in range(12))
REGS_USER, STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR = (1 << n for n in range(12, 19))
PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT = (1 << n for n in range(19, 25))

# union perf_mem_data_src: operation, level, snoop, lock, level number, remote, snoop extension
LOAD, STORE = 2, 4
HIT, MISS, L1, L3 = 2 << 5, 4 << 5, 8 << 5, 0x40 << 5
HITM = 0x10 << 19
LOCKED = 2 << 24
REMOTE = 1 << 37
PEER = 2 << 38

SAMPLE_ID_ALL = 1 << 18
USER = 2


@dataclass
class Attr:
    type: int = 1
    config: int = 0
    sample_type: int = IP | TID | TIME
    ids: Sequence[int] = ()
    period: int = 1
    read_format: int = 0
    flags: int = SAMPLE_ID_ALL
    branch: int = 0
    regs_user: int = 0
    regs_intr: int = 0
    config1: int = 0
    clock: int = 0
    size: int = 128


@dataclass
class Builder:
    """Records in order; ``file`` and ``pipe`` make the bytes."""

    attrs: list[Attr]
    big: bool = False
    records: list[bytes] = field(default_factory=list)
    features: dict[int, bytes] = field(default_factory=dict)

    def pack(self, layout: str, *values: int) -> bytes:
        return struct.pack((">" if self.big else "<") + layout, *values)

    def words(self, *values: int) -> bytes:
        return self.pack(f"{len(values)}Q", *(v & 0xFFFFFFFFFFFFFFFF for v in values))

    def record(self, kind: int, body: bytes = b"", misc: int = 0) -> bytes:
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def add(self, kind: int, body: bytes = b"", misc: int = 0) -> None:
        self.records.append(self.record(kind, body, misc))

    def text(self, value: str) -> bytes:
        raw = value.encode() + b"\0"
        return raw.ljust(len(raw) + 7 & ~7, b"\0")

    def trailer(self, attr: Attr, pid: int, tid: int, time: int) -> bytes:
        if not attr.flags & SAMPLE_ID_ALL:
            return b""
        kind = attr.sample_type
        parts = [
            (TID, self.pack("ii", pid, tid)),
            (TIME, self.words(time)),
            (ID, self.words(attr.ids[0] if attr.ids else 0)),
            (STREAM_ID, self.words(0)),
            (CPU, self.pack("II", 0, 0)),
            (IDENTIFIER, self.words(attr.ids[0] if attr.ids else 0)),
        ]
        return b"".join(part for bit, part in parts if kind & bit)

    def mmap2(
        self, pid: int, start: int, size: int, pgoff: int, path: str, *, time: int = 0, misc: int = USER, inode: int = 7
    ) -> None:
        body = self.pack("iiQQQIIQQII", pid, pid, start, size, pgoff, 8, 1, inode, 3, 5, 2) + self.text(path)
        self.add(10, body + self.trailer(self.attrs[0], pid, pid, time), misc)

    def mmap(self, pid: int, start: int, size: int, pgoff: int, path: str, *, time: int = 0, misc: int = USER) -> None:
        body = self.pack("iiQQQ", pid, pid, start, size, pgoff) + self.text(path)
        self.add(1, body + self.trailer(self.attrs[0], pid, pid, time), misc)

    def comm(self, pid: int, tid: int, name: str, *, time: int = 0, executed: bool = False) -> None:
        body = self.pack("ii", pid, tid) + self.text(name)
        self.add(3, body + self.trailer(self.attrs[0], pid, tid, time), executed << 13)

    def fork(self, pid: int, parent: int, tid: int, parent_tid: int, *, time: int = 0, misc: int = 0) -> None:
        body = self.pack("iiiiQ", pid, parent, tid, parent_tid, time)
        self.add(7, body + self.trailer(self.attrs[0], pid, tid, time), misc)

    def lost(self, count: int) -> None:
        self.add(2, self.words(0, count) + self.trailer(self.attrs[0], 0, 0, 0))

    def other(self, kind: int, *, time: int = 0) -> None:
        """A record that the kernel writes about itself, by type: include/uapi/linux/perf_event.h."""
        bodies = {
            16: self.pack("IIQ", 5, 5, 1) + self.words(4, 0xF0000000),  # NAMESPACES: pid, tid, count, (dev, inode)
            17: self.words(0xFFFF_FFFF_C000_0000) + self.pack("IHH", 64, 1, 0) + self.text("bpf_prog_1"),  # KSYMBOL
            18: self.pack("HHI", 1, 0, 7) + b"\x12" * 8,  # BPF_EVENT: type, flags, id, tag
            19: self.words(1) + self.text("/system.slice"),  # CGROUP
            20: self.words(0xFFFF_FFFF_8100_0000)
            + self.pack("HH", 5, 5)
            + b"\x90" * 12,  # TEXT_POKE: old and new bytes
        }
        self.add(kind, bodies[kind] + self.trailer(self.attrs[0], 5, 5, time))

    def sample(self, which: int = 0, misc: int = USER, **has: int | Sequence[int] | bytes) -> None:
        """A sample of an event; what ``has`` does not give is 0.  Lists: callchain, branches, counts, registers."""
        self.add(9, self.sample_body(self.attrs[which], **has), misc)

    def sample_body(self, attr: Attr, **has: int | Sequence[int] | bytes) -> bytes:
        def number(name: str) -> int:
            value = has.get(name, 0)
            assert isinstance(value, int)
            return value

        def numbers(name: str) -> list[int]:
            value = has.get(name, ())
            assert not isinstance(value, int)
            return list(value)

        def registers(name: str, mask: int) -> bytes:
            if not (values := numbers(name)):
                return self.words(0)
            assert len(values) == mask.bit_count()
            return self.words(number("abi") or 2, *values)

        event_id = number("id") or (attr.ids[0] if attr.ids else 0)
        raw, stack, aux = (bytes(numbers(name)) for name in ("raw", "stack", "aux"))
        copied = number("copied") or len(stack)
        chain, branches = numbers("callchain"), numbers("branches")
        raw += bytes(-(len(raw) + 4) % 8)
        extra = 1 if attr.branch & 1 << 17 else 0
        parts: list[tuple[int, Callable[[], bytes]]] = [
            (IDENTIFIER, lambda: self.words(event_id)),
            (IP, lambda: self.words(number("ip"))),
            (TID, lambda: self.pack("ii", number("pid"), number("tid"))),
            (TIME, lambda: self.words(number("time"))),
            (ADDR, lambda: self.words(number("addr"))),
            (ID, lambda: self.words(event_id)),
            (STREAM_ID, lambda: self.words(99)),
            (CPU, lambda: self.pack("II", number("cpu"), 0)),
            (PERIOD, lambda: self.words(number("period"))),
            (READ, lambda: self.words(*numbers("counts"))),
            (CALLCHAIN, lambda: self.words(len(chain), *chain)),
            (RAW, lambda: self.pack("I", len(raw)) + raw),
            (BRANCH_STACK, lambda: self.words(len(branches) // 3, *([5] * extra), *branches)),
            (REGS_USER, lambda: registers("user", attr.regs_user)),
            (STACK_USER, lambda: self.words(len(stack)) + (stack + self.words(copied) if stack else b"")),
            (WEIGHT, lambda: self.words(number("weight"))),
            (
                WEIGHT_STRUCT,
                lambda: self.words(number("weight") | number("latency") << 32 | number("stage") << 48),
            ),
            (DATA_SRC, lambda: self.words(number("data_src"))),
            (TRANSACTION, lambda: self.words(77)),
            (REGS_INTR, lambda: registers("intr", attr.regs_intr)),
            (PHYS_ADDR, lambda: self.words(number("phys_addr"))),
            (CGROUP, lambda: self.words(88)),
            (DATA_PAGE_SIZE, lambda: self.words(4096)),
            (CODE_PAGE_SIZE, lambda: self.words(4096)),
            (AUX, lambda: self.words(len(aux)) + aux),
        ]
        return b"".join(make() for bit, make in parts if attr.sample_type & bit)

    def compress(self, *, odd: bool = False) -> None:
        """Puts all records so far into compressed ones of one stream, as perf record -z does."""
        import zstandard

        stream = zstandard.ZstdCompressor().compressobj()
        out = []
        data = b"".join(self.records)
        for at in range(0, len(data), 1000):  # records are cut anywhere
            packed = stream.compress(data[at : at + 1000]) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            if odd or len(packed) % 8 == 0:
                out.append(self.record(81, packed))
            else:
                padded = packed.ljust(len(packed) + 7 & ~7, b"\0")
                out.append(self.record(83, self.words(len(packed)) + padded))
        self.records = out

    def attr_bytes(self, attr: Attr) -> bytes:
        flags = int(f"{attr.flags:064b}"[::-1], 2) if self.big else attr.flags
        body = self.pack("II", attr.type, attr.size)
        body += self.words(attr.config, attr.period, attr.sample_type, attr.read_format, flags)
        body += self.pack("II", 0, 0) + self.words(attr.config1, 0, attr.branch, attr.regs_user)
        body += self.pack("Ii", 0, attr.clock) + self.words(attr.regs_intr)
        return body.ljust(attr.size, b"\0")[: attr.size]

    def string(self, value: str) -> bytes:
        raw = self.text(value)
        return self.pack("I", len(raw)) + raw

    def file(self) -> bytes:
        size = max(attr.size for attr in self.attrs)
        ids = [self.words(*attr.ids) for attr in self.attrs]
        at, attrs = 104 + sum(map(len, ids)), b""
        ids_at = 104
        for attr, own in zip(self.attrs, ids, strict=True):
            attrs += self.attr_bytes(attr).ljust(size, b"\0") + self.words(ids_at, len(own))
            ids_at += len(own)
        data = b"".join(self.records)
        data_at = at + len(attrs)
        bitmap = sum(1 << bit for bit in self.features)
        header = self.magic() + self.words(104, size + 16, at, len(attrs), data_at, len(data), 0, 0)
        header += self.words(*(bitmap >> 64 * n & 0xFFFFFFFFFFFFFFFF for n in range(4)))
        table, bodies = b"", b""
        feature_at = data_at + len(data) + 16 * len(self.features)
        for bit in sorted(self.features):
            table += self.words(feature_at + len(bodies), len(self.features[bit]))
            bodies += self.features[bit]
        return header + b"".join(ids) + attrs + data + table + bodies

    def pipe(self) -> bytes:
        out = self.magic() + self.words(16)
        for attr in self.attrs:
            out += self.record(64, self.attr_bytes(attr) + self.words(*attr.ids))
        for bit, body in sorted(self.features.items()):
            out += self.record(80, self.words(bit) + body)  # of any length, as perf's
        return out + b"".join(self.records)

    def magic(self) -> bytes:
        return b"2ELIFREP" if self.big else b"PERFILE2"
