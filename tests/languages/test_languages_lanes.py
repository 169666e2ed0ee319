"""Two kinds of threads that are given the same element of an array, or its number: a queue's two ends on one line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate import api

PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
struct lane { _Atomic uint64_t in; _Atomic uint64_t out; char rest[112]; } __attribute__((aligned(64)));
static struct lane lanes[8];
static volatile int stop;
static void *producer(void *given) { TAKES while (!stop) { PICKS lane->in++; } return 0; }
static void *consumer(void *given) { TAKES while (!stop) { PICKS lane->END++; } return 0; }
int main(void) {
  pthread_t threads[8][2];
  for (int i = 0; i < 8; i++) {
    pthread_create(&threads[i][0], 0, producer, GIVES);
    pthread_create(&threads[i][1], 0, consumer, GIVES);
  }
  sched_yield();
  stop = 1;
  for (int i = 0; i < 8; i++) { pthread_join(threads[i][0], 0); pthread_join(threads[i][1], 0); }
  return (int)(lanes[0].in + lanes[1].out);
}
"""
ELEMENT = {"TAKES": "struct lane *lane = given;", "PICKS": "", "GIVES": "&lanes[i]"}
NUMBER = {
    "TAKES": "int number = (int)(intptr_t)given;",
    "PICKS": "struct lane *lane = &lanes[number];",
    "GIVES": "(void *)(intptr_t)i",
}
PROCESSOR = {"TAKES": "", "PICKS": "struct lane *lane = &lanes[sched_getcpu()];", "GIVES": "0"}


def source(folder: Path, how: dict[str, str]) -> Path:
    text = PROGRAM.replace("END", "out")
    for word, code in how.items():
        text = text.replace(word, code)
    path = folder / "lanes.c"
    path.write_text(text)
    return path


def said(report: api.Report) -> set[tuple[str, str, tuple[str, ...]]]:
    return {
        (f.rule, str(f.severity), tuple(p.full_name.rpartition(".")[2] for p in f.participants))
        for f in report.findings
    }


BOTH_ENDS = ("independent-writers", "high", ("in", "out"))


@pytest.mark.parametrize("how", [ELEMENT, NUMBER], ids=["element", "number"])
def test_source_names_both_ends(tmp_path: Path, how: dict[str, str]) -> None:
    assert BOTH_ENDS in said(api.check([source(tmp_path, how)], flags=["-O2"], cache=False, config=False))


def test_source_knows_that_an_element_of_a_processor_is_used_there_alone(tmp_path: Path) -> None:
    report = api.check([source(tmp_path, PROCESSOR)], flags=["-O2"], cache=False, config=False)
    assert not any(rule == "independent-writers" for rule, _, _ in said(report))


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("how", [ELEMENT, NUMBER], ids=["element", "number"])
def test_the_program_names_both_ends(tmp_path: Path, compiler: str, how: dict[str, str]) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = tmp_path / "lanes"
    made = [compiler, "-O2", "-g", "-pthread", "-o", str(program), str(source(tmp_path, how))]
    subprocess.run(made, check=True)
    assert BOTH_ENDS in said(api.audit(program, config=False))
