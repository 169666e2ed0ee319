"""``record --heap``: what the recorder notes in a program, what its notes must be, and whose file they are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linemate.recording.run import HEAP_RECORDER
from pmu.heaplog import heap_of, join_logs, read_notes
from pmu.profilefile import digest
from pmu.sidecar import read_sidecar, sidecar_of
from sharing.model.errors import Malformed, Unrecognized
from sharing.model.heap import BEGINS, ENDS, Notes
from sharing.model.native import native_file
from tests.builders.heapnotes import Note, log

Run = Callable[..., tuple[int, str, str]]

ALLOCATES = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
struct Wide { alignas(128) char bytes[384]; };
static void *volatile kept;
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "kinds")) {
    kept = malloc(1001);
    kept = calloc(7, 145);
    kept = realloc(kept, 1003);
    kept = aligned_alloc(64, 1024);
    void *at = nullptr;
    if (posix_memalign(&at, 64, 1005)) return 1;
    kept = new char[1006];
    kept = new Wide;
    kept = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(kept, 1 << 20);
    void *gone = malloc(1007);
    free(gone);
  }
  if (!strcmp(what, "many"))
    for (int i = 0; i < 100000; i++) { kept = malloc(2001); free(kept); }
  if (!strcmp(what, "large"))
    for (int i = 0; i < 300; i++) { kept = malloc(50001); free(kept); }
  if (!strcmp(what, "throws"))
    try { kept = ::operator new(static_cast<size_t>(1) << 62); } catch (const std::bad_alloc &) { puts("caught"); }
  if (!strcmp(what, "forks")) {
    if (fork() == 0) { kept = malloc(3001); _exit(0); }
    wait(nullptr);
  }
  if (!strcmp(what, "threads")) {
    std::thread one([] { for (int i = 0; i < 20000; i++) free(malloc(4001)); });
    std::thread two([] { for (int i = 0; i < 20000; i++) free(malloc(4001)); });
    one.join(), two.join();
  }
  puts("done");
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("heap") / "program"
    where.with_suffix(".cc").write_text(ALLOCATES)
    subprocess.run(
        ["g++", "-O1", "-g", "-std=c++17", "-pthread", "-fno-builtin", f"{where}.cc", "-o", str(where)], check=True
    )
    return where


def noted(program: Path, what: str, where: Path) -> Notes:
    """The notes of one run, which must do what it does without the recorder."""
    recorder = native_file(HEAP_RECORDER)
    assert recorder is not None
    logs = where / f"logs-{what}"
    logs.mkdir()
    env = {**os.environ, "LD_PRELOAD": str(recorder), "LINEMATE_HEAP": str(logs)}
    with_it = subprocess.run([str(program), what], env=env, capture_output=True, check=True, timeout=60)
    without = subprocess.run([str(program), what], capture_output=True, check=True, timeout=60)
    assert (with_it.stdout, with_it.stderr) == (without.stdout, b"")
    join_logs(logs.iterdir(), where / "notes")
    return read_notes(where / "notes")


def of_size(notes: Notes, size: int) -> Any:
    return notes.rows[(notes.rows["kind"] == BEGINS) & (notes.rows["size"] == size)]


def test_every_way_to_get_memory_is_noted_with_its_size(program: Path, tmp_path: Path) -> None:
    notes = noted(program, "kinds", tmp_path)
    for size in (1001, 7 * 145, 1003, 1024, 1005, 1006, 384, 1 << 20, 1007):
        (row,) = of_size(notes, size)
        assert row["address"] > 0
        assert row["frames"] >= 2, "the caller, and who called it"
    ends = set(notes.rows["address"][notes.rows["kind"] == ENDS].tolist())
    for size, ended in ((1001, False), (7 * 145, True), (1 << 20, True), (1007, True), (1006, False)):
        assert (int(of_size(notes, size)["address"][0]) in ends) == ended, size
    assert (np.diff(notes.rows["time"].astype(np.int64)) >= 0).all()


def test_of_many_from_one_place_some_are_noted_and_of_large_ones_all(program: Path, tmp_path: Path) -> None:
    assert 64 <= len(of_size(noted(program, "many", tmp_path), 2001)) <= 64 + 100000 // 1024 + 1
    assert len(of_size(noted(program, "large", tmp_path), 50001)) == 300


def test_an_exception_of_the_allocator_reaches_the_program(program: Path, tmp_path: Path) -> None:
    assert len(of_size(noted(program, "throws", tmp_path), 1 << 62)) == 0


def test_a_child_notes_its_own_allocations(program: Path, tmp_path: Path) -> None:
    notes = noted(program, "forks", tmp_path)
    (row,) = of_size(notes, 3001)
    assert row["pid"] not in set(notes.rows["pid"][notes.rows["size"] != 3001].tolist())


def test_threads_note_at_the_same_time_and_every_end_has_its_beginning(program: Path, tmp_path: Path) -> None:
    notes = noted(program, "threads", tmp_path)
    assert 128 <= len(of_size(notes, 4001)) <= 200
    live: set[int] = set()
    for address, kind in zip(notes.rows["address"].tolist(), notes.rows["kind"].tolist(), strict=True):
        assert (address in live) == (kind == ENDS)
        live ^= {address}


def read(tmp_path: Path, data: bytes) -> Notes:
    (tmp_path / "p.heap").write_bytes(data)
    return read_notes(tmp_path / "p.heap")


TWO = (Note(20, 0x6000, 8, (1,)), Note(10, 0x5000, 64, (1, 2)))


def test_notes_of_several_processes_come_in_order_of_time(tmp_path: Path) -> None:
    notes = read(tmp_path, log(*TWO, left_out=2) + log(Note(15, 0x7000, 1, (3,), pid=7)))
    assert notes.rows["time"].tolist() == [10, 15, 20]
    assert notes.left_out == 2
    assert len(read(tmp_path, b"").rows) == 0
    assert len(read(tmp_path, log(Note(1, 2, 3, kind=0))).rows) == 0, "a note that was not finished"


def test_notes_of_recordings_with_fewer_frames_are_read(tmp_path: Path) -> None:
    whole, header = log(Note(10, 0x5000, 64, (1, 2)), record_bytes=96), 64
    notes = read(tmp_path, whole[: header + 96] + log(Note(20, 0x6000, 8, tuple(range(1, 17)))))
    assert notes.rows["address"].tolist() == [0x5000, 0x6000]
    assert [row["stack"][: int(row["frames"])].tolist() for row in notes.rows] == [[1, 2], list(range(1, 17))]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (log(*TWO, used=3), "3 notes, for which the file has no room"),
        (log(*TWO, used=1 << 63), "no room"),
        (log(*TWO, used=1), "no header of a process's notes"),
        (log(*TWO)[:-1], "no room"),
        (log(*TWO) + b"x", "no header"),
        (log(record_bytes=95), "notes of 95 bytes, not 160"),
        (log(Note(1, 2, 3, kind=3)), "no known kind"),
        (log(Note(1, 2, 3, stack=(1,) * 17)), "more frames than fit"),
    ],
)
def test_notes_that_cannot_be_are_malformed(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        read(tmp_path, data)


def test_what_is_no_file_of_notes_is_not_recognized(tmp_path: Path) -> None:
    for data in (b"PERFILE2" * 20, b"x"):
        with pytest.raises(Unrecognized):
            read(tmp_path, data)


@pytest.fixture
def out(tmp_path: Path, fake_perf: Any) -> Path:
    clock = {"type": 1, "config": 0, "samples": 3, "regs": True}
    fake_perf.says({"cpu-clock": clock, "cpu-clock:u": clock})
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / "profile"


def names(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir())


def test_notes_lie_beside_the_profile_and_go_with_it(out: Path, linemate: Run, program: Path) -> None:
    code, _, said = linemate("record", "--heap", "-o", out, "--", program, "kinds")
    assert code == 0, said
    assert names(out) == ["profile", "profile.heap", "profile.json"]
    heap = read_sidecar(sidecar_of(out)).heap
    assert heap is not None
    assert (heap.file, heap.sha256, heap.noted) == (
        "profile.heap",
        digest(heap_of(out)),
        len(read_notes(heap_of(out)).rows),
    )
    assert linemate("record", "-o", out, "--", "true")[0] == 0
    assert names(out) == ["profile", "profile.json"]
    assert read_sidecar(sidecar_of(out)).heap is None


def test_a_file_where_the_notes_go_stays(out: Path, linemate: Run) -> None:
    heap_of(out).write_text("mine")
    assert linemate("record", "--heap", "-o", out, "--", "true")[0] == 2
    assert linemate("record", "-o", out, "--", "true")[0] == 0, "it is not in the way of a recording without notes"
    assert heap_of(out).read_text() == "mine"
