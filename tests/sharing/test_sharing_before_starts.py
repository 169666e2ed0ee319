"""What main does before it starts a kind of thread meets none of these, whoever else runs already."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sharing.conftest import Compile
from tests.sharing.phases import met

# Main counts on the left before it starts workers, which count on the right; a logger runs all the time.
PROGRAM = """
#include <pthread.h>
struct { long left, right; } both __attribute__((aligned(64)));
long other __attribute__((aligned(64)));
static volatile int rounds = 1000000;
#define COUNT(counter) for (int i = 0; i < rounds; i++) __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)
static void *logger(void *p) { for (;;) COUNT(other); return p; }
static void *worker(void *p) { for (;;) COUNT(both.right); return p; }
static pthread_t t[4];
#define START(at, entry) pthread_create(&t[at], 0, entry, 0)
#define APART __attribute__((noinline)) static void
HELPERS
int main(void) {
  START(0, logger);
  BODY
  pthread_join(t[0], 0);
  return (int)(both.left + both.right + other);
}
"""
PREPARE = "APART prepare(void) { COUNT(both.left); }"
GO = "APART go(void) { START(1, worker); START(2, worker); }"
AGAIN = "APART again(void) { COUNT(both.left); START(1, worker); COUNT(both.left); }"
SEPARATE = {
    "in front of the start": ("", "COUNT(both.left); START(1, worker);"),
    "in a function": (PREPARE, "prepare(); START(1, worker);"),
    "of several": ("", "COUNT(both.left); for (int n = 1; n < 3; n++) START(n, worker);"),
    "in front of a function that starts them": (f"{PREPARE} {GO}", "prepare(); go();"),
}
TOGETHER = {
    "behind the start": ("", "START(1, worker); COUNT(both.left);"),
    "behind the first": (PREPARE, "START(1, worker); prepare(); START(2, worker);"),
    "before and behind": (PREPARE, "prepare(); START(1, worker); prepare();"),
    "behind it in the function that starts them": (AGAIN, "again();"),
}
KINDS = [("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "source")]


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
@pytest.mark.parametrize("code", SEPARATE.values(), ids=SEPARATE)
def test_what_main_does_before_meets_none(
    compiled: Compile, tmp_path: Path, kind: tuple[str, str], code: tuple[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, {"HELPERS": code[0], "BODY": code[1]})


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
@pytest.mark.parametrize("code", TOGETHER.values(), ids=TOGETHER)
def test_what_it_does_later_does(
    compiled: Compile, tmp_path: Path, kind: tuple[str, str], code: tuple[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {"HELPERS": code[0], "BODY": code[1]})
