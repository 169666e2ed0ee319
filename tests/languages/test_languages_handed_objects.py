"""Objects that threads are handed as their argument: one for all threads of an entry, under locks that these take."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#define CHANGE(counter) UPDATE
struct pool { long name; MEMBERS pthread_mutex_t own; };
static volatile int stop;
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[16];
static void *produce(void *given) {
    struct pool *pool = given;
    while (!stop) { BEFORE; CHANGE(pool->in); AFTER; }
    return given;
}
static void *consume(void *given) {
    struct pool *pool = given;
    while (!stop) { BEFORE; CHANGE(pool->out); AFTER; }
    return given;
}
int main(void) {
    OBJECTS
    STARTS
    for (int i = 0; i < 16; i++) pthread_join(threads[i], 0);
    return 0;
}
"""
PLAIN = {
    "MEMBERS": "long in; long out;",
    "UPDATE": "__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)",
    "OBJECTS": "struct pool *pool = malloc(sizeof *pool);",
    "STARTS": "pthread_create(threads, 0, produce, pool); pthread_create(threads + 1, 0, consume, pool);",
    "BEFORE": "",
    "AFTER": "",
}
STATIC = "static struct pool shared __attribute__((aligned(64))); struct pool *pool = &shared;"
SOME = "for (int i = 0; i < 8; i++) "


def found(folder: Path, **changed: str) -> list[Finding]:
    """What is said of members of the object in the program with these parts."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    text = PROGRAM
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source = folder / "handed.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run(["gcc", "-O2", "-pthread", "-g", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.rule == "independent-writers" and f.severity.rank >= Severity.MEDIUM.rank]


def locked(by: str) -> dict[str, str]:
    taken = {"BEFORE": f"pthread_mutex_lock({by})", "AFTER": f"pthread_mutex_unlock({by})"}
    return {"UPDATE": "counter++", **taken}


@pytest.mark.parametrize("lock", ["&lock", "&pool->own"])
def test_locks_that_threads_take_around_a_static_object(tmp_path: Path, lock: str) -> None:
    assert found(tmp_path, OBJECTS=STATIC) != []
    assert found(tmp_path, OBJECTS=STATIC, **locked(lock)) == []
