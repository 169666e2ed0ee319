"""Samples of perf.data blocks → the builder's table, on as many processors as help.

Owns which event a sample is of, and the order of work.  Does not lay out samples (``pmu.perfdata.samples``) and
does not look at other records.
"""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np

from pmu.perfdata.recordstarts import Positions, Words
from pmu.perfdata.registers import RegisterPool
from pmu.perfdata.samples import Room, columns_of, decode, id_position, period_of, time_position
from pmu.perfdata.stream import Block
from pmu.perfevent import FLAG_FREQUENCY, Attr, Sample
from pmu.samplesbuilder import SampleStore
from sharing.model.thinning import chosen, kept, level_of

MAX_JOBS = 4  # blocks that wait or are worked on: numpy lets other threads run while it computes
DENSE_IDS = 1 << 16
SMALL_BLOCK = 256  # records that are not worth handing over
NO_ID = np.uint64((1 << 64) - 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of a block: where they are, how long, their headers, and how many records came before the block."""

    block: Block
    heads: Positions
    lengths: Positions
    headers: Words
    before: int
    numbers: Positions | None = None  # among all samples of the file, where only some are kept

    def some(self, which: Positions) -> Batch:
        numbers = None if self.numbers is None else self.numbers[which]
        return Batch(self.block, self.heads[which], self.lengths[which], self.headers[which], self.before, numbers)


@dataclass(frozen=True, slots=True)
class IdTable:
    """Which event an id belongs to."""

    ids: Words  # ascending
    events: Positions
    dense: Positions | None  # by id - ids[0], where ids are close together
    position: int  # of the id in a sample

    @classmethod
    def of(cls, ids: dict[int, int], position: int) -> IdTable:
        keys = np.array(sorted(ids), np.uint64)
        events = np.array([ids[key] for key in keys.tolist()], np.int64)
        dense = None
        if len(keys) and int(keys[-1] - keys[0]) < DENSE_IDS:
            dense = np.full(int(keys[-1] - keys[0]) + 2, -1, np.int64)
            dense[(keys - keys[0]).astype(np.int64)] = events
        return cls(keys, events, dense, position)

    def find(self, words: Words, heads: Positions, lengths: Positions) -> Positions:
        """The event of each sample, -1 where its id is nobody's.  As perf does, id 0 is the first event's."""
        where = heads + (1 + self.position)
        value = words.take(where, mode="clip")
        short = lengths <= self.position + 1
        if short.any():
            value[short] = NO_ID
        if self.dense is not None:
            found = self.dense.take(np.minimum(value - self.ids[0], np.uint64(len(self.dense) - 1)).view(np.int64))
        elif len(self.ids):
            at = np.minimum(np.searchsorted(self.ids, value), len(self.ids) - 1)
            found = np.where(self.ids[at] == value, self.events[at], -1)
        else:
            found = np.full(len(value), -1, np.int64)
        lost = found < 0
        if lost.any():
            found[lost & (value == 0)] = 0
        out: Positions = found
        return out


@dataclass(slots=True)
class Sink:
    """Takes samples in the order of the file.  ``finish`` before anything that it knows changes, and at the end."""

    store: SampleStore
    pool: RegisterPool
    big_endian: bool
    most: int | None = None  # samples that are kept, spread over all; None all
    expected_bytes: int = 0  # of all records, from which a first level is guessed; 0 unknown
    attrs: list[Attr] = field(default_factory=list)
    ids: dict[int, int] = field(default_factory=dict)
    unknown: int = 0  # samples of no event
    malformed: int = 0
    level: int = 0  # each sample that is kept stands for 2**level
    left_out: int = 0  # samples that others stand for; whether they are sound was not looked at
    timeless: bool = True  # nothing has a time: then the number of the record stands for it
    _seen: int = 0  # samples, the ones left out included
    _numbers: list[Positions] = field(default_factory=list)  # of the rows of the store; -1 where a row holds nothing
    _workers: ThreadPoolExecutor | None = None
    _jobs: deque[tuple[int, int, Future[tuple[int, int]]]] = field(default_factory=deque)
    _known: IdTable | None = None
    _wanted: frozenset[str] | None = None

    def __enter__(self) -> Self:
        processors = len(os.sched_getaffinity(0))
        if processors > 1 and self.most is None:
            self._workers = ThreadPoolExecutor(min(processors, MAX_JOBS))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._workers:
            self._workers.shutdown(cancel_futures=True)

    def add_event(self, attr: Attr, ids: tuple[int, ...]) -> None:
        self.finish()
        self.ids.update(dict.fromkeys(ids, len(self.attrs)))
        self.attrs.append(attr)
        self.timeless = self.timeless and not attr.sample_type & Sample.TIME
        self._known = self._wanted = None

    def take(self, batch: Batch) -> None:
        """Stores samples, now or soon."""
        count = len(batch.heads)
        if not self.attrs:
            self.unknown += count
            return
        if self.most is not None:
            self._take_some(batch, self.most)
            return
        if self.store.is_full(count):
            self.finish()  # the table may move
        ids, timeless = self._id_table(), self.timeless
        first, room = self.store.size, self.store.reserve(count, self._columns())
        self.store.keep(count)

        def work() -> tuple[int, int]:
            return self._fill(batch, ids, room, timeless)

        # Registers that are copied have an order.
        if self._workers and batch.block.mapped and count >= SMALL_BLOCK:
            if len(self._jobs) >= MAX_JOBS:
                self._finish_one()
            self._jobs.append((first, count, self._workers.submit(work)))
        else:
            self.finish()
            self._account(first, count, *work())

    def _take_some(self, batch: Batch, most: int) -> None:
        """Stores those of the samples that stand for the others; the others only count."""
        first, count = self._seen, len(batch.heads)
        self._seen += count
        if not first and count:
            # To keep many at first and few in the end would be most of the work.
            expected = self.expected_bytes // (8 * int(batch.lengths.mean()))
            self.level = max(level_of(expected, most) - 1, 0)
        level = max(level_of(self._seen, most), self.level)
        if level != self.level:
            self.level = level
            self._thin_out()
        numbers = chosen(first, self._seen, level)
        ids = self._id_table()
        if ids is not None:
            left = np.ones(count, np.bool_)
            left[numbers - first] = False
            unknown = int(np.sum(ids.find(batch.block.words, batch.heads, batch.lengths)[left] < 0))
            self.unknown += unknown
            self.left_out -= unknown
        self.left_out += count - len(numbers)
        if not len(numbers):
            return
        batch = dataclasses.replace(batch.some(numbers - first), numbers=numbers)
        at, room = self.store.size, self.store.reserve(len(numbers), self._columns())
        self.store.keep(len(numbers))
        room["number"] = np.empty(len(numbers), np.int64)
        stored, unknown = self._fill(batch, ids, room, self.timeless)
        room["number"][stored:] = -1
        self._numbers.append(room["number"])
        self._account(at, len(numbers), stored, unknown)

    @property
    def kept_too_few(self) -> bool:
        """Whether the guess of how many samples there are was too high."""
        return self.most is not None and self.level > level_of(self._seen, self.most)

    def _thin_out(self) -> None:
        """Of what is in the table, drops what the present level leaves out."""
        numbers = np.concatenate([np.zeros(0, np.int64), *self._numbers])
        stay = (numbers >= 0) & kept(numbers, self.level)
        self.left_out += int(np.sum(numbers >= 0)) - int(np.sum(stay))
        self.store.retain(stay)
        self._numbers = [numbers[stay]]

    def _columns(self) -> frozenset[str]:
        """What differs between samples; the store knows the one value of all else."""
        if self._wanted is None:
            first, *others = self.attrs
            self._wanted = frozenset().union(*(columns_of(attr) for attr in self.attrs))
            if self.timeless:
                self._wanted |= {"time"}
            if others:
                self._wanted |= {"event"}
            if any(period_of(attr) != period_of(first) for attr in others):
                self._wanted |= {"period"}
            self.store.assume("period", period_of(first))
        return self._wanted

    def finish(self) -> None:
        """Waits until all samples so far are in the table."""
        while self._jobs:
            self._finish_one()

    def time(self, block: Block, before: Positions) -> int:
        """When the last of the records ``before`` (samples of a block) was, 0 unknown."""
        if not len(before) or not self.attrs:
            return 0
        one = before[-1:]
        ids = self._id_table()
        event = 0 if ids is None else int(ids.find(block.words, block.heads[one], block.lengths[one])[0])
        where = time_position(self.attrs[max(event, 0)].sample_type)
        if where is None or block.lengths[one[0]] <= where + 1:
            return 0
        return int(block.words[block.heads[one[0]] + 1 + where])

    def _finish_one(self) -> None:
        first, count, job = self._jobs.popleft()
        self._account(first, count, *job.result())

    def _account(self, first: int, count: int, stored: int, unknown: int) -> None:
        self.unknown += unknown
        self.malformed += count - stored - unknown
        if stored < count:
            self.store.leave(first + stored, first + count)

    def _id_table(self) -> IdTable | None:
        where = id_position(self.attrs[0].sample_type)
        if len(self.attrs) == 1 or where is None:
            return None  # as perf does: without ids, every sample is the first event's
        if self._known is None:
            self._known = IdTable.of(self.ids, where)
        return self._known

    def _fill(self, batch: Batch, ids: IdTable | None, room: Room, timeless: bool) -> tuple[int, int]:
        """Fills the first rows of ``room``: how many, and how many samples belong to no event."""
        if ids is None:
            return self._decode(batch, 0, 0, room, timeless), 0
        events = ids.find(batch.block.words, batch.heads, batch.lengths)
        counts = np.bincount(events + 1)
        layouts: dict[tuple[int, ...], list[int]] = {}
        for number in (np.flatnonzero(counts[1:])).tolist():
            layouts.setdefault(self._layout(number), []).append(number)
        unknown = int(counts[0])
        if len(layouts) == 1 and not unknown:
            (members,) = layouts.values()
            return self._decode(batch, members[0], events, room, timeless), 0
        parts, order = [], []
        for members in layouts.values():
            mine = np.flatnonzero(np.isin(events, members))
            rows = {name: np.empty(len(mine), column.dtype) for name, column in room.items()}
            sound: list[Positions] = []
            stored = self._decode(batch.some(mine), members[0], events[mine], rows, timeless, sound.append)
            parts.append((rows, stored))
            order.append(mine if not sound else mine[sound[0]])
        if not parts:
            return 0, unknown
        back = np.argsort(np.concatenate(order))
        for name, column in room.items():
            column[: len(back)] = np.concatenate([rows[name][:stored] for rows, stored in parts])[back]
        return len(back), unknown

    def _layout(self, number: int) -> tuple[int, ...]:
        """Events with the same value are decoded together."""
        attr = self.attrs[number]
        if attr.sample_type & Sample.PERIOD:
            return attr.layout
        return (*attr.layout, attr.period, attr.flags & FLAG_FREQUENCY)

    def _decode(
        self,
        batch: Batch,
        number: int,
        events: Positions | int,
        room: Room,
        timeless: bool,
        drop: Callable[[Positions], None] | None = None,
    ) -> int:
        """Fills the first rows of ``room`` with the sound samples of one layout; ``drop`` hears which, if not all."""
        attr, block = self.attrs[number], batch.block
        heads, lengths, headers = batch.heads, batch.lengths, batch.headers
        usable = decode(block.words, heads, lengths, headers, attr, room, big_endian=self.big_endian)
        if "event" in room:
            room["event"][:] = events
        if timeless:
            room["time"][:] = batch.before + np.searchsorted(block.heads, batch.heads)
        if batch.numbers is not None:
            room["number"][:] = batch.numbers
        count = len(batch.heads)
        if not usable.all():
            sound = np.flatnonzero(usable)
            count = len(sound)
            for column in room.values():
                column[:count] = column[sound]
            if drop:
                drop(sound)
        for bit, name, mask in (
            (Sample.REGS_INTR, "regs_intr", attr.regs_intr),
            (Sample.REGS_USER, "regs_user", attr.regs_user),
        ):
            if attr.sample_type & bit:
                stack = name == "regs_user" and bool(attr.sample_type & Sample.STACK_USER)
                room[name][:count] = self.pool.place(room[name][:count], block, mask, stack=stack)
        return count
