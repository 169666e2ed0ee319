"""What a change puts on a line that is busy before: the finding of that line was known, who is new on it is not."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# `thrown` comes behind `queued` in the alphabet, so that of two as busy pairs the known one is named.
TEXT = """\
#include <pthread.h>
#include <stdatomic.h>
static struct {
  pthread_mutex_t lock;
  atomic_long queued;
  //more
} state __attribute__((aligned(64)));
static long table[8] __attribute__((aligned(64)));
static atomic_int stop __attribute__((aligned(64)));
static void *sender(void *arg) {
  while (!atomic_load(&stop)) {
    pthread_mutex_lock(&state.lock);
    table[2]++;
    //guarded
    pthread_mutex_unlock(&state.lock);
  }
  return arg;
}
static void *counter(void *arg) {
  while (!atomic_load(&stop)) {
    atomic_fetch_add(&state.queued, 1);
    //counted
  }
  return arg;
}
int main(void) {
  pthread_t senders[2], counters[2];
  for (int i = 0; i < 2; i++) pthread_create(&senders[i], 0, sender, 0);
  for (int i = 0; i < 2; i++) pthread_create(&counters[i], 0, counter, 0);
  for (int i = 0; i < 2; i++) pthread_join(senders[i], 0);
  for (int i = 0; i < 2; i++) pthread_join(counters[i], 0);
}
"""
COUNTER = {"//more": "atomic_long thrown;", "//counted": "atomic_fetch_add(&state.thrown, 1);"}
GUARDED = {"//more": "long thrown;", "//guarded": "state.thrown++;"}
UNUSED = {"//more": "long thrown;"}
LINKED = ("--binary", "server", "--build", "sh build.sh")


def changed(project: Project, edits: dict[str, str]) -> None:
    text = TEXT
    for mark, code in edits.items():
        text = text.replace(mark, code)
    project.write({"server.c": text})
    subprocess.run(["sh", "build.sh"], cwd=project.top, check=True)


@pytest.fixture
def base(project: Project) -> str:
    need_analyzer()
    commit = project.commit({"server.c": TEXT, "build.sh": "gcc -O2 -g -pthread server.c -o server\n"})
    project.database("server.c", flags=("-O2", "-pthread"))
    return commit


def new(run: Run, *arguments: str) -> list[tuple[str, set[str]]]:
    found = json.loads(run("check", *arguments, "--format", "json").out)["findings"]
    return [(one["severity"], {who["name"] for who in one["participants"]}) for one in found]


@pytest.mark.parametrize("linked", [(), LINKED], ids=["source", "linked"])
def test_a_counter_that_joins_a_busy_line_is_new(
    run: Run, project: Project, base: str, linked: tuple[str, ...]
) -> None:
    changed(project, COUNTER)
    assert new(run, "--base", base, *linked) == [("high", {"state.lock", "state.thrown"})]
    (one,) = json.loads(run("check", "--base", base, *linked, "--format", "json").out)["findings"]
    fixed = run("fix", one["id"], *linked[:2])
    assert "_Alignas(64)" in fixed.out


@pytest.mark.parametrize(
    "edits", [GUARDED, UNUSED, {"//more": "// what is waiting"}], ids=["guarded", "unused", "none"]
)
@pytest.mark.parametrize("linked", [(), LINKED], ids=["source", "linked"])
def test_what_disturbs_nobody_there_is_not(
    run: Run, project: Project, base: str, edits: dict[str, str], linked: tuple[str, ...]
) -> None:
    changed(project, edits)
    assert new(run, "--base", base, *linked) == []


def test_without_a_base_the_line_is_said_once(run: Run, project: Project, base: str) -> None:
    changed(project, COUNTER)
    assert [names for severity, names in new(run) if severity == "high"] == [
        {"state.lock", "state.queued", "state.thrown"}
    ]
