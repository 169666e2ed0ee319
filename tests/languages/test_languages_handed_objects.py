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


def found(folder: Path, *, types: bool = True, **changed: str) -> list[Finding]:
    """What is said of members of the object in the program with these parts; ``types``: with debug information."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    text = PROGRAM
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source = folder / "handed.c"
    source.write_text(text)
    program = source.with_suffix("")
    flags = ["-O2", "-pthread", *(["-g"] if types else [])]
    subprocess.run(["gcc", *flags, str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.rule == "independent-writers" and f.severity.rank >= Severity.MEDIUM.rank]


def locked(by: str) -> dict[str, str]:
    taken = {"BEFORE": f"pthread_mutex_lock({by})", "AFTER": f"pthread_mutex_unlock({by})"}
    return {"UPDATE": "counter++", **taken}


@pytest.mark.parametrize("lock", ["&lock", "&pool->own"])
def test_locks_that_threads_take_around_a_static_object(tmp_path: Path, lock: str) -> None:
    assert found(tmp_path, OBJECTS=STATIC) != []
    assert found(tmp_path, OBJECTS=STATIC, **locked(lock)) == []


def test_members_of_a_new_object_that_two_threads_are_handed(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, types=False)
    assert [p.name.rpartition("+")[2] for p in finding.participants[:2]] == ["0x8", "0x10"]
    assert finding.severity is Severity.MEDIUM
    assert "3 of the 4 offsets" in finding.message
    words = " ".join(e.text for e in finding.evidence)
    assert "the argument of produce and consume leads to, made by malloc in main" in words


def test_the_object_has_the_type_of_the_argument(tmp_path: Path) -> None:
    (finding,) = found(tmp_path)
    assert {p.name for p in finding.participants[:2]} == {"struct pool.in", "struct pool.out"}
    assert "the argument of produce and consume leads to" in " ".join(e.text for e in finding.evidence)


def test_not_members_that_are_a_line_apart(tmp_path: Path) -> None:
    assert found(tmp_path, MEMBERS="long in; char apart[64]; long out;") == []


@pytest.mark.parametrize("lock", ["&lock", "&pool->own"])
def test_not_members_that_change_under_one_lock(tmp_path: Path, lock: str) -> None:
    assert found(tmp_path, **locked(lock)) == []


MACROS = (
    "int used = 0;\n#define NEW malloc(sizeof *pool)\n"
    "#define REPEAT for (int i = 0; i < 8; i++)\n"
    "#define START(object, entry) pthread_create(threads + used++, 0, entry, object);\n"
)


def test_not_where_entries_have_objects_of_their_own(tmp_path: Path) -> None:
    objects, starts = "struct pool *pool, *other;", "START(pool = NEW, produce) START(other = NEW, consume)"
    assert found(tmp_path, types=False, OBJECTS=MACROS + objects, STARTS=starts) == []


@pytest.mark.parametrize(
    ("objects", "starts"),
    [
        ("struct pool *pool = NEW, *other = NEW;", "START(pool, produce) START(other, produce) START(pool, consume)"),
        ("struct pool *pool;", "REPEAT { pool = NEW; START(pool, produce) START(pool, consume) }"),
        (
            "struct pool *pool = calloc(8, sizeof *pool);",
            "REPEAT { START(pool + i, produce) START(pool + i, consume) }",
        ),
        ("struct pool *pool = NEW;", 'START(pool, produce) START(pool, consume) START(getenv("POOL"), consume)'),
        ("struct pool *pool = NEW;", "START(pool, produce) START(pool, consume) consume(NEW);"),
    ],
)
def test_one_object_of_several_stands_for_all(tmp_path: Path, objects: str, starts: str) -> None:
    """Two entries are handed one object, and some are handed others: what pointers are set to tells of both."""
    (finding,) = found(tmp_path, types=False, OBJECTS=MACROS + objects, STARTS=starts)
    assert finding.severity is Severity.MEDIUM
    assert "one object stands for all" in " ".join(e.text for e in finding.evidence)


def test_not_by_its_type_where_all_entries_have_objects_of_their_own(tmp_path: Path) -> None:
    objects = "struct pool *pool = malloc(sizeof *pool), *other = malloc(sizeof *pool);"
    starts = "pthread_create(threads, 0, produce, pool); pthread_create(threads + 1, 0, consume, OTHER);"
    assert found(tmp_path, OBJECTS=objects, STARTS=starts.replace("OTHER", "other")) == []
    assert found(tmp_path, OBJECTS=objects, STARTS=starts.replace("OTHER", "pool")) != []
