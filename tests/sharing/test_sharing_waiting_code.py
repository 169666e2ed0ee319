"""The C++ library waits for a word in loops of its own: to wait once is to use the word once."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

# ``served`` is written all the time, and beside it what threads WAIT for before they work.
PROGRAM = """
#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>
struct alignas(64) Shared {
  std::atomic<bool> go;
  std::counting_semaphore<64> gate{0};
  std::latch ready{2};
  volatile long served;
};
Shared shared;
struct alignas(64) Own { long done[8]; };
thread_local Own own;
volatile bool stop;
static void serve() { while (!stop) shared.served = shared.served + 1; }
static void work() {
  WAIT;
  while (!stop) { WORK; own.done[0]++; }
}
int main() {
  std::thread server(serve), first(work), second(work);
  shared.go = true;
  shared.go.notify_all();
  shared.gate.release(2);
  server.join();
  first.join();
  second.join();
}
"""
WAITS = ["shared.go.wait(false)", "shared.gate.acquire()", "shared.ready.wait()"]
USES = ["own.done[1] += shared.go.load(std::memory_order_relaxed)", "shared.gate.acquire()"]
BUILDS = [(tool, level) for tool in ("g++", "clang++-19") for level in ("-O0", "-O2")]


def severities(compiled: Compile, tool: str, level: str, wait: str, work: str) -> set[str]:
    flags = ("-std=c++20", level, "-g", f"-DWAIT={wait}", f"-DWORK={work}")
    report = api.audit(str(compiled(tool, "cpp", PROGRAM, *flags)))
    return {found.severity for found in report.findings if "served" in found.message}


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize(("tool", "level"), BUILDS)
def test_who_waits_once_uses_the_word_once(compiled: Compile, tool: str, level: str, wait: str) -> None:
    assert severities(compiled, tool, level, wait, "own.done[1]++") <= {"note"}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("tool", "level"), BUILDS)
def test_who_asks_each_time_around_does_not(compiled: Compile, tool: str, level: str, use: str) -> None:
    assert severities(compiled, tool, level, "own.done[2]++", use) - {"note"}
