"""Pools of ``std::function`` run what they are handed, in programs with many other functions behind pointers too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Severity
from tests import cpp

BUILDS = [("g++", "-O2"), ("clang++-19", "-O2")]
PROGRAM = """
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

static volatile int input;
template <int N> struct Shape {
  virtual ~Shape() {}
  virtual int area() { return input + N; }
  virtual int edge() { return input * N; }
  virtual int turn() { return input ^ N; }
};
template <int... N> static std::vector<void *> all(std::integer_sequence<int, N...>) {
  return {(void *)new Shape<N>...};
}

alignas(64) struct { std::atomic<long> baked, watched; long rest[6]; } seen;

struct Pool {
  std::mutex lock;
  std::condition_variable ready;
  std::vector<std::function<void(int)>> jobs;
  size_t next = 0;
  void post(std::function<void(int)> job);
  void loop(int worker) {
    for (;;) {
      std::function<void(int)> job;
      {
        std::unique_lock<std::mutex> held(lock);
        while (next == jobs.size()) ready.wait(held);
        job = std::move(jobs[next++]);
      }
      job(worker);
    }
  }
};
__attribute__((noinline)) void Pool::post(std::function<void(int)> job) {
  std::lock_guard<std::mutex> held(lock);
  jobs.push_back(std::move(job));
  ready.notify_one();
}

int main() {
  auto shapes = all(std::make_integer_sequence<int, 8>());
  Pool pool;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([&pool, i] { pool.loop(i); });
  threads.emplace_back([] { for (;;) seen.watched += input; });
  for (int n = 0; n < 100000; n++) {
    auto task = [n, at = &shapes](int worker) { seen.baked += n + worker + at->size(); };
    HAND
  }
  for (auto &thread : threads) thread.join();
}
"""


@pytest.fixture(params=BUILDS, ids=" ".join)
def built(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if shutil.which(request.param[0]) is None:
        pytest.skip(f"no {request.param[0]}")
    return tuple(request.param)


def meets(folder: Path, built: tuple[str, ...], hand: str) -> bool:
    """Is it said, above a note, that what the task counts meets what another thread counts?"""
    source = folder / "pool.cc"
    source.write_text(PROGRAM.replace("HAND", hand))
    program = source.with_suffix("")
    cpp.build(built[0], source, program, *built[1:], "-std=c++17", "-g", "-pthread")
    findings = audit(AuditOptions(binary=str(program), min_severity=Severity.LOW)).findings
    return any("baked" in f.message and "watched" in f.message for f in findings)


def test_what_a_pool_is_handed_is_the_work_of_its_threads(tmp_path: Path, built: tuple[str, ...]) -> None:
    assert meets(tmp_path, built, "pool.post(task);")
