"""Elements of threads that are lines long: the end of one and the beginning of the next share a line."""

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
struct worker {
    pthread_t thread;
    long fixed;
    volatile long first;
    char name[NAME];
    volatile long last;
} ALIGNED;
static struct { int kind; struct worker *list; pthread_mutex_t lock; } all;
static struct worker every[4];
static volatile int stop;
static long sum;
static void *work(void *given) {
    struct worker *mine = given;
    while (!stop) { FIRST; LAST; }
    AFTER;
    return 0;
}
int main(int argc, char **argv) {
    all.list = calloc(argc, sizeof *all.list);
    for (int i = 0; i < NUMBER; i++) pthread_create(&ELEMENTS[i].thread, 0, work, &ELEMENTS[i]);
    for (int i = 0; i < NUMBER; i++) pthread_join(ELEMENTS[i].thread, 0);
    for (int i = 0; i < NUMBER; i++) sum += ELEMENTS[i].first + ELEMENTS[i].last;
    pthread_mutex_lock(&all.lock);
    return argv != 0;
}
"""
STATIC = {"ELEMENTS": "every", "NUMBER": "4"}
ON_HEAP = {"ELEMENTS": "all.list", "NUMBER": "argc"}
PLAIN = {"NAME": "72", "ALIGNED": "", "FIRST": "mine->first++", "LAST": "mine->last++", "AFTER": ""}


@pytest.fixture(params=["gcc -O0", "gcc -O2", "clang-19 -O2"])
def compiler(request: pytest.FixtureRequest) -> list[str]:
    command = str(request.param).split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}: Debian's package has its name")
    return command


def found(folder: Path, compiler: list[str], **changed: str) -> list[Finding]:
    text = PROGRAM
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source = folder / "workers.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([*compiler, "-g", "-pthread", str(source), "-o", str(program)], check=True)
    return [f for f in audit(AuditOptions(binary=str(program))).findings if f.rule == "packed-thread-slots"]


@pytest.mark.parametrize("where", [STATIC, ON_HEAP])
def test_the_end_of_an_element_and_the_beginning_of_the_next(
    tmp_path: Path, compiler: list[str], where: dict[str, str]
) -> None:
    (finding,) = found(tmp_path, compiler, **where)
    assert finding.severity is Severity.MEDIUM
    first, second = finding.participants
    at = int(first.name.partition("[")[2].partition("]")[0])
    assert [p.name.partition("[")[2] for p in (first, second)] == [f"{at}].last", f"{at + 1}].first"]
    assert "104 bytes" in finding.message
    assert "rounds it up to 128" in finding.message
    assert int(first.address, 16) // 64 == int(second.address, 16) // 64 or finding.line.place


@pytest.mark.parametrize("where", [STATIC, ON_HEAP])
@pytest.mark.parametrize(
    "changed",
    [
        {"LAST": ""},  # nobody uses the end
        {"FIRST": ""},
        {"LAST": "", "AFTER": "mine->last++"},  # once
    ],
)
def test_not_where_one_of_the_two_is_hardly_used(
    tmp_path: Path, compiler: list[str], where: dict[str, str], changed: dict[str, str]
) -> None:
    assert all(f.severity.rank < Severity.LOW.rank for f in found(tmp_path, compiler, **where, **changed))


def test_not_elements_of_whole_lines_that_begin_on_one(tmp_path: Path, compiler: list[str]) -> None:
    assert found(tmp_path, compiler, **STATIC, ALIGNED="__attribute__((aligned(64)))") == []


def test_not_where_busy_members_are_in_the_middle(tmp_path: Path, compiler: list[str]) -> None:
    """Where no line has both of the end and of the beginning."""
    assert found(tmp_path, compiler, **STATIC, NAME="8", ALIGNED="__attribute__((aligned(128)))") == []


def test_not_what_all_threads_change_under_one_lock(tmp_path: Path, compiler: list[str]) -> None:
    locked = {
        "FIRST": "pthread_mutex_lock(&all.lock); mine->first++",
        "LAST": "mine->last++; pthread_mutex_unlock(&all.lock)",
    }
    assert found(tmp_path, compiler, **STATIC, **locked) == []
