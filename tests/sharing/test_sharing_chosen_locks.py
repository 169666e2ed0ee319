"""A lock that a round as likely does not take disturbs its neighbours less surely than one that each round takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
struct { pthread_mutex_t lock; long wrong; long *table; long sizes[4]; } of __attribute__((aligned(64)));
static long sums[2][64] __attribute__((aligned(64)));
static void count(long n) {
  pthread_mutex_lock(&of.lock);
  of.wrong += n;
  pthread_mutex_unlock(&of.lock);
}
static void count_wrong(long n, long total) {
  if (total == sums[0][32])
    return;
  pthread_mutex_lock(&of.lock);
  of.wrong += n;
  pthread_mutex_unlock(&of.lock);
}
static void count_all(long n, long total) {
  pthread_mutex_lock(&of.lock);
  if (total != sums[0][32])
    of.wrong += n;
  pthread_mutex_unlock(&of.lock);
}
static void *take(void *p) {
  long *sum = sums[0];
  for (long n = 0; n < 1 << 20; n++) {
    long total = 0;
    for (int i = 0; i < 16; i++)
      total += sum[i];
    ROUND
  }
  return 0;
}
static void *look(void *p) {
  long *sum = sums[1];
  for (long n = 0; n < 1 << 20; n++) {
    sum[n & 7] += of.table[n & 63];
    __asm__ volatile("" ::: "memory");
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  of.table = sums[0];
  for (int i = 0; i < 4; i += 2) {
    pthread_create(&threads[i], 0, take, 0);
    pthread_create(&threads[i + 1], 0, look, 0);
  }
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return (int)of.wrong;
}
"""
WHERE_WRONG = "if (total != sum[32]) count(n);"
SELDOMER = "if (n % sum[36] == 0) count(total);"
IN_LOOPS = "for (long k = 0; k < total; k++) for (long j = 0; j < k; j++) if (j % 9 == 0) count(total);"
ALWAYS = "count(total);"
EITHER_WAY = "if (total != sum[32]) { count(n); sum[33]++; } else { sum[34] += 2; count(1); sum[35] = n; }"
IN_A_CALLEE = "count_wrong(n, total);"
CHOSEN = {"own": WHERE_WRONG, "in a callee": IN_A_CALLEE}
BOTH_CALLEES = "count_wrong(n, total); if (total == sum[32]) count(1);"
TAKEN = {"always": ALWAYS, "either way": EITHER_WAY, "a callee always": "count_all(n, total);", "both": BOTH_CALLEES}
BUILDS = ["gcc -O0", "gcc -O2", "clang-19 -O0", "clang-19 -O2", "source"]


def said(compiled: Compile, folder: Path, build: str, each_round: str) -> str:
    """How severe it is that the lock is beside the pointer."""
    text = PROGRAM.replace("ROUND", each_round)
    if build == "source":
        source = folder / "program.c"
        source.write_text(text)
        report = api.check([source], flags=["-O2"], cache=False, config=False)
    else:
        tool, level = build.split()
        report = api.audit(str(compiled(tool, "c", text, "-g", level)))
    return next((str(found.severity) for found in report.findings if found.rule == "hot-lock-shares-line"), "none")


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("each_round", CHOSEN.values(), ids=CHOSEN)
def test_a_lock_behind_a_comparison_is_low(compiled: Compile, tmp_path: Path, build: str, each_round: str) -> None:
    assert said(compiled, tmp_path, build, each_round) == "low"


@pytest.mark.parametrize("build", ["gcc -O2", "clang-19 -O2"])
@pytest.mark.parametrize("each_round", [SELDOMER, IN_LOOPS], ids=["of rounds", "of rounds of inner loops"])
def test_a_lock_taken_more_seldom_still_is_low(compiled: Compile, tmp_path: Path, build: str, each_round: str) -> None:
    """Where inner loops make the estimate high that is no more than what a round does on one of two ways."""
    assert said(compiled, tmp_path, build, each_round) == "low"


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("each_round", TAKEN.values(), ids=TAKEN)
def test_a_lock_that_each_round_takes_is_high(compiled: Compile, tmp_path: Path, build: str, each_round: str) -> None:
    assert said(compiled, tmp_path, build, each_round) == "high"
