"""Rows of an array of arrays: whether the row or the place in it is what a thread was given."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.languages.conftest import audited

BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O2")]
C = """
#include <pthread.h>
#include <stdint.h>
#define THREADS 4
enum { ROW = LENGTH };
_Alignas(64) static volatile uint32_t counts[THREADS][ROW];
static struct given { int id; unsigned seed; } all[THREADS];
static unsigned step(unsigned x) { x ^= x << 13; x ^= x >> 17; return x ^ x << 5; }
static void *work(void *arg) {
    TAKE
    for (int i = 0; i < 700000; i++) {
        x = step(x);
        counts[FIRST][SECOND]++;
    }
    return 0;
}
int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) {
        all[i] = (struct given){i, 77 + i};
        pthread_create(&threads[i], 0, work, HAND);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
"""
NUMBER = {"TAKE": "uintptr_t id = (uintptr_t)arg; unsigned x = 88172645u + (unsigned)id;", "HAND": "(void *)i"}
RECORD = {"TAKE": "struct given *mine = arg; long id = mine->id; unsigned x = mine->seed;", "HAND": "&all[i]"}
OWN_ROW = {"FIRST": "id", "SECOND": "x % ROW"}
OWN_PLACE = {"FIRST": "x % THREADS", "SECOND": "id"}


def rules(folder: Path, build: tuple[str, str], *parts: dict[str, str]) -> set[str]:
    compiler, level = build
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    text = C
    for part in parts:
        for word, meaning in part.items():
            text = text.replace(word, meaning)
    (folder / "rows.c").write_text(text)
    command = [compiler, "-g", level, "-pthread", "rows.c", "-o", "rows"]
    subprocess.run(command, cwd=folder, check=True)
    return {f.rule for f in audited(folder / "rows")}


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("given", [NUMBER, RECORD], ids=["number", "record"])
def test_threads_with_rows_of_whole_lines_share_none(
    tmp_path: Path, build: tuple[str, str], given: dict[str, str]
) -> None:
    assert not rules(tmp_path, build, {"LENGTH": "16"}, given, OWN_ROW)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("given", [NUMBER, RECORD], ids=["number", "record"])
def test_short_rows_and_places_in_a_row_are_shared(
    tmp_path: Path, build: tuple[str, str], given: dict[str, str]
) -> None:
    assert "packed-thread-slots" in rules(tmp_path, build, {"LENGTH": "4"}, given, OWN_ROW)
    assert "packed-thread-slots" in rules(tmp_path, build, {"LENGTH": "16"}, given, OWN_PLACE)
