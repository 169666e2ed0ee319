"""Elements of lines of their own, chosen by a number that functions are handed: plain data there is one thread's."""

from __future__ import annotations

import pytest

import linemate
from linemate import Severity
from tests.sharing.conftest import Compile

# Each thread has a row; which place in it a call uses, the other argument says.
ARENAS = """
#include <pthread.h>
#include <unistd.h>
struct node { struct node *next; };
static struct arena {
  struct node *free[8];
  unsigned long taken, given;
  %s more;
} arenas[8] __attribute__((aligned(64)));
static pthread_mutex_t lock __attribute__((aligned(64)));
struct job { unsigned id, kind; struct node own[4]; };
__attribute__((noinline)) struct node *take(unsigned owner, unsigned kind) {
  struct arena *a = &arenas[owner];
  struct node *n = a->free[kind & 7];
  %s
  if (n) a->free[kind & 7] = n->next;
  return n;
}
__attribute__((noinline)) void give(unsigned owner, unsigned kind, struct node *n) {
  struct arena *a = &arenas[owner];
  n->next = a->free[kind & 7];
  a->free[kind & 7] = n;
  %s
}
static void *work(void *arg) {
  struct job *job = arg;
  for (unsigned long i = 0; i < 100000000; i++) {
    struct node *n = take(job->id, job->kind + i);
    give(job->id, job->kind + i, n ? n : &job->own[i & 3]);
  }
  return 0;
}
int main(int n, char **v) {
  static struct job jobs[8];
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) {
    jobs[i].id = i;
    pthread_create(&threads[i], 0, work, &jobs[i]);
  }
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
  return (int)arenas[n].taken + (int)arenas[n].given;
}
"""
LINES = "char rest[40]; long"
ATOMIC = "__atomic_fetch_add(&a->%s, 1, __ATOMIC_RELAXED);"
LOCKED = "pthread_mutex_lock(&lock); a->%s++; pthread_mutex_unlock(&lock);"


def severities(compiled: Compile, tool: str, program: str) -> dict[str, Severity]:
    """What is found at low and above of the arenas, by rule."""
    report = linemate.audit(compiled(tool, "c", program, "-O2", "-g", "-pthread", "-w"))
    found = [f for f in report.findings if any(p.name.startswith("arenas") for p in f.participants)]
    return {f.rule: f.severity for f in found if f.severity.rank >= Severity.LOW.rank}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_rows_that_a_function_changes_plainly_are_of_one_thread_each(compiled: Compile, tool: str) -> None:
    """A free list of each kind, and counts of what was taken and given, which two functions change."""
    assert not severities(compiled, tool, ARENAS % (LINES, "a->taken++;", "a->given++;"))


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    "counted",
    [
        (ATOMIC % "taken", ATOMIC % "given"),
        (LOCKED % "taken", LOCKED % "given"),
        ("", ""),
    ],
    ids=["atomically", "under a lock", "not at all"],
)
def test_rows_of_which_nothing_says_so_may_have_a_place_for_each_thread(
    compiled: Compile, tool: str, counted: tuple[str, str]
) -> None:
    found = severities(compiled, tool, ARENAS % (LINES, *counted))
    assert found["packed-thread-slots"].rank >= Severity.MEDIUM.rank


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_elements_that_are_no_lines_apart_meet(compiled: Compile, tool: str) -> None:
    short = ARENAS.replace("struct node *free[8];", "struct node *free[1];").replace("kind & 7", "0")
    assert severities(compiled, tool, short % ("long", "a->taken++;", "a->given++;"))


# Other threads give back what the owners took.
RETURNED = """
static void *bring(void *arg) {
  struct job *job = arg;
  for (unsigned long i = 0; i < 100000000; i++) give(job->id, job->kind + i, &job->own[i & 3]);
  return 0;
}
int main(int n, char **v) {
  static struct job jobs[8];
  pthread_t threads[8];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, bring, &jobs[i]);
  for (int i = 4; i < 8; i++) pthread_create(&threads[i], 0, work, &jobs[i]);
"""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_two_kinds_of_threads_may_have_one_element(compiled: Compile, tool: str) -> None:
    begin, end = ARENAS.index("int main("), ARENAS.index("  for (int i = 0; i < 8; i++) pthread_join")
    program = (ARENAS[:begin] + RETURNED + ARENAS[end:]).replace("    give(", "    if (!n) give(")
    program = program.replace("    if (!n) give(job->id, job->kind + i, n ? n : &job->own[i & 3]);\n", "")
    found = severities(compiled, tool, program % (LINES, "a->taken++;", "a->given++;"))
    assert found["independent-writers"].rank >= Severity.MEDIUM.rank
