"""perf.data files that this machine cannot record: every layout, either byte order, memory samples of any processor."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmu import read_samples
from sharing.model.errors import Malformed
from sharing.model.samples import Field, Mode, SampleFlag, Samples
from sharing.model.sampletable import SampleTable
from tests.builders import perfdata as b
from tests.builders.perfdata import Attr, Builder

U64 = st.integers(0, (1 << 64) - 1)
ID = st.integers(0, (1 << 31) - 1)
ORDERS = pytest.mark.parametrize("big", [False, True], ids=["little", "big"])


def read(where: Path, data: bytes) -> Samples:
    path = where / "perf.data"
    path.write_bytes(data)
    return read_samples(path)


def intel(**more: Any) -> Attr:
    return Attr(sample_type=b.IP | b.TID | b.TIME | b.ADDR | b.CPU | b.DATA_SRC | b.WEIGHT_STRUCT | b.PHYS_ADDR, **more)


ALL_BITS = (1 << 25) - 1
# One value for each field that the reader keeps; the others are there to be stepped over.
KEPT = {
    "ip": b.IP,
    "addr": b.ADDR,
    "time": b.TIME,
    "period": b.PERIOD,
    "data_src": b.DATA_SRC,
    "phys_addr": b.PHYS_ADDR,
}


@st.composite
def recordings(draw: st.DrawFn) -> tuple[Builder, list[dict[str, Any]]]:
    kind = draw(st.integers(0, ALL_BITS)) | b.TIME
    if kind & b.WEIGHT:
        kind &= ~b.WEIGHT_STRUCT
    group = draw(st.booleans())
    attr = Attr(
        sample_type=kind,
        read_format=12 if group else 4,
        branch=draw(st.sampled_from([0, 1 << 17])),
        regs_user=draw(st.sampled_from([1, 0x181, 0xFF0FFF])),
        regs_intr=draw(st.sampled_from([1, 0x10120, 1 << 63 | 1])),
        period=5,
        ids=[17],
        size=draw(st.sampled_from([112, 120, 128, 136, 144])),
    )
    builder = Builder([attr], big=draw(st.booleans()))
    wanted = []
    for time in range(draw(st.integers(1, 12))):
        sample: dict[str, Any] = {name: draw(U64) for name in KEPT if name != "time"}
        sample |= {"pid": draw(ID), "tid": draw(ID), "cpu": draw(st.integers(0, 8191)), "time": time}
        sample |= {"weight": draw(st.integers(0, (1 << 32) - 1)), "latency": draw(st.integers(0, 65535)), "stage": 3}
        sample |= {name: bytes(draw(st.integers(0, 30))) for name in ("raw",)}
        sample |= {name: bytes(8 * draw(st.integers(0, 4))) for name in ("stack", "aux")}
        sample["callchain"] = draw(st.lists(U64, max_size=5))
        sample["branches"] = [1, 2, 3] * draw(st.integers(0, 3))
        members = draw(st.integers(0, 3))
        sample["counts"] = [members, *[1, 2] * members] if group else [1, 2]
        for name, mask in (("user", attr.regs_user), ("intr", attr.regs_intr)):
            sample[name] = draw(st.lists(U64, min_size=mask.bit_count(), max_size=mask.bit_count()) | st.just([]))
        builder.sample(**sample)
        wanted.append(sample)
    return builder, wanted


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recordings(), st.sampled_from(["file", "pipe", "compressed"]))
def test_every_layout_gives_back_what_was_put_in(
    tmp_path: Path, recording: tuple[Builder, list[dict[str, Any]]], form: str
) -> None:
    builder, wanted = recording
    (attr,) = builder.attrs
    if form == "compressed":
        builder.compress(odd=attr.regs_user == 1)
    samples = read(tmp_path, builder.pipe() if form == "pipe" else builder.file())
    kind = attr.sample_type
    assert (len(samples.samples), samples.counts.skipped_samples, samples.counts.missing_bytes) == (len(wanted), 0, 0)
    for row, sample in zip(samples.samples, wanted, strict=True):
        for name, bit in KEPT.items():
            assert row[name] == (sample[name] if kind & bit else 5 if name == "period" else 0), name
        assert (row["pid"], row["tid"]) == ((sample["pid"], sample["tid"]) if kind & b.TID else (-1, -1))
        assert row["cpu"] == (sample["cpu"] if kind & b.CPU else -1)
        assert row["weight"] == (sample["weight"] if kind & (b.WEIGHT | b.WEIGHT_STRUCT) else 0)
        assert row["ins_latency"] == (sample["latency"] if kind & b.WEIGHT_STRUCT else 0)
        assert row["mode"] == Mode.USER
    for name, mask, bit in (("user", attr.regs_user, b.REGS_USER), ("intr", attr.regs_intr, b.REGS_INTR)):
        numbers = [n for n in range(64) if mask >> n & 1]
        for rank, number in enumerate(numbers):
            values, known = samples.register(np.arange(len(wanted)), number, user=name == "user")
            there = [bool(sample[name]) and bool(kind & bit) for sample in wanted]
            assert known.tolist() == there
            assert values[known].tolist() == [s[name][rank] for s, t in zip(wanted, there, strict=True) if t]


@ORDERS
@pytest.mark.parametrize(
    ("what", "data_src"),
    [
        ("PEBS load that hit a modified line", b.LOAD | b.HIT | b.L3 | b.HITM),
        ("PEBS store", b.STORE | b.HIT | b.L1),
        ("IBS remote cache", b.LOAD | b.MISS | b.HITM | b.REMOTE),
        ("SPE peer", b.LOAD | b.HIT | b.PEER),
        ("locked", b.STORE | b.LOCKED | b.HITM),
    ],
)
def test_memory_samples_keep_their_source(tmp_path: Path, what: str, data_src: int, big: bool) -> None:
    builder = Builder([intel(type=4, config=0x1CD, flags=b.SAMPLE_ID_ALL | 2 << 15)], big=big)
    builder.sample(misc=b.USER | 1 << 14, ip=0x401000, addr=0x601040, data_src=data_src, weight=300, latency=9, stage=2)
    samples = read(tmp_path, builder.file())
    (row,), (event,) = samples.samples, samples.events
    assert (row["addr"], row["data_src"], row["weight"], row["stage_cycles"]) == (0x601040, data_src, 300, 2), what
    assert row["flags"] == SampleFlag.EXACT_IP
    assert (event.name, event.precise) == ("r1cd", 2)
    assert event.fields & (Field.ADDR | Field.DATA_SRC | Field.WEIGHT | Field.INS_LATENCY) == (
        Field.ADDR | Field.DATA_SRC | Field.WEIGHT | Field.INS_LATENCY
    )
    assert samples.recording.big_endian == big


@ORDERS
def test_events_are_told_apart_by_their_ids(tmp_path: Path, big: bool) -> None:
    common = b.IDENTIFIER | b.IP | b.TID | b.TIME
    attrs = [
        Attr(config=0, sample_type=common, ids=[5, 6]),
        Attr(config=2, sample_type=common | b.ADDR, ids=[1 << 40]),
    ]
    builder = Builder(attrs, big=big)
    for time in range(6):
        builder.sample(time % 2, ip=time, time=time, addr=100 + time, id=(6, 1 << 40)[time % 2])
    builder.sample(0, ip=99, time=9, id=1234)
    samples = read(tmp_path, builder.file())
    assert samples.samples["event"].tolist() == [0, 1] * 3
    assert samples.samples["addr"].tolist() == [0, 101, 0, 103, 0, 105]
    assert [e.name for e in samples.events] == ["cpu-clock", "page-faults"]
    assert samples.counts.unknown_events == 1


@ORDERS
def test_what_the_kernel_dropped_is_counted(tmp_path: Path, big: bool) -> None:
    builder = Builder([Attr()], big=big)
    builder.lost(40)
    builder.lost(2)
    builder.add(13, builder.words(7) + builder.trailer(builder.attrs[0], 0, 0, 0))
    builder.add(5, builder.words(1, 2, 3) + builder.trailer(builder.attrs[0], 0, 0, 0))
    builder.add(200, builder.words(1, 2, 3))
    builder.sample(ip=1)
    counts = read(tmp_path, builder.file()).counts
    assert (counts.lost_records, counts.lost_samples, counts.throttled, counts.unknown_records) == (42, 7, 1, 1)
    assert counts.records == {"LOST": 2, "THROTTLE": 1, "SAMPLE": 1, "LOST_SAMPLES": 1, "type 200": 1}


@ORDERS
def test_samples_of_several_processors_are_put_in_order(tmp_path: Path, big: bool) -> None:
    builder = Builder([Attr()], big=big)
    for time in [5, 1, 3, 3, 2, 9, 8, 4]:
        builder.sample(ip=time, time=time)
    assert read(tmp_path, builder.file()).samples["time"].tolist() == [1, 2, 3, 3, 4, 5, 8, 9]


def test_order_does_not_depend_on_how_much_is_sorted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import pmu.samplesbuilder as builder

    monkeypatch.setattr(builder, "SORT_ROWS", 7)
    random = np.random.default_rng(3)
    for disorder in (1, 5, 400):
        store = builder.SampleStore(capacity=2)
        rows = builder.new_samples(300)
        rows["time"] = np.arange(300) // 3 + random.integers(0, disorder, 300)
        rows["ip"] = np.arange(300)
        for part in np.array_split(rows, 9):
            store.append(part)
        expected = rows[np.argsort(rows["time"], kind="stable")]
        table = store.take(by_time=True)
        assert all((table[name] == expected[name]).all() for name in builder.COLUMNS)


@ORDERS
def test_data_between_records_is_stepped_over(tmp_path: Path, big: bool) -> None:
    builder = Builder([Attr()], big=big)
    builder.sample(ip=1)
    builder.records.append(builder.record(71, builder.words(4096, 0, 0, 0, 0)) + b"\xff" * 4096)
    builder.sample(ip=2)
    builder.records.append(builder.record(66, builder.pack("I", 13) + bytes(4)) + b"\xff" * 16)
    builder.sample(ip=3)
    samples = read(tmp_path, builder.file())
    assert samples.samples["ip"].tolist() == [1, 2, 3]
    assert samples.counts.missing_bytes == 0


def test_a_processor_trace_that_is_not_decoded_is_told_with_the_way_around_it(tmp_path: Path) -> None:
    builder = Builder([Attr()])
    builder.sample(ip=1)
    plain = read(tmp_path, builder.file())
    builder.records.append(builder.record(71, builder.words(64, 0, 0, 0, 0)) + b"\xff" * 64)
    traced = read(tmp_path, builder.file())
    assert plain.counts.notes == ()
    assert traced.counts.records["AUXTRACE"] == 1
    assert len(traced.counts.notes) == 1
    assert "1 stretches of processor trace" in traced.counts.notes[0]
    assert "perf script -F" in traced.counts.notes[0]


@ORDERS
def test_words_that_look_like_records_are_not_taken_for_any(tmp_path: Path, big: bool) -> None:
    """Data that repeats a sample's header, at every distance from a true one, and records between samples."""
    attr = Attr(sample_type=b.IP | b.CALLCHAIN)
    builder = Builder([attr], big=big)
    header = 9 << 32 | b.USER << 16 | 32 if big else 9 | b.USER << 32 | 32 << 48
    for number in range(2000):
        builder.sample(ip=number, callchain=[header] * (number % 7) + [5] * (number % 5) + [header + 8] * (number % 3))
        if number % 11 == 0:
            builder.add(68)
        if number % 400 < 50:
            builder.add(14, builder.trailer(attr, 0, 0, 0))
    samples = read(tmp_path, builder.file())
    assert samples.samples["ip"].tolist() == list(range(2000))
    assert samples.counts.records == {"SAMPLE": 2000, "FINISHED_ROUND": 182, "SWITCH": 250}
    assert samples.counts.missing_bytes == samples.counts.skipped_samples == 0


