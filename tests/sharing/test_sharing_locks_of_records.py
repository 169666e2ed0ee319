"""Locks of records in an array whose length no debug information tells, and what each of them guards."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit

# Workers take the lock that a hash chooses; another thread walks all that each record holds, and begins the next one
# where that walk ended.
TABLE_C = """
#include <pthread.h>
#include <unistd.h>
struct item { struct item *next; unsigned long key, hits; };
DECLARED
volatile int stop;
static inline void free_first(struct item **to) { *to = (*to)->next; }
static unsigned hash(const char *key) {
  unsigned h = 2166136261u;
  for (; *key; key++) h = (h ^ (unsigned char)*key) * 16777619u;
  return h;
}
static void *work(void *arg) {
  char key[64];
  while (!stop && read(0, key, sizeof key - 1) > 0) {
    unsigned h = hash(key), at = h % 16;
    pthread_mutex_lock(&LOCK(at));
    UPDATE
    pthread_mutex_unlock(&LOCK(at));
  }
  return arg;
}
static void *expire(void *arg) {
  while (!stop) {
    for (int at = 0; at < 16; at++) {
      pthread_mutex_lock(&LOCK(at));
      EXPIRE
      pthread_mutex_unlock(&LOCK(at));
    }
    sleep(1);
  }
  return arg;
}
int main(void) {
  pthread_t t[5];
  for (int i = 0; i < 16; i++) pthread_mutex_init(&LOCK(i), 0);
  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
  pthread_create(&t[4], 0, expire, 0);
  for (int i = 0; i < 5; i++) pthread_join(t[i], 0);
}
"""
RECORDS = {
    "DECLARED": "static struct { pthread_mutex_t lock; struct item *slots[1024]; unsigned long hits; } shards[16];",
    "LOCK": "shards[N].lock",
    "UPDATE": "struct item **to = &shards[at].slots[(h >> 4) % 1024]; if (*to) (*to)->hits++, *to = (*to)->next;",
    "EXPIRE": "for (int i = 0; i < 1024; i++) while (shards[at].slots[i]) free_first(&shards[at].slots[i]);",
}
ARRAYS = {
    "DECLARED": "static pthread_mutex_t locks[16]; static unsigned long counts[16];",
    "LOCK": "locks[N]",
    "UPDATE": "counts[at] += h;",
    "EXPIRE": "counts[at] = 0;",
}


def said(folder: Path, parts: dict[str, str]) -> set[str]:
    text = TABLE_C.replace("LOCK(at)", parts["LOCK"].replace("N", "at")).replace(
        "LOCK(i)", parts["LOCK"].replace("N", "i")
    )
    for word in ("DECLARED", "UPDATE", "EXPIRE"):
        text = text.replace(word, parts[word])
    (folder / "table.c").write_text(text)
    subprocess.run(["gcc", "-O2", "-s", "-pthread", "table.c", "-o", "table"], cwd=folder, check=True)
    return {one.rule for one in audit(AuditOptions(binary=str(folder / "table"))).findings if one.severity.rank > 0}


def test_records_of_many_lines_meet_nowhere(tmp_path: Path) -> None:
    """Of the locks steps are known in which none fits; what lies behind the first one is in a record with it."""
    assert said(tmp_path, RECORDS).isdisjoint({"two-locks-one-line", "packed-thread-slots"})


@pytest.mark.parametrize("rule", ["two-locks-one-line", "packed-thread-slots"])
def test_arrays_of_locks_and_of_counts_do(rule: str, tmp_path: Path) -> None:
    """The near miss: each lock has an element of another array, several of which lie on a line."""
    assert rule in said(tmp_path, ARRAYS)
