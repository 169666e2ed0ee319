"""Kinds of false sharing that servers are known for, in programs as compilers make them, with and without symbols."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import linemate
from tests.sharing.conftest import Compile

# The index is a number that each thread takes at first use.
SLOTS = """
#include <pthread.h>
#include <unistd.h>
static _Thread_local int my_number = -1;
static int next_number;
static struct { unsigned long hits, misses; } slot[32] __attribute__((aligned(64)));
static int number(void) {
  if (my_number < 0) my_number = __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
  return my_number;
}
__attribute__((noinline)) void hit(void) { slot[number()].hits++; }
__attribute__((noinline)) void miss(void) { slot[number()].misses++; }
static void *serve(void *arg) {
  char text[64];
  while (read((int)(long)arg, text, 64) > 0) if (text[0] == 'x') hit(); else miss();
  return 0;
}
int main(int n, char **v) {
  pthread_t thread;
  for (int i = 0; i < n; i++) pthread_create(&thread, 0, serve, (void *)(long)i);
  pause();
  return (int)slot[n].hits;
}
"""
LINES = SLOTS.replace("{ unsigned long hits, misses; }", "{ unsigned long hits, misses, rest[6]; }")
# Who fills waits in two nested loops, who empties in one.
QUEUE = """
#include <pthread.h>
#include <sched.h>
static struct { unsigned long head, tail; void *slot[256]; } q __attribute__((aligned(64)));
__attribute__((noinline)) int push(void *p) {
  unsigned long t = __atomic_load_n(&q.tail, 0);
  if (t - __atomic_load_n(&q.head, 2) == 256) return 0;
  q.slot[t & 255] = p;
  __atomic_store_n(&q.tail, t + 1, 3);
  return 1;
}
__attribute__((noinline)) void *pop(void) {
  unsigned long h = __atomic_load_n(&q.head, 0);
  if (h == __atomic_load_n(&q.tail, 2)) return 0;
  void *p = q.slot[h & 255];
  __atomic_store_n(&q.head, h + 1, 3);
  return p;
}
static void *produce(void *arg) { long n = 0; for (;;) while (!push((void *)++n)) sched_yield(); }
static void *consume(void *arg) { for (;;) if (!pop()) sched_yield(); }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, produce, 0);
  pthread_create(&b, 0, consume, 0);
  return pthread_join(b, 0);
}
"""
APART = QUEUE.replace("head, tail; void", "head, rest[7], tail, more[7]; void")
FOUND = [linemate.Severity.MEDIUM, linemate.Severity.HIGH]


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    ("program", "rule"),
    [(SLOTS, "packed-thread-slots"), (LINES, ""), (QUEUE, "independent-writers"), (APART, "")],
    ids=["slots", "slots of a line", "queue", "ends of a queue on lines of their own"],
)
def test_known_kinds(compiled: Compile, tmp_path: Path, tool: str, program: str, rule: str) -> None:
    built = compiled(tool, "c", program, "-O2", "-pthread", "-w")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, built], check=True)
    for binary in (built, stripped):
        findings = linemate.audit(str(binary), config=False).findings
        assert [(f.rule, f.severity in FOUND) for f in findings] == ([(rule, True)] if rule else [])
