"""An object of each thread beside those of an array, of which the pointer says not which it leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check_programs.conftest import severest

# What is put into a ring is copied from an object of each thread, and is no thread's in the ring.
RING = """\
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct report {{ unsigned long id, length, bytes[6]; unsigned long writes; }};
struct ring {{ struct report *data; unsigned producer, consumer, most; }};
struct client {{ struct ring *ring; {scratch} struct report *now; }};
static void put(struct ring *r, struct report *what) {{
  unsigned at = r->producer + 1 == r->most ? 0 : r->producer + 1;
  memcpy(r->data + at, what, sizeof *what);
  r->producer = at;
}}
static struct report *take(struct ring *r) {{
  if (r->producer == r->consumer) return 0;
  unsigned at = r->consumer + 1 == r->most ? 0 : r->consumer + 1;
  r->consumer = at;
  return r->data + at;
}}
static void *sends(void *mine) {{
  struct client *c = mine;
  for (;;) {{
    c->now->id++;
    c->now->writes += c->now->length;
    put(c->ring, c->now);
    struct report *old = take(c->ring);
    if (old && old->writes == 7) return 0;
  }}
}}
static struct client *client(struct ring *r) {{
  struct client *c = calloc(1, sizeof *c);
  c->ring = r;
  c->now = {now};
  return c;
}}
int main(void) {{
  pthread_t threads[4];
  struct ring *r = calloc(1, sizeof *r);
  r->most = 100;
  r->data = calloc(100, sizeof *r->data);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, sends, client(r));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}}
"""


@pytest.mark.parametrize(
    ("scratch", "now", "told"),
    [("struct report scratch;", "&c->scratch", False), ("", "take(r)", True)],
)
def test_an_object_beside_those_of_an_array(tmp_path: Path, scratch: str, now: str, told: bool) -> None:
    found = severest(tmp_path, RING.format(scratch=scratch, now=now))
    assert ("thread-elements-meet" in found) is told, found
