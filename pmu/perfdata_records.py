"""Blocks of perf.data records → the builder: mappings, threads, samples, losses.

Owns what each record type means.  Does not find records (``perfdata_stream``) and does not lay out samples
(``perfdata_samples``).
"""

from __future__ import annotations

import mmap
import struct
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pmu.perfdata_header import MAX_ATTRS, Descriptions, Source, parse_build_id, read_feature
from pmu.perfdata_samples import decode, id_position
from pmu.perfdata_stream import Block
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
from pmu.samplesbuilder import Builder
from sharing.model.addressspaces import KERNEL_PID
from sharing.model.errors import Malformed
from sharing.model.samples import Mode

Table = npt.NDArray[Any]
Positions = npt.NDArray[np.int64]

TRAILER = Sample.TID | Sample.TIME | Sample.ID | Sample.STREAM_ID | Sample.CPU | Sample.IDENTIFIER
MAX_COPIED_BYTES = 1 << 26
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


class RegisterPool:
    """Where sampled registers are: in the mapped file if they can be, else copied, to a file of our own if many."""

    def __init__(self, mapped_words: int, mapped_offset: int) -> None:
        self._mapped_words = mapped_words
        self._mapped_offset = mapped_offset  # of the first mapped word
        self._copies: list[bytes] = []
        self._copied_words = 0
        self._spilled: IO[bytes] | None = None

    def place(self, positions: Positions, block: Block, mask: int) -> Positions:
        """Positions of the whole profile for positions in a block; -1 stays."""
        if block.mapped and block.file_offset is not None and (block.file_offset - self._mapped_offset) % 8 == 0:
            shift = (block.file_offset - self._mapped_offset) // 8
            return np.where(positions >= 0, positions + shift, -1)
        here = positions >= 0
        count = mask.bit_count()
        values = block.words[positions[here, None] + np.arange(count)]
        out = np.full(len(positions), -1, np.int64)
        out[here] = self._mapped_words + self._copied_words + count * np.arange(len(values))
        self._copies.append(values.tobytes())
        self._copied_words += values.size
        if 8 * self._copied_words > MAX_COPIED_BYTES:
            self._spill()
        return out

    def dense(self) -> npt.NDArray[np.uint64]:
        if self._spilled is None:
            return np.frombuffer(b"".join(self._copies), np.uint64)
        self._spill()
        self._spilled.flush()
        with self._spilled as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint64)

    def _spill(self) -> None:
        if self._spilled is None:
            self._spilled = tempfile.TemporaryFile(prefix="linemate-registers-")  # noqa: SIM115 — outlives this call
        self._spilled.writelines(self._copies)
        self._copies = []


