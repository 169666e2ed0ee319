"""What threads are to do comes in a record that their entry calls through, however the compiler writes it."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

# gcc -O2 puts both members of the record there by one store of a vector register.
PROGRAM = """
#include <pthread.h>
static struct { long in, out; } pair __attribute__((aligned(64)));
static struct job { void (*run)(void *); void *argument; } jobs[4];
static pthread_t ids[4];
static void *start(void *argument) {
  struct job *job = argument;
  job->run(job->argument);
  return 0;
}
static void launch(int i, void (*run)(void *), void *argument) {
  jobs[i] = (struct job){run, argument};
  pthread_create(&ids[i], 0, start, &jobs[i]);
}
static void count_in(void *unused) { for (;;) { pair.in++; __asm__ volatile("" ::: "memory"); } }
static void count_out(void *unused) { for (;;) { pair.out++; __asm__ volatile("" ::: "memory"); } }
int main(void) {
  launch(0, count_in, 0);
  launch(1, count_out, &pair);
  pthread_exit(0);
}
"""


@pytest.mark.parametrize("flags", [("-O2", "-fno-inline"), ("-O0",)], ids=" ".join)
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_both_are_threads(compiled: Compile, tool: str, flags: tuple[str, ...]) -> None:
    report = api.audit(str(compiled(tool, "c", PROGRAM, *flags)), min_severity=Severity.NOTE)
    (threads,) = (note for note in report.coverage.notes if note.startswith("threads:"))
    assert "count_in" in threads
    assert "count_out" in threads
    (found,) = (f for f in report.findings if f.rule == "independent-writers")
    assert found.severity == Severity.HIGH
