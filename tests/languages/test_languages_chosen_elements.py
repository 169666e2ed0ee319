"""Small elements of arrays behind pointers, of which code chooses one: debug information says of what they are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

TEXT = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct cell { long hits, last; };
struct board { MADE long seed; unsigned char *marks; struct cell *cells; long *sums; struct cell inside[8]; };
struct worker { long id; struct board *board; unsigned long own; };
static struct board *boards[4];
__attribute__((noinline)) struct board *find(unsigned long n) { return boards[n >> 63]; }
__attribute__((noinline)) void change(struct worker *w, struct board *b, unsigned long n) {
  (void)w, (void)b, (void)n;
  CHANGE;
}
static void *run(void *given) {
  struct worker *w = given;
  for (long i = 0; i < 100000000; i++) {
    w->own = w->own * 6364136223846793005ul + 1442695040888963407ul;
    struct board *b = find(w->own);
    USE;
    change(w, b, w->own);
  }
  return NULL;
}
int main(void) {
  for (int i = 0; i < 4; i++) {
    boards[i] = calloc(1, sizeof *boards[i]);
    boards[i]->marks = calloc(64, 1);
    boards[i]->cells = calloc(64, sizeof(struct cell));
    boards[i]->sums = calloc(64, sizeof(long));
  }
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    struct worker *w = calloc(1, sizeof *w);
    w->id = i, w->board = boards[0];
    pthread_create(&threads[i], NULL, run, w);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""
ATOMIC, PLAIN = "_Atomic long rounds;", "long rounds;"
MARKS = "b->marks[n >> 58] = 1"
CELLS = "b->cells[n >> 58].hits++"
INSIDE = "b->inside[n >> 61].hits++"
SUMS = "b->sums[w->id] += n & 7"
WALK = "for (long k = 0; k < (long)(n & 63); k++) b->sums[k] += n & 7"


def found(folder: Path, compiler: str, change: str, made: str = ATOMIC, use: str = "b->rounds++") -> list[Finding]:
    """What is said of elements of arrays."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    source = folder / "board.c"
    source.write_text(TEXT.replace("MADE", made).replace("CHANGE", change).replace("USE", use))
    program = source.with_suffix("")
    subprocess.run([compiler, "-g", "-pthread", "-O2", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    kept = [one for one in findings if one.severity.rank >= Severity.LOW.rank and one.rule == "packed-thread-slots"]
    return [one for one in kept if "worker" not in one.participants[0].full_name]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    ("change", "name", "severity"),
    [
        (MARKS, "*board.marks", Severity.LOW),  # data chooses, and how many there are nothing says
        (CELLS, "struct cell.hits", Severity.LOW),
        (INSIDE, "board.inside", Severity.LOW),
        (SUMS, "*board.sums", Severity.MEDIUM),  # a number that the thread finds in what it is handed
    ],
    ids=["bytes", "records", "within", "by number"],
)
def test_threads_change_elements_that_code_chooses(
    tmp_path: Path, compiler: str, change: str, name: str, severity: Severity
) -> None:
    (one,) = found(tmp_path, compiler, change)
    assert name in one.participants[0].full_name
    assert one.severity is severity


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    ("change", "made", "use"),
    [
        (MARKS, PLAIN, "(void)0"),  # each thread may have a board of its own
        (WALK, ATOMIC, "b->rounds++"),  # a loop goes through them
        ("b->inside[3].hits++", ATOMIC, "b->rounds++"),  # one place, which is shared itself
    ],
    ids=["plain record", "walk", "one place"],
)
def test_nothing_is_said_of_others(tmp_path: Path, compiler: str, change: str, made: str, use: str) -> None:
    assert not found(tmp_path, compiler, change, made, use)


OWN = """
#include <pthread.h>
#include <stdlib.h>
struct slot { long number; };
struct poller { GUARD long *sums; struct slot *slots; unsigned long many; pthread_t thread; };
static void *run(void *given) {
  struct poller *p = given;
  for (long i = 0; i < 100000000; i++) {
    LOCK;
    p->many = p->many * 6364136223846793005ul + 1442695040888963407ul;
    p->slots[p->many >> 58].number = i;
    UNLOCK;
  }
  return NULL;
}
__attribute__((noinline)) static void make(struct poller **made) {
  struct poller *p = calloc(1, sizeof *p);
  p->slots = calloc(64, sizeof(struct slot));
  *made = p;
  pthread_create(&p->thread, NULL, run, p);
}
int main(void) {
  struct poller *all[4];
  for (int i = 0; i < 4; i++) make(&all[i]);
  for (int i = 0; i < 4; i++) pthread_join(all[i]->thread, NULL);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_what_each_thread_is_handed_one_of_has_an_array_of_its_own(tmp_path: Path, compiler: str) -> None:
    """That a thread is started with a record says nothing of several that use it; a lock in it does."""
    own = {"GUARD": "long seed;", "UNLOCK": "(void)0", "LOCK": "p->seed++"}
    locked = {
        "GUARD": "pthread_mutex_t lock;",
        "UNLOCK": "pthread_mutex_unlock(&p->lock)",
        "LOCK": "pthread_mutex_lock(&p->lock)",
    }
    assert not _said_of_slots(tmp_path, compiler, own)
    assert _said_of_slots(tmp_path, compiler, locked)


def _said_of_slots(folder: Path, compiler: str, words: dict[str, str]) -> list[Finding]:
    return _said(folder, compiler, OWN, words)


def _said(folder: Path, compiler: str, text: str, words: dict[str, str]) -> list[Finding]:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    for word, said in words.items():
        text = text.replace(word, said)
    source, program = folder / "poller.c", folder / "poller"
    source.write_text(text)
    subprocess.run([compiler, "-g", "-pthread", "-O2", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [one for one in findings if one.rule == "packed-thread-slots"]


THREADS_OWN = """
#include <pthread.h>
#include <stdlib.h>
KIND unsigned char *seen;
KIND unsigned last;
__attribute__((noinline)) void step(unsigned to) {
  seen[(last ^ to) & 4095]++;
  last = to >> 1;
}
static void *run(void *given) {
  unsigned long n = (unsigned long)given;
  SET;
  for (long i = 0; i < 100000000; i++) {
    n = n * 6364136223846793005ul + 1442695040888963407ul;
    step(n >> 40);
  }
  return NULL;
}
int main(void) {
  pthread_t threads[4];
  BEGIN;
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, (void *)(i + 1));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("local", [True, False], ids=["thread-local", "static"])
def test_what_a_thread_local_pointer_leads_to_is_nobody_elses(tmp_path: Path, compiler: str, local: bool) -> None:
    made = "seen = malloc(4096)"
    words = {"KIND": "static" + " __thread" * local, "SET": made if local else "", "BEGIN": "" if local else made}
    assert bool(_said(tmp_path, compiler, THREADS_OWN, words)) is not local
