"""Two counts beside what all threads read: moving the one that all change leaves the other, which some never use."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
struct { atomic_long given; int limit; atomic_long running; } of __attribute__((aligned(64))) = {0, 1 << 20, 0};
static long sums[2][64] __attribute__((aligned(64)));
static long apart[8] __attribute__((aligned(64)));
static void *begin(void *p) {
  long *sum = sums[0];
  for (long n = 0; n < 1 << 20; n++) {
    for (int i = 0; i < 16; i++)
      sum[i] += i;
    if (n >= of.limit)
      break;
    NUMBER
    atomic_fetch_add(&of.running, 1);
  }
  return 0;
}
static void *finish(void *p) {
  long *sum = sums[1];
  for (long n = 0; n < 1 << 20; n++) {
    for (int i = 0; i < 16; i++)
      sum[i] += i;
    atomic_fetch_sub(&of.running, 1);
    LIMIT
  }
  return 0;
}
int main(void) {
  pthread_t first[2], last[2];
  for (int i = 0; i < 2; i++) {
    pthread_create(&first[i], 0, begin, 0);
    pthread_create(&last[i], 0, finish, 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(first[i], 0);
    pthread_join(last[i], 0);
  }
  return (int)(of.given + apart[0] + sums[0][1]);
}
"""
GIVES = "sum[0] = atomic_fetch_add(&of.given, 1);"
LAST = "if (sum[0] < 0) { sum[0] = atomic_fetch_add(&of.given, 1); return 0; }"
READS = "sum[0] += of.limit;"
UNREAD = "sum[0] += apart[0];"


def said(compiled: Compile, tool: str, number: str, limit: str) -> tuple[list[str], str]:
    """The members that the finding about the limit is about, those that are written apart; and what it says."""
    text = PROGRAM.replace("NUMBER", number).replace("LIMIT", limit)
    report = api.audit(str(compiled(tool, "c", text, "-g", "-O2")))
    for found in report.findings:
        if found.rule == "written-beside-read-mostly":
            also = " ".join(one.text for one in found.also)  # who meets there as well, but not the limit
            names = [str(p.full_name).rpartition(".")[2] for p in found.participants if p.full_name not in also]
            return [name for name in names if name != "limit"], found.message
    return [], ""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_writer_that_the_edit_of_the_first_leaves_is_named_with_it(compiled: Compile, tool: str) -> None:
    names, message = said(compiled, tool, GIVES, READS)
    assert names == ["running", "given"]
    assert "of.given (atomic), bytes 0-7, written by begin, would too" in message


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("number", "limit"), [(LAST, READS), (GIVES, UNREAD)], ids=["once", "nobody else reads"])
def test_a_writer_that_disturbs_nobody_further_is_not(compiled: Compile, tool: str, number: str, limit: str) -> None:
    assert said(compiled, tool, number, limit)[0] != ["running", "given"]
    assert "would too" not in said(compiled, tool, number, limit)[1]
