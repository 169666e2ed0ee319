"""A flag that one thread reads wherever it counts, and others read without counting: the count disturbs the others."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
struct { atomic_ulong ticks; atomic_int stop; unsigned long late; } of __attribute__((aligned(64)));
static long sums[2][64] __attribute__((aligned(64)));
static unsigned long apart[8] __attribute__((aligned(64)));
static void *clock_thread(void *p) {
  while (!atomic_load_explicit(&of.stop, memory_order_relaxed)) {
    unsigned long n = atomic_fetch_add_explicit(&of.ticks, 1, memory_order_relaxed);
    for (int i = 0; i < 8; i++)
      __asm__ volatile("pause");
    if (n % 1000 == 0)
      of.late++;
  }
  return (void *)of.late;
}
static void *work(void *p) {
  long *sum = sums[(long)p];
  for (;;) {
    for (int i = 0; i < 64; i++)
      sum[i] += i;
    WORK
  }
  return 0;
}
int main(void) {
  pthread_t clocks, workers[2];
  pthread_create(&clocks, 0, clock_thread, 0);
  for (long i = 0; i < 2; i++)
    pthread_create(&workers[i], 0, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(workers[i], 0);
  atomic_store(&of.stop, 1);
  pthread_join(clocks, 0);
  return (int)(of.ticks + apart[0]);
}
"""
READS = "if (atomic_load_explicit(&of.stop, memory_order_relaxed)) break;"
COUNTS = f"{READS} atomic_fetch_add_explicit(&of.ticks, 1, memory_order_relaxed);"
NEVER = '__asm__ volatile("" ::: "memory"); if (sum[0] < 0) break;'


def said(compiled: Compile, tool: str, work: str, late: str = "of.late") -> tuple[str, str]:
    """Severity of what is said of the flag first, and the member that is said to disturb it."""
    text = PROGRAM.replace("WORK", work).replace("of.late++", f"{late}++")
    report = api.audit(str(compiled(tool, "c", text, "-g", "-O2")))
    for found in report.findings:
        names = [str(p.full_name).rpartition(".")[2] for p in found.participants]
        if found.rule == "written-beside-read-mostly" and "stop" in names:
            return str(found.severity), names[0]
    return "none", ""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_who_only_reads_the_flag_loses_it_to_the_count(compiled: Compile, tool: str) -> None:
    """gcc makes two loops of one, of which the inner one reads the flag as well; the seldom count is not named."""
    assert said(compiled, tool, READS) == ("medium", "ticks")


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("work", [COUNTS, NEVER], ids=["all count", "nobody else reads"])
def test_flag_is_not_disturbed_where_nobody_only_reads_it(compiled: Compile, tool: str, work: str) -> None:
    assert said(compiled, tool, work, "apart[0]")[0] in ("none", "note", "low")
