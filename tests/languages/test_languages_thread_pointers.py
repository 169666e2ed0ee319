"""Slots that each thread reaches through a pointer in its own storage, set once as it begins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

BUILDS = [
    ("gcc", "-O0", "-g"),
    ("gcc", "-O2", "-g"),
    ("gcc", "-O2", "-s"),
    ("clang-19", "-O0", "-g"),
    ("clang-19", "-O2", "-s"),
]
C = """
#include <pthread.h>
#include <stdlib.h>
struct slot { long count, bytes; MORE };
static struct slot table[32], *block;
KEPT
static int next;
static volatile int input;
FUNCTIONS
__attribute__((noinline)) static void use(int n) { BEFORE; struct slot *s = SLOT; s->count++; s->bytes += n; }
static void *work(void *given) {
    BEGIN;
    for (long i = 0; i < 100000000; i++) { int n = input; EACH; use(n); }
    return given;
}
int main(int n, char **v) {
    pthread_t threads[8];
    block = calloc(n, sizeof *block);
    START;
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    return (int)table[n & 7].count;
}
"""
PLAIN = {
    "MORE": "",
    "KEPT": "static __thread struct slot *mine;",
    "FUNCTIONS": "",
    "SLOT": "mine",
    "BEFORE": "",
    "BEGIN": "mine = &table[__sync_fetch_and_add(&next, 1) & 31]",
    "EACH": "",
    "START": "for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, work, (void *)i)",
}


@pytest.fixture(params=BUILDS, ids=" ".join)
def built(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if shutil.which(request.param[0]) is None:
        pytest.skip(f"no {request.param[0]}")
    return tuple(request.param)


def found(folder: Path, built: tuple[str, ...], **changed: str) -> list[Finding]:
    """What is said of slots in the program with these parts, at low and above."""
    text = C
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source = folder / "slots.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([*built, "-pthread", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.severity.rank >= Severity.LOW.rank and f.rule == "packed-thread-slots"]


@pytest.mark.parametrize("begin", [PLAIN["BEGIN"], "mine = &block[(long)given]"], ids=["static", "heap"])
def test_slots_behind_a_thread_local_pointer(tmp_path: Path, built: tuple[str, ...], begin: str) -> None:
    (finding,) = found(tmp_path, built, BEGIN=begin)
    assert "elements of 16 bytes, 4 per line" in finding.message


def test_slots_behind_a_pointer_that_another_file_defines(tmp_path: Path, built: tuple[str, ...]) -> None:
    """The compiler leaves the word's place to the linker, which puts it into a register."""
    pointer = tmp_path / "pointer.c"
    pointer.write_text("__thread struct slot *mine;\n")
    assert found(tmp_path, (*built, str(pointer)), FUNCTIONS="extern __thread struct slot *mine;", KEPT="")


def test_slots_whose_threads_keep_pointers_in_them(tmp_path: Path, built: tuple[str, ...]) -> None:
    """What is set there often is no word of the thread's storage."""
    assert found(tmp_path, built, MORE="void *last;", EACH="mine->last = &table[n & 31]")


def test_slots_that_threads_take_at_first_use(tmp_path: Path, built: tuple[str, ...]) -> None:
    if built[1] == "-O0":
        pytest.skip("the test and the store are of different functions there")
    assert found(tmp_path, built, BEGIN="", BEFORE=f"if (!mine) {PLAIN['BEGIN']}")


CLAIM = """
__attribute__((noinline)) static struct slot *claim(void) {
    for (int i = 0; i < 32; i++)
        if (!__sync_lock_test_and_set(&table[i].bytes, 1)) { mine = &table[i]; break; }
    return mine;
}
__attribute__((noinline)) static struct slot *own(void) { struct slot *m = mine; return m ? m : OTHER; }
"""


def test_slots_that_a_function_returns(tmp_path: Path, built: tuple[str, ...]) -> None:
    """From the thread's storage, or by one that puts it there."""
    if built[1] == "-O0":
        pytest.skip("a claim is not told from what is done at each call there")
    if built[0] != "gcc":
        pytest.skip(
            "the loop over the table is laid out flat there: nothing tells that what is put there is an element"
        )
    functions = CLAIM.replace("OTHER", "claim()")
    assert found(tmp_path, built, BEGIN="", FUNCTIONS=functions, SLOT="own()")


def test_not_what_a_function_returns_that_is_another_threads_as_well(tmp_path: Path, built: tuple[str, ...]) -> None:
    functions = CLAIM.replace("OTHER", "&table[input & 31]")
    assert not found(tmp_path, built, BEGIN="claim()", FUNCTIONS=functions, SLOT="own()")


def test_not_slots_of_whole_lines(tmp_path: Path, built: tuple[str, ...]) -> None:
    assert not found(tmp_path, built, MORE="char more[48];")


def test_not_what_each_thread_allocates(tmp_path: Path, built: tuple[str, ...]) -> None:
    assert not found(tmp_path, built, BEGIN="mine = calloc(1, sizeof *mine)")


def test_not_what_a_thread_works_on_right_now(tmp_path: Path, built: tuple[str, ...]) -> None:
    """Each round another element: the index is data."""
    assert not found(tmp_path, built, BEGIN="", EACH="mine = &table[n & 31]")


def test_not_slots_of_a_single_thread(tmp_path: Path, built: tuple[str, ...]) -> None:
    assert not found(tmp_path, built, START="pthread_create(&threads[0], 0, work, 0)")
