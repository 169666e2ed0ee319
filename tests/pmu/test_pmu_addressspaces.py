"""Which mapping held an address, in which process, at which time; and from there to link-time addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharing.model.addressspaces as spaces_module
from pmu import read_samples
from pmu.samplesbuilder import Builder, MappingDetails
from sharing.model.addressspaces import KERNEL_PID, AddressSpaces
from sharing.model.errors import LinemateError
from sharing.model.samples import (
    LOAD_DTYPE,
    Counts,
    Recording,
    RuntimeAddresses,
    Samples,
    file_offsets,
    link_addresses,
    load_biases,
)
from tests.builders import perfdata as b
from tests.builders.perfdata import Attr
from tests.builders.perfdata import Builder as FileBuilder


def finish(builder: Builder) -> Samples:
    return builder.finish((), Recording("made here"), Counts())


def at(spaces: AddressSpaces, pid: int, address: int, time: int) -> int:
    return int(spaces.resolve(np.array([pid]), np.array([address], np.uint64), np.array([time], np.uint64))[0])


def test_the_later_mapping_covers_the_earlier() -> None:
    builder = Builder()
    builder.map(1, 7, 0x1000, 0x3000, 0, "a")
    builder.map(5, 7, 0x2000, 0x1000, 0, "b")
    spaces = finish(builder).spaces
    assert [at(spaces, 7, 0x2800, time) for time in (0, 1, 4, 5, 9)] == [-1, 0, 0, 1, 1]
    assert [at(spaces, 7, address, 9) for address in (0xFFF, 0x1000, 0x1FFF, 0x2000, 0x3000, 0x3FFF, 0x4000)] == [
        -1,
        0,
        0,
        1,
        0,
        0,
        -1,
    ]


def test_a_child_inherits_and_executing_forgets() -> None:
    builder = Builder()
    builder.map(1, 7, 0x1000, 0x1000, 0, "parent")
    builder.fork(2, 8, 7, 8, 7)
    builder.map(3, 7, 0x5000, 0x1000, 0, "parent, later")
    builder.comm(4, 8, 8, "new", executed=True)
    builder.map(5, 8, 0x1000, 0x1000, 0, "child's own")
    spaces = finish(builder).spaces
    assert [at(spaces, 8, 0x1000, time) for time in (1, 2, 3, 4, 5)] == [-1, 0, 0, -1, 2]
    assert at(spaces, 8, 0x5000, 9) == -1
    assert at(spaces, 7, 0x5000, 9) == 1


def test_threads_share_and_processes_found_running_inherit_nothing() -> None:
    builder = Builder()
    builder.map(0, 1, 0x1000, 0x1000, 0, "init")
    builder.fork(0, 9, 1, 9, 1, inherits=False)
    builder.fork(1, 1, 1, 2, 1)  # a thread
    spaces = finish(builder).spaces
    assert at(spaces, 9, 0x1000, 5) == -1
    assert at(spaces, 1, 0x1000, 5) == 0


def test_names_of_threads_follow_time() -> None:
    builder = Builder()
    builder.comm(1, 7, 7, "old", executed=False)
    builder.fork(2, 7, 7, 8, 7)
    builder.comm(3, 7, 7, "new", executed=False)
    samples = finish(builder)
    names = [*samples.comms, None]
    tid, time = np.array([7, 7, 7, 8, 8, 9, -1]), np.array([0, 1, 3, 1, 9, 9, 9], np.uint64)
    assert [names[row] for row in samples.comm_rows(tid, time)] == [None, "old", "new", None, "old", None, None]


EVENT = st.one_of(
    st.tuples(st.just("map"), st.integers(0, 3), st.integers(0, 12), st.integers(1, 6)),
    st.tuples(st.just("fork"), st.integers(0, 3), st.integers(0, 3), st.just(0)),
    st.tuples(st.just("exec"), st.integers(0, 3), st.just(0), st.just(0)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(EVENT, max_size=30), st.booleans())
def test_tables_agree_with_one_page_at_a_time(events: list[tuple[str, int, int, int]], in_order: bool) -> None:
    """The slow reference: a dictionary of pages for each process."""
    builder = Builder()
    pages: list[dict[int, int]] = [{}, {}, {}, {}]
    history = []
    row = 0
    for time, (kind, pid, a, size) in enumerate(events, 1):
        if kind == "map":
            builder.map(time, pid, a << 12, size << 12, 0, f"file {row}")
            pages[pid].update(dict.fromkeys(range(a, a + size), row))
            row += 1
        elif kind == "fork":
            builder.fork(time, pid, a, pid, a)
            if pid != a:
                pages[pid] = dict(pages[a])
        else:
            builder.comm(time, pid, pid, "x", executed=True)
            pages[pid] = {}
        history += [(time, p, page, pages[p].get(page, -1)) for p in range(4) for page in range(20)]
    if not in_order:
        history.reverse()
    spaces = finish(builder).spaces
    told = np.array(history, np.int64).reshape(-1, 4)
    found = spaces.resolve(
        told[:, 1], (told[:, 2] << 12).astype(np.uint64) + np.uint64(5), told[:, 0].astype(np.uint64)
    )
    assert found.tolist() == told[:, 3].tolist()


def test_tables_that_were_dropped_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces_module, "MAX_KEPT", 8)
    builder = Builder()
    for time in range(200):
        builder.map(time, time % 3, 0x1000 * time, 0x1000, 0, "a")
    spaces = finish(builder).spaces
    for time in (199, 3, 150, 0, 198):
        assert at(spaces, time % 3, 0x1000 * time, 500) == time


def test_changes_beyond_any_measure_end_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces_module, "MAX_WORK", 10_000)
    builder = Builder()
    for time in range(2000):
        builder.map(time, 1, 0x2000 * time, 0x1000, 0, "a")
    spaces = finish(builder).spaces
    count = np.arange(2000)
    with pytest.raises(LinemateError, match="too often"):
        spaces.resolve(np.ones(2000, np.int32), np.zeros(2000, np.uint64), count.astype(np.uint64))


def test_a_mapping_outside_the_address_space_is_no_mapping() -> None:
    builder = Builder()
    assert not builder.map(0, 1, (1 << 64) - 0x1000, 0x2000, 0, "a")
    assert not builder.map(0, 1, 0x1000, 0, 0, "a")
    assert builder.map(0, 1, (1 << 64) - 0x1000, 0x1000, 0, "a")


def test_link_addresses_go_through_the_segment_that_was_mapped() -> None:
    """As ld lays files out: code at offset 0x1000 linked at 0x1000, data at offset 0x2db8 linked at 0x3db8."""
    read, write, execute = 4, 2, 1
    segments = [(0, 0, 0x500, read), (0x1000, 0x1000, 0x800, read | execute), (0x2000, 0x2000, 0x200, read)]
    segments.append((0x2DB8, 0x3DB8, 0x260, read | write))
    loads = np.array([(*segment, 0) for segment in segments], LOAD_DTYPE)
    base = 0x5555_5555_4000
    builder = Builder()
    builder.map(1, 7, base + 0x1000, 0x1000, 0x1000, "/bin/a", MappingDetails(protection=5))
    builder.map(1, 7, base + 0x3000, 0x1000, 0x2000, "/bin/a", MappingDetails(data=True, protection=3))
    builder.map(1, 7, base + 0x9000, 0x1000, 0x9000, "/bin/a", MappingDetails(protection=5))
    builder.map(
        1, 8, base + 0x3000, 0x1000, 0x2000, "/bin/a", MappingDetails(data=True, protection=1)
    )  # which of two pages?
    samples = finish(builder)
    biases, known = load_biases(samples.mappings, loads)
    assert known.tolist() == [True, True, False, False]
    assert biases[:2].tolist() == [base, base]
    ran = RuntimeAddresses(np.array([base + 0x1234, base + 0x3DC0], np.uint64))
    rows = samples.spaces.resolve(np.array([7, 7]), np.asarray(ran), np.array([2, 2], np.uint64))
    assert np.asarray(link_addresses(ran, rows, biases)).tolist() == [0x1234, 0x3DC0]
    assert file_offsets(ran, samples.mappings, rows).tolist() == [0x1234, 0x2DC0]


def test_a_prelinked_library_may_be_loaded_below_its_link_address() -> None:
    loads = np.array([(0, 0x40_0000, 0x1000, 0, 0)], LOAD_DTYPE)
    builder = Builder()
    builder.map(1, 7, 0x1000, 0x1000, 0, "a")
    samples = finish(builder)
    biases, _ = load_biases(samples.mappings, loads)
    rows = np.zeros(1, np.int32)
    ran = RuntimeAddresses(np.array([0x1010], np.uint64))
    assert np.asarray(link_addresses(ran, rows, biases)).tolist() == [0x40_0010]


def test_data_finds_the_image_that_its_process_last_loaded() -> None:
    """Without --data only code is recorded: the bias of a variable's image comes from the mapping of its code."""
    builder = Builder()
    builder.map(1, 7, 0x1000, 0x1000, 0, "/bin/a")
    builder.fork(2, 8, 7, 8, 7)
    builder.map(3, 7, 0x9000, 0x1000, 0, "/lib/other")
    builder.comm(4, 7, 7, "b", executed=True)
    builder.map(5, 7, 0x6000, 0x1000, 0, "/bin/a")
    samples = finish(builder)
    wanted = np.array([samples.paths[p] == "/bin/a" for p in samples.mappings["path"]])
    pid, time = np.array([7, 7, 7, 7, 8, 8]), np.array([0, 3, 4, 5, 1, 9], np.uint64)
    assert samples.spaces.latest(wanted, pid, time).tolist() == [-1, 0, -1, 2, -1, 0]


