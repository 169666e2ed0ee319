"""Small objects that one loop allocates, to which threads come by a record of their own, a table or another pointer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharing.model.finding import Finding, Severity
from tests.check_programs.conftest import findings

TEXT = """
#include <pthread.h>
#include <stdlib.h>
struct talk { MEMBERS } TYPE;
struct wide { char name[200]; };
struct agent { pthread_t thread; int index; struct talk *own; };
static struct agent agents[8];
static struct talk *all[8];
static __thread struct talk *mine;
static struct wide *names[8];
static volatile int stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void say(struct talk *t) { CHANGE; }
static void *run(void *given) {
  struct agent *agent = given;
  BEGIN
  while (!stop) say(REACHED);
  return 0;
}
ELSEWHERE
int main(void) {
  int i;
  for (int i = 0; i < 8; i++) {
    struct talk *made = MAKE;
    if (made == NULL) return 1;
    agents[i].own = all[i] = made;
    agents[i].index = i;
    BESIDE
  }
  STARTS pthread_create(&agents[i].thread, 0, run, &agents[i]);
  STARTS pthread_join(agents[i].thread, 0);
  return names[0] == 0;
}
"""
PLAIN = {
    "MEMBERS": "unsigned long lines, bytes;",
    "TYPE": "",
    "CHANGE": "t->lines++",
    "BEGIN": "",
    "REACHED": "agent->own",
    "ELSEWHERE": "",
    "MAKE": "calloc(1, sizeof(struct talk))",
    "BESIDE": "",
    "STARTS": "for (int i = 0; i < 8; i++)",
}


def found(folder: Path, **changes: str) -> list[Finding]:
    text = TEXT
    for name, written in (PLAIN | changes).items():
        text = text.replace(name, written)
    source = folder / "a.c"
    source.write_text(text)
    every = findings(source, "-O2", "-pthread")
    return [one for one in every if one.rule == "thread-elements-meet" and one.message.startswith("talk ")]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"BEGIN": "mine = agent->own;", "REACHED": "mine"},
        {"REACHED": "all[agent->index]"},
        {"MAKE": "malloc(sizeof(struct talk))", "CHANGE": "t->bytes += 3"},
    ],
    ids=["of its record", "of a thread-local pointer", "at an index", "by malloc"],
)
def test_neighbours_that_several_threads_change_share_a_line(tmp_path: Path, changes: dict[str, str]) -> None:
    (finding,) = found(tmp_path, **changes)
    assert finding.severity is Severity.LOW
    assert "main allocates one after the other, and several threads change them under no lock" in finding.message


@pytest.mark.parametrize(
    "changes",
    [
        {"TYPE": "__attribute__((aligned(64)))"},
        {"MAKE": "aligned_alloc(64, 64)"},
        {"MEMBERS": "unsigned long lines, bytes; char text[64];"},
        {"BESIDE": "names[i] = malloc(sizeof(struct wide));"},
        {"CHANGE": "(void)t->lines"},
        {"CHANGE": "pthread_mutex_lock(&lock); t->lines++; pthread_mutex_unlock(&lock)"},
        {"STARTS": "i = 2;"},
        {"ELSEWHERE": "struct talk *talk_new(void) { return malloc(sizeof(struct talk)); }"},
    ],
    ids=["aligned", "on lines", "longer than a line", "apart", "read", "locked", "one thread", "made elsewhere too"],
)
def test_near_misses(tmp_path: Path, changes: dict[str, str]) -> None:
    assert found(tmp_path, **changes) == []


def test_what_a_thread_allocates_for_itself_may_be_its_own(tmp_path: Path) -> None:
    fill = "for (int i = 0; i < 4; i++) own[i] = malloc(sizeof(struct talk)); struct talk *first = own[0];"
    assert found(tmp_path, MAKE="NULL", BEGIN=f"struct talk *own[4]; {fill}", REACHED="first") == []
