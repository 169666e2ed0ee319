"""Names of what threads reach through a member of the object that they are handed: that of the member."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Severity

C = """
#include <pthread.h>
#include <stdlib.h>
struct slot { long done, bytes; };
struct pool { long seed; struct slot *slots; pthread_mutex_t lock; long limit; };
struct job { struct pool *pool; unsigned id; };
static volatile int stop;
__attribute__((noinline)) static void serve(struct pool *pool) {
    for (long x = 1; !stop; x++) {
        pthread_mutex_lock(&pool->lock); pool->seed += x; pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < 20; i++) x ^= x << 7;
    }
}
static void *first(void *of) {
    struct pool *pool = of;
    while (!stop) { pool->slots[0].done++; __asm__ volatile("" ::: "memory"); }
    return of;
}
static void *second(void *of) {
    struct pool *pool = of;
    while (!stop) { pool->slots[1].done++; __asm__ volatile("" ::: "memory"); }
    return of;
}
static void *third(void *of) { serve(of); return 0; }
static void *fourth(void *of) {
    struct pool *pool = of;
    long sum = 0;
    while (!stop) { sum += pool->limit; __asm__ volatile("" ::: "memory"); }
    return (void *)sum;
}
int main(void) {
    struct pool *pool = calloc(1, sizeof *pool);
    pool->slots = calloc(4, sizeof *pool->slots);
    pthread_t threads[4];
    pthread_create(&threads[0], 0, first, pool);
    pthread_create(&threads[1], 0, second, pool);
    pthread_create(&threads[2], 0, third, pool);
    pthread_create(&threads[3], 0, fourth, pool);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


@pytest.fixture(scope="module", params=["gcc", "clang-19"])
def compiler(request: pytest.FixtureRequest) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    return str(request.param)


def named(folder: Path, *command: str) -> list[str]:
    """All names in findings at low and above."""
    (folder / "pool.c").write_text(C)
    subprocess.run([*command, "-pthread", "pool.c", "-o", "pool"], cwd=folder, check=True)
    findings = audit(AuditOptions(binary=str(folder / "pool"))).findings
    return [p.full_name for f in findings if f.severity.rank >= Severity.LOW.rank for p in f.participants]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_a_member_leads_to_has_its_name(tmp_path: Path, compiler: str, level: str) -> None:
    names = named(tmp_path, compiler, level, "-g")
    assert {"*pool.slots", "*pool.slots+0x10"} <= set(names)
    assert not any("argument of" in name for name in names)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_a_function_only_hands_on_is_what_that_is_known_to_be_elsewhere(
    tmp_path: Path, compiler: str, level: str
) -> None:
    assert "struct pool.lock" in named(tmp_path, compiler, level, "-g")


def test_without_debug_information_it_is_the_arguments(tmp_path: Path, compiler: str) -> None:
    names = named(tmp_path, compiler, "-O2", "-s")
    assert names
    assert not any("pool" in name for name in names)
