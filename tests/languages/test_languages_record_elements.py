"""Atomics of an array behind a pointer at an index that code computes: debug information says of what they are."""

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
struct bucket { NUMBER tokens; unsigned key; };
struct limiter { unsigned long rate; struct bucket buckets[64], *rows; };
static struct limiter *named[4];
__attribute__((noinline)) struct limiter *find(unsigned key) { return named[key >> 30]; }
static void *worker(void *first) {
  unsigned key = (unsigned)(unsigned long)first;
  for (long i = 0; i < 100000000; i++) {
    key = key * 1664525u + 1013904223u;
    struct limiter *l = find(key);
    CHANGE;
  }
  return NULL;
}
int main(void) {
  for (int i = 0; i < 4; i++) {
    named[i] = calloc(1, sizeof *named[i]);
    named[i]->rows = calloc(64, sizeof(struct bucket));
  }
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""
INSIDE = "atomic_fetch_sub(&l->buckets[key & 63].tokens, 1)"
BEHIND = "struct bucket *b = &l->rows[key & 63]; atomic_fetch_sub(&b->tokens, b->key + 1)"

OWN = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct worker { unsigned long seed; _Atomic long seen[16]; };
__attribute__((noinline)) void count(struct worker *w, unsigned long s) { atomic_fetch_add(&w->seen[s >> 60], 1); }
static void *run(void *own) {
  struct worker *w = own;
  for (long i = 0; i < 100000000; i++) {
    w->seed = w->seed * 6364136223846793005ul + 1442695040888963407ul;
    count(w, w->seed);
  }
  return NULL;
}
int main(void) {
  pthread_t threads[4];
  struct worker *every[4];
  long sum = 0;
  for (int i = 0; i < 4; i++) {
    every[i] = calloc(1, sizeof *every[i]);
    pthread_create(&threads[i], NULL, run, every[i]);
  }
  for (int k = 0; k < 100; k++)
    for (int i = 0; i < 4; i++) sum += every[i]->seen[k & 15];
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return sum > 3;
}
"""


def found(folder: Path, compiler: str, level: str, change: str, number: str = "_Atomic long") -> list[Finding]:
    """What is said at low or above of elements that threads update."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    source = folder / "limiter.c"
    source.write_text(TEXT.replace("NUMBER", number).replace("CHANGE", change))
    program = source.with_suffix("")
    subprocess.run([compiler, "-g", "-pthread", level, str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [one for one in findings if one.severity.rank >= Severity.LOW.rank and one.rule == "packed-thread-slots"]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(("change", "name"), [(INSIDE, "buckets"), (BEHIND, "struct bucket")])
def test_threads_update_atomics_that_they_choose(tmp_path: Path, compiler: str, change: str, name: str) -> None:
    (one,) = found(tmp_path, compiler, "-O2", change)
    assert name in one.participants[0].full_name
    assert one.severity.rank <= Severity.MEDIUM.rank  # whose elements they are nothing says


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    ("change", "number"),
    [
        ("l->buckets[key & 63].tokens -= 1", "long"),  # each thread may have a record of its own
        ("atomic_fetch_sub(&l->buckets[3].tokens, 1)", "_Atomic long"),  # one place, which is shared itself
        (f"{INSIDE}; ", "_Alignas(64) _Atomic long"),  # elements on lines of their own
    ],
    ids=["plain", "one place", "lines"],
)
def test_nothing_is_said_of_others(tmp_path: Path, compiler: str, change: str, number: str) -> None:
    assert not found(tmp_path, compiler, "-O2", change, number)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_record_that_each_thread_is_handed_is_its_own(tmp_path: Path, compiler: str) -> None:
    """Whoever adds up reads all of them."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    source = tmp_path / "own.c"
    source.write_text(OWN)
    subprocess.run([compiler, "-g", "-pthread", "-O2", str(source), "-o", str(source.with_suffix(""))], check=True)
    findings = audit(AuditOptions(binary=str(source.with_suffix("")))).findings
    assert not [one for one in findings if one.severity.rank >= Severity.LOW.rank]
