"""What a word of the records leads to that threads are started with, an element of an array each: `arg->pool`."""

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
struct pool { long size; unsigned long counts[8]; unsigned long head; LAYOUT unsigned long tail; };
struct arg { struct pool *pool; unsigned id; pthread_t thread; char more[40]; };
static void *work(void *data) {
  struct arg *arg = data;
  for (long at = 0; at < arg->pool->size; at++) { WORK; __asm__ volatile("" ::: "memory"); }
  return NULL;
}
int main(int argc, char **argv) {
  unsigned n = NUMBER;
  struct pool *pool = calloc(1, sizeof *pool), *other = calloc(1, sizeof *other);
  ARGS;
  for (unsigned i = 0; i < n; i++) {
    args[i].pool = GIVEN; args[i].id = i;
    pthread_create(&args[i].thread, NULL, work, &args[i]);
  }
  for (unsigned i = 0; i < n; i++) pthread_join(args[i].thread, NULL);
  return pool->counts[0] + pool->head + pool->tail + other->counts[0];
}
"""
HEAP = {
    "LAYOUT": "",
    "WORK": "arg->pool->counts[arg->id]++",
    "NUMBER": "4",
    "ARGS": "struct arg *args = calloc(n, sizeof *args)",
    "GIVEN": "pool",
}
STACK = {"ARGS": "struct arg args[4]"}
BESIDE = {"WORK": "if (arg->pool->tail) break; __atomic_fetch_add(&arg->pool->head, 1, 0)"}


def found(folder: Path, compiler: str, *flags: str, **changed: str) -> list[Finding]:
    """What is said at low or above."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    text = PROGRAM
    for part, words in (HEAP | changed).items():
        text = text.replace(part, words)
    source = folder / "program.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([compiler, "-O2", "-pthread", *flags, str(source), "-o", str(program)], check=True)
    return [one for one in audit(AuditOptions(binary=str(program))).findings if one.severity.rank >= Severity.LOW.rank]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("flag", ["-g", "-s"])
@pytest.mark.parametrize("number", ["4", "atoi(argv[1])"])
def test_elements_of_what_the_word_of_each_threads_record_leads_to(
    tmp_path: Path, compiler: str, flag: str, number: str
) -> None:
    (finding,) = found(tmp_path, compiler, flag, NUMBER=number)
    assert finding.rule == "packed-thread-slots"
    assert finding.severity is (Severity.HIGH if flag == "-g" else Severity.MEDIUM), "types say what record it is"


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_the_same_of_records_on_the_stack_of_who_starts_them(tmp_path: Path, compiler: str) -> None:
    (finding,) = found(tmp_path, compiler, "-s", **STACK)
    assert finding.rule == "packed-thread-slots"


def test_a_member_that_all_write_beside_one_that_they_read(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "gcc", "-s", **BESIDE)
    assert finding.rule == "written-beside-read-mostly"


def test_not_where_these_are_a_line_apart(tmp_path: Path) -> None:
    assert found(tmp_path, "gcc", "-s", **BESIDE, LAYOUT="char apart[64];") == []


def test_not_where_threads_are_given_different_objects(tmp_path: Path) -> None:
    assert found(tmp_path, "gcc", "-s", GIVEN="i & 1 ? pool : other") == []


def test_not_where_each_thread_makes_its_own(tmp_path: Path) -> None:
    assert found(tmp_path, "gcc", "-s", GIVEN="calloc(1, sizeof *pool)") == []


def test_not_where_the_threads_change_the_word(tmp_path: Path) -> None:
    changed = {"WORK": HEAP["WORK"] + "; if (arg->id == at) arg->pool = (struct pool *)arg->pool->size"}
    assert found(tmp_path, "gcc", "-s", **changed) == []


def test_not_where_another_store_is_not_known(tmp_path: Path) -> None:
    changed = {"GIVEN": "pool; if (argc > 3) args[0].pool = *(struct pool **)argv[3]"}
    assert found(tmp_path, "gcc", "-s", **changed) == []


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("flag", ["-g", "-s"])
def test_records_in_static_storage(tmp_path: Path, compiler: str, flag: str) -> None:
    static = {"ARGS": "static struct arg args[4]; static struct pool *unrelated; unrelated = other"}
    rules = [one.rule for one in found(tmp_path, compiler, flag, **static)]
    assert rules == ["packed-thread-slots"]
