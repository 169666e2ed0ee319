"""A record that an edit elsewhere slid over the lines: who met before is not new, whichever member is named now."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from linemate.checking.metbefore import met_before
from sharing.model.finding import (
    SCHEMA,
    Confidence,
    Coverage,
    Finding,
    LinePicture,
    LineRef,
    Participant,
    Report,
    Severity,
    Slice,
    Verdict,
)
from tests.check.repositories import Project, need_analyzer

FIRST, NODE = "box.jobs_._M_impl._M_finish._M_first", "box.jobs_._M_impl._M_finish._M_node"


def finding(
    *who: str, severity: Severity = Severity.MEDIUM, rule: str = "independent-writers", beside: Sequence[Slice] = ()
) -> Finding:
    """About variables and members; ``beside`` is what else the picture of their line has."""
    people = tuple(Participant(one, "0x40", 8, ((0, 8),), "written data", "", identity="v") for one in who)
    drawn = (*(Slice(one, 8 * at, 8 * at + 8, hot=True, mark="x") for at, one in enumerate(who)), *beside)
    return Finding(
        f"{rule}-{abs(hash(who)) % 16**10:010x}", rule, severity, Confidence.STATIC, Verdict.FALSE_SHARING,
        LineRef("0x40", 64), people, "they meet", (), (), (LinePicture("0x40", 64, drawn),),
    )  # fmt: skip


def report(*findings: Finding) -> Report:
    return Report(SCHEMA, "check", (), Coverage({}, ()), findings)


def known(now: Finding, *before: Finding) -> list[Severity]:
    return list(met_before(report(now), report(*before)).values())


def test_members_of_a_library_are_one_thing_with_what_they_are_part_of() -> None:
    now = finding(NODE, "box.closed_")
    assert known(now, finding(FIRST, "box.closed_")) == [Severity.MEDIUM]
    assert known(now, finding(FIRST, "box.closed_", rule="written-beside-read-mostly")) == [Severity.MEDIUM]
    assert known(now, finding(FIRST, "box.closed_", severity=Severity.LOW)) == [Severity.LOW]  # worse now: new
    assert known(now, finding(FIRST, "box.count_")) == []
    assert known(now, finding("box.jobs_2._M_impl._M_map", "box.closed_")) == []


def test_elements_of_one_array_are_one_thing() -> None:
    assert known(finding("slots[3].hits", "flag"), finding("slots[2].hits", "flag")) == [Severity.MEDIUM]
    assert known(finding("slots[3].hits", "flag"), finding("slots[2].misses", "flag")) == []


def test_members_of_a_records_own_are_told_apart() -> None:
    assert known(finding("stats.hits", "lock"), finding("stats.misses", "lock")) == []


def test_a_pair_within_one_thing_is_not_that_thing_beside_another() -> None:
    assert known(finding(FIRST, NODE), finding(FIRST, "box.closed_")) == []
    assert known(finding(FIRST, NODE), finding(FIRST, "box.jobs_._M_impl._M_map")) == [Severity.MEDIUM]


def test_a_neighbour_that_was_as_busy_met_before_and_one_that_became_busy_did_not() -> None:
    busy, idle = Slice("dropped", 32, 40, hot=True, mark="d"), Slice("dropped", 32, 40, hot=False, mark="d")
    now = finding("total", "dropped")
    assert known(now, finding("total", "queue", beside=[busy])) == [Severity.MEDIUM]
    assert known(now, finding("total", "queue", beside=[idle])) == []
    assert known(now, finding("total", "queue")) == []
    assert known(now, finding("other", "queue", beside=[busy])) == []


@pytest.mark.parametrize("verdict", [Verdict.FRAGILE, Verdict.ADJACENT_PAIR])
def test_a_pair_that_was_on_two_lines_did_not_meet(verdict: Verdict) -> None:
    now, was = finding(NODE, "box.closed_"), msgspec.structs.replace(finding(FIRST, "box.closed_"), verdict=verdict)
    assert known(now, was) == []
    assert known(msgspec.structs.replace(now, verdict=verdict), was) == [Severity.MEDIUM]


FLAGS = ("-O2", "-g", "-std=c++17", "-pthread")
BUILD = "sh build.sh"
SCRIPT = f"mkdir -p build\ng++ {' '.join(FLAGS)} -o build/server main.cpp box.cpp\n"
BOX_H = """
#include <condition_variable>
#include <deque>
#include <mutex>
struct Job { long id; int kind; int size; };
class Box {
 public:
  bool push(const Job &job);
  bool pop(Job &job);
  void close();
 private:
  std::mutex lock_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;
  bool closed_ = false;
};
extern Box box;
void work(int index);
"""
BOX = """
#include "box.h"
Box box;
bool Box::push(const Job &job) {
  std::lock_guard<std::mutex> hold(lock_);
  if (closed_) return false;
  jobs_.push_back(job);
  ready_.notify_one();
  return true;
}
bool Box::pop(Job &job) {
  std::unique_lock<std::mutex> hold(lock_);
  while (jobs_.empty() && !closed_) ready_.wait(hold);
  if (jobs_.empty()) return false;
  job = jobs_.front();
  jobs_.pop_front();
  return true;
}
void Box::close() {
  std::lock_guard<std::mutex> hold(lock_);
  closed_ = true;
  ready_.notify_all();
}
void work(int) {
  for (Job job; box.pop(job);) {
    job.kind++;
  }
}
"""
MAIN = """
#include "box.h"
#include <thread>
#include <vector>
alignas(32) char scratch[32] = {0};
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work, i);
  for (long i = 0; i < 100000; i++) box.push(Job{i, scratch[i & 31], 64});
  box.close();
  for (auto &thread : threads) thread.join();
}
"""


def test_a_queue_that_slid_by_half_a_line_is_not_new(run: Callable[..., Any], project: Project) -> None:
    need_analyzer("g++")
    base = project.commit({"box.h": BOX_H, "box.cpp": BOX, "main.cpp": MAIN, "build.sh": SCRIPT})
    project.database("main.cpp", "box.cpp", flags=FLAGS)

    def audited() -> dict[str, str]:
        subprocess.run(["sh", "build.sh"], cwd=project.top, check=True, capture_output=True)
        every = run("audit", "build/server", "--min-severity", "note", "--format", "json")
        found = json.loads(every.out)["findings"]
        return {one["id"]: one["severity"] for one in found if any("closed_" in w["name"] for w in one["participants"])}

    was = audited()
    project.write({"main.cpp": MAIN.replace("[32]", "[64]")})
    now = audited()
    assert was.keys() != now.keys()  # another member of the queue is named
    built = ("--base", base, "--build", BUILD, "--binary", "build/server", "--format", "json")
    document = json.loads(run("check", *built, "--min-severity", "low").out)
    assert [one for one in document["findings"] if one["id"] in now] == []
