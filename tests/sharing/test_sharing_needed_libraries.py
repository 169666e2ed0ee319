"""Threads of a library that the vocabulary does not know: what its code does with a function that it is handed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report
from tests.cpp import compiler

NO_THREADS = "threads: nothing in this image starts a thread"
LIBRARY = """
#include <pthread.h>
#include <stdlib.h>
typedef void (*Work)(void);
struct job { Work work; long rounds; };
struct plan { const char *name; Work work; };
Work kept;
static const struct plan *kept_plan;
static struct job *last;
static void *go(void *p) { for (;;) ((Work)p)(); return 0; }
static void *of_job(void *p) { for (;;) ((struct job *)p)->work(); return 0; }
static void *of_plan(void *p) { for (;;) ((struct plan *)p)->work(); return 0; }
static void *own(void *p) { for (;;) ++*(volatile long *)p; return 0; }
static long ticks;
__attribute__((noinline)) static int begin(pthread_t *t, Work work) { return pthread_create(t, 0, go, work); }

void acme_data(Work work) { pthread_t t; pthread_create(&t, 0, go, work); pthread_create(&t, 0, go, work); }
void acme_entry(Work work) { pthread_t t; pthread_create(&t, 0, (void *(*)(void *))work, 0); }
void acme_helper(Work work) { pthread_t t; if (begin(&t, work)) abort(); }
void acme_record(Work work) {
  pthread_t t;
  struct job *job = malloc(sizeof *job);
  job->work = work;
  job->rounds = 0;
  pthread_create(&t, 0, of_job, job);
}
void acme_plan(const struct plan *plan) { pthread_t t; pthread_create(&t, 0, of_plan, (void *)plan); }
void acme_copied(const struct plan *plan) {
  pthread_t t;
  struct job *job = malloc(sizeof *job);
  job->work = plan->work;
  job->rounds = 0;
  pthread_create(&t, 0, of_job, job);
}

