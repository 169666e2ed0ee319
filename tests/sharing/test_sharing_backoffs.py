"""Workers that sleep where they are refused do their work in the rounds between; who sleeps and goes on does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
_Atomic long done[16];
_Atomic long tokens __attribute__((aligned(64)));
_Atomic int stop __attribute__((aligned(64)));
__attribute__((noinline)) static int allow(void) { return atomic_fetch_sub(&tokens, 1) > 0; }
static inline int take(void) {
  for (long n = tokens; n > 0;)
    if (atomic_compare_exchange_weak(&tokens, &n, n - 1))
      return 1;
  return 0;
}
__attribute__((noinline)) static void count(long x) { done[x & 15]++; }
static void *work(void *p) {
  long x = (long)p + 1;
  for (long i = 0; i < 1000000; i++) {
    x ^= x << 13;
    LOOP
  }
  return p;
}
int main(void) {
  pthread_t t[4];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (long i = 0; i < THREADS; i++)
    pthread_join(t[i], 0);
  return (int)(done[0] + done[1]);
}
"""
IN_PLACE_OF_WORK = {
    "own": "if (!allow()) { usleep(1000); continue; } done[x & 15]++;",
    "a loop asks": "if (!take()) { usleep(1000); continue; } done[x & 15]++;",
    "the other arm": "if (allow()) { done[x & 15]++; } else { usleep(1000); }",
}
BEFORE_WORK = {
    "then works": "if (!allow()) usleep(1000); done[x & 15]++;",
    "then calls": "if (!allow()) usleep(1000); count(x);",
    "works and sleeps": "done[x & 15]++; if (!allow()) usleep(1000);",
    "both": "if (!allow()) { usleep(1000); continue; } done[x & 15]++; usleep(2000);",
    "called from both": "if (!allow()) { usleep(1000); count(x); continue; } count(x + 1);",
}
BUILDS = ["gcc -O0", "gcc -O2", "clang-19 -O0", "clang-19 -O2", "source"]


def of_slots(report: Report) -> str:
    return next((f.severity for f in report.findings if {"done"} == {p.name for p in f.participants}), "none")


def severity(compiled: Compile, folder: Path, build: str, loop: str, threads: int = 4) -> str:
    text = PROGRAM.replace("LOOP", loop).replace("THREADS", str(threads))
    if build == "source":
        source = folder / "program.c"
        source.write_text(text)
        return of_slots(api.check([source], flags=["-O2"], cache=False, config=False))
    tool, level = build.split()
    return of_slots(api.audit(str(compiled(tool, "c", text, level, "-g"))))


@pytest.mark.parametrize("build", BUILDS)
class TestSleeps:
    @pytest.mark.parametrize("loop", IN_PLACE_OF_WORK.values(), ids=IN_PLACE_OF_WORK)
    def test_in_place_of_the_work(self, compiled: Compile, tmp_path: Path, build: str, loop: str) -> None:
        assert severity(compiled, tmp_path, build, loop) == "medium"

    @pytest.mark.parametrize("loop", BEFORE_WORK.values(), ids=BEFORE_WORK)
    def test_in_rounds_with_the_work(self, compiled: Compile, tmp_path: Path, build: str, loop: str) -> None:
        assert severity(compiled, tmp_path, build, loop) in ("low", "note", "none")
