"""Small objects that one loop allocates, and with one of which another loop starts each thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharing.model.finding import Finding, Severity
from tests.check_programs.conftest import findings

TEXT = """
#include <pthread.h>
#include <stdlib.h>
struct tally { unsigned long ops, bytes; } TYPE;
struct wide { char name[200]; };
static volatile int stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void step(struct tally *t) { CHANGE; }
static void *work(void *given) {
  struct tally *mine = given;
  while (!stop) WORK;
  return 0;
}
static struct tally *fresh(void) { return malloc(sizeof(struct tally)); }
int main(void) {
  pthread_t threads[8];
  struct tally *all[8];
  struct wide *names[8];
  for (int i = 0; i < 8; i++) { all[i] = MAKE; all[i]->ops = 0; BESIDE }
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, work, all[i]);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
  return names[0] == 0;
}
"""
PLAIN = {"TYPE": "", "CHANGE": "t->ops++", "WORK": "mine->ops++", "MAKE": "malloc(sizeof(struct tally))", "BESIDE": ""}


def found(folder: Path, **changes: str) -> list[Finding]:
    text = TEXT
    for name, written in (PLAIN | changes).items():
        text = text.replace(name, written)
    return said(folder, text)


def said(folder: Path, text: str) -> list[Finding]:
    source = folder / "a.c"
    source.write_text(text)
    every = findings(source, "-O2", "-pthread")
    return [one for one in every if one.rule == "thread-elements-meet"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"WORK": "step(mine)"},
        {"WORK": "step(given)"},
        {"MAKE": "fresh()"},
        {"MAKE": "calloc(1, sizeof(struct tally))", "WORK": "mine->bytes += 3"},
    ],
)
def test_neighbours_of_one_size_share_a_line(tmp_path: Path, changes: dict[str, str]) -> None:
    (finding,) = found(tmp_path, **changes)
    assert finding.severity is Severity.MEDIUM
    assert (
        "main allocates one after the other, and each thread changes the one that it is started with" in finding.message
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"TYPE": "__attribute__((aligned(64)))"},
        {"MAKE": "aligned_alloc(64, 64)"},
        {"BESIDE": "names[i] = malloc(sizeof(struct wide));"},  # lies between two
        {"WORK": "(void)mine->ops"},
        {"WORK": "{ pthread_mutex_lock(&lock); mine->ops++; pthread_mutex_unlock(&lock); }"},
    ],
)
def test_near_misses(tmp_path: Path, changes: dict[str, str]) -> None:
    assert found(tmp_path, **changes) == []


def test_the_start_of_a_thread_lies_between(tmp_path: Path) -> None:
    """It allocates several hundred bytes for the thread's own variables."""
    text = TEXT
    start = "pthread_create(&threads[i], 0, work, all[i]);"
    text = text.replace(f"  for (int i = 0; i < 8; i++) {start}\n", "")
    for name, written in (PLAIN | {"BESIDE": start}).items():
        text = text.replace(name, written)
    assert said(tmp_path, text) == []
