"""Who may call a virtual function: threads that call through a table at its place, not all that call by pointers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity
from tests import cpp

BUILDS = [
    ("g++", "-O0", "-g"),
    ("g++", "-O2", "-g"),
    ("g++", "-O2", "-s"),
    ("clang++-19", "-O2", "-g"),
]
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <atomic>

static long done[4];
static std::atomic<long> next_job;
static volatile int input;

struct Job {
  virtual ~Job() {}
  virtual long weight() { return input; }
  virtual void run(int worker) = 0;
};
struct Copy : Job {
  long *to;
  explicit Copy(long *at) : to(at) {}
  void run(int worker) override { *to += input; done[worker] += 1; }
};
struct Sum : Job {
  long sum = 0;
  void run(int worker) override { sum += input; done[worker] += 2; }
};
static Job *jobs[64];

static void *work(void *number) {
  for (;;) jobs[next_job++ & 63]->run((int)(long)number);
  return nullptr;
}

int main(int count, char **) {
  pthread_t threads[4];
  for (int i = 0; i < 64; i++)
    jobs[i] = i % count ? (Job *)new Copy((long *)calloc(1, 64)) : new Sum;
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], nullptr, work, (void *)i);
  for (long all = 0; all < 100000000;) {
    Job *job = jobs[input & 63];
    all += CALLED;
  }
  return 0;
}
"""


@pytest.fixture(params=BUILDS, ids=" ".join)
def built(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if shutil.which(request.param[0]) is None:
        pytest.skip(f"no {request.param[0]}")
    return tuple(request.param)


def slots(folder: Path, built: tuple[str, ...], called: str) -> list[Finding]:
    """What is said of slots of threads in the program, main of which calls that function of jobs."""
    source = folder / "jobs.cc"
    source.write_text(PROGRAM.replace("CALLED", called))
    program = source.with_suffix("")
    cpp.build(built[0], source, program, *built[1:], "-pthread")
    findings = audit(AuditOptions(binary=str(program), min_severity=Severity.NOTE)).findings
    return [f for f in findings if f.rule == "packed-thread-slots"]


def test_another_place_of_the_table_is_another_function(tmp_path: Path, built: tuple[str, ...]) -> None:
    (finding,) = slots(tmp_path, built, "job->weight()")
    assert finding.severity.rank >= Severity.LOW.rank or "-s" in built  # where nothing says how many there are
    assert not any("main" in one.text for one in finding.evidence if one.text.startswith("threads:"))


def test_main_calls_at_the_same_place(tmp_path: Path, built: tuple[str, ...]) -> None:
    found = slots(tmp_path, built, "(job->run(3), 1)")
    assert all(finding.severity is Severity.NOTE for finding in found)
    assert all(any("main" in one.text for one in finding.evidence) for finding in found)
