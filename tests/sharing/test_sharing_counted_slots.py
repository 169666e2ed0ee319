"""Slots on the heap that threads choose by a number of their own, counted out once, or keep as a pointer to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate import api
from sharing.model import Severity
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct slot { unsigned long hits, bytes; };
struct slot *slots;  // of any unit, or clang makes the array a static one
static int next, others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef POINTER
static __thread struct slot *mine;
#endif
static void *run(void *arg) {
  char buf[256];
  long id = 0;
  BEGIN;
  for (;;) {
    long n = read(0, buf, sizeof buf);
    if (n <= 0)
      break;
    ROUND;
  }
  return (void *)id;
}
int main(int argc, char **argv) {
  (void)argv;
  slots = calloc(SLOTS, sizeof *slots);
  pthread_t t[16];
  for (int i = 0; i < 16; i++) pthread_create(&t[i], 0, run, 0);
  unsigned long sum = 0;
  for (int i = 0; i < 16; i++) {
    pthread_join(t[i], 0);
    sum += slots[i].hits + slots[i].bytes;
  }
  return (int)sum + argc;
}
"""

TAKE = "__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)"
LOCKED = "pthread_mutex_lock(&lock); {}; pthread_mutex_unlock(&lock)"
COUNT = "slots[id].hits++; slots[id].bytes += (unsigned long)n"
BEHIND = "mine->hits++; mine->bytes += (unsigned long)n"

TWINS = {
    # Each thread takes a number as it begins, and counts in the slot of that number.
    "by a number taken once": (f"id = {TAKE}", COUNT, "64", "", Severity.HIGH),
    # The counter is a plain one that is raised under a lock.
    "by a number taken under a lock": (LOCKED.format("id = next++"), COUNT, "64", "", Severity.HIGH),
    "by the number behind it": (LOCKED.format("id = ++next"), COUNT, "64", "", Severity.HIGH),
    # Numbers that lie apart are begins of parts that threads have.
    "by parts taken under a lock": (LOCKED.format("id = next; next += 8"), COUNT, "64", "", Severity.LOW),
    "by parts taken at once": (f"id = {TAKE.replace('1', '8', 1)}", COUNT, "64", "", Severity.LOW),
    # It is not taken: the next thread reads the same.
    "by a number read under a lock": (
        LOCKED.format("id = *(volatile int *)&next; others++"),
        COUNT,
        "64",
        "",
        Severity.LOW,
    ),
    # It may be behind a number that each thread reads as the others do.
    "by a number that all read": ("id = *(volatile int *)&next", COUNT, "64", "", Severity.LOW),
    # A number that is taken each time around hands out slots to whoever comes: no thread has one.
    "by a number taken each time": ("(void)id", f"id = {TAKE} & 15; {COUNT}", "64", "", Severity.LOW),
    "by a number taken each time under a lock": (
        "(void)id",
        f"{LOCKED.format('id = next++ & 15')}; {COUNT}",
        "64",
        "",
        Severity.LOW,
    ),
    # The slot itself is kept for the thread: of the array behind a pointer that is set once it is known how many
    # elements it has.
    "by a pointer of its own": (f"mine = &slots[{TAKE}]", BEHIND, "64", "-DPOINTER", Severity.HIGH),
    # How many there are is not known: the elements may be far apart.
    "by a pointer into an array of any size": (
        f"mine = &slots[{TAKE}]",
        BEHIND,
        "(size_t)argc",
        "-DPOINTER",
        Severity.MEDIUM,
    ),
    # The array is made anew by threads: the pointer leads to an element of some array.
    "by a pointer into one of several arrays": (
        f"if (!slots) slots = calloc(64, sizeof *slots); mine = &slots[{TAKE}]",
        BEHIND,
        "64",
        "-DPOINTER",
        Severity.MEDIUM,
    ),
}


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("twin", TWINS)
def test_slots_on_the_heap_are_of_threads_where_each_has_a_number(compiled: Compile, compiler: str, twin: str) -> None:
    begin, each, slots, more, severity = TWINS[twin]
    flags = ("-O2", "-g", f"-DBEGIN={begin}", f"-DROUND={each}", f"-DSLOTS={slots}", *more.split())
    path = compiled(compiler, "c", PROGRAM, *flags)
    assert said_of(path) == [severity]
    stripped = path.with_suffix(".stripped")
    subprocess.run(["strip", "-o", str(stripped), str(path)], check=True)
    assert said_of(stripped) == ([] if severity is Severity.LOW else [Severity.MEDIUM])


def said_of(path: Path) -> list[Severity]:
    found = api.audit(str(path), config=False, min_severity=Severity.LOW).findings
    return [one.severity for one in found if one.rule == "packed-thread-slots"]