@ORDERS
def test_mostly_other_records_are_walked_alike(tmp_path: Path, big: bool) -> None:
    builder = Builder([Attr()], big=big)
    for number in range(12_000):
        builder.add(14, builder.trailer(builder.attrs[0], 0, 0, number))
        if number % 3 == 0:
            builder.sample(ip=number, time=number)
    samples = read(tmp_path, builder.file())
    assert samples.samples["ip"].tolist() == list(range(0, 12_000, 3))
    assert samples.counts.records == {"SAMPLE": 4000, "SWITCH": 12_000}


@ORDERS
def test_descriptions_are_read_from_files_and_pipes(tmp_path: Path, big: bool) -> None:
    builder = Builder([Attr(ids=[3])], big=big)
    builder.features = {
        3: builder.string("host"),
        5: builder.string("6.1.192"),
        6: builder.string("aarch64"),
        7: builder.pack("II", 8, 4),
        11: builder.pack("I", 2) + builder.string("perf") + builder.string("record"),
        12: builder.pack("II", 1, 128)
        + builder.attr_bytes(builder.attrs[0])
        + builder.pack("I", 1)
        + builder.string("arm_spe//")
        + builder.words(3),
        2: builder.pack("IHHi", 0, 1 << 15 | b.USER, 64, 5)
        + bytes(range(20))
        + b"\x08\0\0\0"
        + b"/bin/a".ljust(28, b"\0"),
    }
    builder.mmap(5, 0x1000, 0x1000, 0, "/bin/a")
    builder.sample(ip=0x1010, pid=5, tid=5)
    for data in (builder.file(), builder.pipe()):
        samples = read(tmp_path, data)
        about = samples.recording
        assert (about.architecture, about.recorder, about.cpus) == ("aarch64", "perf 6.1.192", 4)
        assert about.command == ("perf", "record")
        assert samples.events[0].name == "arm_spe//"
        assert samples.build_ids[samples.mappings["build_id"][0]] == "0001020304050607"
        assert samples.image_of(0) == "/bin/a"