def test_kernel_samples_are_looked_up_among_kernel_mappings(tmp_path: Path) -> None:
    builder = FileBuilder([Attr(sample_type=b.IP | b.TID | b.TIME)])
    builder.mmap(KERNEL_PID, 0xFFFF_FFFF_8100_0000, 0x100_0000, 0, "[kernel.kallsyms]_text", misc=1)
    builder.mmap2(5, 0x1000, 0x1000, 0, "/bin/a")
    builder.sample(misc=1, ip=0xFFFF_FFFF_8100_0010, pid=5, tid=5, time=1)
    builder.sample(misc=2, ip=0x1010, pid=5, tid=5, time=2)
    builder.sample(misc=5, ip=0x1010, pid=5, tid=5, time=3)  # a guest's
    builder.sample(misc=4, ip=0xFFFF_FFFF_8100_0010, pid=5, tid=5, time=4)
    path = tmp_path / "perf.data"
    path.write_bytes(builder.file())
    samples = read_samples(path)
    assert [samples.image_of(row) for row in range(4)] == ["[kernel.kallsyms]_text", "/bin/a", "", ""]


def mapped(count: int) -> Any:
    builder = Builder()
    for row in range(count):
        builder.map(row, 1, 0x10000 * row, 0x8000, 0, "a")
    return finish(builder).spaces


@pytest.mark.parametrize("processes", [1, 40])
def test_millions_of_samples_are_placed_in_seconds(processes: int) -> None:
    import time

    spaces, count = mapped(300), 1_000_000
    random = np.random.default_rng(1)
    pid = random.integers(1, processes + 1, count).astype(np.int32)
    address = random.integers(0, 300 * 0x10000, count).astype(np.uint64)
    when = np.sort(random.integers(0, 10_000, count)).astype(np.uint64)
    began = time.process_time()
    rows = spaces.resolve(pid, address, when)
    assert time.process_time() - began < 1.5
    late = (when >= 300) & (pid == 1)
    inside = address % np.uint64(0x10000) < 0x8000
    expected = np.where(inside, address >> np.uint64(16), np.uint64(0xFFFF_FFFF)).astype(np.uint32).view(np.int32)
    assert (rows[late] == expected[late]).all()
    assert (rows[pid > 1] == -1).all()
