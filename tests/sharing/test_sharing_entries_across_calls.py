"""Entries of threads that compilers keep in a register across a call of a function that leaves it alone.

gcc knows what it has compiled (-fipa-ra, from -O2 on): what a callee might change may hold what comes after its call.
"""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
static struct { long fed, taken; } both __attribute__((aligned(64)));
static long names;
struct two { long number; void *(*entry)(void *); };
static void *idle(void *p) { return p; }
static void nothing(void) {}
CALLEE
static __attribute__((noinline)) long twice(long n) { return n * note(n).number + 1; }
static __attribute__((noinline)) pthread_t start(void *(*entry)(void *), void *given) {
  pthread_t thread;
  BEFORE;
  return thread;
}
static __attribute__((noinline)) pthread_t spawn(void *(*entry)(void *), char *given) {
  long more = note(4).number;
  return start(entry, given + more);
}
static void *feed(void *p) { for (;;) __atomic_fetch_add(&both.fed, 1, 5); return p; }
static void *take(void *p) { for (;;) __atomic_fetch_add(&both.taken, 1, 5); return p; }
int main(int argc, char **argv) {
  pthread_t first = spawn(feed, (char *)argv), second = spawn(take, (char *)argv);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return argc;
}
"""
ONE = "struct one { long number; }; static __attribute__((noinline)) struct one note(long n)"
TWO = "static __attribute__((noinline)) struct two note(long n)"
LEAVES = f"{ONE} {{ names += n; return (struct one){{names * 3}}; }}"
# The second word of what it returns is in the register of a third argument.
WRITES = f"{TWO} {{ names += n; return (struct two){{names * 3, idle}}; }}"
CREATE = "pthread_create(&thread, 0, {}, (char *)given + more)"
FOLLOWED = {
    "left alone by a callee": (LEAVES, f"long more = note(3).number; {CREATE.format('entry')}"),
    "and by what that calls": (LEAVES, f"long more = twice(3); {CREATE.format('entry')}"),
}
OTHER = (WRITES, f"struct two made = note(3); long more = made.number; {CREATE.format('made.entry')}; (void)entry")
TOOLS = [("gcc", "-O2"), ("gcc", "-O1"), ("gcc", "-O0"), ("clang-19", "-O2")]


def severities(compiled: Compile, tool: tuple[str, str], callee: str, before: str) -> list[str]:
    """Of what is found of the two counts."""
    text = PROGRAM.replace("CALLEE", callee).replace("BEFORE", before)
    report = api.audit(str(compiled(tool[0], "c", text, tool[1], "-g")), config=False)
    pair = {"both.fed", "both.taken"}
    return [str(f.severity) for f in report.findings if pair <= {p.full_name for p in f.participants}]


@pytest.mark.parametrize("tool", TOOLS, ids="".join)
@pytest.mark.parametrize(("callee", "before"), FOLLOWED.values(), ids=FOLLOWED)
def test_an_entry_that_callees_leave_alone_is_followed(
    compiled: Compile, tool: tuple[str, str], callee: str, before: str
) -> None:
    assert severities(compiled, tool, callee, before) == ["high"]


@pytest.mark.parametrize("tool", TOOLS, ids="".join)
def test_not_one_in_a_register_that_a_callee_writes(compiled: Compile, tool: tuple[str, str]) -> None:
    assert "high" not in severities(compiled, tool, *OTHER)