@dataclass(slots=True)
class Session:
    """The state that records change."""

    source: Source
    about: Descriptions
    builder: Builder
    pool: RegisterPool
    attrs: list[Attr] = field(default_factory=list)
    ids: dict[int, int] = field(default_factory=dict)
    records: Counter[int] = field(default_factory=Counter)
    unknown_events: int = 0
    malformed: int = 0
    lost_records: int = 0
    lost_samples: int = 0
    throttled: int = 0
    _seen: int = 0  # records of earlier blocks
    _known: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]] | None = None

    def add_event(self, attr: Attr, ids: tuple[int, ...]) -> None:
        if len(self.attrs) >= MAX_ATTRS:
            raise Malformed(self.source.path, None, f"more than {MAX_ATTRS} events")
        self.ids.update(dict.fromkeys(ids, len(self.attrs)))
        self.attrs.append(attr)
        self._known = None

    @property
    def timeless(self) -> bool:
        """Nothing has a time: then the number of the record stands for it."""
        return not any(attr.sample_type & Sample.TIME for attr in self.attrs)

    def take(self, block: Block) -> None:
        """All records of a block.  Descriptions come first: samples of the same block may need them."""
        kinds = _distinct(block.types)
        for kind, count in kinds.items():
            self.records[kind] += count
        for kind in DESCRIBING:
            if kind in kinds:
                for at in np.flatnonzero(block.types == kind).tolist():
                    self._describe(kind, block, at)
        samples = block.types == Record.SAMPLE
        heads, times = self._samples(block, samples)
        other = np.flatnonzero(~samples)
        self._others(block, other[np.isin(block.types[other], TELLING)], heads, times)
        self._seen += len(block.heads)

    # Samples

    def _samples(self, block: Block, which: npt.NDArray[np.bool_]) -> tuple[Positions, npt.NDArray[np.uint64]]:
        """Stores the samples; where they are and when they were, for records that carry no time."""
        heads = block.heads[which]
        if not len(heads):
            return heads, np.zeros(0, np.uint64)
        if not self.attrs:
            self.unknown_events += len(heads)
            return heads[:0], np.zeros(0, np.uint64)
        events = self._events(block, heads, block.lengths[which])
        misc, lengths = block.misc[which], block.lengths[which]
        layouts: dict[tuple[int, ...], list[int]] = {}
        several = len(self.attrs) > 1
        for number in np.unique(events[events >= 0]).tolist() if several else [0]:
            layouts.setdefault(self._layout(number), []).append(number)
        if len(layouts) == 1 and (events >= 0).all():
            room = self.builder.store.reserve(len(heads))
            rows, sound = self._decoded(block, heads, lengths, misc, events, room)
            if len(rows) < len(room):
                room[: len(rows)] = rows
                room[len(rows) :] = 0
            self.builder.store.keep(len(rows))
            return heads[sound], rows["time"].copy()
        parts, order = [], []
        for members in layouts.values():
            mine = np.flatnonzero(np.isin(events, members))
            rows, sound = self._decoded(block, heads[mine], lengths[mine], misc[mine], events[mine])
            parts.append(rows)
            order.append(mine[sound])
        self.unknown_events += int((events < 0).sum())
        if not parts:
            return heads[:0], np.zeros(0, np.uint64)
        at = np.concatenate(order)
        by_file = np.argsort(at)
        rows = np.concatenate(parts)[by_file]
        self.builder.store.append(rows)
        return heads[at[by_file]], rows["time"]

    def _layout(self, number: int) -> tuple[int, ...]:
        attr = self.attrs[number]
        return (*attr.layout, 0 if attr.sample_type & Sample.PERIOD else attr.period)

    def _decoded(
        self,
        block: Block,
        heads: Positions,
        lengths: Positions,
        misc: Positions,
        events: Positions,
        into: Table | None = None,
    ) -> tuple[Table, npt.NDArray[np.bool_]]:
        attr = self.attrs[int(events[0])]
        out = decode(block.words, heads, lengths, misc, attr, big_endian=self.source.big_endian, into=into)
        rows = out.rows
        rows["event"] = events
        if self.timeless:
            rows["time"] = self._seen + np.searchsorted(block.heads, heads)
        if not out.sound.all():
            self.malformed += int((~out.sound).sum())
            rows = rows[out.sound]
        if attr.sample_type & Sample.REGS_INTR:
            rows["regs_intr"] = self.pool.place(rows["regs_intr"], block, attr.regs_intr)
        if attr.sample_type & Sample.REGS_USER:
            rows["regs_user"] = self.pool.place(rows["regs_user"], block, attr.regs_user)
        return rows, out.sound

    def _events(self, block: Block, heads: Positions, lengths: Positions) -> Positions:
        """Which event each sample is of, -1 where its id is nobody's."""
        where = id_position(self.attrs[0].sample_type)
        if len(self.attrs) == 1 or where is None:
            # As perf does: without ids, every sample is the first event's.
            return np.zeros(len(heads), np.int64)
        if self._known is None:
            ids = np.array(sorted(self.ids), np.uint64)
            self._known = ids, np.array([self.ids[i] for i in ids.tolist()], np.int64)
        ids, rows = self._known
        value = block.words.take(heads + 1 + where, mode="clip")
        value = np.where(lengths > where + 1, value, np.uint64((1 << 64) - 1))
        if not len(ids):
            return np.where(value == 0, 0, -1)
        at = np.minimum(np.searchsorted(ids, value), len(ids) - 1)
        return np.where(ids[at] == value, rows[at], np.where(value == 0, 0, -1))

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
            name, build_id = parse_build_id(record, int(block.misc[at]))
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

    def _others(self, block: Block, which: Positions, heads: Positions, times: npt.NDArray[np.uint64]) -> None:
        trailer, time_at = self._trailer()
        for at in which.tolist():
            kind, misc = int(block.types[at]), int(block.misc[at])
            record = self._bytes(block, at)
            body = len(record) - trailer
            if body < 16:
                self.malformed += 1
                continue
            if self.timeless:
                time = self._seen + at
            elif time_at is None:
                before = int(np.searchsorted(heads, block.heads[at])) - 1
                time = int(times[before]) if before >= 0 else 0
            else:
                (time,) = struct.unpack_from((">" if self.source.big_endian else "<") + "Q", record, body + time_at)
            try:
                self._other(kind, misc, record[:body], time)
            except struct.error:
                self.malformed += 1

    def _trailer(self) -> tuple[int, int | None]:
        """Bytes of what is appended to records that are no samples, and where in it the time is."""
        if not self.attrs or not self.attrs[0].sample_id_all:
            return 0, None
        kind = self.attrs[0].sample_type
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
                self.builder.fork(time if self.timeless else own_time, pid, parent, tid, parent_tid, inherits=inherits)
            case Record.LOST:
                self.lost_records += struct.unpack_from(order + "QQ", record, 8)[1]
            case Record.LOST_SAMPLES:
                self.lost_samples += struct.unpack_from(order + "Q", record, 8)[0]
            case Record.THROTTLE:
                self.throttled += 1

    def _map(self, kind: int, misc: int, record: bytes, time: int, order: str) -> None:
        pid, _, start, size, pgoff = struct.unpack_from(order + "iiQQQ", record, 8)
        device, inode, build_id, protection, name_at = (0, 0), (0, 0), "", 0, 40
        if kind == Record.MMAP2:
            name_at = 72
            protection = struct.unpack_from(order + "I", record, 64)[0]
            if misc & MISC_MMAP_BUILD_ID:
                build_id = record[44 : 44 + min(record[40], 20)].hex()
            else:
                *device_, number, generation = struct.unpack_from(order + "IIQQ", record, 40)
                device, inode = (device_[0], device_[1]), (number, generation)
        mode = misc & MISC_CPUMODE
        if mode in (Mode.GUEST_KERNEL, Mode.GUEST_USER):
            return
        done = self.builder.map(
            time,
            pid,
            start,
            size,
            pgoff,
            _text(record[name_at:]),
            device=device,
            inode=inode,
            protection=protection,
            build_id=build_id,
            data=bool(misc & MISC_MMAP_DATA),
            kernel=pid == KERNEL_PID or mode == Mode.KERNEL,
        )
        self.malformed += not done

    def _bytes(self, block: Block, at: int) -> bytes:
        first = 8 * int(block.heads[at])
        return bytes(block.raw[first : first + 8 * int(block.lengths[at])])


def _distinct(types: npt.NDArray[np.int64]) -> dict[int, int]:
    """How often each record type occurs."""
    if int(types.max()) < 1 << 10:
        counts = np.bincount(types)
        kinds = np.flatnonzero(counts)
        return dict(zip(kinds.tolist(), counts[kinds].tolist(), strict=True))
    kinds, counts = np.unique(types, return_counts=True)
    return dict(zip(kinds.tolist(), counts.tolist(), strict=True))


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")
