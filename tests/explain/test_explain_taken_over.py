"""A finding that takes the place of another one on its line, and what functions do with added data, in words."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.explaining.run import ExplainRequest, explain
from sharing.model.comparison import CauseKind, Comparison

# The ticker writes `beats` all the time beside the flag that workers read for each piece of a job.  Compilers put what
# is declared last first.
SOURCE = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
//added
static atomic_int stop;
static atomic_long beats;
static char name[64] __attribute__((aligned(64)));
static struct { char kind[56]; /*member*/ atomic_long taken, told; } counts __attribute__((aligned(64)));
static void *worker(void *arg) {
  char job;
  while (read(0, &job, 1) > 0) {
    for (int at = 0; at < job && !atomic_load_explicit(&stop, memory_order_relaxed); at++) {
      //piece
    }
    atomic_fetch_add_explicit(&counts.taken, 1, memory_order_relaxed);
  }
  return arg;
}
static void *ticker(void *arg) {
  while (!atomic_load_explicit(&stop, memory_order_relaxed))
    for (int at = 0; at < TICKS; at++)
      atomic_fetch_add_explicit(&beats, 1, memory_order_relaxed), atomic_fetch_add(&counts.told, 1);
  return arg;
}
int main(int argc, char **argv) {
  name[0] = argv[0][0];
  pthread_t threads[3];
  pthread_create(&threads[0], 0, ticker, 0);
  pthread_create(&threads[1], 0, worker, 0);
  pthread_create(&threads[2], 0, worker, 0);
  pthread_join(threads[1], 0);
  pthread_join(threads[2], 0);
  stop = 1;
  pthread_join(threads[0], 0);
  //end
  printf("%ld %s %s\\n", beats, name, counts.kind);
}
"""
NONE = {"TICKS": "64"}
COUNTED = {
    **NONE,
    "//added": "static atomic_long pieces;",
    "//piece": "atomic_fetch_add_explicit(&pieces, 1, memory_order_relaxed);",
    "//end": 'printf("%ld", pieces);',
}
MEMBER = {**NONE, "/*member*/": "long polls;", "//end": 'printf("%ld", counts.polls);'}
Compare = Callable[[dict[str, str], dict[str, str]], Comparison]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")

    def built(edits: dict[str, str], file: str) -> str:
        source = SOURCE
        for mark, text in edits.items():
            source = source.replace(mark, text)
        (tmp_path / "main.c").write_text(source)
        subprocess.run(["gcc", "-O2", "-g", "-pthread", "main.c", "-o", file], cwd=tmp_path, check=True)
        return str(tmp_path / file)

    return lambda old, new: explain(ExplainRequest(built(old, "old"), built(new, "new")))


def test_a_pair_whose_line_another_finding_speaks_of_did_not_get_better(compare: Compare) -> None:
    found = compare(NONE, COUNTED)
    (layout,) = (cause for cause in found.causes if cause.kind is CauseKind.LAYOUT)
    assert not layout.improves
    assert "`pieces` is added, used by `worker`" in layout.summary


def test_a_pair_that_one_build_hardly_uses_did(compare: Compare) -> None:
    found = compare({"TICKS": "64"}, {"TICKS": "0"})
    assert any(cause.kind is CauseKind.LAYOUT and cause.improves for cause in found.causes)


def test_what_is_only_read_is_not_called_written(compare: Compare) -> None:
    (layout,) = (cause for cause in compare(NONE, COUNTED).causes if cause.kind is CauseKind.LAYOUT)
    said = " ".join(layout.evidence)
    assert "worker now also writes `pieces`" in said
    assert "main now also reads `pieces`" in said


def test_a_member_that_moved_others_is_named_before_them(compare: Compare) -> None:
    found = compare(NONE, MEMBER)
    told = [cause.summary for cause in found.causes if cause.kind is CauseKind.LAYOUT and "at byte" in cause.summary]
    assert told
    assert all(text.startswith("`counts` grew from ") and "(new: member `polls`)" in text for text in told)
