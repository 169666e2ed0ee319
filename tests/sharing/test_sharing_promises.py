"""What a thread does before it keeps a promise is over when another one has the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inturns import in_turns
from tests.sharing.conftest import Compile
from tests.sharing.phases import met
from tests.sharing.test_sharing_barriers import CPP_FEW, CPP_KINDS

PROGRAM = """
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
alignas(64) static std::promise<int> kept;
static std::promise<int> another;
static std::future<int> result = kept.get_future(), other = another.get_future();
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000000; i++) of++; }
static void one() { DOES_ONE; }
static void two() { DOES_TWO; }
int main() {
  std::thread a(one), b(two);
  MAIN;
  a.join();
  b.join();
}
"""
KEPT = {
    "DOES_ONE": "count(both.left); kept.set_value(1)",
    "DOES_TWO": "result.get(); count(both.right)",
    "MAIN": "",
}
APART = {"got": {}, "waited for": {"DOES_TWO": "result.wait(); count(both.right)"}}
MAIN_WAITS = """
#include <atomic>
#include <functional>
#include <future>
#include <thread>
alignas(64) static struct { std::atomic<long> left, right; } both;
static void count(std::atomic<long> &of) { for (long i = 0; i < 1000000; i++) of++; }
static int counted() { count(both.left); return 1; }
FUNCTION
int main() {
  MADE;
  auto result = kept.get_future();
  std::thread thread(STARTS);
  result.get();
  count(both.right);
  thread.join();
}
"""
LOCAL = {
    "moved": ("static void keep(std::promise<int> kept) { DOES; }", "keep, std::move(kept)"),
    "referred to": ("static void keep(std::promise<int> &kept) { DOES; }", "keep, std::ref(kept)"),
}
TOGETHER = {
    "kept before": {"DOES_ONE": "kept.set_value(1); count(both.left)"},
    "got later": {"DOES_TWO": "count(both.right); result.get()"},
    "another thread keeps another promise": {
        "DOES_TWO": "other.get(); count(both.right)",
        "MAIN": "another.set_value(1)",
    },
    "got at times": {"DOES_TWO": "if (both.left & 1) result.get(); count(both.right)"},
    "waited for a time": {"DOES_TWO": "result.wait_for(std::chrono::seconds(1)); count(both.right)"},
}


@in_turns("changed, kind", CPP_KINDS, APART)
def test_behind_the_result_nothing_meets_what_was_before(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed}, "cc")


@pytest.mark.parametrize("kind", CPP_FEW, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_else_they_meet(tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed}, "cc")


@in_turns("local, kind", CPP_KINDS, LOCAL)
@pytest.mark.parametrize("before", [True, False])
def test_main_that_waits_for_a_thread_to_keep_its_promise(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], local: tuple[str, str], before: bool
) -> None:
    function, starts = local
    does = "count(both.left); kept.set_value(1)" if before else "kept.set_value(1); count(both.left)"
    changed = {"FUNCTION": function.replace("DOES", does), "MADE": "std::promise<int> kept", "STARTS": starts}
    assert met(tmp_path, compiled, kind, MAIN_WAITS, changed, "cc") != before


@pytest.mark.parametrize("kind", CPP_KINDS, ids="".join)
def test_main_that_waits_for_a_task_that_a_thread_runs(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str]
) -> None:
    function = "static void run(std::packaged_task<int()> task) { task(); }"
    made = "std::packaged_task<int()> kept(counted)"
    changed = {"FUNCTION": function, "MADE": made, "STARTS": "run, std::move(kept)"}
    assert not met(tmp_path, compiled, kind, MAIN_WAITS, changed, "cc")
