"""What a thread does once in a round is seldom where the rest of the round is loops within loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharing.model.finding import Severity
from tests.check_programs.conftest import severest

# Two counters of one line, each changed by another thread once in a round.
PROGRAM = """\
#include <pthread.h>
#include <stdatomic.h>
static _Alignas(64) struct {{ atomic_ulong packed, kept; }} done;
static unsigned row(const unsigned char *pixels, unsigned width) {{
  unsigned sum = 0;
  for (unsigned x = 0; x < width; x++)
    for (unsigned tap = 0; tap < width; tap++)
      sum += pixels[x] * pixels[tap] >> 2;
  return sum;
}}
static unsigned block(const unsigned char *pixels, unsigned width) {{
  unsigned sum = 0;
  for (unsigned pass = 0; pass < width; pass++)
    for (unsigned y = 0; y < width; y++)
      sum ^= row(pixels + y * width, width);
  return sum;
}}
static unsigned pixel(const unsigned char *pixels, unsigned width) {{ return pixels[width] + 1; }}
static void *packs(void *pixels) {{
  for (;;) if ({work}(pixels, 900)) atomic_fetch_add(&done.packed, 1);
}}
static void *keeps(void *pixels) {{
  for (;;) if ({work}(pixels, 900)) atomic_fetch_add(&done.kept, 1);
}}
int main(void) {{
  static unsigned char pixels[1 << 20];
  pthread_t threads[2];
  pthread_create(&threads[0], 0, packs, pixels);
  pthread_create(&threads[1], 0, keeps, pixels);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}}
"""


@pytest.mark.parametrize(("work", "high"), [("block", False), ("row", True), ("pixel", True)])
def test_a_round_of_loops_within_loops(tmp_path: Path, work: str, high: bool) -> None:
    found = severest(tmp_path, PROGRAM.format(work=work))
    assert (max((s.rank for s in found.values()), default=0) >= Severity.HIGH.rank) is high, found
