"""What main prepares before it opens a latch or a gate meets nothing of the threads that wait for it."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

# ``loaded`` is written by main before OPEN, ``served`` on the same line by threads behind WAIT.
PROGRAM = """
#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>
struct alignas(64) Shared { volatile long loaded; volatile long served; };
struct alignas(64) Flag { std::atomic<bool> go; };
struct alignas(64) Gate { std::counting_semaphore<64> gate{FREE}; };
struct alignas(64) Latch { std::latch ready{3}; };
Shared shared;
Flag f;
Gate s;
Latch l;
volatile bool stop;
static void work() {
  WAIT;
  while (!stop) { EACH; shared.served = shared.served + 1; }
  LEAVE;
}
int main() {
  std::thread first(work), second(work);
  for (long i = 0; i < 1000000000; i++) shared.loaded = shared.loaded + i;
  OPEN;
  first.join();
  second.join();
}
"""
NOTHING = "(void)0"
PARTED = {
    "latch": ("l.ready.arrive_and_wait()", "l.ready.count_down()"),
    "semaphore": ("s.gate.acquire()", "s.gate.release(2)"),
}
MEETING = {
    "nothing is waited for": {"WAIT": NOTHING, "OPEN": "s.gate.release(2)"},
    "one waits for something else": {"WAIT": "s.gate.acquire()", "OPEN": "l.ready.count_down()"},
    "a semaphore that lets some pass": {"WAIT": "s.gate.acquire()", "OPEN": "s.gate.release(2)", "FREE": "2"},
    "threads release it too": {"WAIT": "s.gate.acquire()", "OPEN": "s.gate.release(2)", "LEAVE": "s.gate.release()"},
    "the wait is over before": {"WAIT": "f.go.wait(true)", "OPEN": "f.go = true"},
}


def severities(compiled: Compile, tool: str, **words: str) -> set[str]:
    words = {"WAIT": NOTHING, "OPEN": NOTHING, "EACH": NOTHING, "LEAVE": NOTHING, "FREE": "0", **words}
    flags = ("-std=c++20", "-O2", "-g", *(f"-D{name}={text}" for name, text in words.items()))
    report = api.audit(str(compiled(tool, "cpp", PROGRAM, *flags)))
    return {found.severity for found in report.findings if "shared.served" in found.message}


@pytest.mark.parametrize(("wait", "opens"), PARTED.values(), ids=PARTED)
@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_who_waits_for_main_comes_after_it(compiled: Compile, tool: str, wait: str, opens: str) -> None:
    assert not severities(compiled, tool, WAIT=wait, OPEN=opens)


def test_a_flag_is_waited_for_likewise(compiled: Compile) -> None:
    """clang puts more of the wait into the caller."""
    assert not severities(compiled, "g++", WAIT="f.go.wait(false)", OPEN="f.go = true; f.go.notify_all()")


@pytest.mark.parametrize("words", MEETING.values(), ids=MEETING)
@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_else_they_meet(compiled: Compile, tool: str, words: dict[str, str]) -> None:
    assert severities(compiled, tool, **words) == {"high"}
