"""Barriers that a program makes of a mutex, a count and a condition part threads; what only looks like one does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.builders.image import Body, Builder
from tests.sharing.conftest import Compile
from tests.sharing.test_sharing_stretches import meet

WAIT, LAST, BEHIND = 1, 2, 3  # blocks: the arm that waits, that of who comes last, what follows both
WAKES = "pthread_cond_broadcast"


def program() -> Builder:
    """Threads of which some use the first before they come to ``meet``, others the second behind it."""
    b = Builder()
    for name in ("lock", "cond", "count", "turn", "first", "second"):
        b.variable(name, 8)
    b.function("main").call("pthread_create", None, None, "one", loop=1).call(
        "pthread_create", None, None, "other", loop=1
    )
    b.function("one").rmw("first", loop=1).call("meet")
    b.function("other").call("meet").rmw("second", loop=1)
    return b


def barrier(
    body: Body,
    *,
    count: str = "count",
    asks: str = "turn",
    sets: str = "turn",
    wakes: str = WAKES,
    wait: int = WAIT,
) -> Body:
    body.call("pthread_mutex_lock", "lock").load("turn").load(count)
    body.store(count, order=WAIT).call("pthread_cond_wait", "cond", "lock", loop=1, order=wait)
    body.load(asks, loop=1, order=wait)
    body.store(count, order=LAST, rarity=12).store(sets, order=LAST, rarity=12)
    return body.call(wakes, "cond", order=LAST, rarity=12).call("pthread_mutex_unlock", "lock", order=BEHIND)


def with_arms(b: Builder, function: str = "meet") -> Builder:
    b.arms[function] = (WAIT, LAST)
    return b


def test_what_lies_before_it_meets_nothing_behind_it() -> None:
    b = program()
    barrier(b.function("meet"))
    met = meet(with_arms(b))
    assert not met("first", "second")
    assert met("first", "first")
    assert met("second", "second")


def test_one_in_the_function_of_a_thread_is_the_same_where_it_waits_for_the_same_word() -> None:
    b = program()
    barrier(b.function("meet"))
    b.functions["other"].calls.clear()
    b.functions["other"].sites.clear()
    barrier(b.functions["other"]).rmw("second", loop=1)
    b.functions["other"].sites[-1] = (*b.functions["other"].sites[-1][:6], BEHIND, *b.functions["other"].sites[-1][7:])
    assert not meet(with_arms(with_arms(b), "other"))("first", "second")


def test_in_rounds_two_of_them_part_what_is_between() -> None:
    b = program()
    barrier(b.function("meet"))
    for name in ("one", "other"):
        b.functions[name].calls.clear()
        b.functions[name].sites.clear()
    b.functions["one"].rmw("first", loop=1).call("meet", loop=1).call("meet", loop=1)
    b.functions["other"].call("meet", loop=1).rmw("second", loop=1).call("meet", loop=1)
    assert not meet(with_arms(b))("first", "second")


NO_BARRIER = {
    "who waits asks for what others set": {"asks": "queue"},
    "nothing is counted": {"count": "unused"},
    "nobody sets what is asked for": {"sets": "count"},
    "nobody is woken": {"wakes": "pthread_cond_destroy"},
}


@pytest.mark.parametrize("change", NO_BARRIER.values(), ids=NO_BARRIER)
def test_what_is_no_barrier_parts_nothing(change: dict[str, str]) -> None:
    b = program()
    b.variable("queue", 8)
    body = b.function("meet")
    if change.get("count"):
        body.call("pthread_mutex_lock", "lock").load("turn")
        body.call("pthread_cond_wait", "cond", "lock", loop=1, order=WAIT).load("turn", loop=1, order=WAIT)
        body.store("turn", order=LAST).call("pthread_cond_broadcast", "cond", order=LAST)
    else:
        barrier(
            body, asks=change.get("asks", "turn"), sets=change.get("sets", "turn"), wakes=change.get("wakes", WAKES)
        )
    b.function("put", 0).store("queue")
    b.functions["one"].call("put", loop=1)
    assert meet(with_arms(b))("first", "second")


def test_a_word_that_other_code_sets_lets_some_go_before() -> None:
    b = program()
    barrier(b.function("meet"))
    b.function("stop").store("turn")
    b.functions["one"].call("stop", loop=1)
    assert meet(with_arms(b))("first", "second")


@pytest.mark.parametrize("waits", [("pthread_barrier_wait", "lock"), ("meet",)])
def test_calls_of_a_function_that_only_waits_there_are_barriers(waits: tuple[str, ...]) -> None:
    b = program()
    barrier(b.function("meet"))
    b.function("together").call(*waits)
    for name in ("one", "other"):
        b.functions[name].calls.clear()
        b.functions[name].sites.clear()
    b.functions["one"].rmw("first", loop=1).call("together")
    b.functions["other"].call("together").rmw("second", loop=1)
    assert not meet(with_arms(b))("first", "second")


def test_one_run_that_wakes_and_waits_is_none() -> None:
    b = program()
    barrier(b.function("meet"), wait=BEHIND)
    assert meet(with_arms(b))("first", "second")


@pytest.mark.parametrize(("rarity", "loop"), [(12, 0), (0, 1)])
def test_not_of_one_that_leaves_the_barrier_out(rarity: int, loop: int) -> None:
    b = program()
    b.function("meet").call("pthread_barrier_wait", "lock", rarity=rarity, loop=loop)
    assert meet(b)("first", "second")


def test_not_of_one_that_uses_something_behind_it() -> None:
    b = program()
    b.function("meet").call("pthread_barrier_wait", "lock").rmw("second", loop=1)
    assert meet(b)("second", "second")
    b.functions["other"].sites.clear()
    assert meet(b)("first", "second")


SOURCE = """
#include <condition_variable>
#include <mutex>
#include <thread>
struct Barrier {
  std::mutex lock;
  std::condition_variable all;
  int parties = 2, come = 0;
  unsigned long round = 0;
  void wait() {
    std::unique_lock<std::mutex> hold(lock);
    unsigned long mine = round;
    if (++come == parties) { come = 0; ++round; all.notify_all(); }
    else all.wait(hold, [&] { return round != mine; });
  }
};
struct alignas(64) Sums { unsigned long first, second; };
volatile Sums sums;
alignas(64) Barrier barrier;
static void one() {
  for (int round = 0; round < 1000; round++) {
    for (long i = 0; i < 100000; i++) sums.first = sums.first + i;
    barrier.wait();
    SECOND;
  }
}
static void other() {
  for (int round = 0; round < 1000; round++) {
    barrier.wait();
    for (long i = 0; i < 100000; i++) sums.second = sums.second + i;
    SECOND;
  }
}
int main() {
  std::thread a(one), b(other);
  a.join();
  b.join();
}
"""


# gcc -O2 sets the count and the round by one store.
COUNTED_DOWN = SOURCE.replace("int parties = 2, come = 0;", "unsigned parties = 2, come = 2, round = 0;")
COUNTED_DOWN = COUNTED_DOWN.replace("unsigned long round = 0;", "").replace("unsigned long mine", "unsigned mine")
COUNTED_DOWN = COUNTED_DOWN.replace("++come == parties", "--come == 0").replace(
    "come = 0; ++round", "come = parties; ++round"
)


@pytest.mark.parametrize("tool", ["g++ -O0", "g++ -O2", "clang++-19 -O2", "source"])
@pytest.mark.parametrize(("second", "found"), [("barrier.wait()", False), ("(void)0", True)])
@pytest.mark.parametrize("text", [SOURCE, COUNTED_DOWN], ids=["up", "down"])
def test_a_class_that_is_a_barrier(
    compiled: Compile, tmp_path: Path, tool: str, second: str, found: bool, text: str
) -> None:
    if tool == "source":
        (tmp_path / "rounds.cpp").write_text(text)
        command = ["g++", "-std=c++20", f"-DSECOND={second}", "-c", "rounds.cpp"]
        unit = {"directory": str(tmp_path), "file": "rounds.cpp", "arguments": command}
        (tmp_path / "compile_commands.json").write_text(json.dumps([unit]))
        report = api.check(database=tmp_path, min_severity=Severity.LOW, config=False)
    else:
        compiler, level = tool.split()
        report = api.audit(str(compiled(compiler, "cpp", text, "-std=c++20", level, "-g", f"-DSECOND={second}")))
    pairs = [f for f in report.findings if f.severity.rank and {"first", "second"} <= _members(f)]
    assert bool(pairs) == found


def _members(finding: Finding) -> set[str]:
    return {part.full_name.rpartition(".")[2] for part in finding.participants}
