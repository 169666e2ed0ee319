"""Cells behind a record that stands in front of them in one allocation are no records of its kind."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Severity

TEXT = """
#include <pthread.h>
#include <stdlib.h>
struct cell { void *volatile value; };
struct ring { unsigned size, read, write; void *volatile last; };
static struct ring *one;
static struct cell *cells(struct ring *ring) { return (struct cell *)((char *)ring + 64); }
static int push(struct ring *ring, void *what) {
  unsigned at = ring->write & (ring->size - 1);
  if (!__sync_bool_compare_and_swap(PLACE, NULL, what))
    return -1;
  ring->write++;
  return 0;
}
static void *pop(struct ring *ring) {
  unsigned at = ring->read & (ring->size - 1);
  void *what = *PLACE;
  if (what == NULL || !__sync_bool_compare_and_swap(PLACE, what, NULL))
    return NULL;
  ring->read++;
  return what;
}
static void *produce(void *what) {
  for (;;)
    push(one, what);
  return NULL;
}
static void *consume(void *what) {
  for (;;)
    pop(one);
  return what;
}
int main(void) {
  pthread_t threads[2];
  one = calloc(1, 64 + 256 * sizeof(struct ring));
  one->size = 256;
  pthread_create(&threads[0], NULL, produce, threads);
  pthread_create(&threads[1], NULL, consume, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
"""
CELLS, RINGS = "&cells(ring)[at].value", "&ring[at].last"


@pytest.mark.parametrize(("place", "told"), [(CELLS, False), (RINGS, True)], ids=["cells", "records"])
def test_what_is_chosen_tells_by_its_size_of_what_it_is_one(tmp_path: Path, place: str, told: bool) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    source, program = tmp_path / "ring.c", tmp_path / "ring"
    source.write_text(TEXT.replace("PLACE", place))
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", str(program), str(source)], check=True)
    findings = audit(AuditOptions(binary=str(program), min_severity=Severity.LOW)).findings
    elements = [one for one in findings if one.rule == "packed-thread-slots" and "ring" in one.message]
    assert bool(elements) is told, [one.message for one in findings]
    names = [{part.full_name.rpartition(".")[2] for part in one.participants} for one in findings]
    assert any({"read", "write"} <= one for one in names)
