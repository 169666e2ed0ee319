"""Callbacks that are handed over, stored in a record and called by a thread's loop: they are a part of that thread."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
typedef int step(void *of, unsigned char *bytes, int size);
struct stream { unsigned char bytes[512]; step *take, *give; void *taken, *given; long in, out; };
struct { long chunks, left, written, failed; } io __attribute__((aligned(64)));
static __attribute__((noinline)) int source(void *of, unsigned char *bytes, int size) {
  io.chunks++;
  for (int i = 0; i < size; i++) bytes[i] = (unsigned char)(i * size);
  return --io.left > 0;
}
static __attribute__((noinline)) int sink(void *of, unsigned char *bytes, int size) {
  io.written++;
  for (int i = 0; i < size; i++) if (bytes[i] > 254) io.failed++;
  return io.written < 1000000;
}
static void *reading(void *argument) {
  struct stream *s = argument;
  while (TAKE(s->taken, s->bytes, 8)) s->in++;
  return 0;
}
static void *writing(void *argument) {
  struct stream *s = argument;
  while (GIVE(s->given, s->bytes + 256, 8)) s->out++;
  return 0;
}
__attribute__((noinline)) int run(struct stream *s, step *take, void *taken, step *give, void *given) {
  pthread_t one, two;
  s->take = take; s->taken = taken; s->give = give; s->given = given;
  pthread_create(&one, 0, reading, s);
  pthread_create(&two, 0, writing, s);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
int main(int argc, char **argv) {
  struct stream *s = aligned_alloc(64, sizeof *s);
  io.left = 1000000;
  return run(s, source, argv, sink, argv) + (int)s->out;
}
"""
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])
levels = pytest.mark.parametrize("level", ["-O0", "-O2"])


def audited(compiled: Compile, tool: str, level: str, take: str, give: str) -> list[Finding]:
    text = SOURCE.replace("TAKE", take).replace("GIVE", give)
    built = compiled(tool, "c", text, "-g", level)
    found = api.audit(str(built), min_severity=Severity.LOW).findings
    return [one for one in found if {part.full_name.partition(".")[0] for part in one.participants} == {"io"}]


@compilers
@levels
def test_two_callbacks_of_two_threads_are_two_threads(compiled: Compile, tool: str, level: str) -> None:
    found = audited(compiled, tool, level, "s->take", "s->give")
    assert any(one.severity.rank >= Severity.MEDIUM.rank for one in found)
    assert {"io.chunks", "io.written"} <= {part.full_name for one in found for part in one.participants}


@compilers
@levels
def test_two_callbacks_of_one_thread_are_one(compiled: Compile, tool: str, level: str) -> None:
    both = "s->give(s->given, s->bytes, 8) && s->take"
    assert not audited(compiled, tool, level, both, "0 && s->give")
