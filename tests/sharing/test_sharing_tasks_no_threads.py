"""Functions that are made into tasks beside the start of a pool's threads are no threads."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
struct Pool {
  std::mutex m; std::condition_variable c; std::queue<std::function<void()>> q; std::vector<std::thread> threads;
  void loop() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock<std::mutex> lock(m);
        c.wait(lock, [&] { return !q.empty(); });
        task = std::move(q.front());
        q.pop();
      }
      task();
    }
  }
  void add(std::function<void()> task) {
    { std::lock_guard<std::mutex> lock(m); q.push(std::move(task)); }
    c.notify_one();
  }
};
std::atomic<long> hits, misses;
static void poll() { while (getchar() != EOF) hits++; }
static void wait() { while (getchar() != EOF) misses++; }
int main(int n, char **) {
  Pool pool;
  BODY
  for (auto &thread : pool.threads) thread.join();
  return (int)(hits + misses);
}
"""
TASKS = """
  for (int i = 0; i < 4; i++) pool.threads.emplace_back([&pool] { pool.loop(); });
  for (int i = 0; i < 1000000; i++) { if (i % 3) pool.add([] { hits++; }); else pool.add([] { misses++; }); }
"""
CHOSEN = "for (int i = 0; i < 4; i++) pool.threads.emplace_back((i ^ n) & 1 ? poll : wait);"


METHOD = "for (int i = 0; i < 4; i++) pool.threads.emplace_back(&Pool::loop, &pool);"


def entries(compiled: Compile, body: str, level: str = "-O2") -> list[str]:
    report = api.audit(str(compiled("g++", "cc", PROGRAM.replace("BODY", body), level, "-std=c++17")))
    text = next(n for n in report.coverage.notes if n.startswith("threads: "))
    return text.removeprefix("threads: ").split(", ")


def test_what_handles_a_task_is_not_taken_for_a_thread(compiled: Compile) -> None:
    main, *threads = entries(compiled, TASKS)
    assert main == "main"
    assert threads == ["main::{lambda()#1} (several)"]


def test_a_function_that_is_chosen_for_a_thread_is_one(compiled: Compile) -> None:
    assert {"poll (several)", "wait (several)"} <= set(entries(compiled, CHOSEN))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_method_that_a_thread_is_handed_is_one(compiled: Compile, level: str) -> None:
    assert "Pool::loop (several)" in entries(compiled, METHOD, level)