@pytest.mark.parametrize(("mapped", "known"), [("[kernel.kallsyms]_text", True), ("[nfsd]", False)])
def test_a_kernels_build_id_is_that_of_its_mapping(tmp_path: Path, mapped: str, known: bool) -> None:
    """perf names the mapping with a symbol behind it, and the build-id without."""
    builder = Builder([intel()], big=False)
    name = b"[kernel.kallsyms]".ljust(28, b"\0")
    builder.features = {2: builder.pack("IHHi", 0, 1 << 15 | 1, 64, -1) + bytes(range(20)) + b"\x14\0\0\0" + name}
    builder.mmap(-1, 0xFFFF_FFFF_8100_0000, 0x1000, 0, mapped)
    builder.sample(ip=0xFFFF_FFFF_8100_0010, pid=5, tid=5)
    samples = read(tmp_path, builder.file())
    assert (samples.mappings["build_id"][0] >= 0) == known
    assert samples.build_ids == (bytes(range(20)).hex(),) * known


def test_half_a_million_samples_take_a_moment_and_little_more_than_their_table(tmp_path: Path) -> None:
    builder = Builder([intel()], big=False)
    for row in range(100):
        builder.mmap2(5, row << 16, 0x8000, 0, "/bin/a")
    count, kind = 500_000, builder.attrs[0].sample_type
    random = np.random.default_rng(1)
    records = np.zeros((count, kind.bit_count() + 1), "<u8")
    records[:, 0] = 9 | b.USER << 32 | 8 * records.shape[1] << 48
    ip, when = random.integers(0, 100 << 16, count), np.arange(count) * 100 + random.integers(0, 3000, count)
    records[:, 1], records[:, 2], records[:, 3] = ip, 5 | 6 << 32, when
    builder.records.append(records.tobytes())
    (tmp_path / "perf.data").write_bytes(builder.file())
    began = process_time()
    samples = read_samples(tmp_path / "perf.data")
    assert process_time() - began < 1.5
    order = np.argsort(when, kind="stable")
    assert samples.samples["ip"].tolist() == ip[order].tolist()
    placed = np.where(ip & 0xFFFF < 0x8000, ip >> 16, -1)[order]
    assert samples.samples["mapping"].tolist() == placed.tolist()
    # What no event records takes no memory.
    assert isinstance(samples.samples, SampleTable)
    assert samples.samples.nbytes < count * 96
    assert samples.samples["symbol"].strides == (0,)


