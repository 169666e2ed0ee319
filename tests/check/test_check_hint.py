"""What a check says to type next works as it is typed: it names all that the check was told of its sources."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

# A counter of each of two threads; without a thread start in sight the two functions are a library's.
HITS = """
#include <stdatomic.h>
#include SIZES
static atomic_ulong parsed[SIZE], written[SIZE];
void *parser(void *arg) { for (;;) atomic_fetch_add(&parsed[0], 1); return arg; }
void *writer(void *arg) { for (;;) atomic_fetch_add(&written[0], 1); return arg; }
"""
MAIN = """
#include <pthread.h>
void *parser(void *), *writer(void *);
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, parser, 0);
  pthread_create(&two, 0, writer, 0);
  return pthread_join(one, 0) + pthread_join(two, 0);
}
"""
FLAGS = ("-O2", "-I", "my sizes", '-DSIZES="sizes.h"')
# How the sources are given, and what else is said; the hint repeats it.
WAYS = {
    "flags": ("hits.c", "main.c", "--", *FLAGS),
    "threads": ("hits.c", "--assume-threads", "--", *FLAGS),
    "lines": ("--line-size", "128", "hits.c", "main.c", "--", *FLAGS),
    "database": ("-p", "other build"),
    "binary": ("hits.c", "main.c", "--binary", "out/hits", "--", *FLAGS),
    "unit": ("-p", "other build", "hits.c", "main.c"),
}


@pytest.fixture
def hits(project: Project) -> Project:
    need_analyzer("gcc")
    project.write({"hits.c": HITS, "main.c": MAIN})
    project.write({"my sizes/sizes.h": "#define SIZE 1\n", "out/.keep": ""})
    return project


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_edit_is_had_by_what_the_check_says(hits: Project, run: Callable[..., Any], way: tuple[str, ...]) -> None:
    flags = [shlex.quote(flag.replace("my", "../my")) for flag in FLAGS]
    hits.database("hits.c", "main.c", flags=tuple(flags), folder="other build")
    subprocess.run(["gcc", *FLAGS, "-o", "out/hits", "hits.c", "main.c", "-pthread"], cwd=hits.top, check=True)
    said = run("check", "--min-severity", "low", *way)
    typed = re.findall(r"as a diff: linemate (fix .*)", said.out)
    edited = run(*shlex.split(typed[0]))
    assert edited.code == 0, (typed, edited.err)
    assert "alignas" in edited.out.lower()
