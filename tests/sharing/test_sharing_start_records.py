"""What a thread is to do stands in the record that it is handed, where main fills the record itself."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Report, Severity
from tests.sharing.conftest import Compile

HEAD = """
#include <pthread.h>
#include <stdlib.h>
struct job { long number; void *(*run)(void *); void *argument; };
static struct { long in, out; } pair __attribute__((aligned(64)));
static struct { char before[128]; long count; char behind[128]; } far;
static void *count_in(void *unused) { for (;;) { IN; __asm__ volatile("" ::: "memory"); } }
static void *count_out(void *unused) { for (;;) { OUT; __asm__ volatile("" ::: "memory"); } }
void *known[] = {&pair, &far};  // or clang takes them apart
static pthread_t ids[2];
"""  # ``far.count`` is on no line of another variable
ONCE = """static void *start(void *argument) {
  struct job *given = argument, mine = *given;
  return mine.run(mine.argument);
}
"""
SERVES = """static void *start(void *argument) {
  struct job *given = argument;
  for (;;) { pair.in++; given->run(given->argument); }
}
"""
BODIES = {
    "heap": """
  struct job *first = malloc(sizeof *first), *second = malloc(sizeof *second);
  first->run = count_in; first->argument = &pair; pthread_create(&ids[0], 0, start, first);
  second->run = count_out; second->argument = 0; pthread_create(&ids[1], 0, start, second);
""",
    "frame": """
  struct job first = {1, count_in, &pair}, second = {2, count_out, 0};
  pthread_create(&ids[0], 0, start, &first);
  pthread_create(&ids[1], 0, start, &second);
""",
    "static": """
  static struct job jobs[2];
  jobs[0].run = count_in; jobs[0].argument = &pair; pthread_create(&ids[0], 0, start, &jobs[0]);
  jobs[1].run = count_out; pthread_create(&ids[1], 0, start, &jobs[1]);
""",
    "table": """
  static struct job jobs[] = {{1, count_in, &pair}, {2, count_out, 0}};
  for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, start, &jobs[i]);
""",
    "own table": """
  struct job jobs[] = {{1, count_in, &pair}, {2, count_out, 0}};
  for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, start, &jobs[i]);
""",
}
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])
levels = pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
bodies = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def audited(compiled: Compile, tool: str, source: str, *flags: str) -> Report:
    source += "  pthread_exit(0);\n}\n"
    return api.audit(str(compiled(tool, "c", source, "-pthread", *flags)), min_severity=Severity.NOTE)


def source(start: str, body: str, into: str, out: str) -> str:
    return f"#define IN {into}\n#define OUT {out}\n{HEAD}{start}int main(void) {{{body}"


def threads(report: Report) -> str:
    (note,) = (note for note in report.coverage.notes if note.startswith("threads:"))
    return note + ","


@compilers
@levels
@bodies
def test_each_function_is_a_thread(compiled: Compile, tool: str, level: str, body: str) -> None:
    if (tool, level, body) == ("clang-19", "-O0", BODIES["own table"]):
        pytest.skip("clang copies the table by a call of memcpy, which is not followed")
    report = audited(compiled, tool, source(ONCE, body, "pair.in++", "pair.out++"), level)
    assert "count_in," in threads(report)
    assert "count_out," in threads(report)
    (found,) = (f for f in report.findings if f.rule == "independent-writers")
    assert found.severity == Severity.HIGH


@compilers
@levels
@bodies
def test_what_one_of_them_writes_alone_is_no_pair(compiled: Compile, tool: str, level: str, body: str) -> None:
    report = audited(compiled, tool, source(ONCE, body, "pair.in++; pair.out++", "far.count++"), level)
    assert [f.rule for f in report.findings if f.severity is not Severity.NOTE] == []


@compilers
@levels
def test_a_handler_that_a_loop_calls_is_of_the_same_thread(compiled: Compile, tool: str, level: str) -> None:
    body = BODIES["heap"].partition("  second->")[0]
    report = audited(compiled, tool, source(SERVES, body.replace("count_in", "count_out"), "0", "pair.out++"), level)
    assert "count_out" not in threads(report)
    assert [f.rule for f in report.findings if f.severity is not Severity.NOTE] == []
