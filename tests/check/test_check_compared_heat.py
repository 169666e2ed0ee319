"""What is busy beside something far busier: where a change makes that rare, the rest is no news."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# `allocated` is counted in loops within loops; beside it a counter of rounds is not among the busiest.
SERVER_C = """\
#include <pthread.h>
#include <unistd.h>
static _Atomic long allocated __attribute__((aligned(64)));
static struct { _Atomic long reads, writes; } counts __attribute__((aligned(64)));
long fill(long n) {
  long sum = 0;
  for (long a = 0; a < n; a++)
    for (long b = a; b < n; b++)
      for (long c = b; c < n; c++)
        for (long d = c; d < n; d++) {
          COUNT(a * b * c * d);
          sum += a ^ b ^ c ^ d;
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
SHARED = "#define WRITTEN writes\n#define COUNT(n) (allocated += (n))\n"
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
