"""A reader that keeps some samples of many: those that a full reading would have kept by the same choice, no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pmu.perfdata.stream as stream
from pmu import read_samples
from sharing.model.samples import Samples
from sharing.model.thinning import chosen, kept, level_of
from tests.builders import perfdata as b
from tests.builders.perfdata import Attr, Builder

COMMON = b.IDENTIFIER | b.IP | b.TID | b.TIME | b.CPU
# Two layouts that differ in length, one of them from sample to sample.
ATTRS = (
    Attr(sample_type=COMMON | b.ADDR | b.PERIOD, ids=[5]),
    Attr(sample_type=COMMON | b.CALLCHAIN | b.REGS_USER | b.REGS_INTR, ids=[6], regs_user=0x181, regs_intr=7, period=3),
)
NOBODY = 1234


def of_file(where: Path, data: bytes, most: int | None = None) -> Samples:
    path = where / "perf.data"
    path.write_bytes(data)
    return read_samples(path, most)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[Builder, list[int]]:
    """Samples with other records between them, out of order in time; the times of all, as the file has them."""
    events = draw(st.integers(1, 2))
    builder = Builder(list(ATTRS[:events]), big=draw(st.booleans()))
    random = draw(st.randoms(use_true_random=False))
    times = [100 + n for n in range(draw(st.integers(1, 300)))]
    for start in range(0, len(times), 20):
        part = times[start : start + 20]
        random.shuffle(part)
        times[start : start + 20] = part
    for number, time in enumerate(times):
        if random.random() < 0.1:
            builder.mmap2(7, 0x1000 * random.randint(1, 9), 0x1000, 0, f"/lib{number % 3}", time=time)
        if random.random() < 0.05:
            builder.lost(2)
        which = random.randrange(events)
        stranger = events == 2 and random.random() < 0.1
        builder.sample(
            which,
            ip=0x1000 * random.randint(1, 9) + number,
            pid=7,
            tid=random.randint(7, 9),
            time=time,
            cpu=random.randint(0, 3),
            addr=number,
            period=random.randint(1, 9),
            callchain=range(random.randint(0, 5)),
            user=random.choice([(), (number, 2, 3)]),
            intr=(number, time, 4),
            id=NOBODY if stranger else 0,
        )
    return builder, times


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recordings(), st.integers(2, 80), st.sampled_from(["file", "pipe", "compressed"]))
def test_what_is_kept_is_what_a_full_reading_has_of_it(
    tmp_path: Path, recording: tuple[Builder, list[int]], most: int, form: str
) -> None:
    builder, times = recording
    if form == "compressed":
        builder.compress()
    data = builder.pipe() if form == "pipe" else builder.file()
    everything, some = of_file(tmp_path, data), of_file(tmp_path, data, most)
    level = level_of(len(times), most)
    wanted = np.array(times)[chosen(0, len(times), level)]
    rows = np.flatnonzero(np.isin(everything.samples["time"], wanted))
    assert len(some.samples) == len(rows) <= most
    for name in ("time", "ip", "addr", "pid", "tid", "cpu", "event", "mode", "flags", "mapping"):
        assert some.samples[name].tolist() == everything.samples[name][rows].tolist(), name
    assert some.samples["period"].tolist() == (everything.samples["period"][rows] << level).tolist()
    for bit, user in ((0, True), (7, True), (8, True), (0, False), (1, False), (2, False)):
        ours, theirs = (
            one.register(at, bit, user=user) for one, at in ((some, np.arange(len(rows))), (everything, rows))
        )
        assert [column.tolist() for column in ours] == [column.tolist() for column in theirs]
    assert some.counts == everything.counts
    assert some.mappings.tolist() == everything.mappings.tolist()
    assert (some.events, some.paths, some.recording) == (everything.events, everything.paths, everything.recording)


def test_all_samples_are_accounted_for_where_some_are_broken(tmp_path: Path) -> None:
    """Every third sample claims more callers than it has: of those that are left out nobody knows."""
    builder = Builder([Attr(sample_type=b.IP | b.TIME | b.CALLCHAIN)])
    for number in range(3000):
        body = builder.words(number, number, 10**6 if number % 3 == 0 else 1, 0)
        builder.add(9, body, b.USER)
    everything, some = (of_file(tmp_path, builder.file(), most) for most in (None, 500))
    assert (len(everything.samples), everything.counts.malformed_records) == (2000, 1000)
    assert everything.counts.samples == 2000
    assert 0 < some.counts.malformed_records < 1000
    assert some.counts.samples + some.counts.malformed_records == 3000
    assert (some.samples["ip"] % 3 != 0).all()
    assert len(some.samples) == pytest.approx(2000 / 8, rel=0.2)


def test_samples_without_a_time_keep_the_numbers_of_their_records(tmp_path: Path) -> None:
    builder = Builder([Attr(sample_type=b.IP)])
    for number in range(100):
        builder.sample(ip=number)
    some = of_file(tmp_path, builder.file(), 30)
    assert some.samples["ip"].tolist() == some.samples["time"].tolist() == chosen(0, 100, 2).tolist()


def test_a_profile_that_is_small_enough_is_read_as_ever(tmp_path: Path) -> None:
    builder = Builder(list(ATTRS))
    for number in range(50):
        builder.sample(number % 2, ip=number, time=number, intr=(1, 2, 3), id=5 + number % 2)
    everything, some = (of_file(tmp_path, builder.file(), most) for most in (None, 50))
    for name in ("time", "ip", "addr", "period", "event", "regs_user"):
        assert some.samples[name].tolist() == everything.samples[name].tolist(), name


def test_files_of_several_blocks_are_thinned_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than one block, of which the later ones lie where the earlier ones were."""
    monkeypatch.setattr(stream, "FIRST_BLOCK_WORDS", 1 << 14)
    monkeypatch.setattr(stream, "BLOCK_WORDS", 1 << 15)
    builder = Builder([Attr(sample_type=b.IP | b.TIME | b.REGS_INTR | b.CALLCHAIN, regs_intr=3)])
    count = 20_000
    for number in range(count):
        builder.sample(ip=number, time=number, intr=(number, number + 1), callchain=range(number % 5))
    some = of_file(tmp_path, builder.file(), 1000)
    wanted = chosen(0, count, level_of(count, 1000))
    assert some.samples["ip"].tolist() == wanted.tolist()
    for bit in (0, 1):
        values, known = some.register(np.arange(len(wanted)), bit)
        assert known.all()
        assert values.tolist() == (wanted + bit).tolist()


