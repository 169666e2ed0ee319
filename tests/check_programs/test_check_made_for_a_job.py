"""What threads work on in objects that they make for it is nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check_programs.conftest import severest

# Each job is worked on in an object that ends with it, or all in one that main makes.
JOBS = """\
#include <pthread.h>
#include <stdlib.h>
struct coder {{ unsigned seen[16]; unsigned char in[64]; }};
static struct coder *all;
static void work(struct coder *c, const unsigned char *text) {{
  for (const unsigned char *end = text + 64; text < end;) c->seen[*text++ & 15]++;
}}
static void *codes(void *text) {{
  for (;;) {{
    struct coder *c = {mine};
    work(c, text);
    if (c->seen[0] == 7) return c;
    {after}
  }}
}}
int main(void) {{
  static unsigned char text[64];
  pthread_t threads[4];
  {before}
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, codes, text);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}}
"""


@pytest.mark.parametrize(
    ("mine", "after", "before", "told"),
    [
        ("malloc(sizeof *c)", "free(c);", "", False),
        ("all", "", "all = calloc(1, sizeof *all);", True),
        ("all ? all : malloc(sizeof *c)", "", "all = calloc(1, sizeof *all);", True),
    ],
)
def test_what_a_thread_makes_for_a_job(tmp_path: Path, mine: str, after: str, before: str, told: bool) -> None:
    found = severest(tmp_path, JOBS.format(mine=mine, after=after, before=before))
    assert ("packed-thread-slots" in found) is told, found
