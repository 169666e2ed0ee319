"""A variable that a change puts beside a lock which may already meet another: both pairs count, one edit parts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# The lock starts the second half of a line or a line of its own: at one of the two it has `closed` behind it, at the
# other what is in front of it.
POOL_C = """\
#include "pool.h"
static int closed;
static pthread_mutex_t queue_lock;
static int queued = 1;
//ticks
void *worker(void *arg) {
  for (;;) {
    pthread_mutex_lock(&queue_lock);
    int go_on = !closed && queued > 0;
    queued += go_on;
    pthread_mutex_unlock(&queue_lock);
    if (!go_on)
      return arg;
    //tick
  }
}
void finish(void) {
  pthread_mutex_lock(&queue_lock);
  closed = 1;
  pthread_mutex_unlock(&queue_lock);
}
"""
FILES = {
    "pool.h": "#include <pthread.h>\nvoid *worker(void *arg);\nvoid finish(void);\n",
    "pool.c": POOL_C,
    "main.c": """\
#include "pool.h"
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, worker, 0);
  finish();
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}
""",
}
# Used less often than the flag, so that of the two pairs the known one is said where nothing is compared.
WITH_TICKS = POOL_C.replace("//ticks", "_Atomic long ticks;").replace("//tick", "if (!(go_on & 7)) ticks++;")
UNUSED = POOL_C.replace("//ticks", "_Atomic long ticks;")


@pytest.fixture(autouse=True)
def analyzer() -> None:
    need_analyzer()


@pytest.fixture
def base(project: Project) -> str:
    commit = project.commit(FILES)
    project.database("main.c", "pool.c")
    return commit


def checked(run: Run, *arguments: str) -> Any:
    return json.loads(run("check", *arguments, "--format", "json").out)


def pairs(document: Any) -> list[set[str]]:
    return [{who["name"] for who in finding["participants"]} for finding in document["findings"]]


def test_the_lock_beside_what_was_added_is_new_though_another_pair_of_it_is_as_bad(
    run: Run, project: Project, base: str
) -> None:
    project.commit({"pool.c": WITH_TICKS})
    new = checked(run, "--base", base)
    assert pairs(new) == [{"queue_lock", "ticks"}]
    assert (new["findings"][0]["severity"], new["known"]) == ("high", 1)


def test_without_a_base_one_finding_stands_for_all_that_its_edit_parts(run: Run, project: Project, base: str) -> None:
    project.commit({"pool.c": WITH_TICKS})
    assert [pair for pair in pairs(checked(run)) if "queue_lock" in pair] == [{"queue_lock", "closed"}]


def test_fix_knows_the_pair_that_the_comparison_named(run: Run, project: Project, base: str) -> None:
    project.commit({"pool.c": WITH_TICKS})
    (finding,) = checked(run, "--base", base)["findings"]
    result = run("fix", "-p", "build", finding["id"])
    assert result.code == 0
    assert "ticks.value" in result.out


def test_what_was_added_and_is_not_used_is_not_new(run: Run, project: Project, base: str) -> None:
    project.commit({"pool.c": UNUSED})
    assert pairs(checked(run, "--base", base)) == []


def test_both_pairs_are_known_once_the_base_has_them(run: Run, project: Project, base: str) -> None:
    both = project.commit({"pool.c": WITH_TICKS})
    project.commit({"main.c": FILES["main.c"].replace("4;", "3;")})
    again = checked(run, "--base", both)
    assert (pairs(again), again["known"]) == ([], 1)
