"""Records that threads of one kind are handed one each, and what the thread that made an object goes on to do to it."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
struct peer { unsigned id, budget; KIND seen; };
static pthread_mutex_t lock;
static void *rest[8];
static void *gossip(void *argument) {
  struct peer *peer = argument;
  unsigned state = peer->id, budget = peer->budget;
  for (unsigned i = 0; i < budget; i++) {
    state = state * 1103515245u + 12345u;
    if (state >> 30) { CHANGE; }
  }
  return argument;
}
int main(void) {
  pthread_t threads[4];
  struct peer *peers[4];
  for (int i = 0; i < 4; i++) {
    peers[i] = MADE;
    BETWEEN;
    peers[i]->id = i;
    peers[i]->budget = 500000;
  }
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, gossip, peers[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return (int)peers[0]->seen + (rest[0] != 0);
}
"""
PLAIN = {
    "KIND": "volatile unsigned",
    "CHANGE": "peer->seen++",
    "MADE": "malloc(sizeof(struct peer))",
    "BETWEEN": "",
}
LOCKED = {"CHANGE": "pthread_mutex_lock(&lock); peer->seen++; pthread_mutex_unlock(&lock)"}
ATOMIC = {"KIND": "_Atomic unsigned"}
ON_A_LINE = {"MADE": "aligned_alloc(64, 64)"}
APART = {"BETWEEN": "rest[i] = malloc(4096)"}
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])


def audited(compiled: Compile, tool: str, text: str, least: Severity = Severity.LOW) -> list[Finding]:
    return list(api.audit(str(compiled(tool, "c", text, "-g", "-O2", "-pthread")), min_severity=least).findings)


def peers(**words: str) -> str:
    text = SOURCE
    for word, value in (PLAIN | words).items():
        text = text.replace(word, value)
    return text


@compilers
def test_small_records_that_threads_are_handed_one_each_are_neighbours(compiled: Compile, tool: str) -> None:
    (found,) = audited(compiled, tool, peers())
    assert found.rule == "packed-thread-slots"
    assert found.severity in (Severity.LOW, Severity.MEDIUM)  # by what a compiler makes of the branch
    assert [part.full_name for part in found.participants] == ["struct peer.seen"]
    assert any("that two of them stand side by side is not certain" in said.text for said in found.evidence)


@compilers
@pytest.mark.parametrize("words", [LOCKED, ATOMIC, ON_A_LINE, APART], ids=["locked", "atomic", "aligned", "apart"])
def test_what_may_be_shared_or_stands_alone_is_none(compiled: Compile, tool: str, words: dict[str, str]) -> None:
    assert not [found for found in audited(compiled, tool, peers(**words)) if "peer" in found.participants[0].full_name]


GOES_ON = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
struct pool { _Alignas(64) atomic_ulong submitted; atomic_ulong completed; };
struct worker { struct pool *pool; pthread_t thread; unsigned seed; };
static void *work(void *argument) {
  struct worker *worker = argument;
  unsigned state = worker->seed;
  for (int i = 0; i < 500000; i++) {
    state = state * 1103515245u + 12345u;
    atomic_fetch_add_explicit(&worker->pool->completed, state & 1, memory_order_relaxed);
  }
  return 0;
}
int main(void) {
  struct pool *pool = aligned_alloc(64, sizeof *pool);
  struct worker *workers = calloc(2, sizeof *workers);
  unsigned state = 1;
  atomic_init(&pool->submitted, 0);
  atomic_init(&pool->completed, 0);
  BEFORE
  for (int i = 0; i < 2; i++) {
    workers[i].pool = pool;
    workers[i].seed = i;
    pthread_create(&workers[i].thread, 0, work, &workers[i]);
  }
  MEANWHILE
  for (int i = 0; i < 2; i++) pthread_join(workers[i].thread, 0);
  return printf("%lu %lu\\n", pool->submitted, pool->completed) < 0;
}
"""
SUBMIT = """for (int i = 0; i < 200000; i++) {
    state = state * 1103515245u + 12345u;
    atomic_fetch_add_explicit(&pool->submitted, state >> 31, memory_order_relaxed);
  }"""


@compilers
def test_who_made_an_object_uses_it_beside_the_threads_that_it_was_given_to(compiled: Compile, tool: str) -> None:
    found = audited(compiled, tool, GOES_ON.replace("BEFORE", "").replace("MEANWHILE", SUBMIT))
    names = {frozenset(part.full_name for part in one.participants) for one in found}
    assert frozenset(("struct pool.submitted", "struct pool.completed")) in names


@compilers
def test_what_is_done_to_it_before_is_nothing_beside_them(compiled: Compile, tool: str) -> None:
    assert not audited(compiled, tool, GOES_ON.replace("BEFORE", SUBMIT).replace("MEANWHILE", ""))


CLOSURES = """
#include <array>
#include <functional>
#include <thread>
class Matcher {
 public:
  void operator()() {
    for (int i = 0; i < 400000; i++) {
      state_ = state_ * 1103515245u + 12345u;
      if (state_ >> 30) hits_ = hits_ + 1;
    }
  }
 private:
  volatile unsigned state_ = 1;
  volatile long hits_ = 0;
};
std::array<Matcher, 4> matchers;
int main() {
  std::thread a(std::ref(matchers[0])), b(std::ref(matchers[1])), c(std::ref(matchers[2])), d(std::ref(matchers[3]));
  a.join(); b.join(); c.join(); d.join();
  return 0;
}
"""


of_classes = pytest.mark.parametrize("tool", ["g++", "clang++-19"])


@of_classes
def test_elements_that_closures_are_handed_are_neighbours(compiled: Compile, tool: str) -> None:
    report = api.audit(str(compiled(tool, "cc", CLOSURES, "-g", "-O2", "-pthread")), min_severity=Severity.LOW)
    assert {one.rule for one in report.findings} == {"packed-thread-slots"}


@of_classes
def test_elements_that_are_lines_share_none(compiled: Compile, tool: str) -> None:
    text = CLOSURES.replace("class Matcher", "class alignas(64) Matcher")
    report = api.audit(str(compiled(tool, "cc", text, "-g", "-O2", "-pthread")), min_severity=Severity.LOW)
    assert not report.findings
