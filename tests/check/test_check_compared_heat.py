"""What is busy beside something far busier: where a change makes that rare, the rest is no news."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sharing.judge import numbers
from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# `allocated` is counted many times in loops within loops; beside it a counter of rounds is not among the busiest.
SERVER_C = """\
#define MANY(one) one, one, one, one, one, one, one, one, one, one, one, one
#include <pthread.h>
#include <unistd.h>
static _Atomic long allocated __attribute__((aligned(64)));
static struct { _Atomic long reads, writes; } counts __attribute__((aligned(64)));
long fill(long n) {
  long sum = 0;
  for (long a = 0; a < n; a++)
    for (long b = a; b < n; b++) {
      COUNT(a * b);
      sum += a ^ b;
    }
  return sum;
}
static void one_read(char byte) { if (byte & 1) counts.reads++; }
static void one_write(char byte) { if (byte & 2) counts.WRITTEN++; }
static void nothing(char byte) { (void)byte; }
static void (*const handlers[])(char) = {one_read, one_write, nothing, nothing};
static void *worker(void *arg) {
  char byte;
  while (read(0, &byte, 1) > 0) {
    fill(byte);
    handlers[byte & 3](byte);
  }
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, worker, 0);
  pthread_create(&threads[1], 0, worker, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return (int)allocated;
}
"""
SHARED = "#define WRITTEN writes\n#define COUNT(n) (MANY(allocated += (n)))\n"
OWN = "#define WRITTEN writes\nstatic _Thread_local long own;\n#define COUNT(n) (own += (n))\n"
PAIR = {"counts.reads", "counts.writes"}


@pytest.fixture(autouse=True)
def analyzer() -> None:
    need_analyzer()


def new_of(project: Project, run: Run, before: str, now: str) -> list[set[str]]:
    base = project.commit({"server.c": before + SERVER_C})
    project.database("server.c")
    project.write({"server.c": now + SERVER_C})
    document = json.loads(run("check", "--base", base, "--min-severity", "low", "--format", "json").out)
    return [{who["name"] for who in finding["participants"]} for finding in document["findings"]]


def all_of(project: Project, run: Run, text: str) -> list[set[str]]:
    project.write({"server.c": text + SERVER_C})
    project.database("server.c")
    document = json.loads(run("check", "--min-severity", "low", "--format", "json").out)
    return [{who["name"] for who in finding["participants"]} for finding in document["findings"]]


def test_the_busiest_hides_the_rest_of_one_revision(project: Project, run: Run) -> None:
    assert PAIR not in all_of(project, run, SHARED)
    assert PAIR in all_of(project, run, OWN)


def test_what_a_change_to_the_busiest_uncovers_is_not_new(project: Project, run: Run) -> None:
    assert PAIR not in new_of(project, run, SHARED, OWN)


def test_what_the_change_itself_brings_to_the_line_is(project: Project, run: Run) -> None:
    assert PAIR in new_of(project, run, SHARED.replace("WRITTEN writes", "WRITTEN reads"), OWN)


# One thread counts what it sends on one of two ways, another one counts what it copies.
SENDER_C = """\
#include <pthread.h>
#include <unistd.h>
static struct { _Atomic long sent, copied; } bytes __attribute__((aligned(64)));
static _Thread_local long own;
static void send_one(char to) {
  if (REPLICA(to))
    own += to;
  else
    COUNT(to);
}
static void *sender(void *arg) {
  char to;
  while (read(0, &to, 1) > 0)
    if (to & 2)
      send_one(to);
  return arg;
}
static void *copier(void *arg) {
  char to;
  while (read(1, &to, 1) > 0)
    bytes.copied += to;
  return arg;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, sender, 0);
  pthread_create(&threads[1], 0, SECOND, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
}
"""
PLAIN = "#define REPLICA(to) ((to) & 1)\n"
HINTED = "#define REPLICA(to) __builtin_expect((to) & 1, 0)\n"
ONCE = "#define COUNT(to) (bytes.sent += (to))\n"
EACH = "#define COUNT(to) for (int at = 0; at < (to); at++) bytes.sent++\n"
COPIES, SENDS = "#define SECOND copier\n", "#define SECOND sender\n"
SENT = {"bytes.sent", "bytes.copied"}


def new_sent(project: Project, run: Run, before: str, now: str) -> bool:
    base = project.commit({"sender.c": before + SENDER_C})
    project.database("sender.c")
    project.write({"sender.c": now + SENDER_C})
    document = json.loads(run("check", "--base", base, "--min-severity", "low", "--format", "json").out)
    return SENT in [{who["name"] for who in finding["participants"]} for finding in document["findings"]]


def test_a_hint_of_how_often_a_way_is_taken_makes_no_use_of_it_new(project: Project, run: Run) -> None:
    assert not new_sent(project, run, PLAIN + ONCE + COPIES, HINTED + ONCE + COPIES)


def test_by_how_much_is_a_number(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "MORE_USE", 1.0)
    assert new_sent(project, run, PLAIN + ONCE + COPIES, HINTED + ONCE + COPIES)


def test_a_loop_around_the_use_does(project: Project, run: Run) -> None:
    assert new_sent(project, run, PLAIN + ONCE + COPIES, HINTED + EACH + COPIES)


def test_another_thread_that_comes_there_does(project: Project, run: Run) -> None:
    assert new_sent(project, run, PLAIN + ONCE + "#define SECOND 0\n", HINTED + ONCE + COPIES)
