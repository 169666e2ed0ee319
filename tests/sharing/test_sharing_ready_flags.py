"""Words that one thread sets and others wait for in loops: what it did before is over behind such a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inturns import in_turns
from tests.sharing.conftest import Compile
from tests.sharing.phases import met
from tests.sharing.test_sharing_barriers import BUILT, CPP_FEW, CPP_KINDS

PROGRAM = """
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
static struct { long left, right; } both __attribute__((aligned(64)));
static TYPE ready __attribute__((aligned(64)));
static sem_t gate __attribute__((aligned(64)));
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t set = PTHREAD_COND_INITIALIZER;
#define COUNT(of) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
HELPERS
static void *two(void *p) { DOES_TWO; return p; }
ANOTHER
int main(int argc, char **argv) {
  pthread_t t[3];
  sem_init(&gate, 0, 0);
  pthread_create(&t[0], 0, two, 0);
  pthread_create(&t[1], 0, two, 0);
  STARTS
  DOES_MAIN
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
SPIN = "while (!atomic_load(&ready)) sched_yield();"
SET = "atomic_store(&ready, 1);"
KEPT = {
    "TYPE": "atomic_bool",
    "HELPERS": "",
    "DOES_TWO": f"{SPIN} COUNT(right)",
    "ANOTHER": "",
    "STARTS": "",
    "DOES_MAIN": f"COUNT(left); {SET}",
}
SETTER = "static void *three(void *p) { if (p) atomic_store(&ready, 1); return p; }"
START = "pthread_create(&t[2], 0, three, t); pthread_detach(t[2]);"
LOCKED = "pthread_mutex_lock(&lock);"
OPEN = "pthread_mutex_unlock(&lock);"
APART = {
    "asked in a loop": {},
    "a number": {"TYPE": "atomic_int", "DOES_TWO": "while (atomic_load(&ready) != 1) ; COUNT(right)"},
    "asked and set by functions": {
        "HELPERS": f"static void await(void) {{ {SPIN} }} static void tell(void) {{ {SET} }}",
        "DOES_TWO": "await(); COUNT(right)",
        "DOES_MAIN": "COUNT(left); tell();",
    },
    "at a condition": {
        "TYPE": "bool",
        "DOES_TWO": f"{LOCKED} while (!ready) pthread_cond_wait(&set, &lock); {OPEN} COUNT(right)",
        "DOES_MAIN": f"COUNT(left); {LOCKED} ready = true; pthread_cond_broadcast(&set); {OPEN}",
    },
    "set back by who was told": {
        "TYPE": "volatile int",
        "DOES_TWO": "while (ready == 0) ; ready = 0; COUNT(right)",
        "DOES_MAIN": "COUNT(left); ready = 1;",
    },
    "semaphores that are released in a loop": {
        "DOES_TWO": "sem_wait(&gate); COUNT(right)",
        "DOES_MAIN": "COUNT(left); for (int i = 0; i < 2; i++) sem_post(&gate);",
    },
    "semaphores behind functions": {
        "HELPERS": "static void tell(void) { sem_post(&gate); sem_post(&gate); }\n"
        "static void await(void) { sem_wait(&gate); }",
        "DOES_TWO": "await(); COUNT(right)",
        "DOES_MAIN": "COUNT(left); tell();",
    },
}
TOGETHER = {
    "set before": {"DOES_MAIN": f"{SET} COUNT(left);"},
    "asked later": {"DOES_TWO": f"COUNT(right); {SPIN}"},
    "asked by some": {"DOES_TWO": f"if (p) {SPIN} COUNT(right)"},
    "given up": {"DOES_TWO": "for (int i = 0; i < 100 && !atomic_load(&ready); i++) ; COUNT(right)"},
    "set by another thread too": {"ANOTHER": SETTER, "STARTS": START},
    "set, set back and set again": {"DOES_MAIN": f"{SET} atomic_store(&ready, 0); COUNT(left); {SET}"},
    "set at first": {"TYPE": "atomic_int", "HELPERS": "static atomic_int ready = 1;"},
    "another thread does not ask": {
        "ANOTHER": "static void *three(void *p) { COUNT(right); return p; }",
        "STARTS": START,
    },
    "a semaphore that is released in the same loop": {
        "DOES_TWO": "sem_wait(&gate); COUNT(right)",
        "DOES_MAIN": "for (int i = 0; i < 2; i++) { sem_post(&gate); COUNT(left); }",
    },
}

CPP_PROGRAM = """
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
alignas(64) static std::mutex lock;
static std::condition_variable told;
alignas(64) static std::atomic<bool> ready;
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000000; i++) of++; }
static void set() {
  std::lock_guard<std::mutex> held(lock);
  ready = true;
  told.notify_all();
}
static void two() {
  std::unique_lock<std::mutex> held(lock);
  WAIT;
  held.unlock();
  count(both.right);
}
int main() {
  std::thread a(two);
  count(both.left);
  set();
  a.join();
  return both.left + both.right;
}
"""
CPP_APART = {
    "a loop": "while (!ready) told.wait(held)",
    "a condition that is told when": "told.wait(held, [] { return ready.load(); })",
}
CPP_TOGETHER = {
    "no more than a look": "if (!ready) told.wait(held)",
    "until something else": "told.wait(held, [] { return !ready; })",
    "for a time": "told.wait_for(held, std::chrono::seconds(1), [] { return ready.load(); })",
}
# Methods of std::atomic are functions without optimisation.
FLAGS_PROGRAM = """
#include <atomic>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
alignas(64) static std::atomic<bool> ready;
alignas(64) static std::atomic<int> phase;
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000000; i++) of++; }
static void two() { DOES_TWO; }
int main() {
  std::thread a(two);
  DOES_MAIN;
  a.join();
}
"""
FLAGS_APART = {
    "loaded": ("while (!ready.load()) ; count(both.right)", "count(both.left); ready.store(true)"),
    "as a bool": ("while (!ready) std::this_thread::yield(); count(both.right)", "count(both.left); ready = true"),
    "a number": ("while (phase.load() != 2) ; count(both.right)", "count(both.left); phase.store(2)"),
    "as a number": ("while (phase != 2) ; count(both.right)", "count(both.left); phase = 2"),
}
FLAGS_TOGETHER = {
    "set before": ("while (!ready.load()) ; count(both.right)", "ready.store(true); count(both.left)"),
    "asked later": ("count(both.right); while (!ready) ;", "count(both.left); ready = true"),
    "the other way round": ("while (ready.load()) ; count(both.right)", "count(both.left); ready.store(true)"),
    "another number": ("while (phase == 2) ; count(both.right)", "count(both.left); phase = 2"),
}
# Without optimization all of these are calls within each other.
CPP = [kind for kind in CPP_KINDS if kind[1] != "-O0"]


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", APART.values(), ids=APART)
def test_who_is_told_meets_nothing_of_what_came_before(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_where_it_may_go_on_before_they_meet(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", CPP, ids="".join)
@pytest.mark.parametrize("wait", CPP_APART.values(), ids=CPP_APART)
def test_conditions_of_cpp_tell(tmp_path: Path, compiled: Compile, kind: tuple[str, str], wait: str) -> None:
    assert not met(tmp_path, compiled, kind, CPP_PROGRAM, {"WAIT": wait}, "cc")


@pytest.mark.parametrize("kind", [kind for kind in CPP_FEW if kind in CPP], ids="".join)
@pytest.mark.parametrize("wait", CPP_TOGETHER.values(), ids=CPP_TOGETHER)
def test_conditions_of_cpp_that_tell_something_else(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], wait: str
) -> None:
    assert met(tmp_path, compiled, kind, CPP_PROGRAM, {"WAIT": wait}, "cc")


@in_turns("does, kind", CPP_KINDS, FLAGS_APART)
def test_atomics_of_cpp_tell(tmp_path: Path, compiled: Compile, kind: tuple[str, str], does: tuple[str, str]) -> None:
    two, main = does
    if kind == ("clang++-19", "-O0") and "phase.load" in two:
        pytest.skip("clang loads on one of three ways there, by the order that a variable says")
    assert not met(tmp_path, compiled, kind, FLAGS_PROGRAM, {"DOES_TWO": two, "DOES_MAIN": main}, "cc")


@pytest.mark.parametrize("kind", CPP_FEW, ids="".join)
@pytest.mark.parametrize(("two", "main"), FLAGS_TOGETHER.values(), ids=FLAGS_TOGETHER)
def test_atomics_of_cpp_that_tell_something_else(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], two: str, main: str
) -> None:
    assert met(tmp_path, compiled, kind, FLAGS_PROGRAM, {"DOES_TWO": two, "DOES_MAIN": main}, "cc")
