"""Threads of one entry that go one of several ways for life: ``switch (my->role)`` around loops."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from sharing.static import numbers
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
enum role { PARSER, WRITER };
struct job { enum role role; int rounds; };
static struct { atomic_uint parsed, written; } stage __attribute__((aligned(64)));
static unsigned mixed(unsigned v) { v ^= v >> 15; v *= 0x2c1b3c6du; return v ^ v >> 12; }
static void parse(struct job *job) {
  unsigned v = 1;
  for (int i = 0; i < job->rounds; i++) {
    v = mixed(v + i);
    if (v & 3) atomic_fetch_add_explicit(&stage.parsed, 1, memory_order_relaxed);
  }
}
static void emit(struct job *job) {
  unsigned v = 1;
  for (int i = 0; i < job->rounds; i++) {
    v = mixed(v ^ i) + 1;
    if (v & 3) atomic_fetch_add_explicit(&stage.written, 1, memory_order_relaxed);
  }
}
static void *entry(void *argument) {
  struct job *job = argument;
  LIFE
  return 0;
}
int main(void) {
  static struct job jobs[2] = {{PARSER, 900000}, {WRITER, 900000}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, entry, &jobs[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return (int)(stage.parsed + stage.written);
}
"""
ROLES = "if (job->role == PARSER) parse(job); else emit(job);"
BOTH = "parse(job); emit(job);"
ROUNDS = """for (int i = 0; i < job->rounds; i++) {
    if (mixed(i) & 1) atomic_fetch_add_explicit(&stage.parsed, 1, memory_order_relaxed);
    else atomic_fetch_add_explicit(&stage.written, 1, memory_order_relaxed);
  }"""
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])


def audited(compiled: Compile, tool: str, life: str, *flags: str) -> list[Finding]:
    text = SOURCE.replace("LIFE", life)
    return list(api.audit(str(compiled(tool, "c", text, "-O2", *flags)), min_severity=Severity.LOW).findings)


@compilers
@pytest.mark.parametrize("flags", [(), ("-fno-inline",)])
def test_threads_that_go_one_of_two_ways_for_life_are_of_two_kinds(
    compiled: Compile, tool: str, flags: tuple[str, ...]
) -> None:
    found = [one for one in audited(compiled, tool, ROLES, "-g", *flags) if one.rule == "independent-writers"]
    assert [{part.full_name for part in one.participants} for one in found] == [{"stage.parsed", "stage.written"}]


@compilers
@pytest.mark.parametrize("life", [BOTH, ROUNDS], ids=["in turn", "in each round"])
def test_threads_that_do_both_are_of_one(compiled: Compile, tool: str, life: str) -> None:
    assert not [one for one in audited(compiled, tool, life, "-g") if one.rule == "independent-writers"]


def test_a_way_that_is_seldom_gone_is_none(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "EACH_TIME", 0)
    assert not [one for one in audited(compiled, "gcc", ROLES, "-g") if one.rule == "independent-writers"]
