"""Variables and members with another name than before, and pairs that share a line as before and are used otherwise."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.explain.wording import pairs_of
from sharing.explain.renamed import renamed_members
from sharing.model.comparison import Cause, CauseKind, ChangeKind, Comparison
from sharing.model.types import Member
from tests.explain.conftest import Explain

PROGRAM = """
#include <pthread.h>
struct stats { unsigned long hits; unsigned long limit; unsigned long misses; };
static struct stats stats;
static unsigned long jobs;
static volatile int stop;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long list_length;
static void *produce(void *a) {
  while (!stop) {
    __atomic_fetch_add(&stats.hits, 1, __ATOMIC_RELAXED);
    MORE
    pthread_mutex_lock(&list_lock);
    list_length++;
    pthread_mutex_unlock(&list_lock);
  }
  return a;
}
static void *consume(void *a) {
  while (!stop) {
    if (stats.limit > 3) MISS;
    __atomic_fetch_add(&jobs, 1, __ATOMIC_RELAXED);
  }
  return a;
}
int main(void) {
  pthread_t t[4];
  stats.limit = 7;
  for (int i = 0; i < 2; ++i) {
    pthread_create(&t[i], 0, produce, 0);
    pthread_create(&t[2 + i], 0, consume, 0);
  }
  for (int i = 0; i < 4; ++i) pthread_join(t[i], 0);
  return (int)(stats.hits + stats.misses + jobs + list_length);
}
"""
JOB = "__atomic_fetch_add(&jobs, 1, __ATOMIC_RELAXED);"
OTHERWISE = (JOB, f"if (jobs < 99999) {JOB}")  # so that code tells nobody apart by doing the same
MISS = "__atomic_fetch_add(&stats.misses, 1, __ATOMIC_RELAXED)"
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """``build((old, new), ...)``: the program with these texts exchanged."""
    done: dict[tuple[tuple[str, str], ...], Path] = {}

    def made(*edits: tuple[str, str], miss: str = MISS) -> Path:
        key = (*edits, ("MISS", miss))
        if key not in done:
            text = PROGRAM.replace("MISS", miss)
            for old, new in edits:
                assert old in text
                text = text.replace(old, new)
            folder = tmp_path_factory.mktemp("renamed")
            (folder / "main.c").write_text(text.replace("MORE", ""))
            subprocess.run(["gcc", "-O2", "-g", "-pthread", "main.c", "-o", "program"], cwd=folder, check=True)
            done[key] = folder / "program"
        return done[key]

    return made


def layouts(found: Comparison) -> list[Cause]:
    return [cause for cause in found.causes if cause.kind is CauseKind.LAYOUT]


def test_a_member_of_another_name_is_not_added(build: Build, explained: Explain) -> None:
    found = explained(build(), build(OTHERWISE, ("hits", "accepted")))
    assert layouts(found) == []


def test_variables_of_other_names_are_not_added(build: Build, explained: Explain) -> None:
    renamed = (("jobs", "done_jobs"), ("list_lock", "queue_mutex"), ("list_length", "queue_size"))
    found = explained(build(), build(OTHERWISE, *renamed))
    assert layouts(found) == []
    said = {(change.name, change.detail) for change in found.changes if change.kind is ChangeKind.RENAMED}
    assert said == {(new, f"was {old}") for old, new in renamed}


def test_another_variable_in_the_place_of_one_is_added(build: Build, explained: Explain) -> None:
    """The near miss: of the same type at the same place, and other functions use it."""
    other = ((JOB, ""), ("static unsigned long jobs;", "static unsigned long turns;"), (" + jobs", ""))
    more = ("MORE", "__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);")
    found = explained(build(), build(*other, more))
    assert any("`turns` is added, used by `produce`" in cause.summary for cause in layouts(found))


def test_what_only_begins_to_be_used_came_from_nowhere(build: Build, explained: Explain) -> None:
    old, new = build(miss="return a"), build()
    (begun,) = (cause for cause in layouts(explained(old, new)) if not cause.improves)
    line = begun.new_line_mates[0].line
    words = (
        f"`stats.hits` and `stats.misses` share line {line} in both builds; `consume` now also writes `stats.misses`"
    )
    assert words in begun.summary
    assert [lead for lead, _ in pairs_of(begun)] == ["on one line in both builds"]
    (ended,) = (cause for cause in layouts(explained(new, old)) if cause.improves)
    assert "`consume` no longer writes `stats.misses`" in ended.summary


def member(path: str, offset: int, kind: str = "unsigned long", size: int = 8) -> Member:
    return Member(path, offset, size, kind, 0)


def called(here: list[Member], there: list[Member], *, users: str = "f") -> dict[str, str]:
    one, other = ({(m.path, 0, 0): m for m in side} for side in (here, there))
    found = renamed_members(one, other, (lambda key: frozenset({"f"}), lambda key: frozenset(users)))
    return {old[0]: new[0] for old, new in found.items()}


def test_which_members_are_called_otherwise() -> None:
    before = [member("a", 0), member("b", 8), member("c", 16)]
    assert called(before, [member("a", 0), member("x", 64), member("c", 128)]) == {"b": "x"}
    assert called(before, [member("a", 0), member("x", 8), member("c", 16)], users="g") == {}
    assert called(before, [member("a", 0), member("x", 8, "int", 4), member("c", 16)]) == {}
    assert called(before, [member("a", 0), member("x", 8), member("y", 16), member("c", 24)]) == {}
    assert called(before, [member("a", 0), member("c", 8), member("x", 16)]) == {}
