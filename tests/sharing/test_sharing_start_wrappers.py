"""A function of the program starts threads that call what it is handed, with its data: elements of these are theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Finding, Report, Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
struct starter { pthread_t id; int started; void (*work)(void *); void *data; };
struct slot { long done; long failed; SPARE };
static struct slot slots[4];
static struct starter starters[4];
static volatile long rounds = 1000000;
static void *begin(void *argument) {
  struct starter *mine = argument;
  mine->started = 1;
  CALL;
  return 0;
}
__attribute__((noinline)) static void launch(struct starter *at, void (*work)(void *), void *data) {
  struct starter *mine = RECORD;
  mine->work = work;
  mine->data = data;
  pthread_create(&at->id, 0, begin, mine);
}
__attribute__((noinline)) static int look(long *round) { return *round < rounds; }
static void work(void *argument) {
  struct slot *mine = argument;
  long round = 0;
  while (look(&round)) { mine->done++; round++; __asm__ volatile("" ::: "memory"); }
}
int main(void) {
  for (int i = 0; i < 4; i++) launch(&starters[i], work, &slots[i]);
  for (int i = 0; i < 4; i++) pthread_join(starters[i].id, 0);
  return 0;
}
"""
HANDS = "mine->work(mine->data)"
RECORDS = {"caller's": "at", "heap": "malloc(sizeof *mine)"}
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])
levels = pytest.mark.parametrize("level", ["-O0", "-O2"])


def source(call: str = HANDS, record: str = "at", spare: str = "") -> str:
    text = SOURCE.replace("CALL", call).replace("RECORD", record)
    return text.replace("SPARE", spare)


def audited(compiled: Compile, tool: str, text: str, level: str) -> list[Finding]:
    return of_slots(api.audit(str(compiled(tool, "c", text, level)), min_severity=Severity.LOW))


def of_slots(report: Report) -> list[Finding]:
    return [f for f in report.findings if f.participants[0].full_name.startswith("slots")]


@compilers
@levels
@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_each_thread_has_an_element(compiled: Compile, tool: str, level: str, record: str) -> None:
    (found,) = audited(compiled, tool, source(record=record), level)
    assert (found.rule, found.severity) == ("packed-thread-slots", Severity.HIGH)
    assert "of its own thread number" in found.message


@compilers
@levels
@pytest.mark.parametrize(
    ("call", "spare"),
    [
        pytest.param(HANDS, "char spare[112];", id="elements of whole lines"),
        pytest.param("mine->work(&slots[0])", "", id="all are handed one element"),
        pytest.param("for (;;) mine->work(mine->data)", "char spare[112];", id="a pool's thread"),
    ],
)
def test_nothing_meets(compiled: Compile, tool: str, level: str, call: str, spare: str) -> None:
    assert not audited(compiled, tool, source(call, spare=spare), level)


@compilers
@levels
def test_a_copy_that_a_callee_may_change_is_no_argument(compiled: Compile, tool: str, level: str) -> None:
    """What is beside a local whose address a callee gets stays what it was; that local itself need not."""
    other = source().replace("while (look(&round)) {", "while (look(&round)) { pick(&mine);")
    pick = "__attribute__((noinline)) static void pick(struct slot **at) { *at = &slots[rounds & 3]; }\n"
    found = audited(compiled, tool, other.replace("static void work", f"{pick}static void work"), level)
    assert all("of its own thread number" not in f.message for f in found)


@pytest.mark.parametrize(("spare", "rules"), [("", ["packed-thread-slots"]), ("char spare[112];", [])])
def test_source_says_the_same(tmp_path: Path, spare: str, rules: list[str]) -> None:
    (tmp_path / "program.c").write_text(source(spare=spare))
    unit = {"directory": str(tmp_path), "file": "program.c", "arguments": ["gcc", "-O2", "-c", "program.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([unit]))
    report = api.check(database=tmp_path, min_severity=Severity.LOW, config=False)
    assert [f.rule for f in of_slots(report)] == rules