def test_a_recording_that_was_killed_is_read_to_its_end(tmp_path: Path) -> None:
    builder = Builder([Attr()])
    builder.sample(ip=1)
    data = bytearray(builder.file())
    data[48:56] = bytes(8)  # perf record writes the size last
    samples = read(tmp_path, bytes(data))
    assert samples.samples["ip"].tolist() == [1]
    assert "killed" in samples.counts.notes[0]


def test_without_any_event_there_is_nothing_to_read(tmp_path: Path) -> None:
    builder = Builder([])
    builder.add(9, bytes(24))
    with pytest.raises(Malformed, match="no event"):
        read(tmp_path, builder.pipe())


@ORDERS
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (16, "NAMESPACES"),
        (17, "KSYMBOL"),
        (18, "BPF_EVENT"),
        (19, "CGROUP"),
        (20, "TEXT_POKE"),
    ],
)
def test_records_that_say_nothing_of_samples_are_known(tmp_path: Path, kind: int, name: str, big: bool) -> None:
    """They are counted by name; only types that no kernel has are unknown."""
    builder = Builder([Attr()], big=big)
    builder.sample(ip=1, time=1)
    builder.other(kind, time=2)
    builder.sample(ip=2, time=3)
    samples = read(tmp_path, builder.file())
    assert samples.samples["ip"].tolist() == [1, 2]
    assert samples.counts.records == {"SAMPLE": 2, name: 1}
    assert samples.counts.unknown_records == samples.counts.malformed_records == 0