@pytest.mark.parametrize("cut", [1, 7, 8, 100])
def test_a_cut_file_loses_its_end_and_no_more(tmp_path: Path, cut: int) -> None:
    builder = Builder([Attr()])
    for number in range(1000):
        builder.sample(ip=number, time=number)
    data = builder.file()[:-cut]
    everything, some = (of_file(tmp_path, data, most) for most in (None, 100))
    assert some.counts == everything.counts
    assert some.counts.missing_bytes > 0
    assert set(some.samples["ip"].tolist()) <= set(everything.samples["ip"].tolist())


NUMBERS = st.integers(0, 10_000)


@given(NUMBERS, NUMBERS, st.integers(0, 9))
def test_the_choice_is_the_same_for_parts_and_for_the_whole(first: int, more: int, level: int) -> None:
    part = chosen(first, first + more, level)
    whole: Any = chosen(0, first + more, level)
    assert part.tolist() == whole[whole >= first].tolist()
    assert kept(np.arange(first, first + more), level).sum() == len(part)
    assert kept(part, level).all()
    # One of each run, and who stays at a level stayed at all lower ones.
    assert (np.diff(part >> level) == 1).all()
    assert all(kept(part, below).all() for below in range(level))


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_the_level_is_the_lowest_that_is_enough(total: int, limit: int) -> None:
    level = level_of(total, limit)
    assert -(-total >> level) <= limit
    assert level == 0 or -(-total >> (level - 1)) > limit


@pytest.mark.parametrize("longer", [1, 40])
def test_a_file_that_begins_otherwise_than_it_goes_on_is_thinned_alike(tmp_path: Path, longer: int) -> None:
    """How many samples a file has is guessed from its beginning: short ones there promise more than come."""
    builder = Builder([Attr(sample_type=b.IP | b.TIME | b.CALLCHAIN)])
    count = 4000
    for number in range(count):
        builder.sample(ip=number, time=number, callchain=range(longer if number > 3000 else 41 - longer))
    some = of_file(tmp_path, builder.file(), 300)
    assert some.samples["ip"].tolist() == chosen(0, count, level_of(count, 300)).tolist()
    assert some.counts.samples == count
