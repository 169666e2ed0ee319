"""What a callee does under a lock that it takes and releases is under that lock where its callers are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

PROGRAM = """
#include <pthread.h>
struct queue { pthread_mutex_t lock, other; pthread_cond_t more; void *item[32]; unsigned in, out; };
struct pipe { struct queue first, second; };
static struct pipe *pipe_of(void *argument) { return argument; }
void push(struct queue *q, void *item) {
  pthread_mutex_lock(&q->lock);
  q->item[q->in++ %% 32] = item;
  pthread_cond_signal(&q->more);
  pthread_mutex_unlock(&q->lock);
}
void *pop(struct queue *q) {
  void *item = 0;
  pthread_mutex_lock(&q->%(popping)s);
  while (%(empty)s) pthread_cond_wait(&q->more, &q->%(popping)s);
  item = q->item[q->out++ %% 32];
  pthread_mutex_unlock(&q->%(popping)s);
  return item;
}
static void *fill(void *argument) {
  struct pipe *p = pipe_of(argument);
  for (;;) push(&p->first, argument);
  return 0;
}
static void *empty(void *argument) {
  struct pipe *p = pipe_of(argument);
  unsigned long sum = 0;
  while (sum != 7) sum += (unsigned long)pop(&p->first);
  return (void *)sum;
}
int main(void) {
  pthread_t threads[4];
  static struct pipe *p;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, fill, p);
  for (int i = 2; i < 4; i++) pthread_create(&threads[i], 0, empty, p);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return 0;
}
"""
ONE_LOCK = {"popping": "lock", "empty": "q->in == q->out"}
TWO_LOCKS = {"popping": "other", "empty": "!q->item[q->out % 32]"}


def ends(folder: Path, words: dict[str, str]) -> list[Severity]:
    """How severe what is said of the two ends is."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = folder / "program.c"
    source.write_text(PROGRAM % words)
    request = FactsRequest(sources=(str(source),), flags=("-O2",))
    options = CheckOptions(facts=request, min_severity=Severity.NOTE)
    findings = check_program(read_program(options), options).findings
    named = ((f, {part.full_name.split(".")[-1] for part in f.participants[:2]}) for f in findings)
    return [f.severity for f, names in named if names == {"in", "out"}]


def test_ends_that_callees_move_under_one_lock_are_a_note_at_most(tmp_path: Path) -> None:
    assert set(ends(tmp_path, ONE_LOCK)) <= {Severity.NOTE}


def test_ends_under_locks_of_their_own_are_found(tmp_path: Path) -> None:
    assert any(severity.rank >= Severity.LOW.rank for severity in ends(tmp_path, TWO_LOCKS))
