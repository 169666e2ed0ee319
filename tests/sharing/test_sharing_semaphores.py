"""Semaphores that begin at zero and one thread opens: what it did before is over when another one has passed."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#include <semaphore.h>
static struct { long left, right; } both __attribute__((aligned(64)));
static sem_t gate __attribute__((aligned(64)));
#define COUNT(of) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
static void *one(void *p) { DOES_ONE; return p; }
static void *two(void *p) { DOES_TWO; return p; }
int main(void) {
  pthread_t t[3];
  sem_init(&gate, 0, BEGINS);
  for (int i = 0; i < HOW_MANY; i++) pthread_create(&t[i], 0, one, 0);
  pthread_create(&t[2], 0, two, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
OPENED = {
    "DOES_ONE": "COUNT(left); sem_post(&gate)",
    "DOES_TWO": "sem_wait(&gate); COUNT(right)",
    "BEGINS": "0",
    "HOW_MANY": "1",
}
TOGETHER = {
    "opened first": {"DOES_ONE": "sem_post(&gate); COUNT(left)"},
    "open from the beginning": {"BEGINS": "1"},
    "opened by the first of several": {"HOW_MANY": "2"},
    "passed later": {"DOES_TWO": "COUNT(right); sem_wait(&gate)"},
    "tried only": {"DOES_TWO": "sem_trywait(&gate); COUNT(right)"},
}


def met(compiled: Compile, tool: str, changed: dict[str, str]) -> bool:
    """Is anything found about both counters?"""
    text = PROGRAM
    for key, value in {**OPENED, **changed}.items():
        text = text.replace(key, value, 1)
    report = api.audit(str(compiled(tool, "c", text, "-O2", "-g")))
    return any({"both.left", "both.right"} <= {p.full_name for p in f.participants} for f in report.findings)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_who_passes_meets_nothing_of_what_came_before(compiled: Compile, tool: str) -> None:
    assert not met(compiled, tool, {})


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_where_it_may_be_passed_before_they_meet(compiled: Compile, tool: str, changed: dict[str, str]) -> None:
    assert met(compiled, tool, changed)
