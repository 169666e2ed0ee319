"""Broken and hostile perf.data files: a reason or a counted loss, never a traceback, a hang or a flood of memory."""

from __future__ import annotations

import resource
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pmu.perfdata.stream as stream
from pmu import read_samples
from sharing.model.errors import LinemateError, Malformed
from sharing.model.samples import Samples
from tests.builders import perfdata as b
from tests.builders.perfdata import Attr, Builder


def read(where: Path, data: bytes) -> Samples:
    path = where / "perf.data"
    path.write_bytes(data)
    return read_samples(path)


def attempt(where: Path, data: bytes) -> Samples | str:
    """The samples, or the reason why there are none; any other exception is a failure."""
    try:
        return read(where, data)
    except LinemateError as error:
        return str(error)


def small(*, big: bool = False) -> Builder:
    """One record of every kind that the reader knows more about than its name."""
    kind = b.IDENTIFIER | b.IP | b.TID | b.TIME | b.ADDR | b.CALLCHAIN | b.RAW | b.REGS_INTR | b.DATA_SRC
    builder = Builder([Attr(sample_type=kind, ids=[4], regs_intr=3), Attr(sample_type=kind, ids=[5])], big=big)
    builder.features = {6: builder.string("x86_64"), 11: builder.pack("I", 1) + builder.string("perf")}
    builder.comm(5, 5, "name", executed=True)
    builder.mmap(5, 0x1000, 0x1000, 0, "/bin/a")
    builder.mmap2(5, 0x3000, 0x1000, 0, "/bin/b")
    builder.fork(6, 5, 6, 5, time=1)
    builder.lost(3)
    for number in range(3):
        builder.sample(number % 2, ip=0x1000 + number, pid=5, tid=5, time=number, intr=() if number % 2 else (1, 2))
    return builder


FORMS = {
    "file": lambda builder: builder.file(),
    "pipe": lambda builder: builder.pipe(),
    "compressed": lambda builder: (builder.compress(odd=True), builder.file())[1],
}


@pytest.mark.parametrize(("form", "big"), [("file", False), ("file", True), ("pipe", True), ("compressed", False)])
def test_a_file_that_was_cut_anywhere_is_refused_or_its_loss_is_counted(tmp_path: Path, form: str, big: bool) -> None:
    whole = FORMS[form](small(big=big))
    full = len(read(tmp_path, whole).samples)
    assert full == 3
    for size in range(len(whole)):
        samples = attempt(tmp_path, whole[:size])
        if isinstance(samples, str):
            assert "perf.data: " in samples
            continue
        # A pipe has no length: cut between two records, it looks complete.
        told = samples.counts.missing_bytes > 0 or samples.counts.notes or form == "pipe"
        assert told or len(samples.samples) == full, size
        assert len(samples.samples) <= full


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(sorted(FORMS)),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.sampled_from([0, 1, 7, 8, 0x7F, 0xFF])), min_size=1, max_size=4),
)
def test_changed_bytes_never_escape_as_another_error(
    tmp_path: Path, form: str, big: bool, changes: list[tuple[int, int]]
) -> None:
    data = bytearray(FORMS[form](small(big=big)))
    for at, value in changes:
        data[at % len(data)] = value
    samples = attempt(tmp_path, bytes(data))
    if isinstance(samples, str):
        assert "perf.data: " in samples
        return
    # What was read can be used: every row that it names exists.
    samples.data_mappings()
    rows = np.arange(len(samples.samples))
    for bit in (0, 1, 40):
        samples.register(rows, bit)
    assert all(samples.image_of(int(row)) is not None for row in rows)
    assert (samples.samples["event"] < len(samples.events)).all()


VARIABLE = {
    "callchain": (b.CALLCHAIN, 0),
    "raw": (b.RAW, 0),
    "branches": (b.BRANCH_STACK, 0),
    "stack": (b.STACK_USER, 0),
    "aux": (b.AUX, 0),
    "group": (b.READ, 8),
}


