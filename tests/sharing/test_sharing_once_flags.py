"""Whoever asks a once flag reads it each time, and takes its line from a thread that writes beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import AuditOptions, CheckOptions, FactsRequest
from linemate.pipeline import audit, check_program
from linemate.source import read_program
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

TEXT = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static struct { pthread_once_t done; unsigned long lines; } nest __attribute__((aligned(64)));
static void boot(void) { puts("ready"); }
static void *ask(void *given) {
  char text[256];
  unsigned long sum = 0;
  ONCE
  while (read((int)(long)given, text, sizeof text) > 0) { sum += (unsigned char)text[3]; EACH }
  return (void *)sum;
}
static void *count(void *given) {
  char text[256];
  while (read((int)(long)given, text, sizeof text) > 0) nest.lines++;
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, ask, (void *)3L);
  pthread_create(&two, 0, count, (void *)4L);
  pthread_join(one, 0);
  pthread_join(two, 0);
  printf("%lu\\n", nest.lines);
  return 0;
}
"""
ASKED = TEXT.replace("ONCE", "").replace("EACH", "pthread_once(&nest.done, boot);")
ASKED_BEFORE = TEXT.replace("ONCE", "pthread_once(&nest.done, boot);").replace("EACH", "")


def pairs(findings: tuple[Finding, ...]) -> dict[frozenset[str], Severity]:
    return {
        frozenset(one.name.rpartition(".")[2] for one in each.participants): each.severity
        for each in findings
        if each.rule == "written-beside-read-mostly"
    }


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_flag_that_each_round_asks_is_read_as_often(compiled: Compile, tool: str, level: str) -> None:
    found = pairs(audit(AuditOptions(str(compiled(tool, "c", ASKED, level, "-g", "-pthread")))).findings)
    assert found == {frozenset({"done", "lines"}): Severity.HIGH}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_flag_that_is_asked_in_front_of_the_loop_is_not(compiled: Compile, tool: str, level: str) -> None:
    program = compiled(tool, "c", ASKED_BEFORE, level, "-g", "-pthread")
    assert pairs(audit(AuditOptions(str(program))).findings) == {}


@pytest.mark.parametrize(("text", "told"), [(ASKED, {frozenset({"done", "lines"}): Severity.HIGH}), (ASKED_BEFORE, {})])
def test_source_says_the_same(tmp_path: Path, text: str, told: dict[frozenset[str], Severity]) -> None:
    if tool_path("linemate-facts") is None:
        pytest.skip("linemate-facts is not built")
    (tmp_path / "a.c").write_text(text)
    options = CheckOptions(facts=FactsRequest(sources=(str(tmp_path / "a.c"),), flags=("-O2", "-pthread")))
    assert pairs(check_program(read_program(options), options).findings) == told
