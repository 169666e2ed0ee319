"""Life loops: what a thread does in loops in front of the one that it lives in, it does once."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

# One thread counts in each round of its loop, the other one in a loop in front of its own, or in that.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static struct { long served, made; } both __attribute__((aligned(64)));
static struct { pthread_mutex_t lock; pthread_cond_t more; int items, stop; } queue __attribute__((aligned(64)));
static char *table[512], in[512], out[512];
#define ADD(counter) __atomic_fetch_add(&both.counter, 1, __ATOMIC_RELAXED)
__attribute__((noinline)) static void fill(int n) { for (int i = 0; i < n; i++) { table[i] = malloc(64); ADD(made); } }
__attribute__((noinline)) static void serve(void) { while (read(3, in, sizeof in) > 0) write(4, in, 8); }
static void take(void) {
  pthread_mutex_lock(&queue.lock);
  while (!queue.items) pthread_cond_wait(&queue.more, &queue.lock);
  queue.items--;
  pthread_mutex_unlock(&queue.lock);
}
static void *first(void *p) { while (read(5, out, sizeof out) > 0) ADD(served); return p; }
static void *second(void *p) {
  int n = *(int *)p;
  BODY
  return p;
}
int main(int n, char **a) {
  pthread_t t, u;
  pthread_create(&t, 0, first, 0);
  pthread_create(&u, 0, second, &n);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
"""
FOR = "for (int i = 0; i < n; i++)"
ONCE = {
    "a loop, and then input": f"{FOR} ADD(made); while (read(3, in, 8) > 0) write(4, in, 8);",
    "a function, and then one": "fill(n); serve();",
    "a function, and then work": "fill(n); for (;;) { take(); write(4, in, 8); }",
    "two loops": f"{FOR} {{ table[i] = malloc(64); ADD(made); }} {FOR} ADD(made); serve();",
}
OFTEN = {
    "the loop that it lives in": "while (read(3, in, 8) > 0) ADD(made);",
    "input is taken in front as well": "while (read(6, in, 8) > 8) ADD(made); serve();",
    "in the loop as well": "fill(n); while (read(3, in, 8) > 0) fill(in[0]);",
    "nothing waits behind": f"{FOR} ADD(made); for (;;) write(4, in, 8);",
    "it waits for the end": (
        f"{FOR} ADD(made); pthread_mutex_lock(&queue.lock); "
        "while (!queue.stop) pthread_cond_wait(&queue.more, &queue.lock); pthread_mutex_unlock(&queue.lock);"
    ),
    "behind the loop": f"while (read(3, in, 8) > 8) write(4, in, 8); {FOR} ADD(made);",
}


def shares(findings: api.Report) -> bool:
    """Is anything above a note said of both counters?"""
    return any(
        {"both.served", "both.made"} <= {p.full_name for p in f.participants} and f.severity is not Severity.NOTE
        for f in findings.findings
    )


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("body", ONCE.values(), ids=ONCE)
def test_loops_in_front_run_once(compiled: Compile, tool: str, body: str) -> None:
    assert not shares(api.audit(str(compiled(tool, "c", PROGRAM.replace("BODY", body), "-O2", "-g"))))


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("body", OFTEN.values(), ids=OFTEN)
def test_loops_that_a_thread_may_live_in_do_not(compiled: Compile, tool: str, body: str) -> None:
    assert shares(api.audit(str(compiled(tool, "c", PROGRAM.replace("BODY", body), "-O2", "-g"))))


@pytest.mark.parametrize(("body", "often"), [(b, False) for b in ONCE.values()] + [(b, True) for b in OFTEN.values()])
def test_source_says_the_same(tmp_path: Path, body: str, often: bool) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM.replace("BODY", body))
    assert shares(api.check([str(source)], flags=[], config=False)) is often
