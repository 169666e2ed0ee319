"""Results of tasks: behind ``std::future::get`` nothing runs beside the task that ``std::async`` began."""

from __future__ import annotations

from linemate import api
from tests.inturns import in_turns
from tests.sharing.conftest import Compile

PROGRAM = """
#include <atomic>
#include <future>
#include <thread>
#include <vector>
alignas(64) std::atomic<long> left;
std::atomic<long> right;
alignas(64) long unused;
static void one() { for (int i = 0; i < 100000; i++) left++; }
static void two() { for (int i = 0; i < 100000; i++) right++; }
std::promise<void> kept;
static int half() { one(); return 1; }
#define START(what) std::async(std::launch::async, what)
int main(int n, char **) {
  BODY
  return (int)(left + right);
}
"""
MANY = "std::vector<std::future<void>> all; for (int i = 0; i < n; i++) all.push_back(START(one));"
APART = {
    "one task, and then one": "auto f = START(one); f.get(); auto g = START(two); g.get();",
    "a result, and then main": "auto f = START(half); n += f.get(); two(); return n;",
    "waited for, and asked later": "auto f = START(half); f.wait(); two(); return f.get();",
    "several tasks, and then main": f"{MANY} for (auto &f : all) f.get(); two();",
}
TOGETHER = {
    "asked later": "auto f = START(one); auto g = START(two); f.get(); g.get();",
    "beside main": "auto f = START(half); two(); return f.get();",
    "one of two is asked": (
        "auto f = START(one); auto h = START(one); f.get(); auto g = START(two); h.get(); g.get();"
    ),
    "several tasks beside main": f"{MANY} two(); for (auto &f : all) f.get();",
    "a promise of a thread that goes on": (
        "auto f = kept.get_future(); std::thread([] { kept.set_value(); one(); }).detach(); f.get(); two();"
    ),
    "a promise of a thread that is joined later": (
        "auto f = kept.get_future(); std::thread t([] { kept.set_value(); one(); }); f.get(); two(); t.join();"
    ),
}
BUILDS = [("g++", "-O2"), ("g++", "-O0"), ("clang++-19", "-O2")]


def met(compiled: Compile, build: tuple[str, str], body: str) -> bool:
    """Is anything found about both counters?"""
    tool, level = build
    report = api.audit(str(compiled(tool, "cc", PROGRAM.replace("BODY", body), level, "-std=c++17")))
    return any({"left", "right"} <= {p.name for p in f.participants} for f in report.findings)


@in_turns("body, build", BUILDS, APART)
def test_behind_its_result_a_task_meets_nobody(compiled: Compile, build: tuple[str, str], body: str) -> None:
    assert not met(compiled, build, body)


@in_turns("body, build", BUILDS, TOGETHER)
def test_what_may_still_run_does(compiled: Compile, build: tuple[str, str], body: str) -> None:
    assert met(compiled, build, body)
