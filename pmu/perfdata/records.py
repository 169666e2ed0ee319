"""Blocks of perf.data records → the builder: mappings, threads, samples, losses.

Owns what each record type means.  Does not find records (``pmu.perfdata.stream``) and does not lay out samples
(``pmu.perfdata.samples``).
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from pmu.perfdata.header import MAX_ATTRS, Descriptions, Source, parse_build_id, read_feature
from pmu.perfdata.recordstarts import Positions, Words
from pmu.perfdata.sink import Batch, Sink
from pmu.perfdata.stream import Block
from pmu.perfevent import (
    ATTR_MIN_BYTES,
    MISC_COMM_EXEC,
    MISC_CPUMODE,
    MISC_FORK_EXEC,
    MISC_MMAP_BUILD_ID,
    MISC_MMAP_DATA,
    Attr,
    Record,
    Sample,
    parse_attr,
)
from pmu.samplesbuilder import Builder, MappingDetails
from sharing.model.addressspaces import KERNEL_PID
from sharing.model.errors import Malformed
from sharing.model.samples import Mode

TRAILER = Sample.TID | Sample.TIME | Sample.ID | Sample.STREAM_ID | Sample.CPU | Sample.IDENTIFIER
UPDATE_NAME = 2  # PERF_EVENT_UPDATE__NAME
TELLING = [
    Record.MMAP,
    Record.MMAP2,
    Record.COMM,
    Record.FORK,
    Record.LOST,
    Record.LOST_SAMPLES,
    Record.THROTTLE,
]
DESCRIBING = (Record.HEADER_ATTR, Record.EVENT_UPDATE, Record.HEADER_FEATURE, Record.HEADER_BUILD_ID)
# mmap(2): how a mapping is shared, in the low bits of its flags; MAP_SHARED and MAP_SHARED_VALIDATE.
MAP_TYPE, MAP_SHARED = 0xF, (1, 3)
DUMP_ENDS = ".dump"  # a runtime maps its dump so that perf hears of it


@dataclass(slots=True)
class Session:
    """The state that records change."""

    source: Source
    about: Descriptions
    builder: Builder
    sink: Sink
    records: Counter[int] = field(default_factory=Counter)
    malformed: int = 0  # records other than samples
    lost_records: int = 0
    lost_samples: int = 0
    throttled: int = 0
    dumps: dict[int, str] = field(default_factory=dict)  # of code made at run time, by process
    _seen: int = 0  # records of earlier blocks

    def add_event(self, attr: Attr, ids: tuple[int, ...]) -> None:
        if len(self.sink.attrs) >= MAX_ATTRS:
            raise Malformed(self.source.path, None, f"more than {MAX_ATTRS} events")
        self.sink.add_event(attr, ids)

    def take(self, block: Block) -> None:
        """All records of a block.  Descriptions come first: samples of the same block may need them."""
        samples = block.types == Record.SAMPLE
        other = np.flatnonzero(~samples)
        types = block.types[other]
        self.records[Record.SAMPLE] += len(samples) - len(other)
        kinds = _distinct(types)
        for kind, count in kinds.items():
            self.records[kind] += count
        for kind in DESCRIBING:
            if kind in kinds:
                for at in other[types == kind].tolist():
                    self._describe(kind, block, at)
        if not len(other):
            self.sink.take(Batch(block, block.heads, block.lengths, block.headers, self._seen))
        elif len(other) < len(samples):
            heads, lengths, headers = block.heads[samples], block.lengths[samples], block.headers[samples]
            self.sink.take(Batch(block, heads, lengths, headers, self._seen))
        self._others(block, other[np.isin(types, TELLING)])
        self._seen += len(block.heads)

    # Descriptions

    def _describe(self, kind: int, block: Block, at: int) -> None:
        record = self._bytes(block, at)
        order = ">" if self.source.big_endian else "<"
        offset = 8 * int(block.heads[at]) + (block.file_offset or 0)
        if kind == Record.HEADER_ATTR and len(record) >= 8 + ATTR_MIN_BYTES:
            (size,) = struct.unpack_from(order + "I", record, 12)
            size = size if ATTR_MIN_BYTES <= size <= len(record) - 8 else ATTR_MIN_BYTES
            attr = parse_attr(record[8 : 8 + size], big_endian=self.source.big_endian)
            rest = record[8 + size :]
            self.add_event(attr, struct.unpack(f"{order}{len(rest) // 8}Q", rest[: len(rest) // 8 * 8]))
        elif kind == Record.EVENT_UPDATE and len(record) > 24:
            update, event_id = struct.unpack_from(order + "QQ", record, 8)
            if update == UPDATE_NAME:
                self.about.names[event_id] = _text(record[24:])
        elif kind == Record.HEADER_BUILD_ID and len(record) >= 36:
            name, build_id = parse_build_id(record, block.misc(at))
            self.about.build_ids[name] = build_id
        elif kind == Record.HEADER_FEATURE and len(record) >= 16:
            (bit,) = struct.unpack_from(order + "Q", record, 8)
            try:
                read_feature(self.source, bit, record[16:], offset + 16, self.about)
            except Malformed as error:
                self.about.notes.append(f"feature {bit}: {error.why}")
        else:
            self.malformed += 1

    # Everything else

    def _others(self, block: Block, which: Positions) -> None:
        trailer, time_at = self._trailer()
        timeless = self.sink.timeless
        samples = np.flatnonzero(block.types == Record.SAMPLE) if time_at is None and len(which) else which[:0]
        for at in which.tolist():
            kind, misc = int(block.types[at]), block.misc(at)
            record = self._bytes(block, at)
            body = len(record) - trailer
            if body < 16:
                self.malformed += 1
                continue
            if timeless:
                time = self._seen + at
            elif time_at is None:
                time = self.sink.time(block, samples[: np.searchsorted(samples, at)])
            else:
                (time,) = struct.unpack_from((">" if self.source.big_endian else "<") + "Q", record, body + time_at)
            try:
                self._other(kind, misc, record[:body], time)
            except struct.error:
                self.malformed += 1

    def _trailer(self) -> tuple[int, int | None]:
        """Bytes of what is appended to records that are no samples, and where in it the time is."""
        attrs = self.sink.attrs
        if not attrs or not attrs[0].sample_id_all:
            return 0, None
        kind = attrs[0].sample_type
        time_at = 8 * bool(kind & Sample.TID) if kind & Sample.TIME else None
        return 8 * (kind & TRAILER).bit_count(), time_at

    def _other(self, kind: int, misc: int, record: bytes, time: int) -> None:
        order = ">" if self.source.big_endian else "<"
        match kind:
            case Record.MMAP | Record.MMAP2:
                self._map(kind, misc, record, time, order)
            case Record.COMM:
                pid, tid = struct.unpack_from(order + "ii", record, 8)
                self.builder.comm(time, pid, tid, _text(record[16:]), executed=bool(misc & MISC_COMM_EXEC))
            case Record.FORK:
                pid, parent, tid, parent_tid, own_time = struct.unpack_from(order + "iiiiQ", record, 8)
                inherits = not misc & MISC_FORK_EXEC
                self.builder.fork(
                    time if self.sink.timeless else own_time, pid, parent, tid, parent_tid, inherits=inherits
                )
            case Record.LOST:
                self.lost_records += struct.unpack_from(order + "QQ", record, 8)[1]
            case Record.LOST_SAMPLES:
                self.lost_samples += struct.unpack_from(order + "Q", record, 8)[0]
            case Record.THROTTLE:
                self.throttled += 1

    def _map(self, kind: int, misc: int, record: bytes, time: int, order: str) -> None:
        pid, _, start, size, pgoff = struct.unpack_from(order + "iiQQQ", record, 8)
        device, inode, build_id, protection, sharing, name_at = (0, 0), (0, 0), "", 0, 0, 40
        if kind == Record.MMAP2:
            name_at = 72
            protection, sharing = struct.unpack_from(order + "II", record, 64)
            if misc & MISC_MMAP_BUILD_ID:
                build_id = record[44 : 44 + min(record[40], 20)].hex()
            else:
                *device_, number, generation = struct.unpack_from(order + "IIQQ", record, 40)
                device, inode = (device_[0], device_[1]), (number, generation)
        mode = misc & MISC_CPUMODE
        if mode in (Mode.GUEST_KERNEL, Mode.GUEST_USER):
            return
        details = MappingDetails(
            device=device,
            inode=inode,
            protection=protection,
            shared=sharing & MAP_TYPE in MAP_SHARED,
            build_id=build_id,
            data=bool(misc & MISC_MMAP_DATA),
            kernel=pid == KERNEL_PID or mode == Mode.KERNEL,
        )
        path = _text(record[name_at:])
        done = self.builder.map(time, pid, start, size, pgoff, path, details)
        self.malformed += not done
        if path.endswith(DUMP_ENDS):
            self.dumps[pid] = path

    def _bytes(self, block: Block, at: int) -> bytes:
        first = 8 * int(block.heads[at])
        return bytes(block.raw[first : first + 8 * int(block.lengths[at])])


def _distinct(types: Words) -> dict[int, int]:
    """How often each record type occurs."""
    kinds, counts = np.unique(types, return_counts=True)
    return dict(zip(kinds.tolist(), counts.tolist(), strict=True))


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")