void acme_plan_kept(const struct plan *plan) { kept_plan = plan; }
void acme_plan_called(const struct plan *plan) { pthread_t t; pthread_create(&t, 0, own, &ticks); plan->work(); }
void acme_static(Work work) { kept = work; }
void acme_later(Work work) { last = malloc(sizeof *last); last->work = work; }
void acme_called(Work work) { pthread_t t; pthread_create(&t, 0, own, &ticks); work(); }
void acme_start(void) {
  pthread_t t;
  pthread_create(&t, 0, own, &ticks);
  if (kept) kept();
  if (last) last->work();
  if (kept_plan) kept_plan->work();
}
"""
PROGRAM = """
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
void acme_data(void (*)(void)); void acme_entry(void (*)(void)); void acme_helper(void (*)(void));
void acme_record(void (*)(void)); void acme_static(void (*)(void)); void acme_later(void (*)(void));
void acme_called(void (*)(void)); void acme_start(void);
struct plan { const char *name; void (*work)(void); };
void acme_plan(const struct plan *); void acme_copied(const struct plan *);
void acme_plan_kept(const struct plan *); void acme_plan_called(const struct plan *);
long hits, misses;
static void work(void) { __atomic_fetch_add(&hits, 1, 0); __atomic_fetch_add(&misses, 1, 0); }
__attribute__((noinline, unused)) static void launch(void (*f)(void)) { misses++; acme_data(f); }
static const struct plan fixed = {"fixed", work}, plans[] = {{"first", 0}, {"second", work}};
static struct plan filled;
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void stop(int number) { _exit(number); }
static void farewell(void) { hits = 0; }
int main(int n, char **v) {
  int some[3] = {3, 1, n};
  struct sigaction how = {.sa_handler = stop};
  sigaction(SIGINT, &how, 0);
  atexit(farewell);
  signal(SIGTERM, stop);
  qsort(some, 3, sizeof *some, order);
  CALL;
  acme_start();
  return pause() + some[0];
}
"""


def build(folder: Path, call: str, level: str = "-O2", *flags: str) -> Path:
    """A program that makes this call, with the library beside it, where it says to look."""
    gcc = compiler("gcc")
    library, program = folder / "libacme.so", folder / "program"
    for path, text in ((library, LIBRARY), (program, PROGRAM.replace("CALL", call))):
        path.with_suffix(".c").write_text(text)
    made = ["-shared", "-fPIC", "-pthread", "-o", str(library), str(library.with_suffix(".c"))]
    subprocess.run([gcc, level, *made], check=True)
    linked = ["-o", str(program), str(program.with_suffix(".c")), f"-L{folder}", "-lacme", *flags]
    subprocess.run([gcc, level, *linked, "-Wl,-rpath,$ORIGIN"], check=True)
    return program


def threads(report: Report) -> str:
    return next(note for note in report.coverage.notes if note.startswith("threads: "))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("starter", ["acme_data", "acme_entry", "acme_helper", "acme_record"])
def test_a_function_that_an_unknown_library_runs_on_a_thread_leaves_threads_unknown(
    tmp_path: Path, starter: str, level: str
) -> None:
    program = build(tmp_path, f"{starter}(work)", level)
    report = api.audit(program, config=False)
    assert report.incomplete
    said = f"thread structure unknown: {starter} of libacme.so starts threads, and is handed work"
    assert said in threads(report)
    assumed = api.audit(program, assume_threads=True, config=False)
    assert not assumed.incomplete
    assert assumed.coverage.counts["lines_profiled"] >= 1


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("callback", ["acme_static", "acme_later", "acme_called"])
def test_what_it_calls_back_on_the_callers_thread_does_not(tmp_path: Path, callback: str, level: str) -> None:
    """The same library starts threads of its own; only what it is handed never comes there."""
    report = api.audit(build(tmp_path, f"{callback}(work)", level), config=False)
    assert not report.incomplete
    assert threads(report) == (f"{NO_THREADS}; libacme.so does, and is handed functions that are not seen to run there")


RECORDS = {
    "of the file": "acme_START(&fixed)",
    "of an array": "for (int i = 0; i < 2; i++) acme_START(&plans[i])",
    "filled": "filled.work = work; acme_START(&filled)",
    "of the frame": "struct plan own = {v[0], work}; acme_START(&own)",
    "of the heap": "struct plan *own = malloc(sizeof *own); own->name = *v; own->work = work; acme_START(own)",
}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("record", RECORDS)
def test_a_function_in_a_record_that_it_hands_a_thread_does_as_well(tmp_path: Path, record: str, level: str) -> None:
    report = api.audit(build(tmp_path, RECORDS[record].replace("START", "plan"), level), config=False)
    assert report.incomplete
    said = "thread structure unknown: acme_plan of libacme.so starts threads, and is handed work in a record"
    assert said in threads(report)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_function_that_is_copied_out_of_a_record_where_a_thread_is_started_does(tmp_path: Path, level: str) -> None:
    report = api.audit(build(tmp_path, "acme_copied(&fixed)", level, "-s"), config=False)
    assert report.incomplete
    assert "acme_copied of libacme.so starts threads, and is handed fn_" in threads(report)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("callback", ["acme_plan_kept", "acme_plan_called"])
@pytest.mark.parametrize("record", RECORDS)
def test_one_that_is_called_back_out_of_a_record_does_not(
    tmp_path: Path, callback: str, record: str, level: str
) -> None:
    call = RECORDS[record].replace("acme_START", callback)
    report = api.audit(build(tmp_path, call, level), config=False)
    assert not report.incomplete
    assert threads(report) == f"{NO_THREADS}; libacme.so does, and is handed functions that are not seen to run there"


def test_no_record_goes_on_where_another_object_begins(tmp_path: Path) -> None:
    """A text and a table of functions one behind the other, in a stripped file."""
    texts = 'static const struct { char text[16]; void (*f)(void); } both = {"a text", work};'
    call = f"{{ {texts} acme_plan((const void *)both.text); sigaction(SIGINT, (const void *)&both.f, 0); }}"
    assert threads(api.audit(build(tmp_path, call, "-O2", "-s"), config=False)).startswith(NO_THREADS)


def test_what_the_c_library_is_handed_does_not(tmp_path: Path) -> None:
    report = api.audit(build(tmp_path, "work()"), config=False)
    assert not report.incomplete
    assert threads(report) == NO_THREADS


def test_a_wrapper_of_the_program_is_looked_through(tmp_path: Path) -> None:
    report = api.audit(build(tmp_path, "launch(work)"), config=False)
    assert "acme_data of libacme.so starts threads, and is handed work" in threads(report)


def test_a_stripped_program_is_known_as_well(tmp_path: Path) -> None:
    program = build(tmp_path, "acme_data(work)", "-O2", "-s")
    report = api.audit(program, config=False)
    assert report.incomplete
    assert "acme_data of libacme.so starts threads, and is handed fn_" in threads(report)


def test_of_a_library_that_is_not_found_no_more_is_said_than_is_known(tmp_path: Path) -> None:
    handed, alone = tmp_path / "handed", tmp_path / "alone"
    for folder, call in ((handed, "acme_data(work)"), (alone, "work()")):
        folder.mkdir()
        build(folder, call)
        shutil.move(folder / "libacme.so", folder / "elsewhere")
    report = api.audit(handed / "program", config=False)
    assert not report.incomplete
    assert threads(report) == f"{NO_THREADS}; libacme.so may, which is handed functions and was not found"
    assert threads(api.audit(alone / "program", config=False)) == NO_THREADS


def test_the_environment_says_where_a_library_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = build(tmp_path, "acme_data(work)")
    (tmp_path / "there").mkdir()
    shutil.move(tmp_path / "libacme.so", tmp_path / "there" / "libacme.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "there"))
    assert api.audit(program, config=False).incomplete


def test_a_file_of_that_name_that_is_no_library_is_passed_over(tmp_path: Path) -> None:
    program = build(tmp_path, "acme_data(work)")
    (tmp_path / "libacme.so").write_bytes(b"\x7fELF" + bytes(200))
    report = api.audit(program, config=False)
    assert "was not found" in threads(report)
