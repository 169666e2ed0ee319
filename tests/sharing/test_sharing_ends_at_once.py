"""Functions of one caller that only count and end the program are ways to its end; what works before is not."""

from __future__ import annotations

import pytest

from sharing.basics.numbers import SELDOM
from tests.sharing.conftest import Compile
from tests.sharing.test_sharing_rare import COMPILERS, rarities

ENDS_AT_ONCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
long counted, said, behind, worked, summed, called, returned;
volatile long rounds;
__attribute__((noinline)) static void stop(void) { counted++; _exit(9); }
__attribute__((noinline)) static void stop_loudly(const char *why) { said++; fprintf(stderr, "%s\\n", why); abort(); }
__attribute__((noinline)) static void work(void) { for (long i = 0; i < rounds; i++) worked += i; exit(0); }
__attribute__((noinline)) static long add(long x) { summed += x; return summed; }
__attribute__((noinline)) static void finish(long x) { called++; rounds = add(x); exit(0); }
__attribute__((noinline)) static void leave(void) { returned++; }
int main(int n, char **v) {
  if (n == 3) stop();
  if (n == 4) { behind++; stop_loudly("four"); }
  if (n == 5) work();
  if (n == 6) finish(n);
  if (n == 7) leave();
  return 0;
}
"""


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_functions_of_one_caller_that_count_and_end(compiled: Compile, tool: str, level: str) -> None:
    found = rarities(
        compiled(tool, "c", ENDS_AT_ONCE, level),
        *("counted", "said", "behind", "worked", "summed", "called", "returned"),
    )
    assert min(found["counted"], found["said"], found["behind"]) >= SELDOM
    # What works before may be what the program is for.
    assert max(found["worked"], found["summed"], found["called"], found["returned"]) < SELDOM
