"""Barriers and what else parts programs into phases, as compilers leave them and as source says them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate import api
from tests.sharing.conftest import Compile

KINDS = [(tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")]
BUILT = [*KINDS, ("clang-19", "source")]

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
static struct { long left, right; } both __attribute__((aligned(64)));
#define COUNT(of) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
static __attribute__((noinline)) void fill(void) { COUNT(left); }
static __attribute__((noinline)) void mix(void) { COUNT(right); }
"""

STARTS = """
int main(void) {
  pthread_t t[4];
  pthread_barrier_init(&barrier, 0, 4);
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
BY_NUMBER = """
static pthread_barrier_t barrier __attribute__((aligned(64)));
static void *worker(void *argument) {
  long number = (long)argument;
  BEFORE
  for (int round = 0; round < 1000; round++) {
    if (number == 0) fill();
    FIRST
    if (number == 1) mix();
    SECOND
  }
  return argument;
}
"""
WAIT = "pthread_barrier_wait(&barrier);"
IN_TURNS = {"BEFORE": "", "FIRST": WAIT, "SECOND": WAIT}


def met(folder: Path, compiled: Compile, kind: tuple[str, str], text: str, changed: dict[str, str]) -> bool:
    """Is anything found about both counters, by audit or of source?"""
    tool, level = kind
    for key, value in changed.items():
        text = text.replace(key, value, 1)
    if level == "source":
        source = folder / "program.c"
        source.write_text(text)
        (folder / "compile_commands.json").write_text(
            json.dumps(
                [{"directory": str(folder), "file": str(source), "arguments": ["clang-19", "-O2", "-c", str(source)]}]
            )
        )
        report = api.check(database=folder / "compile_commands.json", config=False)
    else:
        report = api.audit(str(compiled(tool, "c", text, level, "-g")), config=False)
    return any({"both.left", "both.right"} <= {p.full_name for p in f.participants} for f in report.findings)


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("before", ["", WAIT], ids=["", "begin together"])
def test_one_thread_works_while_the_others_wait(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], before: str
) -> None:
    if before and kind[1] == "source":
        pytest.skip("of source, barriers of a loop that are passed in front of it as well part nothing")
    assert not met(tmp_path, compiled, kind, PROGRAM + BY_NUMBER + STARTS, {**IN_TURNS, "BEFORE": before})


TOGETHER = {
    "one barrier": {"FIRST": ""},
    "none": {"FIRST": "", "SECOND": ""},
    "some rounds pass one, others both": {"FIRST": "if (round % 2) " + WAIT},
    "a second thread does the first part": {"FIRST": "if (number == 2) mix(); " + WAIT},
}


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_threads_that_work_at_one_stage_meet(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    if kind[1] == "source" and "round % 2" in changed["FIRST"]:
        pytest.skip("of source, stages are not counted")
    assert met(tmp_path, compiled, kind, PROGRAM + BY_NUMBER + STARTS, {**IN_TURNS, **changed})
