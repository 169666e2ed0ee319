"""Barriers at which threads spin, an atomic count and a word that all others ask, part threads as libraries' do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sharing.conftest import Compile
from tests.sharing.phases import met
from tests.sharing.test_sharing_barriers import BUILT

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
static struct { long left, right; } both __attribute__((aligned(64)));
struct barrier { _Alignas(64) atomic_int count; _Alignas(64) atomic_int turn; };
static struct barrier barrier;
#define COUNT(of) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&both.of, 1, __ATOMIC_RELAXED)
static INLINE void meet(struct barrier *b) {
  int turn = atomic_load(&b->turn);
  if (atomic_fetch_add(&b->count, 1) + 1 == 2) {
    LAST
    atomic_store(&b->turn, turn + 1);
  } else {
    while (atomic_load(&b->turn) == turn)
      ;
  }
}
static void *one(void *p) { ONE return p; }
static void *two(void *p) { TWO return p; }
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, one, 0);
  pthread_create(&t[1], 0, two, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return (int)(both.left + both.right);
}
"""
SENSE = """
static INLINE void meet(struct barrier *b) {
  int turn = !atomic_load_explicit(&b->turn, memory_order_relaxed);
  if (atomic_fetch_sub(&b->count, 1) == 1) {
    atomic_store_explicit(&b->count, 2, memory_order_relaxed);
    atomic_store_explicit(&b->turn, turn, memory_order_release);
  } else {
    while (atomic_load_explicit(&b->turn, memory_order_acquire) != turn)
      ;
  }
}
"""
MEET = "meet(&barrier);"
ROUND = "for (int i = 0; i < 1000; i++)"
KEPT = {
    "INLINE": "__attribute__((noinline))",
    "LAST": "atomic_store(&b->count, 0);",
    "ONE": f"COUNT(left); {MEET}",
    "TWO": f"{MEET} COUNT(right);",
}
APART = {
    "once": {},
    "copied into the thread": {"INLINE": "inline __attribute__((always_inline))"},
    "in rounds": {
        "ONE": f"{ROUND} {{ COUNT(left); {MEET} {MEET} }}",
        "TWO": f"{ROUND} {{ {MEET} COUNT(right); {MEET} }}",
    },
    "in rounds, copied": {
        "INLINE": "inline __attribute__((always_inline))",
        "ONE": f"{ROUND} {{ COUNT(left); {MEET} {MEET} }}",
        "TWO": f"{ROUND} {{ {MEET} COUNT(right); {MEET} }}",
    },
}
TOGETHER = {
    "who comes first goes on, and others wait for it": {"LAST": ""},
    "one of the two does not wait": {"ONE": "COUNT(left);"},
    "both before": {"TWO": f"COUNT(right); {MEET}"},
    "once in a round": {"ONE": f"{ROUND} {{ COUNT(left); {MEET} }}", "TWO": f"{ROUND} {{ {MEET} COUNT(right); }}"},
    "a thread sets the word by itself": {
        "TWO": f"{MEET} COUNT(right); {ROUND} atomic_fetch_add(&barrier.turn, 1);",
    },
}


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", APART.values(), ids=APART)
def test_what_it_parts_never_meets(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert not met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", BUILT, ids="".join)
@pytest.mark.parametrize("changed", TOGETHER.values(), ids=TOGETHER)
def test_what_it_does_not_part_does(
    tmp_path: Path, compiled: Compile, kind: tuple[str, str], changed: dict[str, str]
) -> None:
    assert met(tmp_path, compiled, kind, PROGRAM, {**KEPT, **changed})


@pytest.mark.parametrize("kind", BUILT, ids="".join)
def test_who_waits_may_ask_for_a_sense(tmp_path: Path, compiled: Compile, kind: tuple[str, str]) -> None:
    begin = PROGRAM.index("static INLINE")
    end = PROGRAM.index("static void *one")
    text = PROGRAM[:begin] + SENSE + PROGRAM[end:]
    kept = {key: value for key, value in KEPT.items() if key != "LAST"}
    assert not met(tmp_path, compiled, kind, text, kept)
