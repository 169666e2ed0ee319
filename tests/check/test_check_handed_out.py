"""A program that starts no thread of its own and hands others its functions: ``check`` says that these may."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report
from tests.cpp import compiler

LIBRARY = """
#include <pthread.h>
struct duty { void (*work)(void); };
static void *go(void *p) { for (;;) ((struct duty *)p)->work(); return 0; }
void zenith_begin(struct duty *duty) { pthread_t t; pthread_create(&t, 0, go, duty); }
"""
PROGRAM = """
#include <signal.h>
#include <stdlib.h>
struct duty { void (*work)(void); };
void zenith_begin(struct duty *); void zenith_run(void (*)(void)); void zenith_ends(void);
long hits, misses;
void count(void) { hits++; misses++; }
static void stop(int number) { exit(number); }
static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static struct duty fixed = {count};
static struct sigaction how = {.sa_handler = stop};
int main(int n, char **v) {
  struct duty *own = malloc(sizeof *own);
  CALL;
  zenith_ends();
  atexit(count);
  sigaction(SIGTERM, &how, 0);
  qsort(v[0], n, 1, order);
  return own->work == 0;
}
"""
NOTHING = "no executable here starts a thread: only declarations were judged"


def check(folder: Path, call: str, binary: Path | None = None) -> Report:
    source = folder / "program.c"
    source.write_text(PROGRAM.replace("CALL", call))
    return api.check([source], flags=[], config=False, binary=binary)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("zenith_run(count)", "zenith_run"),
        ("zenith_begin(&fixed)", "zenith_begin"),
        ("own->work = count; zenith_begin(own)", "zenith_begin"),
    ],
)
def test_who_is_handed_functions_and_is_not_seen_may_start_threads(tmp_path: Path, call: str, name: str) -> None:
    said = f"that is seen ({name}, which is not in this source and is handed count, may): only declarations were judged"
    assert f"no executable here starts a thread {said}" in check(tmp_path, call).coverage.notes


def test_others_are_counted(tmp_path: Path) -> None:
    notes = check(tmp_path, "zenith_begin(&fixed); zenith_run(count)").coverage.notes
    assert any("handed count and 1 other, may)" in note for note in notes)


def test_nothing_is_said_of_the_c_library_and_of_what_is_handed_no_function(tmp_path: Path) -> None:
    assert NOTHING in check(tmp_path, "own->work = 0").coverage.notes


def test_with_the_linked_file_its_libraries_tell(tmp_path: Path) -> None:
    gcc = compiler("gcc")
    (tmp_path / "zenith.c").write_text(LIBRARY + "void zenith_ends(void) {}")
    library, program = tmp_path / "libzenith.so", tmp_path / "program"
    subprocess.run([gcc, "-O2", "-shared", "-fPIC", "-o", library, tmp_path / "zenith.c"], check=True)
    check(tmp_path, "zenith_begin(&fixed)")
    linked = ["-o", program, tmp_path / "program.c", f"-L{tmp_path}", "-lzenith", "-Wl,-rpath,$ORIGIN"]
    subprocess.run([gcc, "-O2", *linked], check=True)
    report = check(tmp_path, "zenith_begin(&fixed)", binary=program)
    assert report.incomplete
    assert any(
        "zenith_begin of libzenith.so starts threads, and is handed count in a record" in note
        for note in report.coverage.notes
    )
