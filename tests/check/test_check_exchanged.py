"""A variable that leaves one neighbour and meets another one is moved by a change: new only where that is worse."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# Each thread writes one of the counters all the time.  Compilers put what is declared last first.
SERVER_C = """\
#include <pthread.h>
#include <stdio.h>
DECLARED
static void *accepts(void *arg) { for (long i = 0; i < 100000000; i++) accepted++; return arg; }
static void *serves(void *arg) { for (long i = 0; i < 100000000; i++) SERVED; return arg; }
static void *answers(void *arg) { for (long i = 0; i < 100000000; i++) ANSWERED; return arg; }
int main(int argc, char **argv) {
  pthread_t t[3];
  pthread_create(&t[0], 0, accepts, 0), pthread_create(&t[1], 0, serves, 0), pthread_create(&t[2], 0, answers, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  printf("%ld\\n", accepted + TOTAL);
}
"""


def lines(*of: str) -> str:
    """Declarations of what lies on each line, from its start."""
    text = ""
    for one in of:
        first, *rest = one.split()
        text = (
            "".join(f"static _Atomic long {name}; " for name in reversed(rest))
            + f"static _Alignas(64) _Atomic long {first}; "
            + text
        )
    return text


TOGETHER, SWAPPED = lines("accepted served", "answered"), lines("accepted answered", "served")
ALL, APART, WITHOUT = (
    lines("accepted served answered"),
    lines("accepted", "served", "answered"),
    lines("accepted served"),
)


def server(declared: str, *, answered: str = "answered++", served: str = "served++", total: str = "0") -> str:
    return (
        SERVER_C.replace("DECLARED", declared)
        .replace("SERVED", served)
        .replace("ANSWERED", answered)
        .replace("TOTAL", total)
    )


@pytest.fixture(autouse=True)
def analyzer() -> None:
    need_analyzer()


def checked(project: Project, run: Run, before: str, now: str) -> tuple[int, Any]:
    base = project.commit({"server.c": before})
    project.database("server.c")
    project.write({"server.c": now})
    result = run("check", "--base", base, "--min-severity", "low", "--fail-on", "low", "--format", "json")
    return result.code, json.loads(result.out)


def test_what_is_as_bad_as_before_is_moved_and_not_new(project: Project, run: Run) -> None:
    code, found = checked(project, run, server(TOGETHER), server(SWAPPED))
    assert (code, found["findings"], found["known"]) == (0, [], 1)
    (note,) = [note for note in found["coverage"]["notes"] if note.startswith("moved: ")]
    assert "accepted shared a line with served and now does with answered (" in note


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(server(APART), server(SWAPPED), id="it met nothing before"),
        pytest.param(server(TOGETHER), server(ALL), id="the old neighbour is still there"),
        pytest.param(server(WITHOUT, answered="(void)i"), server(SWAPPED), id="the change declares the new one"),
        pytest.param(
            server(ALL, answered="(void)i", total="(answered = argc)"),
            server(SWAPPED),
            id="it lay there all the time and became busy",
        ),
    ],
)
def test_what_else_a_change_brings_is_new(project: Project, run: Run, before: str, now: str) -> None:
    code, found = checked(project, run, before, now)
    assert code == 1
    (finding,) = found["findings"]
    assert "answered" in {who["name"] for who in finding["participants"][:2]}
    assert not [note for note in found["coverage"]["notes"] if note.startswith("moved: ")]


def test_what_is_worse_than_before_is_new_and_says_what_was_there(project: Project, run: Run) -> None:
    code, found = checked(project, run, server(TOGETHER, served="if (i % 4 == 0) served++"), server(SWAPPED))
    assert code == 1
    (finding,) = found["findings"]
    assert "accepted shared a line with served and now does with answered (" in finding["message"]


def test_one_pair_of_the_base_stands_for_one_pair(project: Project, run: Run) -> None:
    """Two pairs in the place of one are one more: of two counters that come to the line of another one."""
    before, now = lines("accepted served", "answered", "third"), lines("accepted answered third", "served")
    both = "answered++, third++"
    code, found = checked(project, run, server(before, answered=both), server(now, answered=both))
    assert (code, len(found["findings"])) == (1, 1)
    assert len([note for note in found["coverage"]["notes"] if note.startswith("moved: ")]) == 1
