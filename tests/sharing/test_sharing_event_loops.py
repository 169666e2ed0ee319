"""What a thread does in front of the event loop it lives in is done once; what it does each time around is not."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.options import AuditOptions, CheckOptions, FactsRequest
from linemate.pipeline import audit, check_program
from linemate.source import read_program
from sharing.model.finding import Finding, Severity

TEXT = """
#include <pthread.h>
struct ev_loop;
void ev_run(struct ev_loop *loop, int flags);
void run_all(struct ev_loop *loop, int flags);
void watch(struct ev_loop *loop, long which);
static struct ev_loop *loop;
static struct { _Alignas(64) _Atomic long watched; _Atomic long answered; } counts;
__attribute__((noinline)) static void prepare(void) {
  for (long i = 0; i < 1000; i++) {
    counts.watched++;
    watch(loop, i);
  }
}
static void *reload(void *given) {
  LIFE
  return given;
}
static void *answer(void *given) {
  for (;;)
    counts.answered++;
  return given;
}
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, reload, NULL);
  pthread_create(&threads[1], NULL, answer, NULL);
  pthread_create(&threads[2], NULL, answer, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
"""
LIBRARY = "void ev_run(void) {} void run_all(void) {} void watch(void) {}"
IN_PLACE = "for (long i = 0; i < 1000; i++) { counts.watched++; watch(loop, i); } ev_run(loop, 0);"
ONCE = [IN_PLACE, "prepare(); ev_run(loop, 0);"]
AGAIN = [
    "for (;;) { prepare(); ev_run(loop, 1); }",  # an event, and once more
    "if (given) ev_run(loop, 0); else prepare();",  # one or the other
    "ev_run(loop, 0); prepare();",
    IN_PLACE.replace("ev_run", "run_all"),  # who knows what that does
]


def source(folder: Path, life: str) -> Path:
    path = folder / "reload.c"
    path.write_text(TEXT.replace("LIFE", life))
    return path


def pairs(findings: tuple[Finding, ...]) -> list[Finding]:
    """What is said, above a note, of the two counters."""
    names = [{one.full_name.rpartition(".")[2] for one in found.participants} for found in findings]
    both = [found for found, said in zip(findings, names, strict=True) if said >= {"watched", "answered"}]
    return [found for found in both if found.severity.rank > Severity.NOTE.rank]


def of_source(folder: Path, life: str) -> list[Finding]:
    options = CheckOptions(facts=FactsRequest(sources=(str(source(folder, life)),), flags=("-O2",)))
    return pairs(check_program(read_program(options), options).findings)


def of_binary(folder: Path, life: str) -> list[Finding]:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    program, library = folder / "reload", folder / "libevents.so"
    library.with_suffix(".c").write_text(LIBRARY)
    subprocess.run(["gcc", "-shared", "-fPIC", str(library.with_suffix(".c")), "-o", str(library)], check=True)
    flags = ["-O2", "-g", "-pthread", str(source(folder, life)), str(library)]
    subprocess.run(["gcc", *flags, "-o", str(program)], check=True)
    return pairs(audit(AuditOptions(binary=str(program))).findings)


@pytest.mark.parametrize("life", ONCE, ids=["in place", "called"])
@pytest.mark.parametrize("said", [of_source, of_binary])
def test_in_front_of_an_event_loop_a_thread_prepares(
    tmp_path: Path, said: Callable[[Path, str], list[Finding]], life: str
) -> None:
    assert not said(tmp_path, life)


@pytest.mark.parametrize("life", AGAIN, ids=["again", "or", "behind", "unknown"])
@pytest.mark.parametrize("said", [of_source, of_binary])
def test_other_work_is_as_steady_as_it_was(
    tmp_path: Path, said: Callable[[Path, str], list[Finding]], life: str
) -> None:
    assert said(tmp_path, life), life
