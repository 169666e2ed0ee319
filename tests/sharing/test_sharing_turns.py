"""Threads that take turns by a word do not use what they share at one time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inturns import in_turns
from tests.sharing.conftest import Compile
from tests.sharing.phases import met
from tests.sharing.test_sharing_barriers import BUILT, CPP_KINDS

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
static struct { long left, right; } both __attribute__((aligned(64)));
static TYPE turn __attribute__((aligned(64)));
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
#define COUNT(of) for (int i = 0; i < 1000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
#define ROUNDS for (int round = 0; round < 100000; round++)
static void *one(void *p) { ROUNDS { DOES_ONE; } return p; }
static void *two(void *p) { ROUNDS { DOES_TWO; } return p; }
ANOTHER
int main(void) {
  pthread_t t[3];
  FIRST
  pthread_create(&t[0], 0, one, 0);
  pthread_create(&t[1], 0, two, 0);
  STARTS
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
AWAIT = "while (atomic_load(&turn) != {}) ;"
GIVE = "atomic_store(&turn, {});"
KEPT = {
    "TYPE": "atomic_int",
    "DOES_ONE": f"{AWAIT.format(0)} COUNT(left); {GIVE.format(1)}",
    "DOES_TWO": f"{AWAIT.format(1)} COUNT(right); {GIVE.format(0)}",
    "ANOTHER": "",
    "FIRST": "",
    "STARTS": "",
}
LOCKED, OPEN = "pthread_mutex_lock(&lock);", "pthread_mutex_unlock(&lock);"
AT_CONDITION = f"{LOCKED} while (turn != {{}}) pthread_cond_wait(&given, &lock); {OPEN}"
GIVE_THERE = f"{LOCKED} turn = {{}}; pthread_cond_broadcast(&given); {OPEN}"
START = "pthread_create(&t[2], 0, three, 0); pthread_detach(t[2]);"
APART = {
    "by numbers": {},
    "full or not": {
        "DOES_ONE": f"while (atomic_load(&turn) != 0) ; COUNT(left); {GIVE.format(1)}",
        "DOES_TWO": f"while (atomic_load(&turn) == 0) ; COUNT(right); {GIVE.format(0)}",
    },
    "at a condition": {
        "TYPE": "int",
        "DOES_ONE": f"{AT_CONDITION.format(1)} COUNT(left); {GIVE_THERE.format(2)}",
        "DOES_TWO": f"{AT_CONDITION.format(2)} COUNT(right); {GIVE_THERE.format(1)}",
        "FIRST": "turn = 1;",
    },
    "begun by main": {"FIRST": GIVE.format(1)},
}
CPP_PROGRAM = """
#include <atomic>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
alignas(64) static std::atomic<int> turn;
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000; i++) of++; }
static void one() { for (int i = 0; i < 100000; i++) { while (turn.load() != 0) ; count(both.left); turn.store(1); } }
static void two() { for (int i = 0; i < 100000; i++) { DOES_TWO; } }
int main() { std::thread a(one), b(two); a.join(); b.join(); }
"""
CPP_TWO = {
    "while (turn.load() != 1) ; count(both.right); turn.store(0)": False,
    "while (turn != 1) ; count(both.right); turn = 0": False,
    "while (turn.load() != 1) ; turn.store(0); count(both.right)": True,
}
TOGETHER = {
    "not asked": {"DOES_TWO": f"COUNT(right); {GIVE.format(0)}"},
    "behind the turn": {"DOES_TWO": f"{AWAIT.format(1)} {GIVE.format(0)} COUNT(right)"},
    "two of one number": {"STARTS": "pthread_create(&t[2], 0, one, 0); pthread_detach(t[2]);"},
    "another thread gives turns": {
        "ANOTHER": f"static void *three(void *p) {{ ROUNDS {{ {GIVE.format(1)} }} return p; }}",
        "STARTS": START,
    },
    "another thread does not wait": {
        "ANOTHER": "static void *three(void *p) { ROUNDS { COUNT(right); } return p; }",
        "STARTS": START,
    },
    "not asked at times": {"DOES_TWO": f"if (round & 1) {AWAIT.format(1)} COUNT(right); {GIVE.format(0)}"},
}


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", APART.values(), ids=APART)
def test_who_waits_for_his_turn_meets_nobody(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_where_it_may_be_anothers_turn_they_meet(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@in_turns("two, kind", CPP_KINDS, CPP_TWO.keys())
def test_turns_by_atomics_of_cpp(tmp_path: Path, compiled: Compile, kind: tuple[str, str], two: str) -> None:
    if kind == ("clang++-19", "-O0"):
        pytest.skip("clang loads on one of three ways there, by the order that a variable says")
    assert met(tmp_path, compiled, kind, CPP_PROGRAM, {"DOES_TWO": two}, "cc") == CPP_TWO[two]
