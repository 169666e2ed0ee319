"""What threads do in loops before they all wait to start is done once; in stages that barriers part it is work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
struct gate { pthread_mutex_t lock; pthread_cond_t all; unsigned missing, round; };
struct worker { int number; struct gate *gate; };
volatile unsigned learned[8] __attribute__((aligned(64)));
volatile unsigned long input __attribute__((aligned(64))), output __attribute__((aligned(64)));
#if GATE == 0
static pthread_barrier_t barrier __attribute__((aligned(64)));
static void all(struct gate *g) { (void)g; pthread_barrier_wait(&barrier); }
#elif GATE == 1
/* Of the count itself: who comes last wakes the others, and finds nothing to wait for. */
static __attribute__((noinline)) void all(struct gate *g) {
  pthread_mutex_lock(&g->lock);
  if (--g->missing == 0) pthread_cond_broadcast(&g->all);
  while (g->missing > 0) pthread_cond_wait(&g->all, &g->lock);
  pthread_mutex_unlock(&g->lock);
}
#elif GATE == 2
static __thread unsigned long waited;
static __attribute__((noinline)) void all(struct gate *g) {
  pthread_mutex_lock(&g->lock);
  unsigned mine = g->round;
  if (--g->missing == 0) { g->missing = 3; g->round++; pthread_cond_broadcast(&g->all); }
  else while (mine == g->round) { waited++; pthread_cond_wait(&g->all, &g->lock); }
  pthread_mutex_unlock(&g->lock);
}
#else
static void all(struct gate *g) { (void)g; }
#endif
static void learn(int n) { for (int i = 0; i < 40; i++) learned[n] = learned[n] * 3 + i; }
static void *work(void *p) {
  struct worker *me = p;
  WORKS
  return 0;
}
static void *feed(void *p) {
  struct worker *me = p;
  FEEDS
  return 0;
}
int main(void) {
  static struct worker workers[3];
  struct gate *gate = calloc(1, sizeof *gate);
  pthread_t threads[3];
  for (int n = 0; n < 2; n++) {
    workers[n].number = n; workers[n].gate = gate;
    pthread_create(&threads[n], 0, work, &workers[n]);
  }
  workers[2].gate = gate;
  pthread_create(&threads[2], 0, feed, &workers[2]);
  for (int n = 0; n < 3; n++) pthread_join(threads[n], 0);
  return 0;
}
"""
LEARNS, MEETS = "learn(me->number);", "all(me->gate);"
CONSUMES, PRODUCES = (
    "for (long i = 0; i < 1000000; i++) output += input;",
    "for (long i = 0; i < 1000000; i++) input++;",
)
START = {"WORKS": LEARNS + MEETS + CONSUMES, "FEEDS": MEETS + PRODUCES}
GATES = {"a barrier": 0, "a latch of its own": 1, "a barrier of its own that counts how often it waited": 2}
BUILDS = ["gcc -O0", "gcc -O2", "clang-19 -O0", "clang-19 -O2", "source"]


def is_flagged(compiled: Compile, folder: Path, build: str, gate: int, works: str, feeds: str) -> bool:
    """Is a finding above a note about what each thread learned?"""
    text = f"#define GATE {gate}\n" + SOURCE.replace("WORKS", works).replace("FEEDS", feeds)
    if build == "source":
        (folder / "start.c").write_text(text)
        command = ["gcc", "-c", "start.c"]
        unit = {"directory": str(folder), "file": "start.c", "arguments": command}
        (folder / "compile_commands.json").write_text(json.dumps([unit]))
        report = api.check(database=folder, min_severity=Severity.LOW, config=False)
    else:
        compiler, level = build.split()
        path = compiled(compiler, "c", text, level, "-g", "-pthread")
        report = api.audit(str(path), min_severity=Severity.LOW, config=False)
    return any(part.full_name.startswith("learned") for found in report.findings for part in found.participants)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("gate", GATES.values(), ids=GATES)
def test_what_one_kind_of_threads_does_before_all_start_is_done_once(
    compiled: Compile, tmp_path: Path, build: str, gate: int
) -> None:
    assert not is_flagged(compiled, tmp_path, build, gate, START["WORKS"], START["FEEDS"])


WORK = {
    "nobody waits": (3, START["WORKS"], START["FEEDS"]),
    "all work before it, in stages": (0, LEARNS + MEETS + CONSUMES, PRODUCES + MEETS + PRODUCES),
    "it is done behind as well": (0, LEARNS + MEETS + f"for (;;) {{ {LEARNS} output += input; }}", START["FEEDS"]),
    "nothing comes behind": (0, LEARNS + MEETS, MEETS),
    "it is behind": (0, MEETS + LEARNS, START["FEEDS"]),
}


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("case", WORK.values(), ids=WORK)
def test_else_it_is_work(compiled: Compile, tmp_path: Path, build: str, case: tuple[int, str, str]) -> None:
    assert is_flagged(compiled, tmp_path, build, *case)