@pytest.mark.parametrize("part", VARIABLE)
@pytest.mark.parametrize("size", [1, 1 << 31, (1 << 32) - 1, 1 << 61, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("big", [False, True], ids=["little", "big"])
def test_a_part_larger_than_its_sample_costs_that_sample(tmp_path: Path, part: str, size: int, big: bool) -> None:
    kind, read_format = VARIABLE[part]
    attr = Attr(sample_type=b.IP | b.REGS_INTR | kind, read_format=read_format, regs_intr=1)
    builder = Builder([attr], big=big)
    counts = [0] if part == "group" else []
    builder.sample(ip=1, intr=[11], counts=counts)
    # Where the size should be, one that nothing backs; what follows are not registers.
    size = size if part != "raw" else (size & 0xFFFFFFFF | 64) << (32 if big else 0)
    builder.add(9, builder.words(2, size if part not in ("stack", "aux") else size | 64), b.USER)
    builder.sample(ip=3, intr=[33], counts=counts)
    samples = read(tmp_path, builder.file())
    assert samples.samples["ip"].tolist() == [1, 3]
    assert samples.counts.malformed_records == 1
    values, known = samples.register(samples.samples["ip"].astype("int64") // 3, 0)
    assert values.tolist() == [11, 33]
    assert known.all()


def patched(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + struct.pack("<Q", value) + data[at + 8 :]


@pytest.mark.parametrize("value", [0, 1, 79, 1 << 20, (1 << 64) - 1])
@pytest.mark.parametrize("at", [8, 16, 24, 32, 40, 48])
def test_a_header_that_points_elsewhere_is_refused_or_told(tmp_path: Path, at: int, value: int) -> None:
    samples = attempt(tmp_path, patched(small().file(), at, value))
    if isinstance(samples, str):
        assert "perf.data: offset 0x" in samples
        return
    assert samples.counts.notes or len(samples.samples) == 3


def test_features_that_claim_too_much_cost_only_themselves(tmp_path: Path) -> None:
    builder = small()
    builder.features = {11: builder.pack("I", 0xFFFFFFFF), 12: builder.pack("II", 0xFFFFFFFF, 0), 6: b"\xff" * 4}
    samples = read(tmp_path, builder.file())
    assert len(samples.samples) == 3
    (note,) = samples.counts.notes
    assert note.startswith("3 descriptions cannot be read, the first is feature 6: ")


def test_what_a_cut_took_of_the_descriptions_is_one_note(tmp_path: Path) -> None:
    data = small().file()
    samples = read(tmp_path, data[:-2])
    assert len(samples.samples) == 3
    assert samples.counts.notes == (
        f"the file was cut: {len(data) - 2:,} of {len(data):,} bytes are there; 1 description is missing",
    )
    assert read(tmp_path, data).counts.notes == ()


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_record_without_a_length_ends_the_reading(tmp_path: Path, size: int) -> None:
    builder = small()
    builder.records.append(struct.pack("<IHH", 9, 0, size) + bytes(32))
    samples = read(tmp_path, builder.file())
    assert (len(samples.samples), samples.counts.missing_bytes) == (3, 40)


def test_data_that_claims_to_follow_a_record_is_missed(tmp_path: Path) -> None:
    builder = small()
    builder.add(71, builder.words(1 << 62, 0, 0, 0, 0))
    builder.sample(ip=9)
    samples = read(tmp_path, builder.file())
    assert len(samples.samples) == 3
    assert "last record" in samples.counts.notes[0]


def test_a_little_that_expands_to_very_much_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros compress a thousandfold and more; they are never all in memory."""
    monkeypatch.setattr(stream, "MAX_EXPANSION", 100)
    zstandard = pytest.importorskip("zstandard")
    builder = Builder([Attr()])
    record = builder.record(68, bytes(65_520 - 8))
    packed = zstandard.ZstdCompressor(level=1).compress(record * 4000)
    assert len(packed) < len(record)
    for at in range(0, len(packed), 65_000):
        builder.add(81, packed[at : at + 65_000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    samples = read(tmp_path, builder.file())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120_000
    assert any("expand" in note for note in samples.counts.notes)


@pytest.mark.parametrize("kind", ["truncated", "no zstd at all"])
def test_compressed_data_that_is_broken_is_told(tmp_path: Path, kind: str) -> None:
    builder = small()
    if kind == "truncated":
        builder.compress(odd=True)
        builder.records = [*builder.records[:-1], builder.records[-1][:4] + struct.pack("<HH", 0, 20) + b"x" * 12]
    else:
        builder.add(81, b"not compressed at all...")
    samples = read(tmp_path, builder.file())
    assert any("compressed" in note for note in samples.counts.notes)


def test_mappings_that_go_around_in_circles_end(tmp_path: Path) -> None:
    """Processes that fork each other, overlap each other and execute without end."""
    builder = Builder([Attr()])
    for step in range(600):
        builder.fork(step % 7, (step + 3) % 7, step % 7, (step + 3) % 7, time=step)
        builder.mmap2(step % 5, step * 0x800, 1 << (12 + step % 50), 0, f"/f{step}", time=step)
        builder.comm(step % 3, step % 3, "x", time=step, executed=step % 11 == 0)
        builder.sample(ip=step * 0x900, pid=step % 7, tid=1, time=step)
    builder.mmap2(1, (1 << 64) - 1, (1 << 64) - 1, (1 << 64) - 1, "/past the end")
    samples = read(tmp_path, builder.file())
    assert len(samples.samples) == 600
    assert samples.counts.malformed_records == 1


def test_many_processes_with_many_mappings_are_bounded(tmp_path: Path) -> None:
    """Every process inherits a thousand mappings, adds one and is sampled: shared tables keep this small."""
    builder = Builder([Attr()])
    for row in range(1000):
        builder.mmap2(1, row << 16, 0x8000, 0, "/a", time=1)
    for child in range(2, 500):
        builder.fork(child, 1, child, 1, time=child)
        builder.mmap2(child, 0x7000_0000_0000 + child, 0x1000, 0, "/b", time=child)
        builder.sample(ip=child << 16, pid=child, tid=child, time=child)
    began = time.process_time()
    samples = read(tmp_path, builder.file())
    assert time.process_time() - began < 4
    assert (samples.samples["mapping"] >= 0).all()


def test_records_that_cross_blocks_are_whole(tmp_path: Path) -> None:
    """More than one block of records whose sizes follow no pattern."""
    builder = Builder([Attr(sample_type=b.IP | b.CALLCHAIN)])
    count = stream.FIRST_BLOCK_WORDS // 4
    for number in range(count):
        builder.sample(ip=number, callchain=range(number * 7 % 23))
    samples = read(tmp_path, builder.file())
    assert samples.samples["ip"].tolist() == list(range(count))
    assert samples.counts.missing_bytes == 0


@pytest.mark.parametrize("content", [b"", b"P", b"PERFILE", b"\x7fELF" + bytes(100), b"\0" * 4096, b"\xff" * 999])
def test_what_is_no_profile_is_refused_with_reasons(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(LinemateError, match=r"not a profile that linemate reads \(perf.data: .*\)"):
        read(tmp_path, content)


def test_a_file_that_cannot_be_opened_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="No such file"):
        read_samples(tmp_path / "nothing")
    with pytest.raises(LinemateError, match="is a directory"):
        read_samples(tmp_path)


def test_the_first_version_of_the_format_says_so(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="version 1"):
        read(tmp_path, b"PERFFILE" + bytes(200))


def test_a_long_line_of_forks_is_followed(tmp_path: Path) -> None:
    """Each child starts the next: no recursion, and memory for a row each."""
    builder = Builder([Attr()])
    builder.mmap2(1, 0x1000, 0x1000, 0, "/a", time=0)
    count = 300_000
    forks = np.zeros((count, 6), "<u8")
    forks[:, 0] = 7 | 48 << 48
    ids = np.arange(1, count + 1, dtype=np.uint64)
    forks[:, 1] = forks[:, 2] = ids + np.uint64(1) | ids << np.uint64(32)
    forks[:, 3] = forks[:, 5] = ids
    forks[:, 4] = ids
    builder.records.append(forks.tobytes())
    builder.sample(ip=0x1800, pid=count + 1, tid=count + 1, time=count + 5)
    samples = read(tmp_path, builder.file())
    assert samples.counts.records["FORK"] == count
    assert samples.samples["mapping"].tolist() == [0]


@pytest.mark.parametrize("values", [0, 1, 3, 1 << 20, 1 << 60, (1 << 64) - 1])
def test_counts_of_groups_are_believed_only_within_their_record(tmp_path: Path, values: int) -> None:
    """A group's counts say themselves how many they are."""
    builder = Builder([Attr(sample_type=b.IP | b.READ | b.CPU | b.PERIOD, read_format=8)])
    builder.sample(ip=1, counts=[0])
    body = builder.words(2, 0, 5, values, 11, 12, 13)
    builder.add(9, body, misc=b.USER)
    builder.sample(ip=3, counts=[0])
    samples = read(tmp_path, builder.file())
    sound = values <= 3
    assert samples.samples["ip"].tolist() == ([1, 2, 3] if sound else [1, 3])
    assert samples.counts.malformed_records == (not sound)
