"""What the slots of threads do to something else on their line is a finding beside that of the slots."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# Compilers put what is declared last first: the number of workers lies in front of their counters.
POOL_C = """\
#include <pthread.h>
#include <stdio.h>
static unsigned long busy[8];
static int workers;
static _Atomic int stop;
static void *worker(void *arg) {
  long id = (long)arg;
  while (!__atomic_load_n((int *)&stop, __ATOMIC_RELAXED))
    busy[id]++;
  return arg;
}
static void *watcher(void *arg) {
  unsigned long rounds = 0;
  while (!__atomic_load_n((int *)&stop, __ATOMIC_RELAXED))
    for (int at = 0; at < workers; at++) rounds++;
  printf("%lu\\n", rounds);
  return arg;
}
int main(int argc, char **argv) {
  pthread_t threads[9];
  workers = argc > 8 ? 8 : argc;
  for (long at = 0; at < workers; at++) pthread_create(&threads[at], 0, worker, (void *)at);
  pthread_create(&threads[8], 0, watcher, argv);
  for (int at = 0; at < workers; at++) pthread_join(threads[at], 0);
  stop = 1;
  pthread_join(threads[8], 0);
}
"""


def found(project: Project, run: Run, text: str) -> list[tuple[str, set[str]]]:
    need_analyzer()
    project.write({"pool.c": text})
    project.database("pool.c")
    document = json.loads(run("check", "--min-severity", "low", "--format", "json").out)
    return [(one["rule"], {who["name"] for who in one["participants"][:2]}) for one in document["findings"]]


def test_both_are_said(project: Project, run: Run) -> None:
    said = found(project, run, POOL_C)
    assert ("packed-thread-slots", {"busy"}) in said
    assert [names for rule, names in said if rule == "written-beside-read-mostly" and "busy" in names], said


def test_slots_on_lines_of_their_own_disturb_nothing(project: Project, run: Run) -> None:
    """The near miss, and so is what the array's own declaration is at fault for: one finding has both."""
    own = POOL_C.replace("static unsigned long busy[8]", "static struct { _Alignas(64) unsigned long n; } busy[8]")
    assert not [names for _, names in found(project, run, own.replace("busy[id]++", "busy[id].n++")) if "busy" in names]


def test_an_array_that_is_aligned_without_padding_is_said_once(project: Project, run: Run) -> None:
    aligned = POOL_C.replace("static unsigned long busy[8]", "static _Alignas(64) unsigned char busy[8]")
    said = found(project, run, aligned)
    assert [rule for rule, names in said if "busy" in names].count("aligned-without-padding") == 0
