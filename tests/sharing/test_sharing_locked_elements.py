"""Elements of an array with a lock each, which threads take at an index: one ends where the next begins."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.judge import numbers
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
struct shard { pthread_mutex_t lock; SPARE long count; } ALIGNED;
struct table { struct shard *shards; unsigned count; };
static struct shard shards[COUNT];
static struct table *made(void) {
  struct table *table = malloc(sizeof *table);
  table->shards = calloc(COUNT, sizeof *table->shards);
  table->count = COUNT;
  return table;
}
static void *work(void *argument) {
  struct table *table = argument;
  unsigned at = (unsigned)(long)&table;
  for (;;) {
    at = at * 1103515245u + 12345u;
    struct shard *shard = &HOLDER[(at >> 8) % COUNT];
    pthread_mutex_lock(&shard->lock);
    shard->count++;
    pthread_mutex_unlock(&shard->lock);
  }
}
int main(void) {
  pthread_t threads[STARTED];
  struct table *table = made();
  for (int i = 0; i < COUNT; i++) pthread_mutex_init(&HOLDER[i].lock, 0);
  for (int i = 0; i < STARTED; i++) pthread_create(&threads[i], 0, work, table);
  for (int i = 0; i < STARTED; i++) pthread_join(threads[i], 0);
  return 0;
}
"""
STATIC, HEAP = "shards", "table->shards"
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])


def audited(compiled: Compile, tool: str, holder: str, least: Severity = Severity.LOW, **words: str) -> list[Finding]:
    text = SOURCE.replace("HOLDER", holder)
    chosen = {"COUNT": "5", "SPARE": "char spare[24];", "ALIGNED": "", "STARTED": "4"} | words
    for word, value in chosen.items():
        text = text.replace(word, value)
    report = api.audit(str(compiled(tool, "c", text, "-g", "-O2")), min_severity=least)
    return [f for f in report.findings if "with a lock each" in f.message]


@compilers
def test_static_elements_with_a_lock_each_meet(compiled: Compile, tool: str) -> None:
    (found,) = audited(compiled, tool, STATIC)
    assert (found.rule, found.severity) == ("packed-thread-slots", Severity.MEDIUM)
    first, second = (part.full_name for part in found.participants)
    assert first.startswith("shards[")
    assert second.partition(".")[0] != first.partition(".")[0]


@compilers
def test_of_many_two_threads_seldom_take_neighbours(
    compiled: Compile, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = audited(compiled, tool, STATIC, COUNT="64")
    assert found.severity == Severity.LOW
    monkeypatch.setattr(numbers, "FEW_LOCKED", 2)
    (found,) = audited(compiled, tool, STATIC)
    assert found.severity == Severity.LOW


@compilers
@pytest.mark.parametrize("spare", ["", "char spare[24];"])
def test_elements_behind_a_member_meet(compiled: Compile, tool: str, spare: str) -> None:
    (found,) = audited(compiled, tool, HEAP, SPARE=spare)
    assert (found.rule, found.severity) == ("packed-thread-slots", Severity.LOW)
    assert [part.full_name.partition("[")[0] for part in found.participants] == ["shard", "shard"]


@compilers
@pytest.mark.parametrize("holder", [STATIC, HEAP])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param({"ALIGNED": "__attribute__((aligned(64)))"}, id="aligned elements"),
        pytest.param({"SPARE": "char spare[16];"}, id="elements of a line, which the array may begin at"),
        pytest.param({"STARTED": "1"}, id="one thread"),
    ],
)
def test_what_does_not_meet(compiled: Compile, tool: str, holder: str, words: dict[str, str]) -> None:
    assert not audited(compiled, tool, holder, **words)
