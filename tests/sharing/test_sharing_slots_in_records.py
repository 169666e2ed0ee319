"""Arrays within a record: each that has elements for threads is a finding of its own."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
struct slot { long done, bytes; PAD };
struct pool { int ends[32]; struct slot slots[8]; long waits[8]; } pool __attribute__((aligned(64)));
static void *work(void *p) {
  for (long at = (long)p;;) { __atomic_fetch_add(&pool.slots[at].done, 1, 0); pool.slots[at].bytes += pool.ends[0]; }
}
static void *wait(void *p) { for (long at = (long)p;;) __atomic_fetch_add(&pool.waits[at], 1, 0); }
int main(void) {
  pthread_t t;
  for (long i = 0; i < 8; i++) pthread_create(&t, 0, work, (void *)i), pthread_create(&t, 0, wait, (void *)i);
  pthread_exit(0);
}
"""


def arrays(compiled: Compile, tool: str, pad: str) -> set[str]:
    """What elements are packed, from high on."""
    report = api.audit(str(compiled(tool, "c", PROGRAM.replace("PAD", pad), "-O2", "-g")))
    found = [f.participants[0].array for f in report.findings if f.rule == "packed-thread-slots"]
    assert all(f.severity == "high" for f in report.findings if f.rule == "packed-thread-slots")
    return set(found)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_each_array_of_a_record_is_found(compiled: Compile, tool: str) -> None:
    assert arrays(compiled, tool, "") == {"pool.slots", "pool.waits"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_elements_that_fill_a_line_are_not(compiled: Compile, tool: str) -> None:
    assert arrays(compiled, tool, "char pad[48];") == {"pool.waits"}
