"""Semaphores that begin at zero and one thread opens: what it did before is over when another one has passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sharing.conftest import Compile
from tests.sharing.phases import met

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
  pthread_create(&t[0], 0, one, 0);
  STARTS
  pthread_create(&t[2], 0, two, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
OPENED = {
    "DOES_ONE": "COUNT(left); sem_post(&gate)",
    "DOES_TWO": "sem_wait(&gate); COUNT(right)",
    "BEGINS": "0",
    "STARTS": "",
}
TOGETHER = {
    "opened first": {"DOES_ONE": "sem_post(&gate); COUNT(left)"},
    "open from the beginning": {"BEGINS": "1"},
    "opened by the first of several": {"STARTS": "pthread_create(&t[1], 0, one, 0);"},
    "passed later": {"DOES_TWO": "COUNT(right); sem_wait(&gate)"},
    "passed by some": {"DOES_TWO": "if (p) sem_wait(&gate); COUNT(right)"},
    "tried only": {"DOES_TWO": "sem_trywait(&gate); COUNT(right)"},
}


KINDS = [*((tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")), ("clang-19", "source")]


@pytest.mark.parametrize("kind", KINDS, ids="".join)
def test_who_passes_meets_nothing_of_what_came_before(tmp_path: Path, compiled: Compile, kind: tuple[str, str]) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, OPENED)


@pytest.mark.parametrize("kind", KINDS, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_where_it_may_be_passed_before_they_meet(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {**OPENED, **changed})
