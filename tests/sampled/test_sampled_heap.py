"""Memory whose allocation was noted: which one a byte belonged to, and how a finding names it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from linemate.sampled.heaps import around_calls
from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.model.finding import Finding
from sharing.model.heap import Notes
from sharing.model.image import ImageKind
from sharing.sampled.heap import Allocation, Allocations, Frame
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import LineUse
from tests.alone import alone
from tests.builders.heapnotes import Note, rows
from tests.builders.recorded import LINE, attribution
from tests.sampled.conftest import first, needs, report, sampled
from tests.sampled.test_sampled_together import along_an_array, interleaved
from tests.sampled.test_sampled_verdicts import pair

OPENS = Frame("open_channel", "/src/net.c:12:7", target=True)
SECOND = 1_000_000_000


def frames(pid: int, stack: Sequence[int], time: int) -> list[Frame]:
    known = {1: Frame("libutil.so+0x10"), 2: Frame("xmalloc", "/src/mem.c:3", target=True), 3: OPENS}
    return [known[address] for address in stack if address in known]


def asked(*notes: Note) -> Allocations:
    ordered = sorted(notes, key=lambda note: note.time)
    return Allocations(Notes(rows(ordered)), frames)


def test_an_address_belongs_to_the_allocation_that_lives_there() -> None:
    heap = asked(
        Note(1 * SECOND, 0x5000, 64, (3,)),
        Note(5 * SECOND, 0x5000),
        Note(6 * SECOND, 0x5000, 16, (3,)),
        Note(7 * SECOND, 0x9000, 8, (3,), pid=7),
    )
    first = heap.at(100, 0x503F, 3 * SECOND)
    assert first is not None
    assert (first.address, first.size, first.age_s) == (0x5000, 64, 2.0)
    for address, time in ((0x5040, 3), (0x4FFF, 3), (0x5000, 0), (0x5000, 5), (0x5020, 8), (0x9000, 8)):
        assert heap.at(100, address, time * SECOND) is None, (address, time)
    second = heap.at(100, 0x5008, 8 * SECOND)
    assert second is not None
    assert second.size == 16


def test_an_address_that_is_given_out_again_ends_the_one_before() -> None:
    heap = asked(Note(1, 0x5000, 64, (3,)), Note(5, 0x5000, 16, (3,)))
    assert heap.at(100, 0x5030, 9) is None
    known = heap.at(100, 0x5030, 3)
    assert known is not None
    assert known.size == 64


def test_who_wanted_the_memory_is_no_allocator_and_of_the_program() -> None:
    found = asked(Note(1, 0x5000, 64, (1, 2, 3))).at(100, 0x5000, 2)
    assert found is not None
    assert found.site is OPENS
    assert found.name == "block of 64 bytes from open_channel"
    gives = Frame("must_get", "/src/mem.c:3", target=True, gives_memory=True)
    assert Allocation(0x5000, 64, 1.0, (gives, OPENS)).site is OPENS
    assert Allocation(0x5000, 64, 1.0, (gives,)).site is gives, "better than none"
    only = asked(Note(1, 0x5000, 64, (1, 2))).at(100, 0x5000, 2)
    assert only is not None
    assert only.site.function == "xmalloc", "better than none"


@pytest.mark.parametrize(
    ("function", "asks"),
    [
        ("std::make_shared<Desk>", False),
        ("std::__shared_ptr<Desk, (__gnu_cxx::_Lock_policy)2>::__shared_ptr<Desk>", False),
        ("std::shared_ptr<Desk> std::make_shared<Desk, int>", False),
        ("__gnu_cxx::new_thing<Desk>", False),
        ("std::vector<Cell> build<Cell>", True),  # the program's own template, told with what it returns
        ("stdx::open", True),
        ("Desk::Desk", True),
    ],
)
def test_the_library_of_cpp_wants_no_memory_for_itself(function: str, asks: bool) -> None:
    made = Allocation(0x5000, 32, 1.0, (Frame(function, target=True), OPENS))
    assert made.site.function == (function if asks else "open_channel")
    alone = Allocation(0x5000, 32, 1.0, (Frame(function, target=True),))
    assert alone.site.function == function, "better than none"


def test_an_allocation_without_known_code_says_nothing() -> None:
    assert asked(Note(1, 0x5000, 64, (9,))).at(100, 0x5000, 2) is None


def test_how_many_of_its_kind_were_noted_is_said() -> None:
    found = asked(*(Note(i, 0x5000 + 64 * i, 64, (2, 3)) for i in range(1, 4))).at(100, 0x5040, 9)
    assert found is not None
    assert "allocated in open_channel (/src/net.c:12:7); 3 of that size from there were noted" in found.text


def finding(*blocks: Allocation) -> Finding:
    """Of two counters at bytes 0 and 8 of the line 0x5000."""

    def heap(use: LineUse, at: int) -> Allocation | None:
        return next((b for b in blocks if b.address <= use.address + at < b.address + b.size), None)

    run = profile_lines(attribution(pair()), 64)
    verdicts = judge_lines(run, Names(heap=heap), 64)
    (one,) = findings_of(verdicts, run.totals, Style(64, ImageKind.PIE))
    return one


def test_two_parts_of_one_allocation_are_named_by_it() -> None:
    one = finding(Allocation(0x4FF8, 48, 2.0, (OPENS,)))
    assert sorted(p.name for p in one.participants) == [
        "block of 48 bytes from open_channel+0x10",
        "block of 48 bytes from open_channel+0x8",
    ]
    assert {p.source for p in one.participants} == {"/src/net.c:12:7"}
    assert sum(e.text.startswith("allocated: 48 bytes at 0x4ff8, 2 s old when sampled") for e in one.evidence) == 1
    assert "in the type that open_channel (/src/net.c:12:7) allocates (48 bytes)" in one.remedies[0].text


def test_lines_of_one_allocation_that_are_judged_together_say_where_it_was_made() -> None:
    block = Allocation(LINE, 12 * 64, 2.0, (OPENS,))
    run = profile_lines(attribution(along_an_array(interleaved)), 64)
    verdicts = judge_lines(run, Names(heap=lambda _use, _at: block), 64)
    (one,) = findings_of(verdicts, run.totals, Style(64, ImageKind.PIE))
    assert sum(e.text.startswith("allocated: 768 bytes at 0x5000") for e in one.evidence) == 1


def test_two_small_allocations_on_one_line_are_two() -> None:
    one = finding(Allocation(0x5000, 8, 2.0, (OPENS,)), Allocation(0x5008, 8, 1.0, (OPENS,)))
    assert [p.name for p in one.participants] == ["block of 8 bytes from open_channel"] * 2
    assert len([e for e in one.evidence if e.text.startswith("allocated: ")]) == 2
    assert "their size rounded up to 64: other allocations lie on their line" in one.remedies[0].text


def test_what_nobody_noted_is_memory_as_before() -> None:
    one = finding()
    assert one.participants[0].name.startswith("heap 0x5000 bytes ")
    assert "the type that count_" in one.remedies[0].text


INLINED = r"""
#include <stdlib.h>
struct stats { long reads, writes; };
static inline __attribute__((always_inline)) void *must_get(size_t bytes) {
  void *got = malloc(bytes);
  if (!got) abort();
  return got;
}
static inline __attribute__((always_inline)) struct stats *open_stats(void) {
  struct stats *mine = must_get(sizeof *mine); // here
  mine->reads = 0;
  return mine;
}
struct stats *volatile kept;
int main(void) {
  kept = open_stats(); // caller
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_each_inlined_function_has_the_line_where_it_calls_the_next(tmp_path: Path, compiler: str) -> None:
    needs(compiler, "objdump")
    (tmp_path / "s.c").write_text(INLINED)
    subprocess.run([compiler, "-O2", "-g", "s.c", "-o", "s"], check=True, cwd=tmp_path)
    code = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(tmp_path / "s")], check=True, capture_output=True, text=True
    ).stdout
    call = next(line for line in code.splitlines() if "call" in line and "<malloc@plt>" in line)
    found = around_calls([(str(tmp_path / "s"), int(call.split(":")[0], 16))])
    (functions,) = found.values()
    lines = {name: i for i, text in enumerate(INLINED.splitlines(), 1) for name in ("here", "caller") if name in text}
    assert [one.name for one in functions] == ["must_get", "open_stats", "main"]
    assert [one.call.split("/")[-1].split(":")[:2] for one in functions[1:]] == [
        ["s.c", str(lines["here"])],
        ["s.c", str(lines["caller"])],
    ]
    assert [one.gives_memory for one in functions] == [True, False, False]


PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
struct channel { long sent, received; };
__attribute__((noinline)) static struct channel *open_channel(void) { return aligned_alloc(64, 64); }
static void *sender(void *p) {
  volatile struct channel *c = p;
  for (long i = 0; i < 50000000; i++) c->sent += i;
  return 0;
}
static void *receiver(void *p) {
  volatile struct channel *c = p;
  for (long i = 0; i < 50000000; i++) c->received += i;
  return 0;
}
int main(void) {
  pthread_t a, b;
  struct channel *c = open_channel();
  pthread_create(&a, 0, sender, c), pthread_create(&b, 0, receiver, c);
  pthread_join(a, 0), pthread_join(b, 0);
}
"""


def test_a_recorded_program_has_its_allocation_named(tmp_path: Path) -> None:
    needs("gcc", "perf")
    (tmp_path / "net.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "net.c", "-o", "net"], check=True, cwd=tmp_path)
    line = [sys.executable, "-m", "linemate", "record", "--heap", "--event", "cpu-clock", "--period", "250000"]
    with alone():
        done = subprocess.run(
            [*first(), *line, "-o", str(tmp_path / "p"), "--", str(tmp_path / "net")], capture_output=True, text=True
        )
    if done.returncode:
        pytest.skip(done.stderr.strip()[-200:])
    findings = sampled(report(tmp_path / "net", tmp_path / "p"))
    if not findings:
        pytest.skip("the machine is busy: its threads did not run at the same time")
    number = PROGRAM.splitlines().index(next(t for t in PROGRAM.splitlines() if "aligned_alloc" in t)) + 1
    (allocated,) = [e.text for e in findings[0].evidence if e.text.startswith("allocated: ")]
    assert "allocated: 64 bytes" in allocated
    assert f"open_channel (net.c:{number}" in allocated.replace(f"{tmp_path}/", "")
    assert [p.name for p in findings[0].participants[:2]] in (
        ["channel[0].sent", "channel[0].received"],
        ["channel[0].received", "channel[0].sent"],
    ), "64 bytes have room for several"
