"""Fewer locks than before: threads that chose among them wait for each other now."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.commands.explain import exit_code
from sharing.explain import numbers
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Severity
from tests.explain.conftest import Explain

CODE = """
#include <pthread.h>
#define N LOCKS
static struct { pthread_mutex_t m; char pad[24]; } NAME[N] __attribute__((aligned(64)));
static long table[1024];
static void put(unsigned k) {
  pthread_mutex_lock(&NAME[k % N].m);
  table[k % 1024]++;
  pthread_mutex_unlock(&NAME[k % N].m);
}
static void *work(void *arg) {
  unsigned k = (unsigned)(long)arg;
  for (long i = 0; i < 6000000; i++) k = k * 1664525u + 1013904223u, put(k >> 8);
  return 0;
}
int main(void) {
  pthread_t t[8];
  for (int i = 0; i < N; i++) pthread_mutex_init(&NAME[i].m, 0);
  for (long i = 0; i < 8; i++) START;
  return (int)table[3];
}
"""
THREADS, ALONE = "pthread_create(&t[i], 0, work, (void *)i)", "t[i] = (pthread_t)work((void *)i)"
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    done: dict[tuple[object, ...], Path] = {}

    def made(locks: int, flag: str = "-g", name: str = "locks", start: str = THREADS) -> Path:
        key = (locks, flag, name, start)
        if key not in done:
            folder = tmp_path_factory.mktemp("locks")
            code = CODE.replace("LOCKS", str(locks)).replace("NAME", name).replace("START", start)
            (folder / "main.c").write_text(code)
            subprocess.run(["gcc", "-O2", flag, "-pthread", "main.c", "-o", "program"], cwd=folder, check=True)
            done[key] = folder / "program"
        return done[key]

    return made


def contention(found: Comparison) -> Cause | None:
    return next((c for c in found.causes if c.kind is CauseKind.CONTENTION), None)


def test_an_array_of_locks_that_became_one_leads(build: Build, explained: Explain) -> None:
    found = explained(build(64), build(1))
    first = found.causes[0]
    assert (first.kind, first.improves, first.follows) == (CauseKind.CONTENTION, False, None)
    assert first.summary == (
        "`locks` is 1 lock, before 64 locks: threads that took locks of their own now wait for the same, which no "
        "padding cures; taken by `work`"
    )
    assert exit_code(found, Severity.NOTE) == 0  # no layout
    back = contention(explained(build(1), build(64)))
    assert back is not None
    assert back.improves


def test_of_stripped_files_the_number_is_not_known(build: Build, explained: Explain) -> None:
    first = explained(build(64, "-s"), build(1, "-s")).causes[0]
    assert first.kind is CauseKind.CONTENTION
    assert "is 1 lock, before several locks" in first.summary


def test_the_one_lock_may_have_another_name(build: Build, explained: Explain) -> None:
    """Known by the functions that take it."""
    first = explained(build(64), build(1, name="lock_of_all")).causes[0]
    assert "64 locks of `locks` became 1 lock, `lock_of_all`" in first.summary


@pytest.mark.parametrize(
    ("old", "new", "start"),
    [(64, 64, THREADS), (64, 40, THREADS), (64, 1, ALONE)],
    ids=["as many", "somewhat fewer", "one thread"],
)
def test_near_misses(build: Build, explained: Explain, old: int, new: int, start: str) -> None:
    assert contention(explained(build(old, start=start), build(new, "-gdwarf-4", start=start))) is None


def test_half_as_many_are_fewer(build: Build, explained: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert contention(explained(build(64), build(32))) is not None
    monkeypatch.setattr(numbers, "FEWER_LOCKS", 3)
    old, new = build(64, "-gdwarf-4"), build(32, "-gdwarf-4")
    assert contention(explained(old, new)) is None


@pytest.mark.parametrize("strength", [0.6, 0.72])
def test_it_is_as_strong_as_the_number_says(
    build: Build, explained: Explain, monkeypatch: pytest.MonkeyPatch, strength: float
) -> None:
    monkeypatch.setattr(numbers, "FEWER_LOCKS_HOT", strength)
    flags = {0.6: "-gdwarf-2", 0.72: "-gdwarf-3"}[strength]
    found = explained(build(64, flags), build(1, flags))
    cause = contention(found)
    assert cause is not None
    assert cause.strength == strength
    assert (found.causes[0] is cause) == (strength > 0.65)
