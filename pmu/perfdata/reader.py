"""The perf.data reader: a file (or a directory of files) that perf record wrote → ``Samples``.

Owns the order of reading.  Header, stream, records and sample layouts each have a module of their own.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from pmu.jitdump import find_dump, read_dump
from pmu.perfdata.header import Descriptions, Feature, Header, Source, open_source, read_header
from pmu.perfdata.records import Session
from pmu.perfdata.registers import RegisterPool
from pmu.perfdata.samples import ONE_WORD
from pmu.perfdata.sink import Sink
from pmu.perfdata.stream import Losses, Walk
from pmu.perfevent import KNOWN_SAMPLE_BITS, Attr, Record, event_of
from pmu.samplesbuilder import Builder, MappingDetails, SampleStore
from sharing.model.errors import Malformed, Unrecognized
from sharing.model.guard import map_descriptor
from sharing.model.inputs import open_input
from sharing.model.samples import PROT_EXEC, PROT_READ, Counts, Event, Recording, Registers, Samples


def read(path: Path, most: int | None = None) -> Samples:
    """All samples, or no more than ``most`` of them, spread over the file, whose periods are then those of all.

    Raises Unrecognized for a file that is no perf.data, Malformed where nothing of it can be used.
    """
    if most is not None and (samples := _read(path, most, guess=True)) is not None:
        return samples
    samples = _read(path, most, guess=False)
    assert samples is not None, "without a guess nothing is guessed wrong"
    return samples


def _read(path: Path, most: int | None, *, guess: bool) -> Samples | None:
    """None where a guess of the number of samples was too high, so that too few were kept."""
    name = str(path)
    parts: list[Path] = []
    if path.is_dir():
        # `perf record --threads`: a perf.data file, and files with nothing but records.
        parts = sorted(path.glob("data.[0-9]*"), key=lambda part: (len(part.name), part.name))
        path = path / "data"
        if not path.is_file():
            raise Unrecognized(name, "a directory without a file called data")
    data = _open(path)
    source = open_source(name, data)
    about = Descriptions()
    header = read_header(source, about)
    # A file of which little is wanted is read into one small place: to map it takes longer.
    mapped = _words(source, header) if most is None else np.zeros(0, np.uint64)
    builder = Builder(SampleStore(_room(len(data), header) if most is None else most))
    builder.comm(0, 0, 0, "swapper", executed=False)  # the idle task, which perf knows without a record
    losses = Losses(header.missing_bytes)
    pool = RegisterPool(len(mapped), header.data_offset % 8)
    expected_bytes = header.data_end - header.data_offset if guess else 0
    with Sink(builder.store, pool, source.big_endian, most, expected_bytes) as sink:
        session = Session(source, about, builder, sink)
        for attr, ids in header.attrs:
            session.add_event(attr, ids)
        stretches = [(path, data, header.data_offset, header.data_end)]
        for part in parts:
            records = _open(part)
            stretches.append((part, records, 0, len(records)))
        for name_of, records, start, end in stretches:
            copied = name_of if most is not None and isinstance(records, mmap.mmap) else None
            walk = Walk(records, source.big_endian, losses, mapped=records is data, path=copied)
            for block in walk.blocks(start, end):
                session.take(block)
            for block in walk.inflated():
                session.take(block)
        sink.finish()
    if sink.kept_too_few:
        return None
    if not sink.attrs:
        raise Malformed(name, header.data_offset, "the recording describes no event")
    if all(attr.clock == time.CLOCK_MONOTONIC for attr in sink.attrs):
        for pid, dump in session.dumps.items():
            _map_generated(builder, pid, find_dump(dump, path))
    registers = Registers(mapped, pool.dense(), _release_of(data))
    samples = builder.finish(
        _events(session),
        _recording(source, about),
        _counts(session, losses),
        registers=registers,
        build_ids=about.build_ids,
    )
    if sink.level:
        samples.samples["period"] = samples.samples["period"] << np.uint64(sink.level)
    return samples


def _map_generated(builder: Builder, pid: int, path: Path | None) -> None:
    """Maps what a runtime made as parts of the file that it dumped them to, from when it made them.

    It takes times of the monotonic clock: those of the profile must be of that one, too (`perf record -k mono`).
    """
    dump = read_dump(path) if path is not None else None
    if dump is not None:
        details = MappingDetails(protection=PROT_READ | PROT_EXEC)
        for since, start, size, offset, _ in dump.pieces.tolist():
            builder.map(since, pid, start, size, offset, str(dump.path), details)


def _release_of(data: mmap.mmap | bytes) -> Callable[[], object]:
    """Gives back the pages of the file that were read; they come from the file again when asked for."""
    return partial(data.madvise, mmap.MADV_DONTNEED) if isinstance(data, mmap.mmap) else bool


def _room(size_bytes: int, header: Header) -> int:
    """More samples than the file can hold, unless it is compressed.  Rows that are not used cost no memory."""
    kinds = [attr.sample_type for attr, _ in header.attrs]
    smallest = 8 * min((1 + (kind & ONE_WORD).bit_count() for kind in kinds), default=4)
    return size_bytes // smallest + 1


def _open(path: Path) -> mmap.mmap | bytes:
    with open_input(path, "a profile") as file:
        if not os.fstat(file.fileno()).st_size:
            return b""
        return map_descriptor(str(path), file.fileno())


def _words(source: Source, header: Header) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """The whole file as words that are in step with the records."""
    first = header.data_offset % 8
    count = max(len(source.data) - first, 0) // 8
    return np.frombuffer(source.data, ">u8" if source.big_endian else "<u8", count, first)


def _events(session: Session) -> tuple[Event, ...]:
    about = session.about
    ids: dict[int, int] = {}
    for one, number in session.sink.ids.items():
        if one in about.names:
            ids.setdefault(number, one)
    names = about.first_names if len(about.first_names) == len(session.sink.attrs) else []

    def name(number: int, attr: Attr) -> str:
        if number in ids:
            return about.names[ids[number]]
        return names[number] if names else ""

    return tuple(event_of(attr, name(number, attr)) for number, attr in enumerate(session.sink.attrs))


def _recording(source: Source, about: Descriptions) -> Recording:
    return Recording(
        format="perf.data",
        architecture=about.texts.get(Feature.ARCH, ""),
        os_release=about.texts.get(Feature.OSRELEASE, ""),
        cpu=about.texts.get(Feature.CPUDESC, ""),
        cpus=about.cpus,
        recorder="perf " + about.texts[Feature.VERSION] if Feature.VERSION in about.texts else "perf",
        command=about.command,
        big_endian=source.big_endian,
    )


def _counts(session: Session, losses: Losses) -> Counts:
    names = {int(kind): kind.name for kind in Record}
    records = {names.get(kind, f"type {kind}"): count for kind, count in sorted(session.records.items())}
    unknown = sum(count for kind, count in session.records.items() if kind not in names)
    notes = [*session.about.notes, *losses.notes]
    if traces := session.records.get(Record.AUXTRACE):
        notes.append(
            f"{traces} stretches of processor trace (Arm SPE, Intel PT) are not decoded: to use their samples, save "
            "what `perf script -F comm,pid,tid,cpu,time,event,addr,data_src,weight,ip,sym,dso` prints and read that"
        )
    for attr in session.sink.attrs:
        if attr.sample_type & ~KNOWN_SAMPLE_BITS:
            notes.append(f"samples have fields of a newer kernel ({attr.sample_type:#x}), which are left out")
            break
    return Counts(
        records=records,
        samples=session.builder.store.stored + session.sink.left_out,
        unknown_records=unknown,
        unknown_events=session.sink.unknown,
        malformed_records=session.malformed + session.sink.malformed,
        lost_records=session.lost_records,
        lost_samples=session.lost_samples,
        throttled=session.throttled,
        missing_bytes=losses.missing_bytes,
        notes=tuple(notes),
    )
