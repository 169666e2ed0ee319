"""Elements that threads are given through functions of the program that start threads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "-O2")]
C = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline)) static
struct worker { long count, bytes; pthread_t thread; MORE };
static volatile int stop;
void *(*volatile kept[2])(struct worker *);
static void *work(void *given) {
    struct worker *mine = given;
    while (!stop) { UPDATE; __asm__ volatile("" ::: "memory"); }
    return given;
}
APART void *xcalloc(size_t n, size_t size) {
    void *made = calloc(n, size);
    if (!made) { perror("calloc"); exit(1); }
    return made;
}
STARTER
int main(int argc, char **argv) {
    struct worker *workers = xcalloc(argc + 3, sizeof *workers);
    for (int i = 0; i < argc + 3; i++) START;
    for (int i = 0; i < argc + 3; i++) pthread_join(workers[i].thread, 0);
    return 0;
}
"""
ANY = {
    "STARTER": """
APART void start(pthread_t *thread, void *(*function)(void *), void *data) {
    if (pthread_create(thread, 0, function, data)) { perror("thread"); exit(1); }
}""",
    "START": "start(&workers[i].thread, work, &workers[i])",
}
OF_ITS_OWN = {
    "STARTER": """
APART void *start(struct worker *worker) {
    if (pthread_create(&worker->thread, 0, work, worker)) { perror("thread"); return 0; }
    return worker;
}""",
    "START": "start(&workers[i])",
}
WAYS = pytest.mark.parametrize("way", [ANY, OF_ITS_OWN], ids=["any function", "its own"])


@pytest.fixture(params=BUILDS, ids=" ".join)
def built(request: pytest.FixtureRequest) -> tuple[str, str]:
    if shutil.which(request.param[0]) is None:
        pytest.skip(f"no {request.param[0]}")
    return request.param[0], request.param[1]


def found(folder: Path, built: tuple[str, str], way: dict[str, str], **changed: str) -> list[Finding]:
    """What is said of elements in the program with these parts, at low and above."""
    text = C
    for part, words in ({"MORE": "", "UPDATE": "mine->count++; mine->bytes += 3"} | way | changed).items():
        text = text.replace(part, words)
    source = folder / "through.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([built[0], built[1], "-pthread", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.severity.rank >= Severity.LOW.rank and f.rule == "packed-thread-slots"]


@WAYS
def test_elements_through_functions_that_start_threads(
    tmp_path: Path, built: tuple[str, str], way: dict[str, str]
) -> None:
    (finding,) = found(tmp_path, built, way)
    assert "elements of 24 bytes" in finding.message
    assert finding.severity is Severity.MEDIUM


@WAYS
def test_not_elements_on_lines_of_their_own(tmp_path: Path, built: tuple[str, str], way: dict[str, str]) -> None:
    assert found(tmp_path, built, way, MORE="long more[13];") == []


@WAYS
def test_not_elements_that_are_only_read(tmp_path: Path, built: tuple[str, str], way: dict[str, str]) -> None:
    assert found(tmp_path, built, way, UPDATE="if (mine->count + mine->bytes) break") == []


def test_not_what_others_may_start_with_something_else(tmp_path: Path, built: tuple[str, str]) -> None:
    """Whoever has the function's address calls it with what nobody sees."""
    assert found(tmp_path, built, OF_ITS_OWN, START="kept[i & 1] = start, start(&workers[i])") == []


def test_not_one_object_of_each_call(tmp_path: Path, built: tuple[str, str]) -> None:
    """What each round makes anew is no element, though one function starts all threads."""
    each = "{ struct worker *one = xcalloc(1, sizeof *one); start(one); workers[i].thread = one->thread; }"
    assert found(tmp_path, built, OF_ITS_OWN, START=each) == []
