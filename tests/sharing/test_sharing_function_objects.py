"""What is called through a ``std::function`` is none of what looks at arguments that the call does not hand over."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

# Workers run what is handed to them; one thread calls handlers, which change ``reads`` and ``writes``.
PROGRAM = """
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>
struct alignas(64) Events { std::atomic<long> reads, writes; } events;
struct alignas(64) Jobs { std::atomic<long> done; } jobs;
alignas(64) volatile int stop;
using Task = std::function<TASK>;
struct Pool {
  std::mutex lock;
  std::condition_variable more;
  std::deque<Task> tasks;
  std::vector<std::thread> threads;
  void run() {
    for (;;) {
      Task task;
      {
        std::unique_lock<std::mutex> held(lock);
        more.wait(held, [&] { return !tasks.empty() || stop; });
        if (stop) return;
        task = std::move(tasks.front());
        tasks.pop_front();
      }
      task(GIVEN);
    }
  }
  void submit(Task task) {
    std::lock_guard<std::mutex> held(lock);
    tasks.push_back(std::move(task));
    more.notify_one();
  }
};
struct Loop {
  std::vector<std::function<void(int)>> handlers;
  void on(std::function<void(int)> handler) { handlers.push_back(std::move(handler)); }
  void run() {
    char b[8];
    while (read(0, b, 8) > 0)
      for (auto &handler : handlers) handler(b[0]);
  }
};
int main(int n, char **) {
  Pool pool;
  Loop loop;
  loop.on([](int x) { events.reads += x; });
  loop.on([&](int x) { events.writes += x; pool.submit([x](TAKEN) { jobs.done += x; }); });
  for (int i = 0; i < 4; i++) pool.threads.emplace_back([&] { pool.run(); });
  std::vector<std::thread> others;
  LOOPS { std::thread one([&] { loop.run(); }); others.push_back(std::move(one)); }
  for (auto &one : others) one.join();
  stop = 1;
  pool.more.notify_all();
  for (auto &one : pool.threads) one.join();
}
"""
OF_NOTHING = {"TASK": "void()", "GIVEN": "", "TAKEN": "", "LOOPS": ""}
OF_A_NUMBER = OF_NOTHING | {"TASK": "void(int)", "GIVEN": "7", "TAKEN": "int"}


def said(compiled: Compile, tool: str, parts: dict[str, str], *flags: str) -> list[Severity]:
    """The severity of findings on one line of whole numbers that several threads change (all others have one each)."""
    text = PROGRAM
    for name, part in parts.items():
        text = text.replace(name, part)
    report = api.audit(str(compiled(tool, "cc", text, "-O2", "-std=c++17", *flags)), min_severity=Severity.LOW)
    return [f.severity for f in report.findings if f.rule == "independent-writers"]


@pytest.mark.parametrize("flags", [(), ("-s",), ("-g",)], ids=["symbols", "stripped", "debug"])
@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_handlers_of_another_signature_are_not_called(compiled: Compile, tool: str, flags: tuple[str, ...]) -> None:
    """Nor is the one thread that calls them several, for that others are started in a loop of the same function."""
    assert said(compiled, tool, OF_NOTHING, *flags) == []


@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_those_of_the_same_signature_may_be(compiled: Compile, tool: str) -> None:
    assert said(compiled, tool, OF_A_NUMBER)


@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_threads_that_a_loop_starts_are_several(compiled: Compile, tool: str) -> None:
    assert said(compiled, tool, OF_NOTHING | {"LOOPS": "for (int i = 0; i < n; i++)"})
