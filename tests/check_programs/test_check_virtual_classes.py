"""A pool of tasks and a loop over events call one virtual function, each of objects of its own class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Severity

CLASSES = """
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#include <poll.h>
struct alignas(64) Counts {{ std::atomic<unsigned long> got, put; }};
static Counts counts;
struct Object {{ virtual ~Object() {{}} virtual void step() = 0; }};
struct Named {{ virtual ~Named() {{}} virtual int name() {{ return 0; }} long id = 0; }};
struct Job : {bases} {{ unsigned long sum = 0; }};
struct Event : {bases} {{ int fd = 0; }};
struct Hash : Job {{ void step() override {{ for (int i = 0; i < 100000; i++) sum = sum * 31 + i; }} }};
struct Sort : Job {{ void step() override {{ for (int i = 0; i < 100000; i++) sum = sum * 37 + i; }} }};
struct Read : Event {{ void step() override {{ for (int i = 0; i < 100; i++) counts.got++; }} }};
struct Write : Event {{ void step() override {{ for (int i = 0; i < 100; i++) counts.put++; }} }};
static std::mutex lock;
static std::condition_variable cond;
static std::deque<{task} *> tasks;
static std::vector<Event *> events;
static void work() {{
  for (;;) {{
    {task} *one;
    {{
      std::unique_lock<std::mutex> hold(lock);
      while (tasks.empty()) cond.wait(hold);
      one = tasks.front();
      tasks.pop_front();
    }}
    one->step();
  }}
}}
int main(int argc, char **argv) {{
  std::thread first(work), second(work);
  events.push_back(new Read);
  events.push_back(new Write);
  struct pollfd in = {{0, POLLIN, 0}};
  for (;;) {{
    poll(&in, 1, -1);
    for (Event *one : events) one->step();
    std::unique_lock<std::mutex> hold(lock);
    if (argc & 1) tasks.push_back(new Hash); else tasks.push_back(new Sort);
    cond.notify_one();
  }}
}}
"""


@pytest.mark.parametrize("bases", ["Object", "Named, Object"])
@pytest.mark.parametrize(("task", "found"), [("Job", False), ("Event", True), ("Object", True)])
def test_tasks_of_another_class_do_not_make_handlers_of_events_concurrent(
    tmp_path: Path, bases: str, task: str, found: bool
) -> None:
    text = CLASSES.format(bases=bases, task=task)
    if task == "Event":
        text = text.replace("new Hash", "new Read").replace("new Sort", "new Write")
    (tmp_path / "steps.cc").write_text(text)
    unit = {"directory": str(tmp_path), "file": "steps.cc", "arguments": ["g++", "-std=c++17", "-c", "steps.cc"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([unit]))
    report = api.check(database=tmp_path, min_severity=Severity.LOW, config=False)
    names = [{part.full_name.rpartition(".")[2] for part in one.participants} for one in report.findings]
    assert any({"got", "put"} <= one for one in names) == found
