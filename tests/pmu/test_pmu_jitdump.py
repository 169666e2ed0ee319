"""Code that a runtime dumped: which pieces a dump has, and where a profile then finds a sample."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pmu import jitdump, read_samples
from pmu.jitdump import JitDump, find_dump, read_dump
from sharing.model.samples import Samples
from tests.builders import perfdata as b
from tests.builders.jitdump import Dump

FIRST, SECOND = bytes(range(1, 9)), bytes(range(11, 27))
USES_CLOCK = 1 << 25


def a_dump(*, big: bool = False) -> Dump:
    """Two pieces, of which the later one lies where the first was; a description of lines between them."""
    made = Dump(big=big)
    made.load(10, 0x1000, "JS:*add a.js:3", FIRST, index=1)
    made.record(2, 11, b"\0" * 32)
    made.load(20, 0x1000, "JS:~add a.js:3", SECOND, index=2)
    return made


def read(path: Path, made: bytes) -> JitDump:
    path.write_bytes(made)
    dump = read_dump(path)
    assert dump is not None
    return dump


def said(dump: JitDump) -> list[tuple[int, int, bytes, str]]:
    """(time, address, code, name) of each piece."""
    return [(t, at, bytes(dump.data[o : o + n]), dump.names[i]) for t, at, n, o, i in dump.pieces.tolist()]


@pytest.mark.parametrize("big", [False, True])
def test_pieces_have_their_names_and_bytes(tmp_path: Path, big: bool) -> None:
    dump = read(tmp_path / "jit-5.dump", a_dump(big=big).file())
    assert said(dump) == [(10, 0x1000, FIRST, "JS:*add a.js:3"), (20, 0x1000, SECOND, "JS:~add a.js:3")]
    assert (dump.machine, dump.bits, dump.byteorder) == (62, 64, "big" if big else "little")


def test_code_that_moved_keeps_its_bytes(tmp_path: Path) -> None:
    made = a_dump()
    made.move(30, 0x1000, 0x9000, len(SECOND), index=2)
    made.move(31, 0x5000, 0x6000, 8, index=77)
    dump = read(tmp_path / "jit-5.dump", made.file())
    assert said(dump)[2:] == [(30, 0x9000, SECOND, "JS:~add a.js:3")], "what was never loaded did not move"


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_dump_that_was_cut_has_its_whole_records(tmp_path: Path, cut: int) -> None:
    dump = read(tmp_path / "jit-5.dump", a_dump().file()[:-cut])
    assert [one[3] for one in said(dump)] == ["JS:*add a.js:3"]


def test_a_piece_that_claims_more_than_its_record_ends_the_dump(tmp_path: Path) -> None:
    made = Dump()
    made.load(10, 0x1000, "f", FIRST, size=1 << 40)
    made.load(20, 0x2000, "g", FIRST)
    assert said(read(tmp_path / "jit-5.dump", made.file())) == []
    made = Dump()
    made.records.append(made.pack("IIQ", 0, 0, 0))
    assert said(read(tmp_path / "jit-5.dump", made.file())) == []


def test_another_file_is_no_dump(tmp_path: Path) -> None:
    for text in (b"", b"JiTD", b"\x7fELF" + bytes(60)):
        (tmp_path / "jit-5.dump").write_bytes(text)
        assert read_dump(tmp_path / "jit-5.dump") is None
    assert read_dump(tmp_path / "jit-6.dump") is None


def test_a_dump_lies_beside_the_profile_or_where_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    written = there / "jit-5.dump"
    written.write_bytes(a_dump().file())
    assert find_dump(str(written), here / "p.data") == written
    (here / "jit-5.dump").write_bytes(a_dump().file())
    assert find_dump(str(written), here / "p.data") == here / "jit-5.dump"
    assert find_dump("/etc/shadow.dump", here / "p.data") is None
    if os.geteuid() == 0:
        for folder in (there, here):
            os.chown(folder / "jit-5.dump", 4711, -1)
    else:
        monkeypatch.setattr(jitdump.os, "geteuid", lambda: 4711)
    assert find_dump(str(written), here / "p.data") is None, "another user's"


def sampled(folder: Path, *, clock: int) -> Samples:
    """Samples at times 15 and 25 of a process that mapped its dump at time 1."""
    (folder / "jit-5.dump").write_bytes(a_dump().file())
    attr = b.Attr(flags=b.SAMPLE_ID_ALL | USES_CLOCK, clock=clock)
    made = b.Builder([attr])
    made.mmap2(5, 0x1000, 0x1000, 0, "//anon", time=1)
    made.mmap2(5, 0x9000, 0x1000, 0, str(folder / "jit-5.dump"), time=2)
    for moment in (15, 25):
        made.sample(ip=0x1004, pid=5, tid=5, time=moment)
    (folder / "p.data").write_bytes(made.file())
    return read_samples(folder / "p.data")


def test_a_sample_is_in_the_piece_that_was_there_then(tmp_path: Path) -> None:
    samples, dump = sampled(tmp_path, clock=time.CLOCK_MONOTONIC), read_dump(tmp_path / "jit-5.dump")
    assert dump is not None
    rows = samples.mappings[samples.samples["mapping"]]
    assert [samples.paths[row] for row in rows["path"]] == [str(tmp_path / "jit-5.dump")] * 2
    assert rows["pgoff"].tolist() == dump.pieces["offset"].tolist()


def test_times_of_another_clock_do_not_tell_which_piece_was_there(tmp_path: Path) -> None:
    samples = sampled(tmp_path, clock=time.CLOCK_REALTIME)
    rows = samples.mappings[samples.samples["mapping"]]
    assert [samples.paths[row] for row in rows["path"]] == ["//anon"] * 2
