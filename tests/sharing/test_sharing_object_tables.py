"""Of the virtual functions at one distance those of an object's own class are called, where the object is known."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

PROGRAM = """
#include <atomic>
#include <pthread.h>
#include <unistd.h>
alignas(64) std::atomic<long> hits;
std::atomic<long> misses;
alignas(64) volatile long done;
alignas(64) volatile long last;
struct Job { virtual void run(long) = 0; virtual ~Job() {} };
struct Pack : Job { void run(long s) override { done = s * 5; } };
struct Event { virtual void read(long) = 0; virtual void write(long) = 0; virtual ~Event() {} };
struct Client : Event {
  void read(long s) override { hits++; last = s * 7; }
  void write(long s) override { misses++; last = s * 3; }
};
struct Audit : Job { void run(long s) override { misses++; done = s; } };
alignas(64) static Job *volatile job;
alignas(64) static Event *volatile client;
Job *(*volatile made)();
static void *pool(void *p) { for (;;) job->run(1); }
int main() {
  pthread_t t;
  job = new Pack;
  client = new Client;
  MORE
  pthread_create(&t, 0, pool, 0);
  pthread_create(&t, 0, pool, 0);
  char b[8];
  while (read(0, b, 8) > 0) {
    if (b[0]) client->read(b[1]); else client->write(b[2]);
  }
}
"""


def severity(compiled: Compile, tool: str, flags: str, more: str = "") -> str:
    """Of the finding that has both counters."""
    path = compiled(tool, "cc", PROGRAM.replace("MORE", more), flags, "-std=c++17")
    report = api.audit(str(path), min_severity=Severity.NOTE)
    both = {"hits", "misses"}
    return next((f.severity for f in report.findings if both <= {p.name for p in f.participants}), "none")


@pytest.mark.parametrize("flags", ["-O2", "-O0"])
@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_methods_of_another_class_are_not_called(compiled: Compile, tool: str, flags: str) -> None:
    assert severity(compiled, tool, flags) in ("note", "none")


@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
def test_methods_of_each_object_that_may_be_there_are(compiled: Compile, tool: str) -> None:
    assert severity(compiled, tool, "-O2", "if (getppid() > 1) job = new Audit;") in ("low", "medium", "high")


def test_of_an_object_that_comes_from_elsewhere_nothing_is_known(compiled: Compile) -> None:
    assert severity(compiled, "clang++-19", "-O2", "if (made) job = made();") in ("medium", "high")
