"""Who starts threads and then runs their entry itself is one more of them."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

# Each worker adds up in an element of its own: expected high where there are two of them, by whomever they are run.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
static volatile long sums[2];
static long *volatile data;
static long length;
static __attribute__((noinline)) void *worker(void *number) {
  for (long i = 0; i < length; i++) sums[(long)number] += data[i];
  return 0;
}
int main(int argc, char **argv) {
  pthread_t one;
  length = atol(argv[1]), data = malloc(length * sizeof *data);
  BODY
  return (int)sums[0];
}
"""
START = "pthread_create(&one, 0, worker, (void *)1);"
JOIN = "pthread_join(one, 0);"
OWN = "worker((void *)0);"


def severity(compiled: Compile, tool: str, flags: tuple[str, ...], body: str) -> str:
    path = compiled(tool, "c", PROGRAM.replace("BODY", body), *flags)
    report = api.audit(str(path), min_severity=Severity.NOTE)
    return max((f.severity for f in report.findings if f.rule == "packed-thread-slots"), default="none")


@pytest.mark.parametrize("flags", [("-O0",), ("-O2", "-g")])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_starter_that_runs_the_entry_itself_is_one_more_thread(
    compiled: Compile, tool: str, flags: tuple[str, ...]
) -> None:
    assert severity(compiled, tool, flags, START + OWN + JOIN) == "high"


def test_so_it_is_in_a_stripped_file(compiled: Compile) -> None:
    assert severity(compiled, "gcc", ("-O2", "-s"), START + OWN + JOIN) == "medium"


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    "body",
    [START + JOIN + OWN, OWN + START + JOIN, f"if (length < 100) {OWN} else {{ {START} {JOIN} }}"],
    ids=["behind the end", "before the start", "instead"],
)
def test_a_run_that_no_thread_meets_is_none(compiled: Compile, tool: str, body: str) -> None:
    assert severity(compiled, tool, ("-O2",), body) in ("none", "note")
