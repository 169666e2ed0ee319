"""Without symbols a table is told from a few elements by the memory behind it that no code names anything else in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit

PROGRAM = """
#include <pthread.h>
static struct { long asked, more[4]; } element[COUNT];
static long last[64] __attribute__((aligned(64)));
static void *ask(void *start) {
  for (unsigned long at = (unsigned long)start;; at = at * 2862933555777941757ul + 3037000493ul)
    __atomic_fetch_add(&element[(at >> 40) % COUNT].asked, 1, __ATOMIC_RELAXED);
}
int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, ask, (void *)i);
  for (long i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return (int)last[threads[0] % 64];
}
"""


@pytest.mark.parametrize(("count", "is_said"), [(16, True), (2048, False)])
def test_elements_of_a_table_are_no_slots_of_threads(tmp_path: Path, count: int, is_said: bool) -> None:
    source = tmp_path / "table.c"
    source.write_text(PROGRAM)
    program = source.with_suffix("")
    subprocess.run(["gcc", "-O2", "-pthread", "-s", f"-DCOUNT={count}", str(source), "-o", str(program)], check=True)
    rules = {finding.rule for finding in audit(AuditOptions(binary=str(program))).findings}
    assert ("packed-thread-slots" in rules) == is_said
