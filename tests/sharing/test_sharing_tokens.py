"""Threads that hand one token on by semaphores, as a buffer of one slot does, never use what they share at one time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sharing.conftest import Compile
from tests.sharing.phases import met
from tests.sharing.test_sharing_barriers import BUILT, CPP_KINDS

PROGRAM = """
#include <pthread.h>
#include <semaphore.h>
static struct { long left, right; } both __attribute__((aligned(64)));
static sem_t empty __attribute__((aligned(64))), full;
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
#define COUNT(of) for (int i = 0; i < 1000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
#define ROUNDS for (int round = 0; round < 100000; round++)
static void *one(void *p) { ROUNDS { DOES_ONE; } return p; }
static void *two(void *p) { ROUNDS { DOES_TWO; } return p; }
ANOTHER
int main(void) {
  pthread_t t[3];
  sem_init(&empty, 0, SLOTS);
  sem_init(&full, 0, 0);
  pthread_create(&t[0], 0, one, 0);
  pthread_create(&t[1], 0, two, 0);
  STARTS
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
KEPT = {
    "DOES_ONE": "sem_wait(&empty); COUNT(left); sem_post(&full)",
    "DOES_TWO": "sem_wait(&full); COUNT(right); sem_post(&empty)",
    "ANOTHER": "",
    "SLOTS": "1",
    "STARTS": "",
}
LOCKED = "sem_wait(&{}); pthread_mutex_lock(&lock); COUNT({}); pthread_mutex_unlock(&lock); sem_post(&{})"
START = "pthread_create(&t[2], 0, three, 0); pthread_detach(t[2]);"
APART = {
    "a slot": {},
    "a slot and a lock": {
        "DOES_ONE": LOCKED.format("empty", "left", "full"),
        "DOES_TWO": LOCKED.format("full", "right", "empty"),
    },
}
TOGETHER = {
    "two slots": {"SLOTS": "2"},
    "posted before": {"DOES_TWO": "sem_wait(&full); sem_post(&empty); COUNT(right)"},
    "tried only": {"DOES_TWO": "sem_trywait(&full); COUNT(right); sem_post(&empty)"},
    "waited for at times": {"DOES_TWO": "if (round & 1) sem_wait(&full); COUNT(right); sem_post(&empty)"},
    "posted by another thread": {
        "ANOTHER": "static void *three(void *p) { ROUNDS { sem_post(&empty); } return p; }",
        "STARTS": START,
    },
    "another thread does not wait": {
        "ANOTHER": "static void *three(void *p) { ROUNDS { COUNT(right); } return p; }",
        "STARTS": START,
    },
}
CPP_PROGRAM = """
#include <atomic>
#include <semaphore>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
alignas(64) static std::counting_semaphore<4> gate(BEGINS);
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000000; i++) of++; }
static void two() { gate.acquire(); count(both.right); }
int main() {
  std::thread a(two);
  count(both.left);
  gate.release();
  a.join();
}
"""


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", APART.values(), ids=APART)
def test_who_has_the_token_meets_nobody(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_where_there_are_more_or_not_all_ask_they_meet(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", CPP_KINDS, ids="".join)
@pytest.mark.parametrize("begins", ["0", "1"])
def test_a_semaphore_of_cpp_lets_pass_what_it_begins_with(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], begins: str
) -> None:
    assert met(tmp_path, compiled, kind, CPP_PROGRAM, {"BEGINS": begins}, "cc") == (begins != "0")
