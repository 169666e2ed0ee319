"""Waves: threads that all have ended before others are started never meet these."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

# Each kind of thread changes a counter of its own, side by side.
PROGRAM = """
#include <pthread.h>
#include <stdio.h>
long left, right;
#define COUNT(counter) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)
static void *one(void *p) { COUNT(left); return p; }
static void *two(void *p) { COUNT(right); return p; }
static void *third(void *p) { return p; }
typedef void *entry(void *);
static pthread_t t[64], u, v, w;
#define START(t, entry) pthread_create(&t, 0, entry, 0)
#define JOIN(t) pthread_join(t, 0)
#define EACH(what) for (int i = 0; i < n; i++) what
__attribute__((noinline)) static void all(int n, entry *one) { EACH(START(t[i], one)); EACH(JOIN(t[i])); }
static void first(int n) { EACH(START(t[i], one)); EACH(JOIN(t[i])); }
static void second(int n) { EACH(START(t[i], two)); EACH(JOIN(t[i])); }
__attribute__((noinline)) static void ended(int n) { EACH(JOIN(t[i])); }
int main(int n, char **a) {
  BODY
  return (int)(left + right);
}
"""
APART = {
    "one, and then one": "START(u, one); JOIN(u); START(v, two); JOIN(v);",
    "several, and then several": "EACH(START(t[i], one)); EACH(JOIN(t[i])); EACH(START(t[i], two)); EACH(JOIN(t[i]));",
    "with no join in the end": "START(u, one); JOIN(u); START(v, two); getchar();",
    "in each round": "for (int r = 0; r < n; r++) { START(u, one); JOIN(u); START(v, two); JOIN(v); }",
    "started apart and joined in a loop": "START(t[0], one); START(t[1], third); EACH(JOIN(t[i])); START(v, two);",
    "in functions": "first(n); second(n);",
    "joined by a function": "EACH(START(t[i], one)); ended(n); EACH(START(t[i], two)); ended(n);",
    "two, joined by a function": "START(t[0], one); START(t[1], third); ended(n); START(v, two);",
}
TOGETHER = {
    "joined later": "START(u, one); START(v, two); JOIN(u); JOIN(v);",
    "one of two has ended": "START(u, one); START(w, one); JOIN(u); START(v, two); JOIN(w); JOIN(v);",
    "another one has ended": "START(u, one); START(w, third); JOIN(w); START(v, two); JOIN(v); JOIN(u);",
    "never joined": "START(u, one); EACH(START(t[i], third)); EACH(JOIN(t[i])); EACH(START(t[i], two));",
    "one outlives the others": "START(u, one); START(v, two); JOIN(v); START(v, two); JOIN(v); JOIN(u);",
    "until the next round": "for (int r = 0; r < n; r++) { START(u, one); if (r) JOIN(v); JOIN(u); START(v, two); }",
    "joined once more": "EACH(START(t[i], one)); START(u, third); JOIN(u); EACH(START(t[i], two)); ended(n); ended(n);",
    "on another arm": "if (n > 1) { START(u, one); JOIN(u); } else START(w, one); START(v, two); JOIN(v);",
    "in a function that is handed the entry": "all(n, one); START(v, two); all(n, third); START(w, one); JOIN(v);",
}


def met(compiled: Compile, tool: str, body: str) -> bool:
    """Is anything found about both counters?"""
    report = api.audit(str(compiled(tool, "c", PROGRAM.replace("BODY", body), "-O2")))
    return any({"left", "right"} <= {p.name for p in f.participants} for f in report.findings)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_who_has_ended_meets_nobody_who_is_started_later(compiled: Compile, tool: str, body: str) -> None:
    assert not met(compiled, tool, body)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("body", TOGETHER.values(), ids=TOGETHER)
def test_who_may_still_run_meets_those_who_are_started(compiled: Compile, tool: str, body: str) -> None:
    assert met(compiled, tool, body)


# All are of one kind, each with a word of its own.
ONE_KIND = """
#include <pthread.h>
long words[2];
static long unused;
static void *one(void *p) {
  for (int i = 0; i < 100000; i++) __atomic_fetch_add((long *)p, 1, __ATOMIC_RELAXED);
  return p;
}
static pthread_t t[2], u, v, w;
#define START(t, word) pthread_create(&t, 0, one, &word)
#define JOIN(t) pthread_join(t, 0)
#define APART __attribute__((noinline)) static void
APART both(void) { START(u, words[0]); START(v, words[1]); JOIN(u); JOIN(v); }
APART single(int i) { START(u, words[i]); JOIN(u); }
int main(void) {
  BODY
  return (int)(words[0] + words[1]);
}
"""
PART = "long *part[] = {&words[0], &words[1]}; for (int i = 0; i < 2; i++)"
IN_SERIES = {
    "one, and then one": "START(u, words[0]); JOIN(u); START(v, words[1]); JOIN(v);",
    "in a loop that is unrolled": f"{PART} {{ if (pthread_create(&u, 0, one, part[i])) return 1; JOIN(u); }}",
}
COUNTED = "volatile long count = 2; for (int i = 0; i < count; i++)"
IN_SERIES["in a loop"] = f"{COUNTED} {{ START(u, words[i]); JOIN(u); }}"
IN_SERIES["in a loop that a failure ends"] = (
    f"{COUNTED} {{ if (pthread_create(&u, 0, one, &words[i])) break; if (pthread_join(u, 0)) break; }}"
)
IN_SERIES["by a function that waits for each"] = "single(0); single(1);"
AT_ONCE = {
    "by a function that waits for both": "both();",
    "joined by the next loop": f"{COUNTED} START(t[i], words[i]); for (int i = 0; i < count; i++) JOIN(t[i]);",
    "joined by the next loop of a round": (
        f"for (int n = 9; n--;) {{ {COUNTED} START(t[i], words[i]); for (int i = 0; i < count; i++) JOIN(t[i]); }}"
    ),
    "joined later": "START(u, words[0]); START(v, words[1]); JOIN(u); JOIN(v);",
    "another one has ended": "START(w, unused); START(u, words[0]); JOIN(w); START(v, words[1]); JOIN(v); JOIN(u);",
    "in a loop that is unrolled": f"{PART} pthread_create(&t[i], 0, one, part[i]); JOIN(t[0]); JOIN(t[1]);",
}


def slots(compiled: Compile, tool: str, body: str) -> list[str]:
    report = api.audit(str(compiled(tool, "c", ONE_KIND.replace("BODY", body), "-O2")))
    return [f.rule for f in report.findings if "words" in f.participants[0].full_name]


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("body", IN_SERIES.values(), ids=IN_SERIES)
def test_threads_of_one_kind_that_follow_each_other_share_nothing(compiled: Compile, tool: str, body: str) -> None:
    assert not slots(compiled, tool, body)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("body", AT_ONCE.values(), ids=AT_ONCE)
def test_threads_of_one_kind_of_which_one_still_runs_do(compiled: Compile, tool: str, body: str) -> None:
    assert slots(compiled, tool, body) == ["packed-thread-slots"]


# Nothing calls what a closure does: the library keeps it in an object, and starts a thread with that.
CLOSURES = """
#include <atomic>
#include <thread>
#include <vector>
std::atomic<long> left, right;
#define COUNT(counter) for (int i = 0; i < 100000; i++) counter.fetch_add(1, std::memory_order_relaxed)
#define ONE [] { COUNT(left); }
#define TWO [] { COUNT(right); }
#define THIRD [] {}
#define HOLDS(counter) [n] { if (n) COUNT(counter); }
struct Pair {
  std::jthread one, two;
  __attribute__((noinline)) void start() { one = std::jthread(ONE); two = std::jthread(TWO); }
  __attribute__((noinline)) void end() { if (one.joinable()) one.join(); two.join(); }
};
int main(int n, char **) {
  BODY
  return int(left + right);
}
"""
CLOSURES_APART = {
    "one, and then one": "std::thread a(ONE); a.join(); std::thread b(TWO); b.join();",
    "that hold something": "std::thread a(HOLDS(left)); a.join(); std::thread b(HOLDS(right)); b.join();",
    "that wait as they are destroyed": "{ std::jthread a(ONE); } { std::jthread b(TWO); }",
}
CLOSURES_TOGETHER = {
    "joined later": "std::thread a(ONE); std::thread b(TWO); a.join(); b.join();",
    "one of two has ended": "std::thread a(ONE), c(ONE); a.join(); std::thread b(TWO); b.join(); c.join();",
    "another one has ended": "std::thread c(THIRD), a(ONE); c.join(); std::thread b(TWO); b.join(); a.join();",
    "assigned to what a function joins later": "Pair p; p.start(); p.end();",
    "assigned, and all is done there": "Pair p; p.one = std::jthread(ONE); p.two = std::jthread(TWO); p.end();",
    "left to itself": "std::thread a(ONE); a.detach(); std::thread b(TWO); b.join();",
}


def closures_met(compiled: Compile, tool: str, body: str, option: str) -> bool:
    """Is anything above a note found about both counters?"""
    source = CLOSURES.replace("BODY", body)
    report = api.audit(str(compiled(tool, "cc", source, option, "-std=c++20", "-pthread")))
    found = [f for f in report.findings if {"left", "right"} == {p.name for p in f.participants[:2]}]
    return any(f.severity is not Severity.NOTE for f in found)


@pytest.mark.parametrize("option", ["-O0", "-O2"])
@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
@pytest.mark.parametrize("body", CLOSURES_APART.values(), ids=CLOSURES_APART)
def test_a_closure_whose_thread_has_ended_meets_no_later_one(
    compiled: Compile, tool: str, body: str, option: str
) -> None:
    assert not closures_met(compiled, tool, body, option)


@pytest.mark.parametrize("option", ["-O0", "-O2"])
@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
@pytest.mark.parametrize("body", CLOSURES_TOGETHER.values(), ids=CLOSURES_TOGETHER)
def test_a_closure_whose_thread_may_run_meets_others(compiled: Compile, tool: str, body: str, option: str) -> None:
    assert closures_met(compiled, tool, body, option)
