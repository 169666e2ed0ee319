"""Locks that code takes by itself have the names of the members that their words are in."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdatomic.h>
struct ticket_lock { atomic_uint next, serving; };
static struct { char head[HEAD]; MEMBERS atomic_uint polls; } journal __attribute__((aligned(64)));
static long records __attribute__((aligned(64)));
static void *append(void *argument) {
  for (int i = 0; i < 300000; i++) {
    unsigned mine = atomic_fetch_add(&journal.NEXT, 1);
    while (atomic_load(&journal.SERVING) != mine) ;
    records++;
    atomic_store(&journal.SERVING, mine + 1);
  }
  return argument;
}
static void *poll(void *argument) {
  for (int i = 0; i < 300000; i++) atomic_fetch_add(&journal.polls, 1);
  return argument;
}
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, append, 0);
  pthread_create(&threads[1], 0, append, 0);
  pthread_create(&threads[2], 0, poll, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  return (int)records;
}
"""
RECORD = {"MEMBERS": "struct ticket_lock lock;", "NEXT": "lock.next", "SERVING": "lock.serving"}
WORDS = {"MEMBERS": "atomic_uint next, serving;", "NEXT": "next", "SERVING": "serving"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("head", ["8", "32"])
@pytest.mark.parametrize(("words", "name"), [(RECORD, "journal.lock"), (WORDS, "journal.next")])
def test_a_ticket_lock_is_named_by_its_member(
    compiled: Compile, tool: str, head: str, words: dict[str, str], name: str
) -> None:
    text = SOURCE.replace("HEAD", head)
    for word, value in words.items():
        text = text.replace(word, value)
    report = api.audit(str(compiled(tool, "c", text, "-g", "-O2", "-pthread")), min_severity=Severity.MEDIUM)
    (found,) = (one for one in report.findings if one.rule == "hot-lock-shares-line")
    assert [part.full_name for part in found.participants] == [name, "journal.polls"]
