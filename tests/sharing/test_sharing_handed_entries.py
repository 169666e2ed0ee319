"""What threads are to do comes in a record that their entry calls through, however the compiler writes it."""

from __future__ import annotations

from pathlib import Path

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


# Compilers make a copy of `spawn` that hands over `stats` by itself, since all calls give it.
ONE_DATA = """
#include <pthread.h>
static struct { long tokens; char apart[GAP]; long lines; } stats __attribute__((aligned(128)));
__attribute__((noinline)) static pthread_t spawn(void *(*work)(void *), void *data) {
  pthread_t id;
  return pthread_create(&id, 0, work, data) ? 0 : id;
}
static void *tokenizer(void *data) { for (long *one = data;;) { (*one)++; __asm__ volatile("" ::: "memory"); } }
static void *counter(void *data) { for (long *one = data;;) { one[1 + GAP / 8]++; __asm__ volatile("" ::: "memory"); } }
int main(void) {
  pthread_t ids[] = {spawn(tokenizer, &stats), spawn(counter, &stats)};
  pthread_join(ids[0], 0);
  pthread_join(ids[1], 0);
  return (int)stats.tokens;
}
"""


@pytest.mark.parametrize("flags", [("-O2",), ("-O0",)], ids=" ".join)
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("gap", "found"), [(8, ["independent-writers"]), (64, [])])
def test_threads_get_the_data_that_all_calls_of_a_wrapper_give(
    compiled: Compile, tool: str, flags: tuple[str, ...], gap: int, found: list[str]
) -> None:
    report = api.audit(str(compiled(tool, "c", ONE_DATA, *flags, f"-DGAP={gap}")), min_severity=Severity.LOW)
    assert [one.rule for one in report.findings] == found


SOURCES = Path(__file__).parents[1] / "check_programs" / "programs"


@pytest.mark.parametrize("flags", [("-O2", "-fno-inline"), ("-O0",)], ids=" ".join)
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("program", "several"), [("handed_to_a_pool.c", True), ("handed_to_one_thread.c", False)])
def test_threads_of_one_loop_all_do_what_the_function_was_handed_that_starts_them(
    compiled: Compile, tool: str, flags: tuple[str, ...], program: str, several: bool
) -> None:
    source = (SOURCES / program).read_text()
    report = api.audit(str(compiled(tool, "c", source, *flags)), min_severity=Severity.LOW)
    (threads,) = (note for note in report.coverage.notes if note.startswith("threads:"))
    assert ("count (several)" in threads) == several
    assert [one.rule for one in report.findings] == ["packed-thread-slots"] * several


def test_either_of_two_methods_in_a_wrapper_is_an_entry(compiled: Compile) -> None:
    source = (SOURCES / "entries_in_a_wrapper.cc").read_text()
    report = api.audit(str(compiled("g++", "cc", source, "-O2", "-std=c++17")), min_severity=Severity.LOW)
    (threads,) = (note for note in report.coverage.notes if note.startswith("threads:"))
    assert "Link::send(int) (several)" in threads or "Link::send (several)" in threads
    (found,) = report.findings
    assert found.rule == "independent-writers"
    assert found.severity == Severity.HIGH


# One function makes the record of a thread, another starts all threads later, in a function that calls what is kept.
MADE_BEFORE = """
#include <pthread.h>
#include <stdlib.h>
struct task { int (*work)(void *); void *data; long used; };
static struct { pthread_t thread; struct task *task; } tasks[8];
static int made;
OTHERS
static void *entry(void *arg) { struct task *task = arg; task->used = task->work(task->data); return 0; }
__attribute__((noinline)) static struct task *make(int (*work)(void *), void *data) {
  struct task *task = calloc(1, sizeof *task);
  task->work = work;
  task->data = data;
  tasks[made++].task = task;
  return task;
}
__attribute__((noinline)) static void run_all(void) {
  for (int i = 0; i < made; i++) pthread_create(&tasks[i].thread, 0, entry, tasks[i].task);
}
volatile long first, second;
static int one(void *p) { for (;;) first++; return !p; }
static int other(void *p) { for (;;) second++; return !p; }
int main(void) {
  make(one, 0);
  for (int i = 0; i < 3; i++) make(other, 0);
  run_all();
  for (int i = 0; i < made; i++) pthread_join(tasks[i].thread, 0);
  return 0;
}
"""
CALLED_ELSEWHERE = """
__attribute__((noinline)) int once_more(struct task *task) { return task->work(0); }
"""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("others", "known"), [("", True), (CALLED_ELSEWHERE, False)], ids=["alone", "called elsewhere"]
)
def test_what_a_record_is_made_with_runs_on_the_thread_that_is_started_with_it_later(
    compiled: Compile, tool: str, level: str, others: str, known: bool
) -> None:
    report = api.audit(str(compiled(tool, "c", MADE_BEFORE.replace("OTHERS", others), level, "-g", "-pthread")))
    threads = next(note for note in report.coverage.notes if note.startswith("threads:"))
    assert (" one" in threads and " other (several)" in threads) == known
    assert "one (several)" not in threads
