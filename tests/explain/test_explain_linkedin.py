"""A program linked with its libraries and one that loads them; and one of which hardly anything is recognised."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sharing.model.comparison import CauseKind, Comparison
from tests.explain.conftest import Explain

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long served, depth, rejected[8];
static long weigh(long n) { for (long i = 0; i < n; i++) served += i ^ (n >> (i & 7)); return served; }
static long look(long n) { for (long i = 0; i < 8; i++) rejected[i] += n + i; return rejected[n & 7]; }
static void *run(void *p) {
  for (long i = 0; i < 100000; i++) {
    pthread_mutex_lock(&lock);
    depth += weigh(i) + look(i);
    pthread_mutex_unlock(&lock);
    free(malloc(i & 63));
  }
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, run, 0);
  pthread_create(&two, 0, run, 0);
  pthread_join(one, 0);
  return pthread_join(two, 0);
}
"""
OWN = "void *malloc(size_t n) { static char at[1 << 20]; static size_t used; used += n; return at + (used & 1023); }\n"
STATIC = ("-no-pie", "-static")


def built(folder: Path, name: str, *flags: str, source: str = SOURCE) -> Path:
    (folder / f"{name}.c").write_text(source)
    command = ["gcc", "-O1", "-fno-inline", "-g", "-pthread", *flags, f"{name}.c", "-o", name]
    subprocess.run(command, cwd=folder, check=True)
    return folder / name


def kinds(found: Comparison) -> list[CauseKind]:
    return [cause.kind for cause in found.causes]


@pytest.mark.parametrize("flags", [STATIC, ("-static-pie",)])
def test_a_program_linked_statically_is_linked_otherwise_and_no_more(
    explained: Explain, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """Its malloc is the one that the other loads, and the functions of libc did not change: they came along."""
    old, new = built(tmp_path, "shared"), built(tmp_path, "static", *flags)
    for found in (explained(old, new), explained(new, old)):
        assert found.causes[0].kind is CauseKind.TOOLCHAIN
        assert "linking: " in found.causes[0].summary
        # Nothing else is claimed but where functions are that did not change.
        assert [
            c.summary for c in found.causes[1:] if "have the same instructions at another place" not in c.summary
        ] == []
        assert any("libc.so.6: linked in by one build" in note for note in found.coverage.notes)


def test_an_allocator_of_the_program_is_none_of_libc(explained: Explain, tmp_path: Path) -> None:
    new = built(tmp_path, "own", source=SOURCE.replace("long served", OWN + "long served"))
    found = explained(built(tmp_path, "shared"), new)
    assert "an allocator of its own" in next(c.summary for c in found.causes if c.kind is CauseKind.DEPENDENCY)


def test_where_hardly_anything_is_recognised_the_code_is_a_candidate(explained: Explain, tmp_path: Path) -> None:
    """Optimised as a whole, most functions are gone into others."""
    old = built(tmp_path, "shared", "-s")
    new = built(tmp_path, "whole", "-s", "-O3", "-finline", "-flto", "-fwhole-program")
    found = explained(old, new)
    assert CauseKind.CODE in kinds(found)
    assert CauseKind.CODE not in {one.kind for one in found.ruled_out}
