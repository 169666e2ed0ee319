"""Barriers and what else parts programs into phases, as compilers leave them and as source says them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate import api
from tests.sharing.conftest import Compile
from tests.sharing.phases import met

KINDS = [(tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")]
BUILT = [*KINDS, ("clang-19", "source")]

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
static struct { long left, right; } both __attribute__((aligned(64)));
#define COUNT(of) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
static __attribute__((noinline)) void fill(void) { COUNT(left); }
static __attribute__((noinline)) void mix(void) { COUNT(right); }
"""

STARTS = """
int main(void) {
  pthread_t t[4];
  pthread_barrier_init(&barrier, 0, 4);
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
BY_NUMBER = """
static pthread_barrier_t barrier __attribute__((aligned(64)));
static void *worker(void *argument) {
  long number = (long)argument;
  BEFORE
  for (int round = 0; round < 1000; round++) {
    if (number == 0) fill();
    FIRST
    if (number == 1) mix();
    SECOND
  }
  return argument;
}
"""
WAIT = "pthread_barrier_wait(&barrier);"
IN_TURNS = {"BEFORE": "", "FIRST": WAIT, "SECOND": WAIT}


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("before", ["", WAIT], ids=["", "begin together"])
def test_one_thread_works_while_the_others_wait(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], before: str
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM + BY_NUMBER + STARTS, {**IN_TURNS, "BEFORE": before})


TOGETHER = {
    "one barrier": {"FIRST": ""},
    "none": {"FIRST": "", "SECOND": ""},
    "some rounds pass one, others both": {"FIRST": "if (round % 2) " + WAIT},
    "a second thread does the first part": {"FIRST": "if (number == 2) mix(); " + WAIT},
}


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_threads_that_work_at_one_stage_meet(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM + BY_NUMBER + STARTS, {**IN_TURNS, **changed})


RECORD = """
struct group { pthread_barrier_t barrier; long number; };
static void *one(void *p) {
  struct group *g = p;
  for (int i = 0; i < 1000; i++) { COUNT(left); pthread_barrier_wait(&g->barrier); pthread_barrier_wait(&g->barrier); }
  return p;
}
static void *two(void *p) {
  struct group *g = p;
  for (int i = 0; i < 1000; i++) { pthread_barrier_wait(&g->barrier); COUNT(right); pthread_barrier_wait(&g->barrier); }
  return p;
}
static __attribute__((noinline)) struct group *group(void) {
  struct group *g = malloc(sizeof *g);
  pthread_barrier_init(&g->barrier, 0, 2);
  return g;
}
int main(void) {
  pthread_t t[2];
  struct group *a = group(), *b = SECOND;
  pthread_create(&t[0], 0, one, a);
  pthread_create(&t[1], 0, two, b);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""


@pytest.mark.parametrize("kind", BUILT, ids="".join)
def test_the_only_barrier_of_a_program_is_the_same_wherever_it_is(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM + RECORD, {"SECOND": "a"})


@pytest.mark.parametrize("kind", BUILT, ids="".join)
def test_barriers_of_two_groups_are_two(tmp_path: Path, compiled: Compile, kind: tuple[str, str]) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM + RECORD, {"SECOND": "group()"})


CPP = """
#include <atomic>
#include <barrier>
#include <latch>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
alignas(64) static std::latch latch(1), other(1);
alignas(64) static std::barrier<> barrier(2);
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000000; i++) of++; }
int main() {
  std::thread a([] { DOES_ONE; });
  std::thread b([] { DOES_TWO; });
  a.join();
  b.join();
}
"""
PARTED = {
    "latch": ("count(both.left); latch.count_down()", "latch.wait(); count(both.right)"),
    "barrier": ("count(both.left); barrier.arrive_and_wait()", "barrier.arrive_and_wait(); count(both.right)"),
    "both wait": ("count(both.left); latch.arrive_and_wait()", "latch.wait(); count(both.right)"),
}
BESIDE = {
    "counted down before": ("latch.count_down(); count(both.left)", "latch.wait(); count(both.right)"),
    "asked only": ("count(both.left); latch.count_down()", "latch.try_wait(); count(both.right)"),
    "another latch": ("count(both.left); latch.count_down()", "other.wait(); count(both.right)"),
    "arrives without waiting": (
        "count(both.left); barrier.arrive_and_wait()",
        "(void)barrier.arrive(); count(both.right)",
    ),
    "nothing": ("count(both.left)", "count(both.right)"),
}
CPP_KINDS = [(tool.replace("gcc", "g++").replace("clang", "clang++"), level) for tool, level in BUILT]
# Each compiler and each level once: where a rule sees nothing, a pair is found whatever the code looks like.
CPP_FEW = [("g++", "-O2"), ("clang++-19", "-O0"), ("clang++-19", "source")]


@pytest.mark.parametrize("kind", CPP_KINDS, ids="".join)
@pytest.mark.parametrize("does", PARTED.values(), ids=PARTED)
def test_latches_and_barriers_of_the_library_part_threads(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], does: tuple[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, CPP, {"DOES_ONE": does[0], "DOES_TWO": does[1]}, "cc")


@pytest.mark.parametrize("kind", CPP_FEW, ids="".join)
@pytest.mark.parametrize("does", BESIDE.values(), ids=BESIDE)
def test_who_does_not_wait_for_the_other_meets_it(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], does: tuple[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, CPP, {"DOES_ONE": does[0], "DOES_TWO": does[1]}, "cc")


NAMELESS = """
#include <semaphore>
alignas(64) static std::atomic<int> word(2);
alignas(64) static std::counting_semaphore<4> two(2);
"""
STILL_MEETS = {
    **{name: BESIDE[name] for name in ("counted down before", "asked only", "another latch")},
    "waits for a number to change": (
        "word--; word.notify_all(); count(both.left); word--; word.notify_all()",
        "word.wait(2); count(both.right)",
    ),
    "a semaphore that lets some pass": ("count(both.left); two.release()", "two.acquire(); count(both.right)"),
}


def found_stripped(compiled: Compile, level: str, does: tuple[str, str]) -> bool:
    """Whether two counters are found on one line of a program without symbols."""
    text = CPP.replace("int main", NAMELESS + "int main").replace("DOES_ONE", does[0]).replace("DOES_TWO", does[1])
    program = compiled("g++", "cc", text, level, "-std=c++20")
    stripped = program.with_name("stripped")
    subprocess.run(["strip", "-o", str(stripped), str(program)], check=True)
    report = api.audit(str(stripped), config=False)
    return any(found.rule == "independent-writers" for found in report.findings)


@pytest.mark.parametrize("level", ["-O1", "-O2"])
@pytest.mark.parametrize("does", [PARTED["latch"], PARTED["both wait"]], ids=["latch", "both wait"])
def test_a_latch_of_a_stripped_file_is_known_by_its_code(compiled: Compile, level: str, does: tuple[str, str]) -> None:
    assert not found_stripped(compiled, level, does)


@pytest.mark.parametrize("does", STILL_MEETS.values(), ids=STILL_MEETS)
def test_without_names_who_does_not_wait_for_the_other_meets_it(compiled: Compile, does: tuple[str, str]) -> None:
    assert found_stripped(compiled, "-O2", does)
