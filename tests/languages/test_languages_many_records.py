"""Small records side by side, of which threads change others than their neighbours, however they come to them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

TEXT = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct drop { float x, y; unsigned moves; TYPE load; MORE };
static struct drop *drops[4096];
void *large[4096];
static _Atomic unsigned next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void *xcalloc(size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  if (!p) abort();
  return p;
}
HOW void move(struct drop *d, unsigned r) {
  BEFORE;
  d->x += r & 1;
  d->y -= r & 1;
  CHANGE;
  AFTER;
}
static void *run(void *given) {
  (void)given;
  unsigned r = 1;
  for (long i = 0; i < 100000000; i++) {
    unsigned at = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) & 4095;
    r = r * 1664525 + 1013904223;
    ROUND;
    WORK;
  }
  return NULL;
}
static void *watch(void *given) {
  float *most = given;
  for (long i = 0; i < 100000000; i++) {
    LOOK;
  }
  return NULL;
}
int main(void) {
  float most = 0;
  SETUP;
  pthread_t threads[4], watcher;
  for (int i = 0; i < NUMBER; i++) pthread_create(&threads[i], NULL, run, NULL);
  pthread_create(&watcher, NULL, watch, &most);
  for (int i = 0; i < NUMBER; i++) pthread_join(threads[i], NULL);
  return most > 0;
}
"""
SINGLE = "for (int i = 0; i < 4096; i++) drops[i] = malloc(sizeof *drops[i])"
WRAPPED = "for (int i = 0; i < 4096; i++) drops[i] = xcalloc(1, sizeof *drops[i])"
APART = f"{SINGLE}, large[i] = malloc(200)"
ALIGNED = "for (int i = 0; i < 4096; i++) drops[i] = aligned_alloc(64, sizeof *drops[i])"
ELSEWHERE = f"{SINGLE}; for (int i = 0; i < 64; i++) large[i] = malloc(200)"
TWICE = f"{SINGLE}; drops[0] = malloc(sizeof *drops[0])"
ARRAY = "drops[0] = calloc(4096, sizeof *drops[0])"
ONE, ELEMENT = "move(drops[at], r >> 8)", "move(drops[0] + at, r >> 8)"
PART = "for (unsigned k = 0; k < (r & 1023); k++) move(drops[0] + k, r >> 8)"
KEPT, INLINED = "__attribute__((noinline))", "static inline __attribute__((always_inline))"
CHANGES = "d->load = d->load * 0.75f + (r & 7); d->moves++"
LOCKED = ("pthread_mutex_lock(&lock)", "pthread_mutex_unlock(&lock)")


def found(folder: Path, compiler: str = "gcc", setup: str = SINGLE, **parts: str) -> list[Finding]:
    """What is said of the records' elements; ``parts`` are words of the text."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    words = {
        "TYPE": "float",
        "MORE": "",
        "BEFORE": "",
        "AFTER": "",
        "ROUND": "",
        "HOW": KEPT,
        "WORK": ONE,
        "LOOK": "*most += i & 1",
        "NUMBER": "4",
    }
    text = TEXT.replace("SETUP", setup)
    for word, part in (words | {"CHANGE": CHANGES} | parts).items():
        text = text.replace(word, part)
    source = folder / "drops.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([compiler, "-g", "-pthread", "-O2", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    kept = [one for one in findings if one.severity.rank >= Severity.LOW.rank]
    return [one for one in kept if "drop" in one.participants[0].full_name and len(one.participants) == 1]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("setup", [SINGLE, WRAPPED, ELSEWHERE], ids=["allocator", "wrapper", "large in another loop"])
def test_records_that_a_loop_makes_side_by_side_are_threads(tmp_path: Path, compiler: str, setup: str) -> None:
    (one,) = found(tmp_path, compiler, setup)
    assert one.severity is Severity.LOW
    assert "side by side" in one.message


@pytest.mark.parametrize("setup", [APART, ALIGNED, TWICE], ids=["large between", "at lines", "made elsewhere"])
def test_nothing_is_said_of_those_that_are_not(tmp_path: Path, setup: str) -> None:
    assert not found(tmp_path, setup=setup)


def test_elements_that_code_takes_out_of_an_array_are_as_well(tmp_path: Path) -> None:
    (one,) = found(tmp_path, "gcc", ARRAY, HOW=INLINED, WORK=ELEMENT)
    assert one.severity is Severity.LOW


def test_of_what_a_loop_goes_through_two_meet_at_the_ends_alone(tmp_path: Path) -> None:
    assert not found(tmp_path, setup=ARRAY, HOW=INLINED, WORK=PART)


def test_what_a_thread_makes_may_be_its_own(tmp_path: Path) -> None:
    made = SINGLE.replace("4096", "64")
    assert not found(tmp_path, setup="(void)0", ROUND=made)


def test_what_others_look_at_is_handed_on(tmp_path: Path) -> None:
    """A message is read by threads of another kind, of which nothing says when they are done with its neighbour."""
    look = "*most += drops[i & 4095]->x + drops[i & 4095]->y + drops[i & 4095]->load + drops[i & 4095]->moves"
    assert not found(tmp_path, LOOK=look)


def test_under_one_lock_one_thread_alone_changes_them(tmp_path: Path) -> None:
    before, after = LOCKED
    assert not found(tmp_path, BEFORE=before, AFTER=after)


def test_what_is_only_set_anew_is_no_work_on_them(tmp_path: Path) -> None:
    body = "d->load = r & 7"
    assert not any("load" in one.participants[0].full_name for one in found(tmp_path, CHANGE=body))


def test_a_record_that_ends_in_what_has_no_size_is_as_large_as_each_is_made(tmp_path: Path) -> None:
    assert not found(tmp_path, MORE="char text[];")


def test_threads_of_two_kinds_change_others_as_well(tmp_path: Path) -> None:
    (one,) = found(tmp_path, NUMBER="1", LOOK="move(drops[i & 4095], i >> 8)")
    assert one.severity is Severity.LOW
    assert not found(tmp_path, NUMBER="1"), "one thread alone changes them"
