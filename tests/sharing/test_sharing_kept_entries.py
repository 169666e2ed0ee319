"""Thread entries of source that calls load: from members, variables and tables, with all that is stored there."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report, Severity

HEAD = """#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
typedef void *(*entry)(void *);
static volatile long made[64] __attribute__((aligned(64)));
_Alignas(64) long first;
atomic_long hits;
atomic_int enabled;
char rest[40];
static long crunch(long x) { for (int i = 0; i < 20; i++) x = x * 6364136223846793005 + 1; return x; }
static void *writer(void *p) { for (long s = 1;; s = crunch(s)) atomic_fetch_add(&hits, 1); }
static void *reader(void *p) { for (long s = 1;; s = crunch(s)) if (atomic_load(&enabled)) made[0] = s; }
"""
RECORD = "struct job { struct job *next; int id; entry run; void *data; };\n"
PROGRAMS = {
    "member that a function was handed": RECORD
    + """
static void set(struct job *j, entry run) { j->run = run; }
static void start(struct job *j) { pthread_t t; pthread_create(&t, 0, j->run, j); }
int main(void) { struct job *a = malloc(sizeof *a), *b = malloc(sizeof *b);
  set(a, writer); set(b, reader); start(a); start(b); pause(); }
""",
    "member of a list, through a wrapper": RECORD
    + """
static struct job *queue;
static int spawn(entry run, void *with) { pthread_t t; return pthread_create(&t, 0, run, with); }
static void add(entry run) { struct job *j = malloc(sizeof *j); j->run = run; j->next = queue; queue = j; }
int main(void) { add(writer); add(reader); for (struct job *j = queue; j; j = j->next) spawn(j->run, j);
  pause(); }
""",
    "member of a table that is filled": RECORD
    + """
static struct job jobs[8];
static int count;
static void add(entry run) { jobs[count].run = run; count++; }
int main(void) { pthread_t t; add(writer); add(reader);
  for (int i = 0; i < count; i++) pthread_create(&t, 0, jobs[i].run, jobs[i].data);
  pause(); }
""",
    "static variable": """
static entry next;
static void choose(int n) { next = n ? writer : reader; }
static void go(void) { pthread_t t; pthread_create(&t, 0, next, 0); }
int main(void) { choose(0); go(); choose(1); go(); pause(); }
""",
    "table": """
static entry all[8];
static int count;
static void add(entry run) { all[count++] = run; }
int main(void) { pthread_t t; add(writer); add(reader);
  for (int i = 0; i < count; i++) pthread_create(&t, 0, all[i], 0);
  pause(); }
""",
}
# One more thing is stored there, which nobody sees.
UNSEEN = {
    "member": RECORD
    + """
void load(entry *to);
static struct job *made_of(entry run) { struct job *j = malloc(sizeof *j); entry own[2]; load(own);
  j->run = rand() ? run : own[1]; return j; }
int main(void) { pthread_t t; pthread_create(&t, 0, made_of(writer)->run, 0);
  pthread_create(&t, 0, made_of(reader)->run, 0);
  pause(); }
""",
    "static variable": """
void load(entry *to);
static entry next;
int main(void) { pthread_t t; next = writer; pthread_create(&t, 0, next, 0); next = reader; load(&next);
  pthread_create(&t, 0, next, 0); pause(); }
""",
    "table": """
void load(entry *to);
static entry all[2];
int main(void) { pthread_t t; all[0] = writer; all[1] = reader; load(all);
  for (int i = 0; i < 2; i++) pthread_create(&t, 0, all[i], 0);
  pause(); }
""",
}


def checked(tmp_path: Path, text: str) -> Report:
    source = tmp_path / "unit.c"
    source.write_text(HEAD + text)
    return api.check([source], flags=["-O2", "-pthread", "-w"], cache=False, config=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_is_kept_there_runs_on_threads(tmp_path: Path, name: str) -> None:
    report = checked(tmp_path, PROGRAMS[name])
    assert not report.incomplete
    (found,) = [one for one in report.findings if one.severity >= Severity.HIGH]
    assert {one.name for one in found.participants} == {"hits", "enabled"}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_also_given_what_is_not_seen_stays_unknown(tmp_path: Path, name: str) -> None:
    report = checked(tmp_path, UNSEEN[name])
    assert report.incomplete
    assert any("thread structure unknown" in note for note in report.coverage.notes)
