"""What threads run is loaded where they are started: from a writable table, a variable, or a member of a record."""

from __future__ import annotations

import pytest

from linemate import api
from linemate.api import Report
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

HEAD = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
long between __attribute__((aligned(64))), hits, polls;
static long calls;
static void *writer(void *p) { for (;;) { hits++; __asm__ volatile("" ::: "memory"); } }
static void *poller(void *p) { for (;;) { polls++; __asm__ volatile("" ::: "memory"); } }
static void *other(void *p) { return 0; }
static void told(long by) { calls += by; between++; }
static pthread_t ids[8];
struct job { struct job *next; void (*done)(long); void *(*run)(void *); };
"""
# By where the entries stand what puts them there and starts them; the first and the second in turn.
FORMS = {
    "a table": """
        static void *(*table[])(void *) = {writer, poller};
        int main(void) {
          for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, table[i], 0);
          table[0] = other;
          pause();
        }""",
    "a table that code fills": """
        static void *(*table[8])(void *);
        static int count;
        __attribute__((noinline)) static void add(void *(*run)(void *)) { table[count++] = run; }
        int main(void) {
          add(writer), add(poller);
          for (int i = 0; i < count; i++) pthread_create(&ids[i], 0, table[i], 0);
          pause();
        }""",
    "records that code fills": """
        static struct { pthread_t id; void *(*run)(void *); void *data; } table[8];
        static int count;
        __attribute__((noinline)) static void add(void *(*run)(void *)) { table[count++].run = run; }
        int main(void) {
          add(writer), add(poller);
          for (int i = 0; i < count; i++) pthread_create(&table[i].id, 0, table[i].run, table[i].data);
          pause();
        }""",
    "a variable": """
        static void *(*entry)(void *);
        __attribute__((noinline)) static void choose(int which) { entry = which ? writer : poller; }
        __attribute__((noinline)) static void begin(int at) { pthread_create(&ids[at], 0, entry, 0); }
        int main(void) { choose(0), begin(0), choose(1), begin(1), pause(); }""",
    "a member": """
        __attribute__((noinline)) static void set(struct job *job, void *(*run)(void *)) { job->run = run; }
        __attribute__((noinline)) static void begin(struct job *job) { pthread_create(ids, 0, job->run, job); }
        int main(void) {
          struct job *one = malloc(sizeof *one), *two = malloc(sizeof *two);
          set(one, writer), set(two, poller), begin(one), begin(two), pause();
        }""",
    "a member, through a function that starts": """
        __attribute__((noinline)) static void set(struct job *job, void *(*run)(void *)) { job->run = run; }
        __attribute__((noinline)) static int spawn(void *(*run)(void *), void *p) {
          return pthread_create(ids, 0, run, p);
        }
        __attribute__((noinline)) static void begin(struct job *job) { spawn(job->run, job); }
        int main(void) {
          struct job *one = malloc(sizeof *one), *two = malloc(sizeof *two);
          set(one, writer), set(two, poller), begin(one), begin(two), pause();
        }""",
    "a list": """
        static struct job *first;
        __attribute__((noinline)) static void add(void *(*run)(void *)) {
          struct job *job = malloc(sizeof *job);
          job->run = run, job->next = first, first = job;
        }
        int main(void) {
          add(writer), add(poller);
          for (struct job *job; (job = first);) { first = job->next; pthread_create(ids, 0, job->run, job); }
          pause();
        }""",
}
MEMBER = FORMS["a member"]


def _audited(compiled: Compile, text: str, *flags: str, tool: str = "gcc") -> tuple[Report, str]:
    report = api.audit(str(compiled(tool, "c", HEAD + text, *flags, "-pthread")), min_severity=Severity.NOTE)
    (threads,) = (note for note in report.coverage.notes if note.startswith("threads:"))
    return report, threads


@pytest.mark.parametrize(("tool", "flags"), [("gcc", ("-O2",)), ("clang-19", ("-O2",)), ("gcc", ("-O0",))])
@pytest.mark.parametrize("form", FORMS)
def test_both_are_threads(compiled: Compile, form: str, tool: str, flags: tuple[str, ...]) -> None:
    report, threads = _audited(compiled, FORMS[form], *flags, tool=tool)
    assert "writer" in threads
    assert "poller" in threads
    assert not report.incomplete
    (found,) = (f for f in report.findings if f.rule == "independent-writers")
    assert found.severity.rank >= Severity.LOW.rank


def test_a_callback_at_another_member_is_none(compiled: Compile) -> None:
    calls = "job->run = run, job->done = told"
    text = MEMBER.replace("job->run = run", calls).replace("pause()", "one->done(3), pause()")
    _, threads = _audited(compiled, text, "-O2", "-fno-inline")
    assert "writer" in threads
    assert "told" not in threads


def test_of_a_member_that_is_called_as_well_nothing_is_said(compiled: Compile) -> None:
    text = MEMBER.replace("pause()", "two->run(one), pause()")
    report, threads = _audited(compiled, text, "-O0")
    assert report.incomplete
    assert "writer" not in threads


def test_but_for_what_code_puts_there_where_a_table_has_what_is_called(compiled: Compile) -> None:
    """A table of operations has functions as far behind its begin; calls through it are of these."""
    table = """
        static long hear(long by) { calls += by; return calls; }
        static const struct table { long (*first)(long), (*second)(long), (*third)(long); } all = {hear, hear, hear};
        __attribute__((noinline)) static long ask(const struct table *all, long by) { return all->third(by); }
    """
    report, threads = _audited(compiled, table + MEMBER.replace("pause()", "ask(&all, 3), pause()"), "-O0")
    assert "writer" in threads
    assert "poller" in threads
    assert "hear" not in threads
    assert not report.incomplete
