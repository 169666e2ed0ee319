"""``record --heap`` by probes: which calls are paired, what is noted and when it ends, and what a real one says."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from elfscan.debug.frames import unwind_steps
from linemate.recording import allocators
from linemate.recording.probedheap import needs_probes
from pmu.heaplog import heap_of, read_notes, write_notes
from pmu.perfevent import Record
from pmu.probednotes import CALLS, EVERY, FIRST, LARGE_BYTES, Call, Noted, noted, rows_of
from pmu.sidecar import read_sidecar, sidecar_of
from pmu.uprobes import Probe, Seen, refusal
from sharing.model.arch import machine_of_uname
from sharing.model.errors import LinemateError
from sharing.model.heap import BEGINS, ENDS

Run = Callable[..., tuple[int, str, str]]

X86 = machine_of_uname("x86_64")
assert X86 is not None
assert X86.perf is not None
PERF = X86.perf
ARGUMENTS, RESULT, STACK = PERF.arguments, PERF.result, PERF.stack
MASKS = (
    sum(1 << PERF.number(name) for name in (*ARGUMENTS, STACK)),
    sum(1 << PERF.number(name) for name in (RESULT, STACK)),
)
CALLER = 0x401234
TOP = 0x7FFF_0000


@dataclass
class Script:
    """What the kernel would write of calls that a test makes up, each a microsecond after the one before."""

    time: int = 1000
    lost: int = 0
    windows: list[tuple[int, int]] = field(default_factory=list)
    records: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: list(CALLS))

    def begins(self, name: str, *arguments: int, sp: int = TOP, tid: int = 7) -> None:
        values = {ARGUMENTS[i]: value for i, value in enumerate(arguments)} | {STACK: sp}
        self._add(self.names.index(name) * 2, values, MASKS[0], tid)

    def returns(self, name: str, result: int, *, sp: int = TOP + 8, stack: bytes = b"", tid: int = 7) -> None:
        self._add(self.names.index(name) * 2 + 1, {RESULT: result, STACK: sp}, MASKS[1], tid, stack)

    def call(self, name: str, result: int, *arguments: int) -> None:
        self.begins(name, *arguments)
        self.returns(name, result)

    def _add(self, number: int, values: dict[str, int], mask: int, tid: int, stack: bytes | None = None) -> None:
        self.time += 1000
        registers = [values.get(name, 0) for bit, name in enumerate(PERF.names) if mask >> bit & 1]
        body = struct.pack(f"=QQIIQQ{len(registers)}Q", number, CALLER, 5, tid, self.time, 2, *registers)
        if number % 2:
            room = (stack or b"") + bytes(-len(stack or b"") % 8)
            body += struct.pack("=Q", len(room)) + room + (struct.pack("=Q", len(stack or b"")) if room else b"")
        self.records.append(struct.pack("=IHH", Record.SAMPLE, 0, len(body) + 8) + body)

    def noted(self) -> Noted:
        probes = {
            2 * i + back: Probe("/lib/libc.so.6", 0x1000 * i, name, bool(back))
            for i, name in enumerate(self.names)
            for back in (0, 1)
        }
        windows = tuple(self.windows) or ((0, self.time + 1),)
        # Two rings: which one a record is in depends on the processor, and is no order of time.
        chunks = (b"".join(self.records[1::2]), b"".join(self.records[::2]))
        calls: dict[int, Call] = {number: CALLS[probe.function] for number, probe in probes.items()}
        return noted(Seen(chunks, probes, windows, self.lost), calls, PERF, MASKS)


def sizes(notes: Noted) -> list[tuple[int, int]]:
    return [(one.address, one.size) for one in notes.begins]


@pytest.mark.parametrize(
    ("name", "arguments", "size"),
    [
        ("malloc", (100,), 100),
        ("calloc", (7, 145), 1015),
        ("realloc", (0x5000, 300), 300),
        ("aligned_alloc", (64, 128), 128),
        ("mmap", (0, 8192, 3, 0x22), 8192),
    ],
)
def test_each_function_says_its_size_where_its_arguments_have_it(
    name: str, arguments: tuple[int, ...], size: int
) -> None:
    script = Script()
    script.call(name, 0x6000, *arguments)
    assert sizes(script.noted()) == [(0x6000, size)]


def test_the_mapping_of_a_file_is_no_allocation_nor_is_what_failed() -> None:
    script = Script()
    script.call("mmap", 0x6000, 0, 8192, 3, 0x02)
    script.call("mmap", 2**64 - 12, 0, 8192, 3, 0x22)
    script.call("malloc", 0, 100)
    assert sizes(script.noted()) == []


def test_of_calls_inside_of_others_the_outermost_counts_once() -> None:
    script = Script()
    script.begins("calloc", 4, 8)
    script.begins("malloc", 32, sp=TOP - 64)
    script.begins("mmap", 0, 4096, 3, 0x22, sp=TOP - 128)
    script.returns("mmap", 0x9000, sp=TOP - 120)
    script.returns("malloc", 0x6000, sp=TOP - 56)
    script.returns("calloc", 0x6000)
    assert sizes(script.noted()) == [(0x6000, 32)]


def test_threads_are_paired_apart() -> None:
    script = Script()
    script.begins("malloc", 16, tid=1)
    script.begins("malloc", 32, tid=2)
    script.returns("malloc", 0x6000, tid=1)
    script.returns("malloc", 0x7000, tid=2)
    assert sizes(script.noted()) == [(0x6000, 16), (0x7000, 32)]


def test_a_return_that_was_lost_gives_no_size_to_another_call() -> None:
    script = Script()
    script.begins("malloc", 16, sp=TOP - 512)  # its return is lost
    script.begins("malloc", 32)
    script.returns("malloc", 0x6000)
    script.returns("malloc", 0x7000)  # its call is lost
    assert sizes(script.noted()) == [(0x6000, 32)]


def test_posix_memalign_says_where_by_the_word_that_it_was_given_if_the_stack_has_that() -> None:
    script = Script()
    for at in (TOP + 16, TOP + 4096):
        script.begins("posix_memalign", at, 64, 256)
        script.returns("posix_memalign", 0, stack=struct.pack("=2Q", 1, 0x6040))
    notes = script.noted()
    assert (sizes(notes), notes.left_out) == ([(0x6040, 256)], 1)


def test_an_allocation_ends_where_its_address_is_given_out_again() -> None:
    script = Script()
    script.call("malloc", 0x6000, 16)
    script.call("malloc", 0x6000, 24)
    notes = script.noted()
    rows = rows_of(notes, [[one.caller] for one in notes.begins])
    assert rows["kind"].tolist() == [BEGINS, ENDS, BEGINS]
    assert rows["time"][1] == rows["time"][2]
    assert rows["stack"][:, 0].tolist() == [CALLER, 0, CALLER]


def test_of_many_that_ended_from_one_place_some_are_noted_and_what_is_left_or_large_always() -> None:
    script = Script()
    for _ in range(3 * EVERY):
        script.call("malloc", 0x6000, 16)
    script.call("malloc", 0x6000, 24)
    for _ in range(FIRST + 9):
        script.call("malloc", 0x9000, LARGE_BYTES)
    notes = script.noted()
    assert sum(one.size == 16 for one in notes.begins) == FIRST + 2
    assert sum(one.size == LARGE_BYTES for one in notes.begins) == FIRST + 9
    assert sum(one.size == 24 for one in notes.begins) == 1


def test_between_two_times_of_watching_only_places_last_whose_allocations_were_not_seen_to_end() -> None:
    script = Script()
    script.call("malloc", 0x6000, 16)
    script.call("malloc", 0x6000, 16)  # of this place one has ended
    script.call("malloc", 0x7000, 64)
    first = (0, script.time + 10)
    script.time += 10_000
    second = (script.time, script.time + 10_000)
    script.windows = [first, second]
    script.call("malloc", 0x8000, 16)
    notes = script.noted()
    ends = {(notes.begins[row].address, notes.begins[row].time): time for row, time in notes.ends}
    left, lasting, last = notes.begins[1], notes.begins[2], notes.begins[3]
    assert ends[left.address, left.time] == first[1]
    assert (lasting.address, lasting.time) not in ends
    assert (last.address, last.time) not in ends, "watching went on to the end"


@pytest.mark.parametrize("cut", [1, 8, 30, 60, -1])
def test_a_record_that_is_cut_is_left_out(cut: int) -> None:
    script = Script()
    script.call("malloc", 0x6000, 16)
    script.records[1] = script.records[1][:cut]
    assert sizes(script.noted()) == []


def test_notes_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    script = Script(lost=3)
    script.call("malloc", 0x6000, 16)
    notes = script.noted()
    write_notes(rows_of(notes, [[CALLER, 0x42]]), notes.left_out, tmp_path / "notes")
    back = read_notes(tmp_path / "notes")
    assert (back.left_out, back.rows["frames"].tolist()) == (3, [2])


PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct channel { volatile long sent, received; char rest[48]; };
static struct channel *volatile kept;
struct channel *open_channel(int number) {
  char name[40];
  snprintf(name, sizeof name, "channel %d", number);
  struct channel *made = malloc(sizeof *made + name[8] % 2 * 0);
  made->sent = number;
  return made;
}
static long work_for(long rounds) {
  volatile long work = 0;
  for (long i = 0; i < rounds; i++) work += i;
  return work;
}
static void *stay(void *at) { for (;;) pause(); return at; }
int main(int argc, char **argv) {
  for (long i = 0; i < 5; i++) kept = open_channel((int)i);
  for (int i = 0; argc > 1 && i < 20 * atoi(argv[1]); i++) {
    pthread_t thread;  /* one that ends while perf looks for threads would end the recording */
    if (i % 10 == 0 && i < 300 && pthread_create(&thread, NULL, stay, NULL)) return 3;
    kept = open_channel(i);
    work_for(4000000);  /* what only sleeps may have no sample in two seconds */
    usleep(40000);
  }
  return work_for(400000000) == 1;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probes")
    (folder / "p.c").write_text(PROGRAM)
    flags = ["gcc", "-O1", "-g", "-fno-builtin", "-fno-inline", "-pthread", str(folder / "p.c"), "-o"]
    subprocess.run([*flags, str(folder / "static"), "-static"], check=True)
    subprocess.run([*flags, str(folder / "dynamic")], check=True)
    return folder


def test_probes_are_for_what_nothing_can_be_loaded_into(programs: Path, tmp_path: Path) -> None:
    assert needs_probes([str(programs / "static")]) == "it is linked statically"
    assert needs_probes([str(programs / "dynamic")]) == ""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert needs_probes([str(script)]) == "", "what it starts is not known"
    script.chmod(0o4755)
    assert needs_probes([str(script)]) == "it runs as another user"


def test_the_allocator_of_a_static_program_is_found_in_it(programs: Path) -> None:
    found = allocators.in_program(str(programs / "static"))
    names = {probe.function for probe in found.probes}
    assert {"malloc", "calloc", "realloc", "mmap"} <= names
    assert len(found.probes) == len(found.calls) == 2 * sum(not probe.returns for probe in found.probes)
    with pytest.raises(LinemateError, match="no function that allocates"):
        allocators.in_program(str(programs / "dynamic"))


@pytest.mark.parametrize(
    ("instructions", "at"),
    [
        ([(0, "pushq %rbp")], 0),
        ([(0, "endbr64"), (4, "testq %rdi, %rdi"), (7, "je 0x98fb8")], 7),
        ([(0, "movq 0x13b39(%rip), %rax"), (7, "movq %rdi, %r8"), (10, "jne 0x393a1")], 10),
        ([(0, "movq %rsi, %rdi"), (3, "pushq %rbp")], 0),
        ([(0, "subq $0x8, %rsp"), (4, "jmp 0x100")], 0),
        ([(0, "callq 0x100"), (5, "pushq %rbp")], 0),
        ([(0, "testq %rdi, %rdi"), (3, "jmp *%rax")], 0),
        ([], 0),
    ],
)
def test_a_probe_is_where_the_kernel_needs_no_single_step_and_arguments_are_untouched(
    instructions: list[tuple[int, str]], at: int
) -> None:
    assert allocators._quick_place(0, instructions) == at


def test_how_a_function_is_left_is_told_by_its_unwind_rows(programs: Path) -> None:
    path = str(programs / "static")
    listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    start = next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(" T open_channel"))
    step = unwind_steps(path, [start, 1])
    assert set(step) == {start}, "there is no code at 1"
    # At its first instruction the return address is at the stack pointer: psABI, 3.2.2.
    assert (step[start].register, step[start].offset, step[start].return_at) == (7, 8, -8)


def allowed() -> str:
    """Why probes cannot be tried here, "" where they can."""
    if os.geteuid() != 0:
        return "probes in user code need root"
    return refusal()


@pytest.mark.skipif(bool(allowed()), reason=allowed() or "-")
def test_a_static_program_is_recorded_with_callers_of_its_allocations(
    programs: Path, tmp_path: Path, linemate: Run
) -> None:
    out = tmp_path / "p"
    code, _, said = linemate("record", "--heap", "-o", out, "--", programs / "static")
    assert code == 0, said
    heap = read_sidecar(sidecar_of(out)).heap
    assert heap is not None
    assert heap.by == "probes"
    rows = read_notes(heap_of(out)).rows
    ours = rows[(rows["size"] == 64) & (rows["kind"] == BEGINS)]
    assert len(ours) == 5
    assert (ours["frames"] >= 2).all()
    listed = subprocess.run(["nm", str(programs / "static")], capture_output=True, text=True, check=True).stdout
    at = sorted((int(line.split()[0], 16), line.split()[2]) for line in listed.splitlines() if " T " in line)
    names = [[max(one for one in at if one[0] <= address)[1] for address in row["stack"][:2].tolist()] for row in ours]
    assert names == [["open_channel", "main"]] * 5


@pytest.fixture
def running(programs: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([programs / "dynamic", "600"])
    time.sleep(0.2)
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(bool(allowed()), reason=allowed() or "-")
def test_a_running_process_is_probed_and_starts_threads_as_before(
    running: subprocess.Popen[bytes], tmp_path: Path, linemate: Run
) -> None:
    out = tmp_path / "p"
    code, _, said = linemate("record", "--heap", "--pid", running.pid, "--duration", "2", "-o", out)
    assert code == 0, said
    assert "what it has allocated until now has no allocation site" in said
    rows = read_notes(heap_of(out)).rows
    ours = rows[(rows["size"] == 64) & (rows["kind"] == BEGINS)]
    assert len(ours) > 0
    assert (ours["frames"] >= 2).all()
    assert running.poll() is None, "a thread could not be started"


def test_whose_allocations_are_noted_must_be_said(linemate: Run) -> None:
    code, _, said = linemate("record", "--heap", "--duration", 1)
    assert (code, "--heap needs a COMMAND or --pid" in said) == (2, True)
